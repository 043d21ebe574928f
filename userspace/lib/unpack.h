/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Incremental decompression of gzip and zstd; concatenated streams count as one, as in gzip(1) and
 * zstd(1).
 *
 * Used by lib/input.c and for perf.data. A program can add one more format, which the library has in
 * a later folder (pack/archive.h). Memory is bounded whatever a stream requests: the window
 * of a zstd frame is limited to 128 MiB, as in zstd(1).
 */
#ifndef LIB_UNPACK_H
#define LIB_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unpack;

#define UNPACK_MAGIC 16 /* number of bytes by which unpack__create() recognizes a format */

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

/* Where to continue: the offset in the compressed bytes, and in those that result. */
struct unpack_place {
	uint64_t packed, plain;
};

/* One more format. `context` is what create() returned, which is NULL without memory. */
struct unpack_format {
	const char *name, *magic;
	size_t magic_len; /* at most UNPACK_MAGIC */
	void *(*create)(void);
	void (*destroy)(void *context);
	/* As unpack__step(); sets *complete in any case. */
	int (*step)(void *context, struct unpack_io *io, bool *complete, const char **ret_why);
	/* As unpack__open_file() and unpack__seek(). */
	int (*open_file)(void *context, int fd, uint64_t *ret_size);
	int (*seek)(void *context, int fd, uint64_t offset, struct unpack_place *ret,
		    const char **ret_why);
};

/* To be called at the start of a program, once; borrowed. */
void unpack__add_format(const struct unpack_format *format);

/*
 * The compressed bytes are the regular file `fd`: *ret_size is the number of bytes that result. Returns
 * 0, or a negative errno if the format has no random access or the file is corrupt.
 */
int unpack__open_file(struct unpack *u, int fd, uint64_t *ret_size);
/*
 * After that: continue at *ret, the last place not after `offset` from which that is possible. Does not
 * move the position of `fd`. Returns 0 or a negative errno with the reason, a constant.
 */
int unpack__seek(struct unpack *u, int fd, uint64_t offset, struct unpack_place *ret,
		 const char **ret_why);

#endif
