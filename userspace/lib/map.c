// SPDX-License-Identifier: GPL-2.0
/*
 * The hash map of lib/map.h. It doubles when it is three quarters full, and never shrinks.
 */
#include "lib/map.h"
#include "lib/array.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define AHEAD 16
#define PAGE  4096ul
#define LARGE (8u << 20) /* up to one in four 2 MiB pages may be lost at the ends */

static struct map_slot *map__find(const struct map *map, uint64_t key)
{
	size_t i = map__home(map, key);

	while (map->slot[i].value && map->slot[i].key != key)
		i = (i + 1) & (map->cap - 1);
	return &map->slot[i];
}

/* In a large table most look-ups touch a page of their own; huge pages halve their time. */
static struct map_slot *map__slots(size_t cap)
{
	struct map_slot *slots = calloc(cap, sizeof(*slots));
	size_t size = cap * sizeof(*slots), inside;

	if (slots && size >= LARGE) {
		inside = -(uintptr_t)slots & (PAGE - 1);
		madvise((char *)slots + inside, (size - inside) & ~(PAGE - 1), MADV_HUGEPAGE);
	}
	return slots;
}

static int map__resize(struct map *map, size_t cap)
{
	unsigned int zeros = (unsigned int)__builtin_clzll(cap);
	struct map bigger = { .cap = cap, .n = map->n, .shift = zeros + 1 };

	bigger.multiplier = (hash__seed[0] << zeros | hash__seed[0] >> (63 - zeros) >> 1) | 1;
	bigger.slot = map__slots(cap);
	if (!bigger.slot)
		return -ENOMEM;
	for (size_t i = 0; i < map->cap; i++)
		if (map->slot[i].value)
			*map__find(&bigger, map->slot[i].key) = map->slot[i];
	free(map->slot);
	*map = bigger;
	return 0;
}

int map__reserve(struct map *map, size_t n)
{
	size_t cap = map->cap ? map->cap : 64;

	while (n > cap / 4 * 3)
		cap *= 2;
	return cap == map->cap ? 0 : map__resize(map, cap);
}

void map__deinit(struct map *map)
{
	free(map->slot);
	*map = (struct map){};
}

void map__free(struct map *map)
{
	void *value;

	for (size_t i = 0; map__next(map, &i, &value);)
		free(value);
	map__deinit(map);
}

int map__put(struct map *map, uint64_t key, void *value)
{
	struct map_slot *slot;
	int err = map__reserve(map, map->n + 1);

	if (err)
		return err;
	slot = map__find(map, key);
	if (!slot->value)
		map->n++;
	*slot = (struct map_slot){ key, value };
	return 0;
}

void *map__put_new(struct map *map, uint64_t key, size_t size)
{
	void *value = calloc(1, size);

	if (!value || map__put(map, key, value)) {
		free(value);
		return NULL;
	}
	return value;
}

void *map__remove(struct map *map, uint64_t key)
{
	struct map_slot *slot;
	size_t hole, i, home, mask = map->cap - 1;
	void *value;

	if (!map->cap)
		return NULL;
	slot = map__find(map, key);
	if (!slot->value)
		return NULL;
	value = slot->value;
	/* Move back each later slot of the run that probing would not find beyond the hole. */
	hole = slot - map->slot;
	for (i = (hole + 1) & mask; map->slot[i].value; i = (i + 1) & mask) {
		home = map__home(map, map->slot[i].key);
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			map->slot[hole] = map->slot[i];
			hole = i;
		}
	}
	map->slot[hole] = (struct map_slot){};
	map->n--;
	return value;
}

bool map__next(const struct map *map, size_t *i, void **value)
{
	for (; *i < map->cap; (*i)++) {
		/*
		 * Values are scattered in memory: prefetch the one that follows a few steps later.
		 */
		if (*i + AHEAD < map->cap)
			__builtin_prefetch(map->slot[*i + AHEAD].value);
		if (map->slot[*i].value) {
			*value = map->slot[(*i)++].value;
			return true;
		}
	}
	return false;
}

static int by_key(const void *a, const void *b)
{
	const struct map_slot *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

struct map_slot *map__sorted(const struct map *map, size_t *ret_n)
{
	struct map_slot *list = malloc((map->n + 1) * sizeof(*list));
	size_t n = 0;

	for (size_t i = 0; list && i < map->cap; i++)
		if (map->slot[i].value)
			list[n++] = map->slot[i];
	array__sort(list, n, sizeof(*list), by_key);
	*ret_n = n;
	return list;
}
