/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The critical path of a goroutine: the causes of its waits.
 *
 * Upstream: reader/timeline.h. path_fold.c and path_threads.c make a history of events and kernel
 * events in one pass: the states of each goroutine, thread, P and CPU with their times, and what
 * ended each wait. path_walk.c follows the history backward, from a goroutine to the one that ended
 * its wait, and so on. Downstream: `gotrace path`.
 *
 * Times are those of the trace's events, in ns; those of kernel events are converted to them.
 */
#ifndef TRACE_PATH_H
#define TRACE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/goroutine_tracker.h"
#include "format/event.h"
#include "format/kernel.h"
#include "lib/map.h"
#include "reader/order.h"
#include "writer/intern.h"

#define PATH_NONE UINT32_MAX /* no index: none, or unknown */

/* ---- the history ---- */

/* of items that begin with their time, which never falls */
struct path_list {
	void *at;
	uint32_t n, cap;
};

/* The state of a goroutine from `time` until its next one. */
struct path_state {
	int64_t time;
	union {
		struct { /* running or in a system call: on which thread, with which P */
			uint32_t thread, proc;
		};
		/* waiting, once it is `over`: the goroutine and the thread that ended it */
		struct {
			uint32_t by, by_thread;
		};
		uint32_t got; /* runnable, once it is `over`: the P that it got */
	};
	uint32_t reason; /* waiting: interned */
	uint8_t state;	 /* enum go_state */
	bool over;
	bool assist; /* it marks for the garbage collector */
};

/* The state of a thread in the kernel from `time` on. */
struct path_run {
	int64_t time;
	uint32_t other, other_pid; /* asleep, once `over`: the waker; else what got its CPU */
	uint32_t name;		   /* of that one, interned */
	uint32_t call;		   /* the system call that it is in, or KERNEL_NO_CALL */
	uint16_t cpu;
	uint8_t run;   /* enum kernel_run */
	uint8_t why;   /* enum gt_off */
	uint8_t sleep; /* enum gt_sleep */
	bool interrupt : 1, over : 1;
	bool done : 1;	/* asleep: the system call has ended, not for a signal */
	bool fault : 1; /* a page fault */
	bool woken : 1; /* runnable: from sleep, not preempted */
};

/* a system call that a thread entered at `time` and left at `to` */
struct path_call {
	int64_t time, to; /* to: INT64_MAX if no kernel event shows that it has left it */
	uint32_t number;
};

/* the goroutine that a thread or a P has from `time` on; PATH_NONE: none */
struct path_on {
	int64_t time;
	uint32_t goroutine;
};

/*
 * the thread that a CPU runs from `time` on; tid 0: idle; before: it has run it for longer, since an unknown
 * time
 */
struct path_occupant {
	int64_t time;
	uint32_t tid, pid, name;
	bool before;
};

/* a thread that waits for a CPU waits for that of number `to` from `time` on, until then for `from` */
struct path_move {
	int64_t time;
	uint16_t from, to;
};

/* the world stops, or goes on, at `time` */
struct path_stop {
	int64_t time;
	bool stopped;
};

struct path_goroutine {
	uint64_t id;
	uint32_t name;	  /* of its start function, interned; 0: not known */
	uint32_t creator; /* with `created_in_trace` */
	uint32_t before;  /* the reason of a wait if a timer created it, as time.AfterFunc() does */
	int64_t created;
	bool created_in_trace, ended; /* in the trace */
	bool assist;		 /* while it is filled: within a mark assist, whatever its state */
	struct path_list states; /* struct path_state */
};

struct path_thread {
	uint64_t id;
	struct path_list runs;	/* struct path_run */
	struct path_list calls; /* struct path_call */
	struct path_list on;	/* struct path_on */
	struct path_list moves; /* struct path_move */
};

struct path_proc {
	uint64_t id;
	struct path_list on;
};

struct path_cpu {
	uint64_t id;
	struct path_list occupants; /* struct path_occupant */
};

