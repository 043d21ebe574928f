/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spans of a track in a few bytes each, with a level of detail: for gotrace view, which keeps those
 * of the whole trace in memory and reads some when the browser shows a range.
 *
 * Between report/lanes_store.c, which adds and merges spans, and report/lanes_part.c, which reads
 * those of a range. Merging is that of spans.h. Spans are encoded in blocks of PACKED_BLOCK, of
 * which each begins at a known time; the last ones, into which later ones can be merged, are not
 * encoded.
 */
#ifndef REPORT_PACKED_H
#define REPORT_PACKED_H

#include <stdbool.h>

#include "lib/buf.h"
#include "lib/outbuf.h"
#include "report/spans.h"

#define PACKED_BLOCK 32u /* spans */

struct packed_block {
	uint64_t end;  /* of the span before it: 0 of the first block */
	uint64_t last; /* end of its last span */
	size_t offset; /* in the bytes */
};

/* {} is an empty one. */
struct packed {
	struct outbuf bytes;
	struct packed_block *block;
	size_t blocks, cap;
	struct spans tail; /* later than all blocks; at least one span, unless it is empty */
};

void packed__deinit(struct packed *p);

/* As spans__add_sum(). */
int packed__add(struct packed *p, const struct span *span, const struct span_sum *sum,
		uint64_t threshold);
/* Adds all spans of `from` to an empty list, and merges them. 0 or -ENOMEM. */
int packed__merge(struct packed *to, const struct packed *from, uint64_t threshold);

void packed__trim(struct packed *p);	      /* frees memory for more spans */
size_t packed__bytes(const struct packed *p); /* of memory */
/* At most as many spans end after `from` and start before `to`. */
size_t packed__count(const struct packed *p, uint64_t from, uint64_t to);

/* Reads spans in the order of time. */
struct packed_cursor {
	const struct packed *packed;
	size_t block; /* the next one */
	struct buf bytes;
	unsigned int left; /* in the block */
	size_t tail;	   /* the next one */
	uint64_t end;	   /* of the last span read */
};

/* At a span that is not after the first one that ends after `time`. */
struct packed_cursor packed__seek(const struct packed *p, uint64_t time);
/*
 * The member `sum` of the span is 1 if it is aggregated, and *ret_sum set; else 0. false: the end.
 */
bool packed__next(struct packed_cursor *c, struct span *ret, struct span_sum *ret_sum);

#endif
