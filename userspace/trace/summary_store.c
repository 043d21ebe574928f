// SPDX-License-Identifier: GPL-2.0
/*
 * Goroutines whose figures are final: see summary_store.h. Records of summary_pack.c in a
 * record_store.h.
 */
#include "trace/summary_store.h"

#include "trace/record_store.h"
#include "trace/summary_impl.h"

struct summary_store {
	struct record_store *records;
	struct pack scratch;
};

struct summary_store *summary_store__create(void)
{
	struct summary_store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	store->records = record_store__create();
	if (!store->records) {
		free(store);
		return NULL;
	}
	return store;
}

void summary_store__destroy(struct summary_store *store)
{
	if (!store)
		return;
	record_store__destroy(store->records);
	pack__deinit(&store->scratch);
	free(store);
}

int summary_store__add(struct summary_store *store, const struct summary_goroutine *g)
{
	store->scratch.len = 0;
	if (pack__goroutine(&store->scratch, g))
		return -ENOMEM;
	return record_store__add(store->records, &store->scratch);
}

void summary_store__sort(struct summary_store *store)
{
	record_store__sort(store->records);
}

struct key {
	int64_t (*of)(const struct summary_goroutine *g, void *context);
	void *context;
};

static int key__of(struct buf record, void *context, int64_t *ret)
{
	const struct key *key = context;
	struct summary_goroutine g;

	if (unpack__goroutine(&record, &g))
		return -ENOMEM;
	*ret = key->of(&g, key->context);
	summary_stats__deinit(&g.stats);
	return 0;
}

int summary_store__sort_by(struct summary_store *store,
			   int64_t (*key)(const struct summary_goroutine *g, void *context),
			   void *context)
{
	struct key how = { key, context };

	return record_store__sort_by(store->records, key__of, &how);
}

size_t summary_store__count(const struct summary_store *store)
{
	return record_store__count(store->records);
}

int summary_store__get(const struct summary_store *store, size_t i, struct summary_goroutine *ret)
{
	struct buf record = record_store__get(store->records, i);

	return unpack__goroutine(&record, ret);
}
