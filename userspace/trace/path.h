/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The critical path of a goroutine: who made it wait.
 *
 * Before it in an event's way: trace/timeline.h. A fold (path_fold.c, path_threads.c) makes a history of
 * events and items in one pass: for each goroutine, thread, P and core, since when it has been what, and
 * who ended its waits. path_walk.c goes backward through the history, from a goroutine to whoever made it
 * wait. After it: `gotrace path`.
 *
 * Times are those of the trace's events, in ns; those of the kernel's items are brought to them.
 */
#ifndef TRACE_PATH_H
#define TRACE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/map.h"
#include "trace/event.h"
#include "trace/intern.h"
#include "trace/kernel.h"
#include "trace/order.h"

#define PATH_NONE UINT32_MAX /* no index: nobody, or not known */

/* ---- the history ---- */

struct path_list { /* of items that begin with their time, which never falls */
	void *at;
	uint32_t n, cap;
};

/* What a goroutine is from `time` on, until its next one. */
struct path_state {
	int64_t time;
	union {
		struct { /* running or in a system call: on which thread, with which P */
			uint32_t thread, proc;
		};
		struct { /* waiting, once it is `over`: who ended it, on which thread */
			uint32_t by, by_thread;
		};
		struct { /* runnable, once it is `over`: the P that it got */
			uint32_t got, unused;
		};
	};
	uint32_t reason; /* waiting: interned */
	uint8_t state;	 /* enum go_state */
	bool over;
	bool assist; /* it marks for the garbage collector */
};

/* What the kernel does with a thread from `time` on. */
struct path_run {
	int64_t time;
	uint32_t other, other_pid; /* asleep, once it is `over`: the waker; else who got its core */
	uint32_t name;		   /* of that one, interned */
	uint32_t call;		   /* the system call that it is in, or KERNEL_NO_CALL */
	uint16_t cpu;
	uint8_t run; /* enum kernel_run */
	uint8_t why; /* enum gt_off */
	bool interrupt, over;
	bool fault; /* a page fault */
	bool woken; /* runnable: from sleep, not taken off its core */
};

struct path_call {	  /* a system call that a thread entered at `time` and left at `to` */
	int64_t time, to; /* to: INT64_MAX if no item says that it has left it */
	uint32_t number;
};

struct path_on { /* whose goroutine a thread or a P has from `time` on; PATH_NONE: none */
	int64_t time;
	uint32_t goroutine;
};

struct path_core { /* who has a core from `time` on; tid 0: nobody */
	int64_t time;
	uint32_t tid, pid, name;
};

struct path_stop { /* the world stops, or goes on, at `time` */
	int64_t time;
	bool stopped;
};

struct path_goroutine {
	uint64_t id;
	uint32_t name;	  /* of its start function, interned; 0: not known */
	uint32_t creator; /* with `born` */
	int64_t created;
	bool born, ended;	 /* in the trace */
	bool assist;		 /* the fold: it is within a mark assist, whatever its state */
	struct path_list states; /* struct path_state */
};

struct path_thread {
	uint64_t id;
	struct path_list runs;	/* struct path_run */
	struct path_list calls; /* struct path_call */
	struct path_list on;	/* struct path_on */
};

struct path_proc {
	uint64_t id;
	struct path_list on;
};

struct path_cpu {
	uint64_t id;
	struct path_list who; /* struct path_core */
};

struct path_table {	  /* structs found by their id */
	struct map index; /* to the index + 1 */
	void *at;
	uint32_t n, cap;
};

struct path_history {
	struct path_table goroutines, threads, procs, cpus;
	struct path_list stops;
	struct map names; /* of threads of other processes, by tid: interned */
	struct map
		calls; /* of system calls that kernel__syscall() does not know, by number: interned */
	struct intern *words;
	int64_t from;			  /* of what was before only the last is kept */
	size_t memory, limit;		  /* bytes: held, and the most */
	bool kernel;			  /* the trace has a kernel's side */
	bool machine;			  /* and tells of the machine's other threads, too: */
	int64_t machine_from, machine_to; /* from the first such item to the last */
};

