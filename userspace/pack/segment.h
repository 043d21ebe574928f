/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Codes a segment: the batches of a generation, or a part of a large one.
 *
 * Upstream: pack/archive_write.c and archive_read.c, which store segments in a file. Any bytes can
 * be encoded, and decoding returns exactly these bytes; those of a valid trace take little space.
 * The tables are coded apart from the events, since later segments need the former (table_model.h).
 */
#ifndef PACK_SEGMENT_H
#define PACK_SEGMENT_H

#include "format/spec.h"
#include "pack/table_model.h"

#define SEGMENT_MAX	   (8u << 20)		  /* bytes of the trace */
#define SEGMENT_BATCH_MAX  (64 + TRACE_BATCH_MAX) /* bytes of a batch with its header */
#define SEGMENT_PIECES_MAX (1u << 17)		  /* batches: a reader needs memory for each */

/*
 * Length of the batch, or of the event EndOfGeneration (*ret_generation is 0 then), at the start of
 * the bytes. 0: there is no whole, valid one.
 */
size_t segment__batch(const void *data, size_t len, uint64_t *ret_generation);

/*
 * Appends the coded tables and events to two buffers. Returns 0 or -ENOMEM. A segment of more than
 * SEGMENT_PIECES_MAX batches is encoded as well, but not decoded.
 */
int segment__encode(struct table_model *t, const void *data, size_t len, struct outbuf *ret_tables,
		    struct outbuf *ret_events);
/*
 * Appends the `plain` bytes of a segment to `ret`. Returns 0, -ENOMEM, or -EBADMSG if the coded
 * bytes are corrupt.
 */
int segment__decode(struct table_model *t, struct buf tables, struct buf events, size_t plain,
		    struct outbuf *ret);
/* Decodes only the tables, into the dictionary. Returns as above. */
int segment__decode_tables(struct table_model *t, struct buf tables, size_t plain);

#endif
