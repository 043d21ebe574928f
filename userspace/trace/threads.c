// SPDX-License-Identifier: GPL-2.0
/*
 * The streams of a generation's threads, found by thread id.
 *
 * Used by generation.c for each event, before encode.c puts the event's bytes into the stream.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "trace/threads.h"

void threads__init(struct threads *t, struct chunk_pool *pool)
{
	*t = (struct threads){ .pool = pool };
	t->recent = &t->nobody;
}

void threads__deinit(struct threads *t)
{
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		stream__deinit(t->streams[i]);
		free(t->streams[i]);
	}
	free(t->streams);
	free(t->slots);
	threads__init(t, t->pool);
}

static struct thread_slot *find_slot(const struct threads *t, uint64_t m)
{
	uint32_t i = (uint32_t)hash__word(m);

	for (i &= t->mask; t->slots[i].stream && t->slots[i].m != m; i = (i + 1) & t->mask)
		;
	return &t->slots[i];
}

static void fill_slots(struct threads *t)
{
	struct stream *s;
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		s = t->streams[i];
		*find_slot(t, s->m) = (struct thread_slot){ s->m, s };
	}
}

static int grow(struct threads *t)
{
	uint32_t cap = t->cap ? t->cap * 2 : 32;
	struct stream **streams = reallocarray(t->streams, cap, sizeof(*streams));
	struct thread_slot *slots;

	if (!streams)
		return -1;
	t->streams = streams;
	slots = calloc(2 * cap, sizeof(*slots));
	if (!slots)
		return -1;
	free(t->slots);
	t->slots = slots;
	t->mask = 2 * cap - 1;
	t->cap = cap;
	fill_slots(t);
	return 0;
}

static struct stream *add(struct threads *t, uint64_t m)
{
	struct stream *s;

	if (t->count == t->cap && grow(t))
		return NULL;
	s = malloc(sizeof(*s));
	if (!s)
		return NULL;
	stream__init(s, t->pool, m, 0);
	t->streams[t->count++] = s;
	*find_slot(t, m) = (struct thread_slot){ m, s };
	return s;
}

struct stream *threads__find(struct threads *t, uint64_t m)
{
	struct stream *s = t->slots ? find_slot(t, m)->stream : NULL;

	if (!s)
		s = add(t, m);
	if (s)
		t->recent = s;
	return s;
}

void threads__reset(struct threads *t)
{
	uint32_t i, kept = 0;

	t->recent = &t->nobody;
	for (i = 0; i < t->count; i++) {
		struct stream *s = t->streams[i];

		if (!s->first) {
			free(s);
			continue;
		}
		stream__deinit(s);
		t->streams[kept++] = s;
	}
	if (kept == t->count)
		return;
	t->count = kept;
	memset(t->slots, 0, (t->mask + 1) * sizeof(*t->slots));
	fill_slots(t);
}