int path_history__init(struct path_history *h, size_t limit); /* 0 or -ENOMEM */
void path_history__deinit(struct path_history *h);

/* Found, or made: the index, or PATH_NONE: no memory. */
uint32_t path_history__goroutine(struct path_history *h, uint64_t id);
uint32_t path_history__thread(struct path_history *h, uint64_t id);
uint32_t path_history__proc(struct path_history *h, uint64_t id);
/* Found, or PATH_NONE. */
uint32_t path_history__find_goroutine(const struct path_history *h, uint64_t id);
uint32_t path_history__find_thread(const struct path_history *h, uint64_t id);
/* Who had a core (struct path_core), or NULL: nothing is known of it. */
const struct path_list *path_history__cpu(const struct path_history *h, uint64_t cpu);

/* The index-th. */
struct path_goroutine *path_goroutine(const struct path_history *h, uint32_t index);
struct path_thread *path_thread(const struct path_history *h, uint32_t index);
struct path_proc *path_proc(const struct path_history *h, uint32_t index);

/*
 * Something begins at `time`, or, if the list is later, at the list's last time: what is returned is
 * 0 but for its time, and NULL if there is no memory; else 0 or -ENOMEM. Pointers into a list are good
 * until the next one.
 */
struct path_state *path_history__state(struct path_history *h, uint32_t goroutine, int64_t time);
struct path_run *path_history__run(struct path_history *h, uint32_t thread, int64_t time);
/* A system call begins (0 or -ENOMEM); the last one ends, if it has not ended yet. */
int path_history__call(struct path_history *h, uint32_t thread, int64_t time, uint32_t number);
void path_history__call_ends(struct path_history *h, uint32_t thread, int64_t time);
int path_history__on_thread(struct path_history *h, uint32_t thread, int64_t time,
			    uint32_t goroutine);
int path_history__on_proc(struct path_history *h, uint32_t proc, int64_t time, uint32_t goroutine);
int path_history__on_cpu(struct path_history *h, uint64_t cpu, const struct path_core *who);
int path_history__stop(struct path_history *h, int64_t time, bool stopped);
bool path_history__full(const struct path_history *h); /* it holds more than its limit */
/* It has ended before the window: nothing will ask for its past. */
void path_history__forget(struct path_history *h, uint32_t goroutine);

/* Whose goroutine a thread or a P had just before `time`. */
uint32_t path_history__of_thread(const struct path_history *h, uint32_t thread, int64_t time);
uint32_t path_history__of_proc(const struct path_history *h, uint32_t proc, int64_t time);

/* The last of a list; NULL: it is empty. */
struct path_state *path_history__last_state(const struct path_history *h, uint32_t goroutine);
struct path_run *path_history__last_run(const struct path_history *h, uint32_t thread);

/* How many items of `size` bytes of a list have begun before `time`. */
uint32_t path_list__before(const struct path_list *list, size_t size, int64_t time);

/* ---- the fold ---- */

struct path_fold {
	struct path_history *h; /* borrowed */
	int64_t sync, last;	/* of the generation's begin, and of the last event */
	uint64_t ahead;		/* of CLOCK_MONOTONIC before the trace's clock */
	bool retold; /* set: a table, or a loss, has changed threads since the last sync */
};

void path_fold__init(struct path_fold *f, struct path_history *h);

/*
 * What the reader of a trace that is read from its middle on, by an index, knows at its first event:
 * who is in which state. Why who waits waits, and names, it does not know. 0 or -ENOMEM.
 */
int path_fold__begin(struct path_fold *f, const struct order *order, int64_t time);

/*
 * The next event, which was at `mono` of CLOCK_MONOTONIC, or the next item; `threads` are as the items
 * so far, this one included, have left them. 0 or -ENOMEM.
 */
