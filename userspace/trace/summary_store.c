// SPDX-License-Identifier: GPL-2.0
/*
 * Goroutines whose figures are final: see summary_store.h.
 *
 * Each is a record of summary_pack.c in memory that is never freed one by one, and an entry of the
 * array that is sorted.
 */
#include "trace/summary_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/blocks.h"
#include "trace/summary_impl.h"

#define BLOCK_SIZE (256u << 10)

struct record {
	uint32_t len;
	uint32_t number; /* in the order of arrival */
	uint8_t data[];
};

struct entry {
	int64_t key;
	const struct record *record;
};

struct summary_store {
	struct blocks *blocks;
	struct pack scratch;
	struct entry *entries;
	size_t n, cap;
};

struct summary_store *summary_store__create(void)
{
	struct summary_store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	store->blocks = blocks__create(BLOCK_SIZE);
	if (!store->blocks) {
		free(store);
		return NULL;
	}
	return store;
}

void summary_store__destroy(struct summary_store *store)
{
	if (!store)
		return;
	blocks__destroy(store->blocks);
	pack__deinit(&store->scratch);
	free(store->entries);
	free(store);
}

static int store__grow(struct summary_store *store)
{
	size_t cap = store->cap ? store->cap * 2 : 1024;
	struct entry *entries;

	if (store->n < store->cap)
		return 0;
	entries = reallocarray(store->entries, cap, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	store->entries = entries;
	store->cap = cap;
	return 0;
}

int summary_store__add(struct summary_store *store, const struct summary_goroutine *g)
{
	struct record *record;

	store->scratch.len = 0;
	if (store__grow(store) || pack__goroutine(&store->scratch, g))
		return -ENOMEM;
	record = blocks__take(store->blocks, sizeof(*record) + store->scratch.len);
	if (!record || store->scratch.len > UINT32_MAX)
		return -ENOMEM;
	record->len = (uint32_t)store->scratch.len;
	record->number = (uint32_t)store->n;
	memcpy(record->data, store->scratch.data, store->scratch.len);
	store->entries[store->n++] = (struct entry){ .key = (int64_t)g->id, .record = record };
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->record->number < y->record->number ? -1 : 1;
}

void summary_store__sort(struct summary_store *store)
{
	size_t n = 0;

	if (store->n)
		qsort(store->entries, store->n, sizeof(*store->entries), compare_ids);
	for (size_t i = 0; i < store->n; i++) {
		if (n && store->entries[n - 1].key == store->entries[i].key)
			n--;
		store->entries[n++] = store->entries[i];
	}
	store->n = n;
}

/* A record begins with the id. */
static int64_t entry__id(const struct entry *e)
{
	struct buf b = buf__make(e->record->data, e->record->len);

	return (int64_t)buf__uleb(&b);
}

static int compare_keys(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return entry__id(x) < entry__id(y) ? -1 : 1;
}

int summary_store__sort_by(struct summary_store *store,
			   int64_t (*key)(const struct summary_goroutine *g, void *context),
			   void *context)
{
	struct summary_goroutine g;

	for (size_t i = 0; i < store->n; i++) {
		if (summary_store__get(store, i, &g))
			return -ENOMEM;
		store->entries[i].key = key(&g, context);
		summary_stats__deinit(&g.stats);
	}
	if (store->n)
		qsort(store->entries, store->n, sizeof(*store->entries), compare_keys);
	return 0;
}

size_t summary_store__count(const struct summary_store *store)
{
	return store->n;
}

int summary_store__get(const struct summary_store *store, size_t i, struct summary_goroutine *ret)
{
	const struct record *record = store->entries[i].record;
	struct buf b = buf__make(record->data, record->len);

	return unpack__goroutine(&b, ret);
}
