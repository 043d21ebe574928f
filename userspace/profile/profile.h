/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Profiles of a trace: which stacks took how much of the time that goroutines spent in one way.
 *
 * Upstream: reader/timeline.h, whose events analysis/goroutine_tracker.h interprets. An interval of
 * a goroutine is added when it ends, to the samples of profile/samples.h, with the stack of its
 * begin. Downstream: `gotrace profile`.
 *
 * Memory: a record per goroutine that is alive, and the samples.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/select.h"
#include "profile/samples.h"

/* The first four are those of `go tool trace -pprof=KIND`, with the same numbers. */
enum profile_kind {
	PROFILE_NET,  /* blocked on the network */
	PROFILE_SYNC, /* blocked on channels, select and the locks of package sync */
	PROFILE_SYSCALL,
	PROFILE_SCHED, /* runnable: waiting for a P */
	PROFILE_KINDS
};

/* How pprof names the two values of a sample, and the second one in "Type: delay". */
struct profile_names {
	const char *kind, *count, *value;
	const char *period; /* of what the values are counts */
};

extern const struct profile_names profile_names[PROFILE_KINDS];

struct profile_opts {
	enum profile_kind kind;
	/* Labels that samples get; each makes samples that would otherwise be one differ. */
	bool by_goroutine, by_function, by_thread;
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
/* There are no more events. Errors as above. */
int profile__finish(struct profile *p);
/* The result, which belongs to `p`. */
struct samples *profile__samples(struct profile *p);

#endif
