/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Goroutines that have ended, one record of bytes each (about 60), sorted when all are there.
 *
 * The bytes are LEB numbers (format/encode.h) that summary__pack() and latency__pack() write. Filled
 * and read by `gotrace goroutines` and `gotrace latency`.
 */
#ifndef TRACE_RECORD_STORE_H
#define TRACE_RECORD_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "format/encode.h"
#include "lib/buf.h"

struct record_store;

struct record_store *record_store__create(void);	/* NULL: no memory */
void record_store__destroy(struct record_store *store); /* may be NULL */

/*
 * Adds what `pack` makes of `object`: bytes whose first number is the goroutine's id. 0, or
 * -ENOMEM, which is also the only error of `pack`.
 */
int record_store__add(struct record_store *store, int (*pack)(struct outbuf *p, const void *object),
		      const void *object);

/* By id. Of an id that was used again the last one stays, as in Go. */
void record_store__sort(struct record_store *store);
/*
 * By falling keys, those with the same key by id; after record_store__sort(). `key` sets *ret of a
 * record. 0, or the negative errno of key().
 */
int record_store__sort_by(struct record_store *store,
			  int (*key)(struct buf record, void *context, int64_t *ret),
			  void *context);

/* Keeps the first `n`. */
void record_store__truncate(struct record_store *store, size_t n);
size_t record_store__count(const struct record_store *store);
struct buf record_store__get(const struct record_store *store, size_t i);

#endif
