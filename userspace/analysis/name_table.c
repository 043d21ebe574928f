// SPDX-License-Identifier: GPL-2.0
/*
 * A bounded table of names: see name_table.h. Between annotation_tracker.c, which looks the name of
 * each annotation up, and an arena that owns the bytes.
 */
#include "analysis/name_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"

#define ARENA_BLOCK 16384u

void name_table__init(struct name_table *t)
{
	*t = (struct name_table){};
	arena__init(&t->arena, ARENA_BLOCK);
}

void name_table__deinit(struct name_table *t)
{
	map__deinit(&t->index);
	arena__deinit(&t->arena);
}

static int add(struct name_table *t, uint64_t key, struct trace_string name, uint32_t *ret)
{
	char *copy;

	if (t->n == NAME_TABLE_MAX) {
		*ret = NAME_TABLE_OTHER;
		return 0;
	}
	copy = arena__alloc(&t->arena, name.len + 1);
	if (!copy || map__put(&t->index, key, (void *)((uintptr_t)t->n + 1)))
		return -ENOMEM;
	if (name.len)
		memcpy(copy, name.data, name.len);
	t->name[t->n] = (struct trace_string){ copy, name.len };
	*ret = t->n++;
	return 0;
}

int name_table__get(struct name_table *t, struct trace_string name, uint32_t *ret)
{
	uint64_t key = hash__bytes(name.data, name.len);
	const struct trace_string *known;
	uintptr_t found;

	/* Of names with the same hash, the later one has the next key that is free. */
	for (;; key++) {
		found = (uintptr_t)map__get(&t->index, key);
		if (!found)
			return add(t, key, name, ret);
		known = &t->name[found - 1];
		if (known->len == name.len &&
		    (!name.len || !memcmp(known->data, name.data, name.len))) {
			*ret = (uint32_t)(found - 1);
			return 0;
		}
	}
}

struct trace_string name_table__at(const struct name_table *t, uint32_t index)
{
	static const struct trace_string other = { "other", 5 };

	return index < t->n ? t->name[index] : other;
}

static int compare(const void *a, const void *b)
{
	const struct name_rank *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

void name_ranks__sort(struct name_rank *ranks, size_t n)
{
	array__sort(ranks, n, sizeof(*ranks), compare);
}
