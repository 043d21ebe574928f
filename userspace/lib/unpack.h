/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compressed bytes to plain ones, piece by piece: gzip and zstd, several streams after one another
 * as one, as gzip(1) and zstd(1) take them.
 *
 * Between the file and the window of lib/input.c. Memory is bounded whatever a stream asks for: a
 * zstd frame may look back 128 MiB at most, as with zstd(1).
 */
#ifndef LIB_UNPACK_H
#define LIB_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

struct unpack;

#define UNPACK_MAGIC 4 /* the first bytes of a file by which unpack__create() knows a format */

struct unpack_io { /* each step moves the pointers and counts down the lengths */
	const unsigned char *in;
	size_t in_len;
	unsigned char *out;
	size_t out_len;
};

/* *ret is NULL for bytes of no such format, which are plain. 0 or -ENOMEM. */
int unpack__create(struct unpack **ret, const unsigned char *magic, size_t len);
void unpack__destroy(struct unpack *u); /* u may be NULL */

const char *unpack__format(const struct unpack *u); /* "gzip" */

/*
 * Takes what there is and gives what fits; both lengths may be 0. 0, -ENOMEM, or -EBADMSG with the
 * reason (a constant): the stream is broken. To be called without input only to get the rest of a
 * stream that is not complete.
 */
int unpack__step(struct unpack *u, struct unpack_io *io, const char **ret_why);
bool unpack__complete(const struct unpack *u); /* the input may end here */

#endif
