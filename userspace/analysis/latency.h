/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Each goroutine's time in parts that exclude each other and add up to all of it, computed from
 * events and kernel events in one pass.
 *
 * Upstream: reader/timeline.h, which has both in one order. Downstream: `gotrace latency`. The
 * state of a goroutine and that of its thread determine the part:
 *
 *	Go \ thread  on a CPU	    runnable	     throttled	 asleep, stopped  unknown
 *	running      on CPU        kernel-runnable   throttled   kernel-blocked   on CPU
 *	in a call    on CPU        kernel-runnable   throttled   syscall-blocked  syscall-blocked
 *	runnable     Go-runnable
 *	waiting      Go-blocked
 *
 * It begins with a goroutine's creation, or with the first generation that contains it, and ends
 * with the goroutine or the trace. Times only grow: a kernel event that would lie before what came
 * before it counts as if it had come then, so that nothing counts twice.
 *
 * Memory is proportional to the goroutines that are alive; a goroutine is reported when it ends.
 */
#ifndef TRACE_LATENCY_H
#define TRACE_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/labels.h"
#include "analysis/durations.h"
#include "analysis/place_table.h"
#include "format/event.h"
#include "format/kernel.h"
#include "lib/error.h"

enum latency_part {
	PART_ONCPU,
	PART_GO_RUNNABLE,     /* waits for a P */
	PART_KERNEL_RUNNABLE, /* has a P or is in a system call, its thread waits for a CPU */
	PART_THROTTLED,	      /* its thread's cgroup has used up its time */
	PART_KERNEL_BLOCKED,  /* running for Go, its thread asleep: page fault, raw system call */
	PART_SYSCALL_BLOCKED, /* asleep in a system call that Go has announced */
	PART_GO_BLOCKED,
	LATENCY_PARTS
};

/* Initializers of an array: the names of the parts in options, tables and JSON. */
#define LATENCY_PART_NAMES                                                                         \
	[PART_ONCPU] = "oncpu", [PART_GO_RUNNABLE] = "go-runnable",                                \
	[PART_KERNEL_RUNNABLE] = "kernel-runnable", [PART_THROTTLED] = "throttled",                \
	[PART_KERNEL_BLOCKED] = "kernel-blocked", [PART_SYSCALL_BLOCKED] = "syscall-blocked",      \
	[PART_GO_BLOCKED] = "go-blocked"

#define LATENCY_TIMES	     (LATENCY_PARTS + 6)

/* the reason of a sleep whose system call or other cause is not in the trace */
#define LATENCY_NOT_RECORDED "not recorded"

/* ns, unless stated otherwise */
struct latency_stats {
	union {
		struct {
			int64_t part[LATENCY_PARTS];
			int64_t total; /* the sum of the parts and of what is lost */
			int64_t lost;  /* unknown, because records were lost */
			/* Of the time on CPU: within a system call; within a mark assist. */
			int64_t syscall_oncpu, gc_assist;
			int64_t unknown;    /* of the parts: while the thread's state was unknown */
			int64_t migrations; /* number: its thread came back on another CPU */
		};
		int64_t times[LATENCY_TIMES]; /* the same */
	};
	int64_t longest;	  /* run-queue delay */
	struct durations reasons; /* their kinds: latency_reason__part(), latency__reason() */
	struct durations delays;  /* of run queues: for each class of lengths, how many (no ns) */
	/*
	 * The time of the parts Go-blocked and syscall-blocked, and that on CPU in mark assists, by
	 * latency__place(); only with latency_opts.places. Not packed.
	 */
	struct durations places;
	/*
	 * The time from entry to exit of system calls, by part and call as in `reasons`; only with
	 * latency_opts.places. Not packed.
	 */
	struct durations calls;
	/* What held the CPU while it was kernel-runnable, with latency__has_tasks(); latency__task(). */
	struct durations tasks;
};

