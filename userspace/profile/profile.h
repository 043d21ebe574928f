/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Profiles of a trace: which stacks took how much of the time that goroutines spent in one way.
 *
 * Upstream: reader/timeline.h, whose events analysis/goroutine_tracker.h interprets. An interval of
 * a goroutine is added when it ends, to the samples of profile/samples.h, with the stack of its
 * begin. Downstream: `gotrace profile`.
 *
 * In some kinds the innermost frame is not a function, but what the goroutine or its thread did,
 * such as [runnable] or [waiting: chan receive]. The frames behind it are the stack, or the start
 * function alone if there is no stack for that time.
 *
 * Memory: a record per goroutine that is alive and per thread that is off its CPU, and the samples.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/select.h"
#include "format/kernel.h"
#include "profile/samples.h"

/* The first four are those of `go tool trace -pprof=KIND`, with the same numbers. */
enum profile_kind {
	PROFILE_NET,  /* blocked on the network */
	PROFILE_SYNC, /* blocked on channels, select and the locks of package sync */
	PROFILE_SYSCALL,
	PROFILE_SCHED, /* runnable: waiting for a P */
	/* Stacks of CPU samples, as the runtime's CPU profile or record --cpu-profile takes them */
	PROFILE_CPU,
	PROFILE_WALL,	/* all time of goroutines, by state */
	PROFILE_OFFCPU, /* threads of goroutines that run for Go without a CPU. Kernel events only */
	PROFILE_REGION, /* regions and tasks, from their begin to their end */
	PROFILE_TASK,
	PROFILE_GC, /* mark assists, sweeping, stop-the-world pauses, mark workers */
	PROFILE_KINDS
};

/* How pprof names the two values of a sample, and the second one in "Type: delay". */
struct profile_names {
	const char *kind, *count, *value;
	const char *period, *period_unit; /* of what the values are counts */
};

extern const struct profile_names profile_names[PROFILE_KINDS];

struct profile_opts {
	enum profile_kind kind;
	/* Labels that samples get; each makes samples that would otherwise be one differ. */
	bool by_goroutine, by_function, by_thread, by_task; /* task: of PROFILE_REGION, _TASK */
	int64_t sample_ns; /* of a CPU sample, whatever the trace contains; 0: as it contains */
	/* Only goroutines that it accepts; borrowed. NULL: all. */
	struct selection *select;
};

struct profile;

struct profile *profile__create(const struct profile_opts *opts); /* NULL: no memory */
void profile__destroy(struct profile *p);			  /* may be NULL */
/* Only the part of each interval in [from, to) counts, trace time in ns. By default all of it. */
void profile__set_window(struct profile *p, int64_t from, int64_t to);
/* Applies the next event. 0, -ENOMEM, or -E2BIG: the limits of samples.h are exceeded. */
int profile__event(struct profile *p, const struct trace_event *ev);
/*
 * Applies the next kernel event, at `time` of the trace's clock, with its timeline__duration(),
 * timeline__goroutine() and the state of the threads. Errors as above.
 */
struct profile_item {
	const struct kernel_item *item;
	int64_t time;
	uint64_t duration, goroutine;
	const struct kernel_threads *threads;
};
int profile__item(struct profile *p, const struct profile_item *item);
/* Kernel events were lost: what threads did until now is unknown. */
void profile__lose_threads(struct profile *p);
/*
 * Applies a step of the timeline that the trace is read with, in place of the three above. Errors
 * as above.
 */
struct timeline;
struct timeline_step;
int profile__step(struct profile *p, const struct timeline *t, const struct timeline_step *step);
/*
 * There are no more events. Errors as above. If the rate of a CPU sample is unknown, the values of all
 * are counts.
 */
int profile__finish(struct profile *p);
/* The ns that each CPU sample stands for; 0: unknown, or they differ. */
int64_t profile__sample_ns(const struct profile *p);
/* The result, which belongs to `p`. */
struct samples *profile__samples(struct profile *p);

#endif
