/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The streams of a generation's threads, found by thread id.
 */
#ifndef TRACE_THREADS_H
#define TRACE_THREADS_H

#include "trace/encode.h"

struct thread_slot {
	uint64_t m;
	struct stream *stream; /* NULL: free */
};

struct threads {
	struct chunk_pool *pool;
	struct stream **streams; /* in the order of their first event */
	uint32_t count, cap;
	struct thread_slot *slots; /* open addressing; a power of two, at most half full */
	uint32_t mask;
	struct stream *recent; /* never NULL: events of a thread come in runs */
	struct stream nobody;  /* what `recent` is at first; matches no thread */
};

void threads__init(struct threads *t, struct chunk_pool *pool);
void threads__deinit(struct threads *t);

/* Empties all streams for the next generation and forgets threads that had no event in this one. */
void threads__reset(struct threads *t);

struct stream *threads__find(struct threads *t, uint64_t m); /* made if new; NULL: no memory */

/* As threads__find(), fast for the thread asked for last. */
static inline struct stream *threads__get(struct threads *t, uint64_t m)
{
	if (__builtin_expect(t->recent->m == m && t->recent != &t->nobody, 1))
		return t->recent;
	return threads__find(t, m);
}

#endif
