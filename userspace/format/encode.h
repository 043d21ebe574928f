/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Batch encoding: LEB128 numbers appended to streams of batches, one stream per thread.
 *
 * A stream is a list of chunks. Each contains whole batches and never moves, so that writev() can
 * write the chunks of a closed generation as they are. Chunks come from a pool that all threads
 * share and return to it when the generation is written. So no event causes an allocation, and
 * memory depends on the size of a generation, not on the number of threads. The first chunk of a
 * stream is small, since most threads of a large process write little.
 *
 *	chunk: | batch header | data ... | batch header | data ... |   room   |
 *	batch header: 1, gen, m, time, size (padded to 3 bytes: known when the batch ends)
 */
#ifndef FORMAT_ENCODE_H
#define FORMAT_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "lib/outbuf.h"

#define LEB_MAX	    10 /* bytes of the longest number */
#define EVENT_MAX   (1 + 5 * LEB_MAX)

#define CHUNK_SMALL 2048u  /* bytes of data */
#define CHUNK_LARGE 32768u /* well under TRACE_BATCH_MAX: a batch never exceeds a chunk */

struct chunk {
	struct chunk *next;
	uint32_t cap, len;
	uint8_t data[];
};

struct chunk_pool {
	struct chunk *small, *large; /* lists of free chunks */
	size_t free;		     /* bytes in the free chunks */
	size_t total;		     /* bytes allocated, in use or free */
};

void chunk_pool__deinit(struct chunk_pool *pool);

struct stream {
	struct chunk_pool *pool;
	uint64_t m;
	uint64_t time; /* ticks, of the last event: the base of the next dt */
	uint32_t gen;
	uint8_t kind;	    /* first byte of each batch (EV_STRINGS, ...); 0: timed events */
	uint8_t *pos, *end; /* next byte to write, end of the chunk */
	uint8_t *size;	    /* size field of the open batch; NULL: no batch is open */
	struct chunk *first, *last;
	uint32_t chunks; /* length of the list */
};

void stream__init(struct stream *s, struct chunk_pool *pool, uint64_t m, uint8_t kind);
void stream__deinit(struct stream *s); /* returns the chunks to the pool; the stream stays usable */

/*
 * Ends the open batch, if any, and begins one of generation s->gen, thread s->m and time s->time
 * that has space for `room` bytes (at most CHUNK_LARGE - 64). Returns 0 or -ENOMEM.
 */
int stream__begin(struct stream *s, size_t room);
/* Ends the open batch, if any; required before reading the chunks. */
void stream__end(struct stream *s);

/* Ensures that `room` bytes fit at s->pos, if needed in a new batch. Returns 0 or -ENOMEM. */
static inline int stream__room(struct stream *s, size_t room)
{
	if (__builtin_expect(s->size && (size_t)(s->end - s->pos) >= room, 1))
		return 0;
	return stream__begin(s, room);
}

/* Returns one past the last. */
struct iovec *stream__iovecs(const struct stream *s, struct iovec *iov);

/* Writes a number of up to LEB_MAX bytes, without a check for space. Returns one past it. */
static inline uint8_t *leb__put(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)v | 0x80;
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* As leb__put(), at the end of a buffer that has room for LEB_MAX bytes. */
static inline void leb__append(struct outbuf *o, uint64_t v)
{
	o->len = (size_t)((char *)leb__put((uint8_t *)o->data + o->len, v) - o->data);
}

/* Appends bytes after their number. Returns 0, or a negative errno with the reason. */
int leb__append_bytes(struct outbuf *o, const void *data, size_t len, struct error *error);

/* Writes a timed event, without a check for space (EVENT_MAX). Does not change s->time. */
static inline void stream__put_event(struct stream *s, uint8_t type, uint64_t dt,
				     const uint64_t *args, unsigned int nargs)
{
	uint8_t *p = s->pos;
	unsigned int i;

	*p++ = type;
	p = leb__put(p, dt);
	for (i = 0; i < nargs; i++)
		p = leb__put(p, args[i]);
	s->pos = p;
}

#endif