/* structs found by their id */
struct path_table {
	struct map index; /* to the index + 1 */
	void *at;
	size_t size; /* of a struct */
	uint32_t n, cap;
};

struct path_history {
	struct path_table goroutines, threads, procs, cpus;
	struct path_list stops;
	struct map
		names; /* of threads of other processes, by tid: interned; those seen before `to` */
	struct map calls; /* of system calls without a kernel__syscall(), by number: interned */
	struct intern *texts;
	int64_t from;	      /* of what was before only the last is kept */
	int64_t to;	      /* the window's end: how far is read depends on who waits */
	size_t memory, limit; /* bytes: held, and the most */
	bool kernel;	      /* the trace has kernel events */
	bool machine;	      /* and contains the machine's other threads, too: */
	int64_t machine_from, machine_to; /* from the first such item to the last */
	bool waits;			  /* it has what CPUs ran while threads waited for them */
};

int path_history__init(struct path_history *h, size_t limit); /* 0 or -ENOMEM */
void path_history__deinit(struct path_history *h);

/* Found, or made in a table of `h`: the index, or PATH_NONE: no memory. */
uint32_t path_table__get(struct path_history *h, struct path_table *t, uint64_t id);
/* Found, or PATH_NONE. */
uint32_t path_history__find_goroutine(const struct path_history *h, uint64_t id);
uint32_t path_history__find_thread(const struct path_history *h, uint64_t id);
/* What a CPU ran (struct path_occupant); NULL: unknown. */
const struct path_list *path_history__cpu(const struct path_history *h, uint64_t cpu);

/* The index-th. */
struct path_goroutine *path_goroutine(const struct path_history *h, uint32_t index);
struct path_thread *path_thread(const struct path_history *h, uint32_t index);
struct path_proc *path_proc(const struct path_history *h, uint32_t index);

/*
 * Append to a list at `time`, or, if the list is later, at the list's last time. Those that return
 * a pointer return an item that is 0 behind its time, or NULL: no memory; it is valid until the
 * next call for that list. Others return 0 or -ENOMEM.
 */
struct path_state *path_history__state(struct path_history *h, uint32_t goroutine, int64_t time);
struct path_run *path_history__run(struct path_history *h, uint32_t thread, int64_t time);
/* A system call begins (0 or -ENOMEM); the last one ends, if it has not ended yet. */
int path_history__call(struct path_history *h, uint32_t thread, int64_t time, uint32_t number);
void path_history__call_ends(struct path_history *h, uint32_t thread, int64_t time);
/* `on`: of a thread or a P. */
int path_history__on(struct path_history *h, struct path_list *on, int64_t time,
		     uint32_t goroutine);
int path_history__on_cpu(struct path_history *h, uint64_t cpu, const struct path_occupant *next);
int path_history__moved(struct path_history *h, uint32_t thread, int64_t time, uint16_t from,
			uint16_t to);
int path_history__stop(struct path_history *h, int64_t time, bool stopped);
bool path_history__full(const struct path_history *h); /* it holds more than its limit */
/* It has ended before the window: its states are not needed. */
void path_history__forget(struct path_history *h, uint32_t goroutine);

/* The goroutine that a thread or a P had just before `time`, by its list `on`. */
uint32_t path_list__on_before(const struct path_list *on, int64_t time);

/* The last of a list; NULL: it is empty. */
struct path_state *path_history__last_state(const struct path_history *h, uint32_t goroutine);
struct path_run *path_history__last_run(const struct path_history *h, uint32_t thread);
/*
 * Whether the goroutine with this ID still waits for something that may follow in the trace. `now`
 * is the time of the last event.
 */
bool path_history__is_pending(const struct path_history *h, uint64_t id, int64_t now);
/* Whether a thread has been woken by `time`, and waits for a CPU still: which one is then unknown. */
bool path_history__is_queued(const struct path_history *h, uint32_t thread, int64_t time);

/* How many items of `size` bytes of a list have begun before `time`. */
uint32_t path_list__before(const struct path_list *list, size_t size, int64_t time);

