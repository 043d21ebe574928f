/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is kept of goroutines that have ended: a record of bytes for each, sorted at the end.
 *
 * Filled by trace/summary_store.c and trace/latency_stats.c, whose figures the bytes are (LEB
 * numbers, see trace/pack.h); read by who prints them one by one.
 */
#ifndef TRACE_RECORD_STORE_H
#define TRACE_RECORD_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"
#include "trace/pack.h"

struct record_store;

struct record_store *record_store__create(void);	/* NULL: no memory */
void record_store__destroy(struct record_store *store); /* may be NULL */

/* Copies the bytes, the first number of which is the goroutine's id. 0 or -ENOMEM. */
int record_store__add(struct record_store *store, const struct pack *record);

/* By id. Of an id that was used again the last one stays, as in Go. */
void record_store__sort(struct record_store *store);
/*
 * By falling keys, those with the same key by id; after record_store__sort(). `key` sets *ret of a
 * record. 0, or the negative errno that key() said.
 */
int record_store__sort_by(struct record_store *store,
			  int (*key)(struct buf record, void *context, int64_t *ret),
			  void *context);

size_t record_store__count(const struct record_store *store);
struct buf record_store__get(const struct record_store *store, size_t i);

#endif
