/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of the scheduler as bytes. An index contains such states so that reading can begin in
 * the middle of a trace.
 *
 * Upstream: reader/order.h, from reader__order() after a sync. Downstream: reader/index.c. All
 * numbers are LEB128. Ids are sorted and stored as the difference to the previous id:
 *
 *	first generation, GC state, GC sequence number
 *	number of Ps; each: id, status, sequence (generation, number), ranges
 *	number of goroutines; each: id, status, sequence, ranges,
 *		number of user regions; each: task, name
 *	number of threads; each: id, P + 1, goroutine + 1 (0: none)
 *	number of tasks; each: id, parent, name
 *
 * ranges: number; each: the event that began it, the string id of its kind. name: length, bytes.
 */
#ifndef READER_ORDER_SAVE_H
#define READER_ORDER_SAVE_H

#include "lib/buf.h"
#include "lib/outbuf.h"
#include "reader/order.h"

/* Appends the state to a buffer in memory. Returns 0 or -ENOMEM. */
int order__save(const struct order *o, struct outbuf *out);

/*
 * Fills an initialized, empty state. Returns 0, -ENOMEM, or -EBADMSG if the bytes are invalid. The
 * caller deinitializes *ret in any case.
 */
int order__load(struct order *ret, struct buf *in);

/* Also for other data of the index (reader/index_write.c). Returns 0 or -ENOMEM. */
int save__number(struct outbuf *out, uint64_t v);

#endif
