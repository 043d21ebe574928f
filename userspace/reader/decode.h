/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decodes the bytes of a v2 trace into generations.
 *
 * Upstream: lib/input.c. Downstream: reader/reader.c, which orders the events of the threads. A
 * generation is held in memory as a whole, as in Go's reader, because its strings, stacks and clock
 * may be in any of its batches; the largest one determines the memory needed. The rules are those
 * of Go 1.26, internal/trace/batch.go and generation.go.
 */
#ifndef READER_DECODE_H
#define READER_DECODE_H

#include "format/dictionary.h"
#include "format/event.h"
#include "lib/error.h"
#include "lib/input.h"
#include "reader/blocks.h"

/* A batch of timed events. */
struct gen_batch {
	uint64_t time;	 /* ticks */
	uint64_t offset; /* of the batch in the trace */
	const unsigned char *data;
	uint32_t len : 24;
	uint32_t head : 8; /* length of the batch header */
	uint32_t number;   /* in the generation, from 1 */
	struct block *block;
};

struct gen_thread {
	uint64_t m;
	struct gen_batch *batch; /* in file order */
	size_t n, cap;
	size_t released; /* number, from the first, whose data is gone */
};

struct gen_sample {
	int64_t time; /* ns */
	uint64_t m, p, g, stack;
};

struct generation {
	uint64_t number;
	uint64_t offset; /* of the first batch */
	uint64_t batches;
	double ns_per_tick;
	uint32_t whole_ns; /* ns_per_tick if it is a whole number; else 0 */
	uint64_t min_time; /* ticks, of the earliest batch */
	struct trace_clock clock;
	struct gen_thread *threads; /* in the order of their first batches */
	size_t nthreads, threads_cap;
	struct gen_sample *samples; /* by time */
	size_t nsamples, samples_cap;
	struct map thread_by_m; /* to index in threads + 1 */
	struct dictionary dictionary;
	struct block_pool *pool; /* of the batches' data; borrowed */
	struct block *filled;	 /* the block that is being filled */
	size_t bytes;		 /* of the batches' data */
};

void generation__init(struct generation *g, struct block_pool *pool);
void generation__deinit(struct generation *g);
void generation__clear(struct generation *g); /* removes all content but keeps most memory */

/* The data of the first `n` batches of the thread is no longer needed. */
void generation__release(struct generation *g, struct gen_thread *thread, size_t n);

struct decoder;

/*
 * `in` is borrowed; its position must be behind the header. `version`: one of TRACE_VERSIONS.
 * Returns NULL if memory is exhausted.
 */
struct decoder *decoder__create(struct input *in, unsigned int version);
void decoder__destroy(struct decoder *d);
/* From now on generations contain nothing that Go's reader does not see: see struct reader_opts. */
void decoder__as_go(struct decoder *d);

/*
 * Decodes the next generation into *g, replacing its content. Returns 1; 0 at the end of the trace;
 * or a negative errno with position and reason: -EBADMSG if the trace is corrupt, or an error of
 * reading. A valid generation is returned before an error behind it.
 */
int decoder__next(struct decoder *d, struct generation *g, struct error *error);

/*
 * Decodes the generation at `offset`, which was decoded before, into *g; afterwards the decoder is
 * where it was. Returns as decoder__next(), or an error of reading.
 */
int decoder__repeat(struct decoder *d, uint64_t offset, struct generation *g, struct error *error);

/* The error behind the generation returned last, if it is already known; else NULL. */
const char *decoder__pending(const struct decoder *d);

/* Continues at `offset`, the start of a generation. Returns 0 or a negative errno, with message. */
int decoder__seek(struct decoder *d, uint64_t offset, struct error *error);

/* Converts ticks to ns with the rounding of Go, and its result for values that exceed int64_t. */
static inline int64_t generation__ns(const struct generation *g, uint64_t ticks)
{
	double ns;

	if (__builtin_expect(g->whole_ns && ticks < 1u << 31,
			     1)) /* a double represents these exactly, too */
		return (int64_t)(ticks * g->whole_ns);
	ns = (double)ticks * g->ns_per_tick;
	if (__builtin_expect(!(ns > -0x1p63 && ns < 0x1p63), 0))
		return INT64_MIN;
	return (int64_t)ns;
}

#endif