int path_fold__event(struct path_fold *f, const struct trace_event *ev,
		     const struct kernel_threads *threads, uint64_t mono);
int path_fold__item(struct path_fold *f, const struct kernel_item *item,
		    const struct kernel_threads *threads);

/* ---- the path ---- */

enum path_kind {
	PATH_UNKNOWN,	      /* neither side says */
	PATH_ON_CPU,	      /* it ran on a core */
	PATH_RUNNING,	      /* running for Go; what the kernel did is not known */
	PATH_SYSCALL,	      /* in a system call; what the kernel did is not known */
	PATH_GO_RUNNABLE,     /* waited for a P */
	PATH_KERNEL_RUNNABLE, /* its thread waited for a core */
	PATH_THROTTLED,	      /* its thread's cgroup had used up its time */
	PATH_KERNEL_BLOCKED,  /* running for Go, its thread asleep in the kernel */
	PATH_SYSCALL_BLOCKED, /* the same in a system call that Go knows of */
	PATH_GO_BLOCKED,
	PATH_KINDS
};

enum path_cause { /* what ended a wait, if it was no goroutine */
		  PATH_CAUSE_NONE,
		  PATH_CAUSE_GOROUTINE, /* `by` */
		  PATH_CAUSE_PROCESS,	/* other, other_pid, other_name: another process's thread */
		  PATH_CAUSE_THREAD,	/* other: a thread of the target that ran no goroutine */
		  PATH_CAUSE_INTERRUPT,
		  PATH_CAUSE_IDLE, /* the core, or the P, was idle */
		  PATH_CAUSE_TIMER,
		  PATH_CAUSE_NETPOLL,
		  PATH_CAUSE_SCHEDULER, /* Go's: a timer or another thing that no goroutine does */
		  PATH_CAUSE_CGROUP,
		  PATH_CAUSE_PENDING, /* not over when the trace ends */
		  PATH_CAUSES
};

#define PATH_HOLDERS 4

enum { PATH_NOTE_ASSIST = 1, PATH_NOTE_STOPPED = 2 };

struct path_segment {
	int64_t from, to;
	uint8_t kind;  /* enum path_kind */
	uint8_t cause; /* enum path_cause */
	uint8_t notes; /* PATH_NOTE_…: of any part of it */
	uint8_t why;   /* enum gt_off: of a thread that was asleep */
	bool fault;
	bool got_first; /* `other` got the core first; who had it after that is not known */
	uint32_t depth; /* so many waits lie between it and the goroutine asked for */
	uint32_t goroutine, thread; /* whose time it is; indices or PATH_NONE */
	uint32_t reason;	    /* Go-blocked: interned */
	uint32_t call;		    /* or KERNEL_NO_CALL */
	uint32_t by;		    /* who gave up the P, held the core, ended the wait: index */
	/* By which thread; Go-runnable: not 0 if that held the core which the P's thread waited for. */
	uint32_t other, other_pid, other_name;
	uint32_t holders[PATH_HOLDERS]; /* Go-runnable: who had the Ps, the longest first */
};

struct path {
	struct path_segment
		*segments; /* by time; the first begins at `from`, the last ends at `to` */
	size_t n, cap;
	int64_t from, to;
};

/*
 * The path of a goroutine through [from, to), from <= to; to be deinitialized. Takes any history: what
 * contradicts itself ends a chain of waits, and what is missing is PATH_UNKNOWN. 0, -ENOMEM, or -E2BIG:
 * its segments would take more memory than the history may.
 */
int path__walk(const struct path_history *h, uint32_t goroutine, int64_t from, int64_t to,
	       struct path *ret);
void path__deinit(struct path *p);

struct path_cause_total {
	const struct path_segment *like; /* one of them: what they have in common is shown */
	uint64_t ns, count;
};

/* The path's time by what it was and who caused it, most first; to be freed before it. 0 or -ENOMEM. */
int path__summary(const struct path *p, struct path_cause_total **ret, size_t *ret_n);

#endif