/* ---- filling the history ---- */

struct path_fold {
	struct path_history *h; /* borrowed */
	struct goroutine_tracker tracker;
	const struct kernel_threads *threads; /* during path_fold__event() */
	uint64_t ahead;			      /* of CLOCK_MONOTONIC before the trace's clock */
	bool threads_changed;		      /* other than by items, since the last sync */
	bool in_the_middle;		      /* path_fold__begin() was called */
};

void path_fold__init(struct path_fold *f, struct path_history *h);
void path_fold__deinit(struct path_fold *f);

/*
 * Takes over the states of goroutines from the reader of a trace that is read from its middle on,
 * by an index. It has no reasons of waits and no names. 0 or -ENOMEM.
 */
int path_fold__begin(struct path_fold *f, const struct order *order, int64_t time);

/*
 * Applies the next event, which was at `mono` of CLOCK_MONOTONIC, or the next kernel event;
 * `threads` are as the kernel events up to this one have left them. 0 or -ENOMEM.
 */
int path_fold__event(struct path_fold *f, const struct trace_event *ev,
		     const struct kernel_threads *threads, uint64_t mono);
int path_fold__item(struct path_fold *f, const struct kernel_item *item,
		    const struct kernel_threads *threads);
/*
 * To be called before the event or item if a table of threads or a loss has changed `threads`: the
 * states of threads are taken from them at the next sync.
 */
void path_fold__reread_threads(struct path_fold *f);

/* ---- the path ---- */

enum path_kind {
	PATH_UNKNOWN,	      /* neither Go nor the kernel has it */
	PATH_ON_CPU,	      /* it ran on a CPU */
	PATH_RUNNING,	      /* running for Go; the state of the thread is unknown */
	PATH_SYSCALL,	      /* in a system call; the state of the thread is unknown */
	PATH_GO_RUNNABLE,     /* waited for a P */
	PATH_KERNEL_RUNNABLE, /* its thread waited for a CPU */
	PATH_THROTTLED,	      /* its thread's cgroup had used up its time */
	PATH_KERNEL_BLOCKED,  /* running for Go, its thread asleep in the kernel */
	PATH_SYSCALL_BLOCKED, /* the same in a system call that Go has announced */
	PATH_GO_BLOCKED,
	PATH_KINDS
};

/* what ended a wait */
enum path_cause {
	PATH_CAUSE_NONE,
	PATH_CAUSE_GOROUTINE, /* `by` */
	PATH_CAUSE_PROCESS,   /* other, other_pid, other_name: another process's thread */
	PATH_CAUSE_THREAD,    /* other: a thread of the target that ran no goroutine */
	PATH_CAUSE_INTERRUPT,
	PATH_CAUSE_IDLE, /* the CPU, or the P, was idle */
	PATH_CAUSE_TIMER,
	PATH_CAUSE_NETPOLL,
	PATH_CAUSE_SCHEDULER, /* Go's, or another part of its runtime that is no goroutine */
	PATH_CAUSE_CGROUP,
	PATH_CAUSE_PENDING, /* not over when the trace ends */
	PATH_CAUSES
};

/* The cause of the end of a wait that no goroutine ended, by the reason of the wait. */
enum path_cause path_cause__without_goroutine(struct trace_string reason);

#define PATH_HOLDERS 4

enum { PATH_NOTE_ASSIST = 1, PATH_NOTE_STOPPED = 2 };

struct path_segment {
	int64_t from, to;
	uint8_t kind;  /* enum path_kind */
	uint8_t cause; /* enum path_cause */
	uint8_t notes; /* PATH_NOTE_…: of any part of it */
	uint8_t why;   /* enum gt_off: of a thread that was asleep */
	uint8_t sleep; /* enum gt_sleep, likewise */
	bool fault;
	bool more_holders;	    /* than are in `holders` */
	bool got_first;		    /* `other` got the CPU first; its later occupants are unknown */
	uint32_t depth;		    /* number of waits between it and the requested goroutine */
	uint32_t goroutine, thread; /* whose time it is: indices or PATH_NONE */
	uint32_t reason;	    /* Go-blocked: interned */
	uint32_t call;		    /* or KERNEL_NO_CALL */
	uint32_t by; /* index of the goroutine that gave up the P, held the CPU or ended the wait */
	/* Its thread; Go-runnable: not 0 if that held the CPU for which the P's thread waited. */
	uint32_t other, other_pid, other_name;
	/* Go-runnable: goroutines that had the Ps, the longest first. */
	uint32_t holders[PATH_HOLDERS];
};

