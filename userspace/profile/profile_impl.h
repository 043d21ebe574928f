/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files that make profiles: profile.c has the states of goroutines, profile_kernel.c
 * the threads that are off their CPUs, profile_annotations.c tasks and regions, profile_gc.c the
 * garbage collector.
 */
#ifndef PROFILE_PROFILE_IMPL_H
#define PROFILE_PROFILE_IMPL_H

#include "analysis/annotation_tracker.h"
#include "analysis/goroutine_tracker.h"
#include "profile/profile.h"

/*
 * Samples that a goroutine holds back. Before it runs there is one per state. More of a goroutine
 * without a name exist only in traces without stacks; their name is never known.
 */
#define HELD_MAX 64

struct held {
	int64_t ns;
	uint64_t thread, task;
	uint32_t stack;
	uint32_t leaf; /* id of a text in front of the stack; 0: none */
};

/* a goroutine */
struct profiled {
	struct tracked_goroutine go;
	bool wanted; /* its state belongs to the profile */
	bool ran;
	uint8_t n, cap;	 /* of `held` */
	uint32_t stack;	 /* of the begin of its state */
	uint32_t leaf;	 /* in front of it; 0: none */
	uint64_t thread; /* on which it is in that state; TRACE_NO_M: on none */
	struct held *held;
};

enum gc_range_kind { GC_RANGE_ASSIST, GC_RANGE_SWEEP, GC_RANGE_STW, GC_RANGES };

struct profile {
	struct profile_opts opts;
	int64_t from, to;
	struct goroutine_tracker tracker; /* of struct profiled */
	struct samples samples;
	struct {
		int64_t ns;  /* that one stands for in this generation; 0: unknown */
		int64_t all; /* the same of all samples so far; 0: there are none, or they differ */
		bool any, differ, unknown; /* unknown: that of a sample was */
	} cpu;
	/* profile_annotations.c: */
	struct annotation_tracker annotations;
	struct map region_stacks; /* by goroutine, of its open regions */
	uint32_t begin_stack;	  /* of the event */
	struct map off;		  /* profile_kernel.c: threads that are off their CPUs, by tid */
	struct map gc[GC_RANGES]; /* profile_gc.c: open ranges, by goroutine or P */
};

/*
 * Adds to the samples, or holds back what is not known to count yet, or how. 0, -ENOMEM or -E2BIG.
 * `g` is NULL if there is no such goroutine.
 */
int profile__add(struct profile *p, struct profiled *g, const struct held *held);
/* The part of an interval within the window; of times of a hostile trace, at most INT64_MAX. */
int64_t profile__part(const struct profile *p, int64_t begin, int64_t end);
/*
 * The known part of an interval within the window, of what had its last record at `record`; ret_lost:
 * the other part, or NULL.
 */
int64_t profile__known(const struct profile *p, uint64_t g, int64_t record, int64_t begin,
		       int64_t end, int64_t *ret_lost);
/* The id of a text for a frame: [what], or [what: detail]. 0 or -ENOMEM. */
int profile__leaf(struct profile *p, const char *what, struct trace_string detail, uint32_t *ret);

/* The time of a goroutine in the state that it leaves, if it is wanted. Errors as above. */
int profile__leave_state(struct profile *p, struct profiled *g);

/* profile_gc.c. Errors as above. */
int profile_gc__range(void *profile, const struct trace_event *ev, const struct semantics *m);
/* The runtime labels mark workers whenever they start to run. */
int profile_gc__label(struct profile *p, const struct semantics *m);
int profile_gc__finish(struct profile *p); /* before the goroutines end */
void profile_gc__deinit(struct profile *p);

void profile__init_annotations(struct profile *p);
void profile__deinit_annotations(struct profile *p);
/* Before the goroutine tracker gets the event. Errors as above. */
int profile__annotation(struct profile *p, const struct trace_event *ev);

#endif
