/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The durations of all intervals of one kind in a trace: waits of goroutines for a P, waits of
 * threads for a CPU, system calls, GC cycles, stop-the-world pauses, blocked goroutines.
 *
 * Upstream: reader/timeline.h, whose events and kernel events are merged by time. An interval is
 * counted when it ends, by analysis/lengths.h, if it ends within the requested time. One whose begin
 * is not in the trace has no known duration and is counted separately. Downstream: `gotrace
 * histogram`.
 *
 * Memory: a record per goroutine that is alive.
 */
#ifndef TRACE_INTERVALS_H
#define TRACE_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/lengths.h"
#include "analysis/naming.h"
#include "analysis/select.h"
#include "format/event.h"
#include "format/kernel.h"

struct timeline;
struct timeline_step;

enum interval_kind {
	INTERVAL_SCHED,	   /* a goroutine is runnable: it waits for a P */
	INTERVAL_RUNQUEUE, /* a thread is runnable: it waits for a CPU. Kernel events only */
	INTERVAL_SYSCALL,
	INTERVAL_GC, /* concurrent mark phase */
	INTERVAL_STW,
	INTERVAL_BLOCK, /* a goroutine waits, for something other than a P */
	INTERVAL_KINDS
};

/* The end of an interval, in the window. */
struct interval_end {
	enum interval_kind kind;
	bool kernel; /* it is one of a thread, between kernel events */
	/* Why it was blocked or paused, for intervals__text(); 0 for the other kinds. */
	uint32_t reason;
	int64_t ns; /* below 0: unknown */
};

struct intervals_opts {
	enum interval_kind kind; /* without `ended` */
	/*
	 * Called at the end of each interval of every kind, in place of counting those of one. NULL:
	 * they are counted.
	 */
	void (*ended)(void *context, const struct interval_end *end);
	void *context;
	/*
	 * Only intervals of this name: a system call, the reason of a pause or of a wait; NULL: all.
	 * Not for the other kinds. Borrowed.
	 */
	const char *name;
	/*
	 * Only those of goroutines that it accepts, and that have its labels; NULL: all. Not for GC cycles and pauses. `matches`:
	 * see selection__goroutine(). Borrowed.
	 */
	const struct selection *select;
	const struct map *matches;
};

struct interval_counts {
	struct lengths lengths;
	uint64_t
		uncounted; /* they end in the window, but their begin is not in the trace or lost */
};

struct intervals;

struct intervals *intervals__create(const struct intervals_opts *opts); /* NULL: no memory */
void intervals__destroy(struct intervals *iv);				/* may be NULL */
/* Count what ends in [from, to), trace time in ns. By default everything counts. */
void intervals__set_window(struct intervals *iv, int64_t from, int64_t to);

/* Before an event: what began before `time` has no known duration, because events were lost. */
void intervals__lose_before(struct intervals *iv, int64_t time);

/* Applies the next event. Returns 0 or -ENOMEM. */
int intervals__event(struct intervals *iv, const struct trace_event *ev);

/* A kernel event as reader/timeline.h delivers it. */
struct interval_item {
	const struct kernel_item *item;
	int64_t time;	   /* of the trace's clock */
	uint64_t duration; /* timeline__duration() */
	bool in_loss;
	const struct kernel_threads *threads; /* for the names of system calls */
	uint64_t goroutine;		      /* timeline__goroutine() of its thread */
};

void intervals__item(struct intervals *iv, const struct interval_item *item);

/*
 * Applies a step of the timeline that the trace is read with, in place of the three above. Returns 0 or
 * -ENOMEM.
 */
int intervals__step(struct intervals *iv, const struct timeline *t,
		    const struct timeline_step *step);

/* The text of a reason, until destroy. Reasons are numbers up to INTERVAL_REASONS. */
#define INTERVAL_REASONS KIND_THE_REST
struct trace_string intervals__text(const struct intervals *iv, uint32_t reason);

/*
 * The result so far. *ret_kernel is whether it is of kernel events. System calls are taken from
 * Go's events, which have no names, only if no name is requested and the trace has no kernel events
 * of system calls.
 */
const struct interval_counts *intervals__counts(const struct intervals *iv, bool *ret_kernel);

/* How many intervals of a kind are open, of those that are wanted, by Go's events. */
uint64_t intervals__open(const struct intervals *iv, enum interval_kind kind);

#endif
