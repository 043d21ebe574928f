// SPDX-License-Identifier: GPL-2.0
/*
 * Batch encoding: allocates chunks and writes batch headers.
 *
 * Upstream: writer/writer.c, which appends events to the stream of their thread; writer/tables.c
 * and writer/prologue.c, which fill streams of their own. Downstream: writer/output_file.c, which
 * writes the chunks to the file.
 */
#include <errno.h>
#include <stdlib.h>

#include "format/encode.h"
#include "format/spec.h"

#define SIZE_BYTES 3 /* of 7 bits each: sizes up to 2 MiB */
#define HEADER_MAX (1 + 3 * LEB_MAX + SIZE_BYTES + 1)
#define POOL_KEEPS (16u << 20) /* bytes: a usual generation */

_Static_assert(CHUNK_LARGE <= TRACE_BATCH_MAX, "a batch never outgrows its chunk");

static struct chunk **pool__list(struct chunk_pool *pool, uint32_t cap)
{
	return cap == CHUNK_SMALL ? &pool->small : &pool->large;
}

static struct chunk *pool__get(struct chunk_pool *pool, uint32_t cap)
{
	struct chunk **list = pool__list(pool, cap), *c = *list;

	if (c) {
		*list = c->next;
		pool->free -= cap;
	} else {
		c = malloc(sizeof(*c) + cap);
		if (!c)
			return NULL;
		pool->total += cap;
	}
	c->next = NULL;
	c->cap = cap;
	c->len = 0;
	return c;
}

static void pool__put(struct chunk_pool *pool, struct chunk *c)
{
	struct chunk **list = pool__list(pool, c->cap);

	if (pool->free >= POOL_KEEPS) {
		pool->total -= c->cap;
		free(c);
		return;
	}
	c->next = *list;
	*list = c;
	pool->free += c->cap;
}

void chunk_pool__deinit(struct chunk_pool *pool)
{
	struct chunk **lists[] = { &pool->small, &pool->large }, *c;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		while ((c = *lists[i])) {
			*lists[i] = c->next;
			free(c);
		}
	}
	*pool = (struct chunk_pool){ 0 };
}

void stream__init(struct stream *s, struct chunk_pool *pool, uint64_t m, uint8_t kind)
{
	*s = (struct stream){ .pool = pool, .m = m, .kind = kind };
}

void stream__deinit(struct stream *s)
{
	struct chunk *c;

	while ((c = s->first)) {
		s->first = c->next;
		pool__put(s->pool, c);
	}
	stream__init(s, s->pool, s->m, s->kind);
}

/* Writes a number in exactly SIZE_BYTES bytes. The format permits the redundant zero bits. */
static void put_size(uint8_t *p, uint32_t size)
{
	p[0] = size | 0x80;
	p[1] = (size >> 7) | 0x80;
	p[2] = size >> 14;
}

void stream__end(struct stream *s)
{
	if (s->size)
		put_size(s->size, s->pos - (s->size + SIZE_BYTES));
	if (s->last)
		s->last->len = s->pos - s->last->data;
	s->size = NULL;
}

static int stream__add_chunk(struct stream *s, size_t room)
{
	bool small = !s->first && room <= CHUNK_SMALL;
	struct chunk *c = pool__get(s->pool, small ? CHUNK_SMALL : CHUNK_LARGE);

	if (!c)
		return -ENOMEM;
	if (s->last)
		s->last->next = c;
	else
		s->first = c;
	s->last = c;
	s->chunks++;
	s->pos = c->data;
	s->end = c->data + c->cap;
	return 0;
}

int stream__begin(struct stream *s, size_t room)
{
	int err;

	stream__end(s);
	room += HEADER_MAX;
	if (!s->last || (size_t)(s->end - s->pos) < room) {
		err = stream__add_chunk(s, room);
		if (err)
			return err;
	}
	*s->pos++ = EV_EVENT_BATCH;
	s->pos = leb__put(s->pos, s->gen);
	s->pos = leb__put(s->pos, s->m);
	s->pos = leb__put(s->pos, s->time);
	s->size = s->pos;
	s->pos += SIZE_BYTES;
	if (s->kind)
		*s->pos++ = s->kind;
	return 0;
}

int leb__append_bytes(struct outbuf *o, const void *data, size_t len, struct error *error)
{
	uint8_t number[LEB_MAX];
	int err = outbuf__put(o, number, (size_t)(leb__put(number, len) - number), error);

	return err ?: outbuf__put(o, data, len, error);
}

struct iovec *stream__iovecs(const struct stream *s, struct iovec *iov)
{
	const struct chunk *c;

	for (c = s->first; c; c = c->next)
		*iov++ = (struct iovec){ (void *)c->data, c->len };
	return iov;
}
