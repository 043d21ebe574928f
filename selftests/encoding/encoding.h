/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trial of two encodings of a trace's timed events, which a container of traces could use instead
 * of LEB128: words and groups. docs/word-encoding.md contains the results.
 *
 * recode.c reads a trace with the decoder of the project and encodes its events in each encoding,
 * words.c and groups.c write and read them, measure.c times the decoders, and trial.c prints tables.
 * Nothing outside of this folder reads or writes these encodings.
 *
 * Both encodings keep the order of the events and the boundaries of the batches. A number (the time
 * difference or an argument) that exceeds 32 bits, or the space that a word has for it, is announced
 * by an escape in front of the event. Numbers are little-endian.
 */
#ifndef SELFTESTS_ENCODING_H
#define SELFTESTS_ENCODING_H

#include <stdbool.h>
#include <stdint.h>

#include "format/spec.h"
#include "lib/buf.h"
#include "lib/outbuf.h"

struct event {
	uint64_t number[EV_ARGS_MAX]; /* dt, and the arguments of the type; others are undefined */
	uint8_t type;
};

/* In place of a type: the event that follows has numbers with high halves. */
#define ESCAPE 0xff
_Static_assert(EV_END <= ESCAPE, "no event has the number of the escape");
_Static_assert(EV_ARGS_MAX == 5, "dt and four arguments, which fill a vector");

#define ALWAYS_INLINE inline __attribute__((always_inline))

static inline uint32_t load32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/*
 * The functions of an encoding. `count`: the number of numbers by type, dt included; 0: no such
 * event. X__put() appends an event; it returns 0 or -ENOMEM. X__take() reads the next one; false:
 * the bytes are not an event, which also sets b->bad. X__take_slow() does the same at any distance
 * from the end and with escapes; the inline function is for what is frequent.
 */
int words__put(struct outbuf *o, const struct event *e, const uint8_t count[256]);
bool words__take_slow(struct buf *b, struct event *e, const uint8_t count[256]);
int groups__put(struct outbuf *o, const struct event *e, const uint8_t count[256]);
bool groups__take_slow(struct buf *b, struct event *e, const uint8_t count[256]);

/*
 * Words: the encoding of the "Future work" section of the design document of Go's v2 traces. An
 * event is a word of 4 bytes with its type and dt, and a word per argument.
 *
 *	      0        8                        32
 *	      +--------+------------------------+
 *	      | type   | dt, bits 0 to 23       |
 *	      +--------+------------------------+
 *	      | argument, bits 0 to 31          |  repeated
 *	      +---------------------------------+
 *
 * The escape: bit i of the mask means that a word with the high part of number i follows, which is
 * bits 24 to 55 of dt or bits 32 to 63 of an argument. These words precede the event's own ones.
 *
 *	      0        8      13   16         24         32
 *	      +--------+------+----+----------+----------+
 *	      | 0xff   | mask | 0  | dt >> 56 | 0        |
 *	      +--------+------+----+----------+----------+
 */
#define WORDS_FAST 20 /* bytes: an event without escape */

/* Reads the first word. Returns the number of words; 0: a case for words__take_slow(). */
static ALWAYS_INLINE unsigned int words__head(const struct buf *b, struct event *e,
					      const uint8_t count[256])
{
	uint32_t head;

	if (__builtin_expect(b->end - b->pos < WORDS_FAST, 0))
		return 0;
	head = load32(b->pos);
	e->type = (uint8_t)head;
	e->number[0] = head >> 8;
	return count[e->type];
}

static ALWAYS_INLINE bool words__take(struct buf *b, struct event *e, const uint8_t count[256])
{
	unsigned int n = words__head(b, e, count);

	if (__builtin_expect(!n, 0))
		return words__take_slow(b, e, count);
	for (unsigned int i = 1; i < EV_ARGS_MAX; i++)
		e->number[i] = load32(b->pos + sizeof(uint32_t) * i);
	b->pos += sizeof(uint32_t) * n;
	return true;
}

/*
 * Groups: a byte with the type, a byte with the lengths of the first four numbers, two bits each
 * beginning with the lowest, and these numbers in 0, 1, 2 or 4 bytes. The only event with a fifth
 * number has that in 4 more bytes. So the second byte alone determines where each number is; the
 * lengths of numbers that the type lacks are 0, which a reader need not check.
 *
 * The escape: a byte 0xff, a byte with a mask, and 4 bytes with the high half of each number that
 * has its bit in the mask. These precede the event's own bytes.
 */
#define GROUPS_FAST 22 /* bytes: an event without escape */
#define GROUPED	    4  /* numbers with a length */

static const uint8_t groups_length[4] = { 0, 1, 2, 4 };

/* Reads the first two bytes. Returns the number of numbers; 0: a case for groups__take_slow(). */
static ALWAYS_INLINE unsigned int groups__head(const struct buf *b, struct event *e,
					       uint8_t *ret_lengths, const uint8_t count[256])
{
	if (__builtin_expect(b->end - b->pos < GROUPS_FAST, 0))
		return 0;
	e->type = b->pos[0];
	*ret_lengths = b->pos[1];
	return count[e->type];
}

/* Moves behind an event whose first four numbers end at `p`. */
static ALWAYS_INLINE void groups__end(struct buf *b, struct event *e, const unsigned char *p,
				      unsigned int n)
{
	if (__builtin_expect(n > GROUPED, 0)) {
		e->number[GROUPED] = load32(p);
		p += sizeof(uint32_t);
	}
	b->pos = p;
}

static ALWAYS_INLINE bool groups__take(struct buf *b, struct event *e, const uint8_t count[256])
{
	static const uint32_t low[4] = { 0, 0xff, 0xffff, 0xffffffff };
	const unsigned char *p = b->pos + 2;
	unsigned int code, n;
	uint8_t lengths;

	n = groups__head(b, e, &lengths, count);
	if (__builtin_expect(!n, 0))
		return groups__take_slow(b, e, count);
	for (unsigned int i = 0; i < GROUPED; i++) {
		code = lengths >> 2 * i & 3;
		e->number[i] = load32(p) & low[code];
		p += groups_length[code];
	}
	groups__end(b, e, p, n);
	return true;
}

#if defined(__x86_64__)
#include "encoding_x86.h"
#endif

#endif
