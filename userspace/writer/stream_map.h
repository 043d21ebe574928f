/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The streams of a generation's threads, by thread id.
 *
 * Used by writer/writer.c to find the batch of an event.
 */
#ifndef WRITER_STREAM_MAP_H
#define WRITER_STREAM_MAP_H

#include "format/encode.h"
#include "lib/map.h"

struct stream_map {
	struct chunk_pool *pool;
	struct stream **streams; /* in the order of their first event */
	uint32_t count;
	size_t cap;
	struct map by_m;
	struct stream *recent;	 /* never NULL: successive events are often of one thread */
	struct stream no_thread; /* initial value of `recent`, not of any thread */
};

void stream_map__init(struct stream_map *t, struct chunk_pool *pool);
void stream_map__deinit(struct stream_map *t);

/* Empties all streams for the next generation and removes threads without an event in this one. */
void stream_map__reset(struct stream_map *t);

/* Creates it if new. NULL: no memory. */
struct stream *stream_map__find(struct stream_map *t, uint64_t m);

/* Like stream_map__find(), fast for the thread of the last call. */
static inline struct stream *stream_map__get(struct stream_map *t, uint64_t m)
{
	if (__builtin_expect(t->recent->m == m && t->recent != &t->no_thread, 1))
		return t->recent;
	return stream_map__find(t, m);
}

#endif