struct latency_goroutine {
	uint64_t id, pc; /* pc: of its start function; 0: no stack was seen */
	/*
	 * When it was created, or the first generation that contains it began; and when it or the trace
	 * ended. Not in a packed one.
	 */
	int64_t created, ended;
	uint32_t name;			/* of that function: latency__name() */
	bool again;			/* it was reported before, up to a change of its labels */
	uint8_t state;			/* enum go_state; not in a packed one */
	struct goroutine_labels labels; /* with latency_opts.select; not in a packed one */
	struct latency_stats stats;
};

/* A kind of mark worker ("GC (dedicated)"): how long they were running for Go, and on a CPU. */
struct latency_worker {
	struct trace_string label;
	int64_t wall, oncpu;
};

/*
 * Time that a goroutine spent in one part, for one reason and in one state, without interruption;
 * with latency_opts.places also at one place, and either within a mark assist or system call or not.
 */
struct latency_slice {
	uint64_t id, m;	  /* m: its thread; TRACE_NO_M: it has none, or an unknown one */
	int64_t from, to; /* ns */
	uint64_t by;	  /* the goroutine that ended the wait; TRACE_NO_G: none, or not known */
	uint32_t name;	  /* of its start function, as far as it is known then: latency__name() */
	uint32_t reason;  /* for latency__reason(); 0: none */
	uint8_t part;	  /* enum latency_part */
	uint16_t place;	  /* for latency__place(); LATENCY_NO_PLACE: none */
	uint16_t
		call; /* with latency_opts.places: the system call, as a reason; 0: none, or unknown */
	uint8_t state; /* enum go_state */
	bool unknown;  /* the state of its thread is unknown */
	bool lost;     /* records were lost: all of the above but id, from and to is unknown */
	bool assist, in_call; /* with latency_opts.places: on CPU within a system call */
};

#define LATENCY_NO_PLACE UINT16_MAX

struct latency_opts {
	int64_t from, to; /* only what lies in [from, to) counts; INT64_MIN, INT64_MAX: all */
	/*
	 * Called once for each goroutine that existed within the window, when it or the trace ends.
	 * `g` is valid during the call. 0, or a negative errno, which ends the analysis.
	 */
	int (*done)(void *context, const struct latency_goroutine *g);
	/*
	 * Called for each slice of a goroutine, in their order, before it is reported as done. NULL: not
	 * needed. 0 or -ENOMEM.
	 */
	int (*slice)(void *context, const struct latency_slice *slice);
	void *context;
	bool places;			/* fill latency_stats.places and .calls */
	const struct selection *select; /* for its labels; borrowed. NULL: without labels */
};

struct latency;

struct latency *latency__create(const struct latency_opts *opts); /* NULL: no memory */
void latency__destroy(struct latency *l);			  /* may be NULL */
/* The window, once the trace's start is known: before anything counts. */
void latency__set_window(struct latency *l, int64_t from, int64_t to);

/*
 * Applies the next event or kernel event, which happened at `time` of the trace; `threads` are as
 * the kernel events up to this one have left them. 0 or a negative errno with the reason: -ENOMEM,
 * or that of done().
 */
int latency__event(struct latency *l, const struct trace_event *ev,
		   const struct kernel_threads *threads, struct error *error);
/* It counts no later than `until`, the time of the event that follows; INT64_MAX: none does. */
int latency__item(struct latency *l, const struct kernel_item *item, int64_t time, int64_t until,
		  const struct kernel_threads *threads, struct error *error);
/* Time passes up to `time`, of the trace, without an event: times so far are as of then. */
void latency__pass(struct latency *l, int64_t time);
/*
 * Applies a step of the timeline that the trace is read with, in place of the two above and the one
 * below. Errors as above.
 */
struct timeline;
struct timeline_step;
int latency__step(struct latency *l, const struct timeline *t, const struct timeline_step *step,
		  struct error *error);
/*
 * A generation's table, after its sync, or a loss has changed `threads`. in_loss: until the next
 * call the state of each thread is a guess and counts as unknown. Errors as above.
 */
int latency__forget(struct latency *l, const struct kernel_threads *threads, bool in_loss,
		    struct error *error);
/* The trace has ended: reports the goroutines that are alive, by id. Errors as above. */
int latency__finish(struct latency *l, struct error *error);