struct path {
	/* by time; the first begins at `from`, the last ends at `to` */
	struct path_segment *segments;
	size_t n, cap;
	int64_t from, to;
	uint64_t work; /* steps through the goroutines that had Ps */
};

/*
 * The path of a goroutine through [from, to), from <= to; to be deinitialized. Accepts any history:
 * a contradiction ends a chain of waits, and what is missing is PATH_UNKNOWN. 0, -ENOMEM, or
 * -E2BIG: its segments would exceed the history's memory limit.
 */
int path__walk(const struct path_history *h, uint32_t goroutine, int64_t from, int64_t to,
	       struct path *ret);
/*
 * The same for one of many paths of one history. *held is NULL before the first, and is to be freed after
 * the last: otherwise each path would allocate memory for all goroutines. Reduces *budget by the steps
 * that it takes, one per item of a list that is looked at; -E2BIG also if none are left. UINT64_MAX is no
 * limit.
 */
int path__walk_next(const struct path_history *h, uint64_t **held, uint32_t goroutine, int64_t from,
		    int64_t to, uint64_t *budget, struct path *ret);
void path__deinit(struct path *p);

/*
 * What distinguishes causes beside the members of a segment: the index of the thread whose time it
 * is, if that is no goroutine's (or PATH_NONE); the ID of the thread that is the cause, if that is
 * neither a goroutine nor a known process (or 0); whether the cause held a CPU rather than a P.
 */
uint32_t path_cause__own_thread(const struct path_segment *seg);
uint32_t path_cause__thread(const struct path_segment *seg);
bool path_cause__held_cpu(const struct path_segment *seg);

struct path_cause_total {
	const struct path_segment *like; /* one of them; its causes are those of all */
	uint64_t ns, count;
};

/* The path's time by kind and cause, longest first; to be freed before the path. 0 or -ENOMEM. */
int path__summary(const struct path *p, struct path_cause_total **ret, size_t *ret_n);

/*
 * The time of a cause in several paths. Goroutines with the same start function are not
 * distinguished, except that the path's own goroutine is not the others.
 */
struct path_sum {
	struct path_segment like;  /* one of them, of any path */
	bool own;		   /* it is time of the path's own goroutine */
	bool by_own;		   /* that goroutine is the cause */
	uint64_t ns, count, paths; /* count: of segments; paths: that have it */
};

struct path_sums {
	const struct path_history *h; /* borrowed */
	struct path_sum *at;
	size_t n, cap, combine_at;
	uint64_t ns, paths; /* in total */
};

void path_sums__init(struct path_sums *s, const struct path_history *h);
void path_sums__deinit(struct path_sums *s);
/* Adds the path of `goroutine`, an index. 0 or -ENOMEM. */
int path_sums__add(struct path_sums *s, const struct path *p, uint32_t goroutine);
/* To be called once, after the last path: the sums are then sorted, longest first. */
void path_sums__finish(struct path_sums *s);

/*
 * What system calls of one kind took in several paths, from where Go enters them to where it has left
 * them. Of those that Go has not announced, only waits are known to be within.
 */
struct path_call_sum {
	uint32_t call;
	uint64_t ns, kinds[PATH_KINDS]; /* ns; the kinds add up to it */
};

/* After path_sums__finish(): the longest first; to be freed. 0 or -ENOMEM. */
int path_sums__calls(const struct path_sums *s, struct path_call_sum **ret, size_t *ret_n);

#endif
