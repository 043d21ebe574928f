/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An output buffer: bytes are appended, and written by a callback whenever the buffer is full.
 *
 * Without a callback it is a growing array of bytes in memory: {} is an empty one. Nothing is
 * allocated before the first outbuf__room(). output__buffer() of writer/output.h makes one that is
 * written to an output file.
 */
#ifndef LIB_OUTBUF_H
#define LIB_OUTBUF_H

#include <stddef.h>

#include "lib/error.h"

struct outbuf {
	/* Writes all of `len` bytes or returns a negative errno; NULL: the buffer grows instead. */
	int (*write)(void *to, const void *data, size_t len);
	void *to;	  /* for `write`; borrowed */
	const char *name; /* of what is written to, for messages; borrowed */
	char *data;
	size_t len, cap;
};

void outbuf__deinit(struct outbuf *o); /* leaves {} */

/* Writes what the buffer holds. Returns 0, or a negative errno with the reason. */
int outbuf__flush(struct outbuf *o, struct error *error);

int outbuf__make_room(struct outbuf *o, size_t len, struct error *error);

/*
 * Makes data[len .. len + `len`) writable; the caller writes there and moves o->len. 0 or a negative
 * errno with the reason: no memory, or a write that failed. `error` may be NULL, here and below.
 */
static inline int outbuf__room(struct outbuf *o, size_t len, struct error *error)
{
	return __builtin_expect(o->cap - o->len >= len, 1) ? 0 : outbuf__make_room(o, len, error);
}

int outbuf__put(struct outbuf *o, const void *data, size_t len, struct error *error);

#endif