/*
 * What a goroutine's stats are at the last event, without the delays of run queues. Returns 1, with
 * stats that are the caller's; 0: it is not known; or -ENOMEM. Slices are not affected.
 */
int latency__so_far(struct latency *l, uint64_t goroutine, struct latency_stats *ret);

/*
 * What the goroutine waits for on the network can be read now: if it waits for that, the rest of the
 * wait has the reason LATENCY_DATA_READY. 0 or -ENOMEM.
 */
#define LATENCY_DATA_READY "network, data is ready"
int latency__data_ready(struct latency *l, uint64_t goroutine);
/* Whether records of the trace were lost, so that times may be. */
bool latency__has_gaps(const struct latency *l);

int64_t latency__now(const struct latency *l); /* the time of the last event or item */
/* Reports the present slice of a goroutine, up to then. 0 or -ENOMEM. */
int latency__flush(struct latency *l, uint64_t goroutine);

/* The texts of ids, until destroy; 0 is the empty name. */
struct trace_string latency__name(const struct latency *l, uint32_t name);
/*
 * Why: "chan receive", "futex", "page fault", "CPU held by make", ... If it was not recorded which
 * threads had the CPU: "woken", or the one that had it at first, "preempted by make".
 */
struct trace_string latency__reason(const struct latency *l, uint32_t kind);
/* What a kind of latency_stats.places stands for. */
struct latency_place {
	enum latency_part part; /* PART_ONCPU: in mark assists */
	uint32_t kind;		/* of the reason, as in latency_stats.reasons */
	struct trace_string reason;
	struct place_frame frame;
	bool others; /* several places, and reasons */
};
struct latency_place latency__place(const struct latency *l, uint32_t kind);
/* What held a CPU: "make", "(idle)", "(the program itself)", ... */
struct trace_string latency__task(const struct latency *l, uint32_t kind);
/* Whether the trace has what CPUs ran all the time, as that of `gotrace align` does. */
bool latency__is_aligned(const struct latency *l);
/* Whether the trace has what CPUs ran while threads waited for them. */
bool latency__has_tasks(const struct latency *l);
static inline enum latency_part latency_reason__part(uint32_t kind)
{
	return (enum latency_part)(kind >> 16);
}
/* Whether the time of a part is divided by reason. */
static inline bool latency_part__has_reasons(enum latency_part part)
{
	return part != PART_ONCPU && part != PART_GO_RUNNABLE && part != PART_THROTTLED;
}

/*
 * Calls `each` as opts.done would be called if the trace ended now, for the goroutines that are alive,
 * by id. For traces that do not end: the analysis goes on as if it had not been called. Returns 0,
 * -ENOMEM, or the error of `each`.
 */
int latency__each(struct latency *l, int (*each)(void *context, const struct latency_goroutine *g),
		  void *context);

/* The i-th; false: there are no more. After latency__finish() or latency__each(). */
bool latency__worker(const struct latency *l, size_t i, struct latency_worker *ret);

void latency_stats__deinit(struct latency_stats *stats);
/* A copy without the delays. 0 or -ENOMEM; *ret is to be deinitialized on success. */
int latency_stats__copy(struct latency_stats *ret, const struct latency_stats *stats);
/* 0 or -ENOMEM, with *sum as it was or partly added to. */
int latency_stats__add(struct latency_stats *sum, const struct latency_stats *more);
/*
 * Subtracts an earlier state of the same goroutine, by latency__so_far(): what is left is the time
 * between the two.
 */
void latency_stats__subtract(struct latency_stats *stats, const struct latency_stats *before);

/*
 * Run-queue delays are counted in classes of lengths, 16 from each power of two to the next: what
 * share of them (0.99) were at most so long, to 3 %, and how many they are.
 */
uint64_t latency_stats__delays(const struct latency_stats *stats);
int64_t latency_stats__delay(const struct latency_stats *stats, double share);

/*
 * A goroutine as bytes, for analysis/record_store.h: `g` is a latency_goroutine. 0 or -ENOMEM;
 * unpacked stats are the caller's.
 */
int latency__pack(struct outbuf *p, const void *g);
int latency__unpack(struct buf record, struct latency_goroutine *ret);

#endif
