/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Each goroutine's time in parts that exclude each other and add up to all of it: a fold over events
 * and the kernel's items, in one pass.
 *
 * Before it in an event's way: trace/timeline.h, which has both in one order. After it: `gotrace
 * latency`. What Go says of a goroutine and what the kernel says of its thread make the part:
 *
 *	Go \ thread  has a core    waits for one     throttled   asleep, stopped  not known
 *	running      on CPU        kernel-runnable   throttled   kernel-blocked   on CPU
 *	in a call    on CPU        kernel-runnable   throttled   syscall-blocked  syscall-blocked
 *	runnable     Go-runnable
 *	waiting      Go-blocked
 *
 * From a goroutine's creation, or the beginning of the generation that first tells of it, to its end
 * or the trace's. Times only grow: an item that would lie before what came before it counts as if it
 * had come then, so that nothing counts twice.
 *
 * Memory follows the goroutines that are alive: who has ended is handed out at once.
 */
#ifndef TRACE_LATENCY_H
#define TRACE_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"
#include "trace/amounts.h"
#include "trace/event.h"
#include "trace/kernel.h"

enum latency_part {
	PART_ONCPU,
	PART_GO_RUNNABLE,     /* waits for a P */
	PART_KERNEL_RUNNABLE, /* has a P or is in a system call, its thread waits for a core */
	PART_THROTTLED,	      /* its thread's cgroup has used up its time */
	PART_KERNEL_BLOCKED, /* running for Go, its thread asleep: a page fault, a raw system call */
	PART_SYSCALL_BLOCKED, /* asleep in a system call that Go knows of */
	PART_GO_BLOCKED,
	LATENCY_PARTS
};

struct latency_stats { /* ns, unless said otherwise */
	int64_t part[LATENCY_PARTS];
	int64_t total; /* being there; the sum of the parts */
	/* Of what is on CPU: within a system call; within a mark assist. */
	int64_t syscall_oncpu, gc_assist;
	int64_t unknown;	/* of the parts: where the thread's state was not known */
	uint64_t migrations;	/* its thread came back on another core than it had */
	int64_t longest;	/* run-queue delay */
	struct amounts reasons; /* their kinds: latency_reason__part(), latency__reason() */
	struct amounts delays;	/* of run queues: for each class of lengths, how many (no ns) */
};

struct latency_goroutine {
	uint64_t id, pc; /* pc: of its start function; 0: no stack was seen */
	uint32_t name;	 /* of that function: latency__name() */
	struct latency_stats stats;
};

/* A kind of mark worker ("GC (dedicated)"): how long they were running for Go, and on a core. */
struct latency_worker {
	struct trace_string label;
	int64_t wall, oncpu;
};

struct latency_opts {
	int64_t from, to; /* only what lies in [from, to) counts; INT64_MIN, INT64_MAX: all */
	/*
	 * A goroutine has ended, or the trace has: called once for each that was there within the
	 * window. What `g` points to is gone after the call. 0, or a negative errno, which ends it.
	 */
	int (*done)(void *context, const struct latency_goroutine *g);
	void *context;
};

struct latency;

struct latency *latency__create(const struct latency_opts *opts); /* NULL: no memory */
void latency__destroy(struct latency *l);			  /* may be NULL */
/* The window, once the trace's start is known: before anything counts. */
void latency__set_window(struct latency *l, int64_t from, int64_t to);

/*
 * The next event, or the next item, which happened at `time` of the trace; `threads` are as the items
 * so far have left them, this one included. 0 or a negative errno with the reason: -ENOMEM, or what
 * done() said.
 */
int latency__event(struct latency *l, const struct trace_event *ev,
		   const struct kernel_threads *threads, struct error *err);
int latency__item(struct latency *l, const struct kernel_item *item, int64_t time,
		  const struct kernel_threads *threads, struct error *err);
/*
 * More than an item has changed `threads`: a generation's table, after its sync, or a loss. in_loss: from now on,
 * and until the next call, what any thread does is a guess, and counted as not known. Errors as above.
 */
int latency__forget(struct latency *l, const struct kernel_threads *threads, bool in_loss,
		    struct error *err);
/* No more will come: hands out who is still alive, in no order. Errors as above. */
int latency__finish(struct latency *l, struct error *err);

/* What ids mean, until destroy; 0 is the empty name. */
struct trace_string latency__name(const struct latency *l, uint32_t name);
/* Why: "chan receive", "futex", "page fault", "woken", "preempted by make", ... */
struct trace_string latency__reason(const struct latency *l, uint32_t kind);
static inline enum latency_part latency_reason__part(uint32_t kind)
{
	return (enum latency_part)(kind >> 16);
}

/* The i-th; false: there are no more. After latency__finish(). */
bool latency__worker(const struct latency *l, size_t i, struct latency_worker *ret);

void latency_stats__deinit(struct latency_stats *stats);
/* 0 or -ENOMEM, with *sum as it was or partly added to. */
int latency_stats__add(struct latency_stats *sum, const struct latency_stats *more);

/*
 * Run-queue delays are counted in classes of lengths, 16 from each power of two to the next: what
 * share of them (0.99) were at most so long, to 3 %, and how many they are.
 */
uint64_t latency_stats__delays(const struct latency_stats *stats);
int64_t latency_stats__delay(const struct latency_stats *stats, double share);

/* ---- those whose figures are final ---- */

struct pack;

/* Figures as bytes, for trace/record_store.h. 0 or -ENOMEM; unpacked stats are the caller's. */
int latency__pack(struct pack *p, const struct latency_goroutine *g);
int latency__unpack(struct buf record, struct latency_goroutine *ret);

#endif
