/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes of batches: LEB128 numbers appended to streams of batches, one stream a thread.
 *
 * A stream is a list of chunks, each holding whole batches and never moved, so that closing a
 * generation hands them to writev() as they are. Chunks come from a pool shared by all threads and
 * go back to it when the generation is written: no allocation an event, and memory follows what
 * a generation holds, not how many threads there ever were. A stream's first chunk is small,
 * since most of many threads do little.
 *
 *	chunk: | batch header | data ... | batch header | data ... |   room   |
 *	batch header: 1, gen, m, time, size (padded to 3 bytes: known when the batch ends)
 */
#ifndef TRACE_ENCODE_H
#define TRACE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define LEB_MAX	    10 /* bytes of the longest number */
#define EVENT_MAX   (1 + 5 * LEB_MAX)

#define CHUNK_SMALL 2048u  /* bytes of data */
#define CHUNK_LARGE 32768u /* well under TRACE_BATCH_MAX, so that a chunk is a batch at most */

struct chunk {
	struct chunk *next;
	uint32_t cap, len;
	uint8_t data[];
};

struct chunk_pool {
	struct chunk *small, *large; /* free ones */
	size_t free;		     /* bytes in them */
	size_t total;		     /* bytes allocated, in use or free */
};

void chunk_pool__deinit(struct chunk_pool *pool);

struct stream {
	struct chunk_pool *pool;
	uint64_t m;
	uint64_t time; /* ticks: of the last event, what the next dt counts from */
	uint32_t gen;
	uint8_t kind;	    /* first byte of each batch: EV_STRINGS …; 0: timed events */
	uint8_t *pos, *end; /* where the next byte goes, and where the chunk ends */
	uint8_t *size;	    /* the open batch's size field; NULL: none is open */
	struct chunk *first, *last;
	uint32_t chunks; /* number of them */
};

void stream__init(struct stream *s, struct chunk_pool *pool, uint64_t m, uint8_t kind);
void stream__deinit(struct stream *s); /* its chunks go back to the pool; it can be used again */

/*
 * Ends the open batch, if any, and begins one of generation s->gen, thread s->m at s->time, with
 * room for `room` bytes (at most CHUNK_LARGE - 64). Returns 0 or -ENOMEM.
 */
int stream__begin(struct stream *s, size_t room);
void stream__end(struct stream *s); /* the open batch, if any; before reading the chunks */

/* Makes room for `room` bytes at s->pos, in the open batch or in a new one. 0 or -ENOMEM. */
static inline int stream__room(struct stream *s, size_t room)
{
	if (__builtin_expect(s->size && (size_t)(s->end - s->pos) >= room, 1))
		return 0;
	return stream__begin(s, room);
}

struct iovec *stream__iovecs(const struct stream *s, struct iovec *iov); /* past the last */

/* Writes a number; returns past it. The caller has made room. */
static inline uint8_t *leb__put(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)v | 0x80;
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* Writes a timed event; s->time stays as it is. The caller has made room for EVENT_MAX bytes. */
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
