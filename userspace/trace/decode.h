/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes of a v2 trace, a generation at a time.
 *
 * Before it in an event's way: lib/input.c. After it: trace/reader.c, which puts the threads'
 * events into order. A generation is held whole, as Go's reader does, since its strings, stacks and
 * clock may come anywhere in it: memory follows the largest one. Rules: Go's
 * internal/trace/{batch,generation}.go (1.26; shared docs: trace-format sections 1 to 4).
 */
#ifndef TRACE_DECODE_H
#define TRACE_DECODE_H

#include "lib/error.h"
#include "lib/input.h"
#include "trace/dictionary.h"
#include "trace/event.h"

struct gen_batch {	 /* of timed events */
	uint64_t time;	 /* ticks */
	uint64_t offset; /* of its first byte in the trace */
	const unsigned char *data;
	uint32_t len : 24;
	uint32_t head : 8; /* bytes before its data */
	uint32_t number;   /* in its generation, from 1 */
};

struct gen_thread {
	uint64_t m;
	struct gen_batch *batch; /* in the order of the file */
	size_t n, cap;
};

struct gen_sample {
	int64_t time; /* ns */
	uint64_t m, p, g, stack;
};

struct generation {
	uint64_t number;
	uint64_t offset; /* of its first batch */
	uint64_t batches;
	double ns_per_tick;
	uint32_t whole_ns; /* the same, if it is a whole number; else 0 */
	uint64_t min_time; /* ticks: of the earliest batch */
	struct trace_clock clock;
	struct gen_thread *threads; /* in the order of their first batches */
	size_t nthreads, threads_cap;
	struct gen_sample *samples; /* by time */
	size_t nsamples, samples_cap;
	struct map thread_by_m; /* to its number + 1 */
	struct dictionary words;
	struct blocks *data;
};

int generation__init(struct generation *g); /* 0 or -ENOMEM */
void generation__deinit(struct generation *g);

struct decoder;

/* `version`: 22, 23, 25, 26. The input stands behind the header; borrowed. NULL: no memory. */
struct decoder *decoder__create(struct input *in, unsigned int version);
void decoder__destroy(struct decoder *d);

/*
 * The next generation into *g, whose old content goes. 1: there it is; 0: the trace ends; a negative
 * errno: it is broken (-EBADMSG) or cannot be read, with place and reason. A generation that is
 * good is given before what is wrong behind it.
 */
int decoder__next(struct decoder *d, struct generation *g, struct error *err);

/* What is wrong behind the generation given last, if that is known already; NULL. */
const char *decoder__pending(const struct decoder *d);

/* Goes on at `offset`, where a generation begins. */
int decoder__seek(struct decoder *d, uint64_t offset, struct error *err);

/* Ticks to ns, with Go's rounding, and its result for what no int64_t can hold. */
static inline int64_t generation__ns(const struct generation *g, uint64_t ticks)
{
	double ns;

	if (__builtin_expect(g->whole_ns && ticks < 1u << 31, 1)) /* exact in a double as well */
		return (int64_t)(ticks * g->whole_ns);
	ns = (double)ticks * g->ns_per_tick;
	if (__builtin_expect(!(ns > -0x1p63 && ns < 0x1p63), 0))
		return INT64_MIN;
	return (int64_t)ns;
}

#endif
