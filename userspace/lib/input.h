/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Input bytes: of a file, a pipe or stdin, compressed or not.
 *
 * gzip, zstd and the format of unpack__add_format() are detected by their first bytes and
 * decompressed; users see plain bytes and offsets of those. reader/decode.c, text/raw.c and
 * text/text_read.c read through the window below, with a struct buf over it. Memory: one window,
 * whatever the size of the file. What is read of files is reported to lib/progress.h.
 */
#ifndef LIB_INPUT_H
#define LIB_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

struct input;

#define INPUT_WINDOW (256u << 10) /* limit of input__need() */

/*
 * Open PATH, or "-" for stdin. 0 or a negative errno with the reason. A directory and an empty path
 * are errors; an empty file is not.
 */
int input__open(struct input **ret, const char *path, struct error *error);
/*
 * Sets the reason for which PATH could not be opened, and returns `err`. -EACCES: the owner of the
 * file, and the remedy if that is root.
 */
int input__denied(const char *path, int err, struct error *error);
/* Bytes in memory, borrowed; compressed ones are decompressed as well. 0 or a negative errno. */
int input__open_memory(struct input **ret, const void *data, size_t len, struct error *error);
void input__destroy(struct input *in);

const char *input__name(const struct input *in); /* the path, or "stdin", for messages */
uint64_t input__offset(const struct input *in);	 /* of the window, decompressed */
bool input__seekable(const struct input *in);	 /* a regular file or memory, plain or packed */
uint64_t input__size(const struct input *in);	 /* decompressed; 0: not seekable */

/* "zstd"; NULL: the input is not compressed. */
const char *input__format(const struct input *in);

/*
 * Make the window contain at least `want` (<= INPUT_WINDOW) bytes, or as many as there are before
 * the end. *ret_data is its first byte and *ret_len its length; both stay valid until the next
 * call. 0, or a negative errno with the reason: a failed read, or a corrupt compressed stream
 * (-EBADMSG).
 */
int input__need(struct input *in, size_t want, const unsigned char **ret_data, size_t *ret_len,
		struct error *error);
/* Drop the first `len` bytes, which the window must contain. */
void input__consume(struct input *in, size_t len);

/*
 * Continue at `offset`, which may be after the end. 0 or a negative errno; -ESPIPE: not seekable.
 */
int input__seek(struct input *in, uint64_t offset, struct error *error);

#endif
