/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes that come in: a file, a pipe or stdin, plain or compressed.
 *
 * gzip and zstd are known by their first bytes and unpacked on the way; everything behind this
 * header sees plain bytes, and offsets count those. First in the way of a trace that is read:
 * trace/decode.c, trace/raw.c and trace/text.c draw from it through the window below, with struct
 * buf over what the window shows. Memory: one window, whatever the file.
 */
#ifndef LIB_INPUT_H
#define LIB_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

struct input;

#define INPUT_WINDOW (256u << 10) /* the most that input__need() can ask for */

/*
 * PATH, or "-": stdin. 0 or a negative errno with the reason in `err` (a directory is refused, so
 * is an empty path; an empty file is not: it has no bytes).
 */
int input__open(struct input **ret, const char *path, struct error *err);
/* Bytes in memory, borrowed; compressed ones are unpacked as well. 0 or a negative errno. */
int input__open_memory(struct input **ret, const void *data, size_t len, struct error *err);
void input__destroy(struct input *in);

const char *input__name(const struct input *in); /* the path, for messages; "-" is "stdin" */
uint64_t input__offset(const struct input *in);	 /* of the window's first byte, unpacked */
bool input__seekable(const struct input *in);	 /* a plain, uncompressed file or memory */
uint64_t input__size(const struct input *in);	 /* of it as stat() says; 0: not seekable */

/*
 * Makes the window hold at least `want` (<= INPUT_WINDOW) bytes unless the input ends before.
 * *ret_data is the window's first byte and *ret_len how many there are: fewer than `want` only at
 * the end, more at will. They stay valid until the next call. 0, or a negative errno with the
 * reason: a failed read, a broken compressed stream (-EBADMSG).
 */
int input__need(struct input *in, size_t want, const unsigned char **ret_data, size_t *ret_len,
		struct error *err);
/* Drops the window's first `len` bytes, which it holds. */
void input__consume(struct input *in, size_t len);

/*
 * The next byte is to be that at `offset`; behind the end there are none. 0 or a negative errno;
 * -ESPIPE: not seekable.
 */
int input__seek(struct input *in, uint64_t offset, struct error *err);

#endif
