/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Incremental decompression of gzip and zstd; concatenated streams count as one, as in gzip(1) and
 * zstd(1).
 *
 * Used by lib/input.c and for perf.data. Memory is bounded whatever a stream requests: the window
 * of a zstd frame is limited to 128 MiB, as in zstd(1).
 */
#ifndef LIB_UNPACK_H
#define LIB_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

struct unpack;

#define UNPACK_MAGIC 4 /* number of bytes by which unpack__create() recognizes a format */

/* each step advances the pointers and decreases the lengths */
struct unpack_io {
	const unsigned char *in;
	size_t in_len;
	unsigned char *out;
	size_t out_len;
};

/* *ret is NULL if the bytes are in neither format. 0 or -ENOMEM. */
int unpack__create(struct unpack **ret, const unsigned char *magic, size_t len);
void unpack__destroy(struct unpack *u); /* u may be NULL */

const char *unpack__format(const struct unpack *u); /* "gzip" */

/*
 * Consume input and produce output as far as possible; both lengths may be 0. 0, -ENOMEM, or
 * -EBADMSG with the reason (a constant): the stream is corrupt. Call without input only to get the
 * rest of a stream that is not complete.
 */
int unpack__step(struct unpack *u, struct unpack_io *io, const char **ret_why);
bool unpack__complete(const struct unpack *u); /* the input may end here */

#endif
