// SPDX-License-Identifier: GPL-2.0
/*
 * Records of goroutines: see record_store.h. Each is in memory that is never freed one by one, and
 * has an entry of the array that is sorted.
 */
#include "analysis/record_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/arena.h"

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

struct record_store {
	struct arena arena;
	struct entry *entries;
	size_t n, cap;
	struct outbuf scratch;
};

struct record_store *record_store__create(void)
{
	struct record_store *store = calloc(1, sizeof(*store));

	if (store)
		arena__init(&store->arena, BLOCK_SIZE);
	return store;
}

void record_store__destroy(struct record_store *store)
{
	if (!store)
		return;
	arena__deinit(&store->arena);
	free(store->entries);
	outbuf__deinit(&store->scratch);
	free(store);
}

/* A record begins with the id. */
static int64_t record__id(const struct record *record)
{
	struct buf b = buf__make(record->data, record->len);

	return (int64_t)buf__uleb(&b);
}

int record_store__add(struct record_store *store, int (*pack)(struct outbuf *p, const void *object),
		      const void *object)
{
	struct outbuf *bytes = &store->scratch;
	struct record *record;

	bytes->len = 0;
	if (pack(bytes, object) || bytes->len > UINT32_MAX ||
	    array__grow(&store->entries, store->n, &store->cap, sizeof(*store->entries)))
		return -ENOMEM;
	record = arena__alloc(&store->arena, sizeof(*record) + bytes->len);
	if (!record)
		return -ENOMEM;
	record->len = (uint32_t)bytes->len;
	record->number = (uint32_t)store->n;
	memcpy(record->data, bytes->data, bytes->len);
	store->entries[store->n++] = (struct entry){ .key = record__id(record), .record = record };
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->record->number < y->record->number ? -1 : 1;
}

void record_store__sort(struct record_store *store)
{
	size_t n = 0;

	array__sort(store->entries, store->n, sizeof(*store->entries), compare_ids);
	for (size_t i = 0; i < store->n; i++) {
		if (n && store->entries[n - 1].key == store->entries[i].key)
			n--;
		store->entries[n++] = store->entries[i];
	}
	store->n = n;
}

static int compare_keys(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return record__id(x->record) < record__id(y->record) ? -1 : 1;
}

int record_store__sort_by(struct record_store *store,
			  int (*key)(struct buf record, void *context, int64_t *ret), void *context)
{
	int err;

	for (size_t i = 0; i < store->n; i++) {
		err = key(record_store__get(store, i), context, &store->entries[i].key);
		if (err)
			return err;
	}
	array__sort(store->entries, store->n, sizeof(*store->entries), compare_keys);
	return 0;
}

void record_store__truncate(struct record_store *store, size_t n)
{
	if (n < store->n)
		store->n = n;
}

size_t record_store__count(const struct record_store *store)
{
	return store->n;
}

struct buf record_store__get(const struct record_store *store, size_t i)
{
	const struct record *record = store->entries[i].record;

	return buf__make(record->data, record->len);
}
