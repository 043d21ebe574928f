/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The samples of a profile: values by stack and labels.
 *
 * Upstream: profile/profile.c, which adds values. Downstream: profile/pprof.c and totals.c, for
 * the formats of other tools. Stacks and names of all generations have one id each, so that equal
 * stacks of two generations are one stack.
 *
 * Memory is proportional to the distinct stacks, names and samples of the trace, and limited by
 * SAMPLES_MAX and SAMPLES_MEMORY, because a trace may consist of distinct stacks only.
 */
#ifndef PROFILE_SAMPLES_H
#define PROFILE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/event.h"
#include "lib/map.h"
#include "writer/intern.h"

#define SAMPLES_MAX    (1u << 22)
#define SAMPLES_MEMORY ((size_t)512 << 20) /* bytes of stacks, names and labels */

/* Of a sample. Members that were not requested or are unknown have the values in parentheses. */
struct sample_labels {
	uint64_t goroutine; /* (TRACE_NO_G) */
	uint64_t thread;    /* (TRACE_NO_M) */
	uint64_t task;	    /* (0) */
	uint32_t function;  /* start function, an id of a text (0) */
	uint32_t pad;
};

struct sample {
	uint32_t stack;	 /* id in texts; 0: none */
	uint32_t labels; /* for samples__labels() */
	uint64_t count;
	int64_t value; /* ns, unless struct samples.counted */
};

struct samples {
	struct intern *texts;  /* names, and stacks whose frames refer to them */
	struct intern *labels; /* distinct struct sample_labels, as strings */
	struct map of_trace;   /* stacks of the present generation: to ids in texts, plus 1 */
	struct map index;      /* by labels and stack: index in `at`, plus 1 */
	struct sample *at;     /* in the order in which they were first added */
	size_t n, cap;
	bool counted; /* values are the counts: the time that a sample stands for is unknown */
};

int samples__init(struct samples *s); /* 0 or -ENOMEM; deinit in either case */
void samples__deinit(struct samples *s);

/* Stack ids of the trace have another meaning from now on: a generation begins. */
void samples__begin_generation(struct samples *s);
/* The id of a stack of the trace, with all its frames. 0, -ENOMEM or -E2BIG: see samples__add(). */
int samples__stack(struct samples *s, const struct dictionary *dictionary, uint64_t stack,
		   uint32_t *ret);
/*
 * The id of `stack` with a frame `leaf`, the id of a text, in front of it, which has no address.
 * If the stack is 0, it is that of the function `root` alone; 0: without that, too. 0 or -ENOMEM.
 */
int samples__with_leaf(struct samples *s, uint32_t leaf, uint32_t stack, uint32_t root,
		       uint32_t *ret);
/*
 * Adds to the sample of this stack and these labels, whose padding is 0. 0, -ENOMEM or -E2BIG: the
 * limits are exceeded.
 */
int samples__add(struct samples *s, uint32_t stack, const struct sample_labels *labels,
		 uint64_t count, int64_t value);
/* Makes the counts the values. */
void samples__use_counts(struct samples *s);
/* The labels of a sample. */
void samples__labels(const struct samples *s, const struct sample *sample,
		     struct sample_labels *ret);
/* The frames of a sample, leaf first; NULL and 0: none. */
const struct intern_frame *samples__frames(const struct samples *s, const struct sample *sample,
					   size_t *ret_n);

#endif
