/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scheduler's state as bytes, and back: what an index keeps so that reading can begin in the
 * middle of a trace.
 *
 * Before it: trace/order.h, as trace/reader.h shows it after a sync. After it: trace/index.c. The
 * bytes are LEB128 numbers, in this order; ids are sorted, and each is less the one before it:
 *
 *	first generation, GC state, GC sequence number
 *	number of Ps; each: id, status, sequence (generation, number), ranges
 *	number of goroutines; each: id, status, sequence, ranges,
 *		number of user regions; each: task, name
 *	number of threads; each: id, P + 1, goroutine + 1 (0: none)
 *	number of tasks; each: id, parent, name
 *
 * ranges: their number; each: the event that began it, the id of its kind. name: length, bytes.
 */
#ifndef TRACE_ORDER_SAVE_H
#define TRACE_ORDER_SAVE_H

#include "lib/buf.h"
#include "trace/order.h"
#include "trace/outbuf.h"

/* Appends to a buffer in memory. 0 or -ENOMEM. */
int order__save(const struct order *o, struct outbuf *out);

/*
 * Fills an initialized, empty state; *ret is to be deinitialized after a failure, too. 0; -ENOMEM;
 * -EBADMSG: the bytes are no such state.
 */
int order__load(struct order *ret, struct buf *in);

/* For those who save more beside it (trace/index_write.c). 0 or -ENOMEM. */
int save__number(struct outbuf *out, uint64_t v);
int save__bytes(struct outbuf *out, const void *data, size_t len); /* length first */
/* The map's keys in order, to be freed. NULL: no memory. */
uint64_t *save__keys(const struct map *map);

#endif
