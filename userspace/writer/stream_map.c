// SPDX-License-Identifier: GPL-2.0
/*
 * The streams of a generation's threads, by thread id.
 *
 * Upstream: writer/writer.c, for each event. Downstream: format/encode.c, which writes into the
 * stream.
 */
#include <stdlib.h>

#include "lib/array.h"
#include "writer/stream_map.h"

void stream_map__init(struct stream_map *t, struct chunk_pool *pool)
{
	*t = (struct stream_map){ .pool = pool };
	t->recent = &t->no_thread;
}

void stream_map__deinit(struct stream_map *t)
{
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		stream__deinit(t->streams[i]);
		free(t->streams[i]);
	}
	free(t->streams);
	map__deinit(&t->by_m);
	stream_map__init(t, t->pool);
}

static struct stream *add(struct stream_map *t, uint64_t m)
{
	struct stream *s;

	if (array__grow(&t->streams, t->count, &t->cap, sizeof(struct stream *)))
		return NULL;
	s = malloc(sizeof(*s));
	if (!s || map__put(&t->by_m, m, s)) {
		free(s);
		return NULL;
	}
	stream__init(s, t->pool, m, 0);
	t->streams[t->count++] = s;
	return s;
}

struct stream *stream_map__find(struct stream_map *t, uint64_t m)
{
	struct stream *s = map__get(&t->by_m, m);

	if (!s)
		s = add(t, m);
	if (s)
		t->recent = s;
	return s;
}

void stream_map__reset(struct stream_map *t)
{
	uint32_t i, kept = 0;

	t->recent = &t->no_thread;
	for (i = 0; i < t->count; i++) {
		struct stream *s = t->streams[i];

		if (!s->first) {
			map__remove(&t->by_m, s->m);
			free(s);
			continue;
		}
		stream__deinit(s);
		t->streams[kept++] = s;
	}
	t->count = kept;
}
