/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Goroutines whose figures are final, in about 60 bytes each and what their regions take.
 *
 * Filled from the done() of trace/summary.h. After it: who prints them one by one, sorted.
 */
#ifndef TRACE_SUMMARY_STORE_H
#define TRACE_SUMMARY_STORE_H

#include "trace/summary.h"

struct summary_store;

struct summary_store *summary_store__create(void); /* NULL: no memory */
void summary_store__destroy(struct summary_store *store);

/* 0 or -ENOMEM. */
int summary_store__add(struct summary_store *store, const struct summary_goroutine *g);

/* By id. Of an id that was used again the last one stays, as in Go. */
void summary_store__sort(struct summary_store *store);
/* By falling `key`, those with the same key by id; after summary_store__sort(). 0 or -ENOMEM. */
int summary_store__sort_by(struct summary_store *store,
			   int64_t (*key)(const struct summary_goroutine *g, void *context),
			   void *context);

size_t summary_store__count(const struct summary_store *store);
/* The i-th; its stats are the caller's to deinit, its regions the store's. 0 or -ENOMEM. */
int summary_store__get(const struct summary_store *store, size_t i, struct summary_goroutine *ret);

#endif
