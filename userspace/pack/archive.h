/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packed traces: a file that contains a trace in a fraction of its size and returns it byte for
 * byte.
 *
 * archive_write.c writes it for `gotrace pack`. archive_read.c decodes it as a format of
 * lib/unpack.h, so that everything that reads a trace through lib/input.h reads a packed one, too.
 * docs/packed-format.md defines the bytes:
 *
 *	magic, 16 bytes
 *	segments: head (below), coded tables, coded events
 *	index: head, an entry per segment; then the end, 16 bytes
 *
 * Memory: one segment and the dictionary, about 60 MiB, whatever the length of the trace.
 */
#ifndef PACK_ARCHIVE_H
#define PACK_ARCHIVE_H

#include "lib/error.h"
#include "lib/input.h"
#include "lib/outbuf.h"
#include "lib/unpack.h"

/* Writes the trace `in`, of any version, packed. Returns 0 or a negative errno with the reason. */
int archive__write(struct input *in, struct outbuf *out, struct error *error);

/* To be passed to unpack__add_format() by programs that read packed traces. */
extern const struct unpack_format archive_format;

#endif
