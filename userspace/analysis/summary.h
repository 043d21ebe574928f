/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The time of each goroutine by state and reason, computed from the events of a trace in one pass.
 *
 * Upstream: goroutine_tracker.h. Downstream: `gotrace goroutines`. The figures are those of the
 * Summarizer of Go's internal/trace, to the nanosecond and with its peculiarities: a time of 0
 * stands for "never", and blocking "forever" counts as an end. One is corrected, so that parts
 * never exceed the whole: of a system call that is blocked when the trace ends, Go counts the
 * blocked time twice.
 *
 * Memory is proportional to the goroutines that are alive; a goroutine is reported when it ends.
 * Regions and tasks are kept only on request.
 */
#ifndef TRACE_SUMMARY_H
#define TRACE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/durations.h"
#include "analysis/labels.h"
#include "format/event.h"
#include "lib/buf.h"
#include "lib/error.h"

#define SUMMARY_NEVER INT64_MIN /* of regions and tasks: a time outside the trace */

#define SUMMARY_TIMES 8

/* ns */
struct summary_stats {
	union {
		struct {
			int64_t exec, sched_wait, syscall, syscall_block;
			int64_t total;	 /* from its creation to its end */
			int64_t gc_work; /* of exec: within mark assists and sweeps */
			int64_t lost;	 /* unknown, because records were lost; not in the others */
			int64_t go_twice; /* of syscall_block: also in Go's syscall, sched_wait */
		};
		int64_t times[SUMMARY_TIMES]; /* the same */
	};
	struct durations block, ranges; /* kinds are summary__kind() */
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
	bool again;			/* it was reported before, up to a change of its labels */
	struct goroutine_labels labels; /* with summary_opts.select; not in a packed one */
	struct buf regions;		/* in the order of their ends: summary_region__unpack() */
};

struct summary_list {
	int64_t *at;
	size_t n, cap;
};

struct summary_task {
	uint64_t id, parent; /* TRACE_NO_TASK: not known */
	uint32_t name;	     /* summary__name() */
	int64_t start, end;
	uint32_t last_name; /* of its last event, which a second end does not have */
	int64_t last_end; /* of a task that was ended more than once; Go's summary has these two */
	struct summary_list children;	/* ids of tasks, as they became known */
	struct summary_list goroutines; /* ids, sorted after summary__finish() */
	struct summary_list regions;	/* their starts, in the order of the trace */
	struct summary_list logs;	/* the times of its messages */
};

struct summary_opts {
	bool regions;			/* and tasks */
	bool as_go;			/* see struct goroutine_tracker */
	const struct selection *select; /* for its labels; borrowed. NULL: without labels */
	/*
	 * Called once for each goroutine, when it or the trace ends. `g` is valid during the call.
	 * 0, or a negative errno, which ends the summary.
	 */
	int (*done)(void *context, const struct summary_goroutine *g);
	void *context;
};

struct summary;

struct summary *summary__create(const struct summary_opts *opts); /* NULL: no memory */
void summary__destroy(struct summary *s);
/*
 * Before the first event: only what lies in [from, to), in ns, counts. Goroutines that did not exist
 * then, and regions outside, are not reported. What is reported of created, started, ended, start
 * and end remain the times of the events, within the window or not.
 */
void summary__set_window(struct summary *s, int64_t from, int64_t to);

/*
 * Applies the next event. 0 or a negative errno with the reason: -ENOMEM, -E2BIG, or that of
 * done().
 */
int summary__event(struct summary *s, const struct trace_event *ev, struct error *error);
/* The trace has ended: reports the goroutines that are alive, by id. Errors as above. */
int summary__finish(struct summary *s, struct error *error);

/* The texts of ids of any generation, until destroy; 0 is the empty name. */
struct trace_string summary__name(const struct summary *s, uint32_t name);
struct trace_string summary__kind(const struct summary *s, uint32_t kind);

/* The i-th task, by id; NULL: there are no more. After summary__finish(). */
const struct summary_task *summary__task(const struct summary *s, size_t i);

/* Whether records of the trace were lost, so that times may be. */
bool summary__has_gaps(const struct summary *s);

/* Whether a goroutine is one of the runtime's own, or of unknown start: format/start.h. */
bool summary__is_system(struct trace_string name);

void summary_stats__deinit(struct summary_stats *stats);
/* 0 or -ENOMEM, with *sum as it was or partly added to. */
int summary_stats__add(struct summary_stats *sum, const struct summary_stats *more);
/* Of the total, what is in none of the other times (ranges overlap with those). */
int64_t summary_stats__unknown(const struct summary_stats *stats);

/* A goroutine as bytes, for analysis/record_store.h: `g` is a summary_goroutine. 0 or -ENOMEM. */
int summary__pack(struct outbuf *p, const void *g);
/* Its stats are the caller's to deinit, its regions are in the record. 0 or -ENOMEM. */
int summary__unpack(struct buf record, struct summary_goroutine *ret);

/*
 * Reads the next region of a goroutine: 1, its stats the caller's to deinit; 0: there are no more;
 * -ENOMEM.
 */
int summary_region__unpack(struct buf *regions, struct summary_region *ret);

#endif
