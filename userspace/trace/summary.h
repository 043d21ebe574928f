/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where each goroutine's time went: a fold over the events of a trace, in one pass.
 *
 * Before it in an event's way: trace/reader.c, whose events it understands by trace/meaning.h.
 * After it: `gotrace goroutines`. The figures are those of the Summarizer of Go's internal/trace,
 * to the nanosecond and with its peculiarities: a time of 0 stands for "not", and blocking
 * "forever" counts as an end. One is corrected, so that parts never exceed their whole: of a system
 * call that the trace's end finds blocked, Go counts the blocked time twice.
 *
 * Memory follows the goroutines that are alive: who has ended is handed out at once. Regions and
 * tasks are kept only when asked for.
 */
#ifndef TRACE_SUMMARY_H
#define TRACE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/error.h"
#include "trace/amounts.h"
#include "trace/event.h"

#define SUMMARY_NEVER INT64_MIN /* the time of what was not seen; of regions and tasks */

struct summary_stats { /* ns */
	int64_t exec, sched_wait, syscall, syscall_block;
	int64_t total;	  /* being there at all */
	int64_t gc_work;  /* of exec: within mark assists and sweeps */
	int64_t go_twice; /* of syscall_block: Go has it in syscall, and in sched_wait as well */
	struct amounts block, ranges; /* kinds are summary__kind() */
};

struct summary_region {
	uint64_t task;
	uint32_t name; /* summary__name(); one that is inherited from the creator has none: 0 */
	int64_t start, end;
	struct summary_stats stats;
};

struct summary_goroutine {
	uint64_t id, pc;		 /* pc: of its start function; 0: no stack was seen */
	uint32_t name;			 /* of that function: summary__name() */
	int64_t created, started, ended; /* 0: never */
	struct summary_stats stats;
	struct buf regions; /* in the order of their ends: summary_region__unpack() */
};

struct summary_list {
	int64_t *at;
	size_t n, cap;
};

struct summary_task {
	uint64_t id, parent; /* TRACE_NO_TASK: not known */
	uint32_t name;	     /* summary__name() */
	int64_t start, end;
	struct summary_list children;	/* ids of tasks, as they became known */
	struct summary_list goroutines; /* ids, sorted after summary__finish() */
	struct summary_list regions;	/* their starts, in the order of the trace */
	struct summary_list logs;	/* the times of its messages */
};

struct summary_opts {
	bool regions; /* and tasks */
	/*
	 * A goroutine has ended, or the trace has: called once for each. What `g` points to is gone
	 * after the call. 0, or a negative errno, which ends the summary.
	 */
	int (*done)(void *context, const struct summary_goroutine *g);
	void *context;
};

struct summary;

struct summary *summary__create(const struct summary_opts *opts); /* NULL: no memory */
void summary__destroy(struct summary *s);

/* The next event. 0 or a negative errno with the reason: -ENOMEM, -E2BIG, or what done() said. */
int summary__event(struct summary *s, const struct trace_event *ev, struct error *err);
/* No more will come: hands out who is still alive, in no order. Errors as above. */
int summary__finish(struct summary *s, struct error *err);

/* What ids mean, of all generations and until destroy; 0 is the empty name. */
struct trace_string summary__name(const struct summary *s, uint32_t name);
struct trace_string summary__kind(const struct summary *s, uint32_t kind);

/* The i-th task, by id; NULL: there are no more. After summary__finish(). */
const struct summary_task *summary__task(const struct summary *s, size_t i);

/* Is it one of the runtime's own, by the name of its start function? */
bool summary__is_system(struct trace_string name);

void summary_stats__deinit(struct summary_stats *stats);
/* 0 or -ENOMEM, with *sum as it was or partly added to. */
int summary_stats__add(struct summary_stats *sum, const struct summary_stats *more);
/* Of the total, what is in none of the other times (ranges overlap with those). */
int64_t summary_stats__unknown(const struct summary_stats *stats);

/*
 * Reads the next region of a goroutine: 1, its stats the caller's to deinit; 0: there are no more;
 * -ENOMEM.
 */
int summary_region__unpack(struct buf *regions, struct summary_region *ret);

#endif
