/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hash map from 64-bit keys (addresses, TIDs, hashes, ids of a trace) to pointers that are not
 * NULL.
 *
 * Open addressing with linear probing and backward-shift deletion: one cache line a look-up, which
 * the sequencer does several times a record. The map owns neither keys nor values. The order of
 * map__next() depends on hash__seed: it is another in each run.
 */
#ifndef LIB_MAP_H
#define LIB_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/hash.h"

struct map_slot {
	uint64_t key;
	void *value; /* NULL: empty */
};

struct map {
	struct map_slot *slot;
	size_t n, cap; /* cap is 0 or a power of two */
};

void map__deinit(struct map *map);
int map__reserve(struct map *map, size_t n); /* room for n at once, not doubling to it */
int map__put(struct map *map, uint64_t key, void *value); /* replaces; 0 or -ENOMEM */
void *map__remove(struct map *map, uint64_t key);	  /* the value, or NULL */

/*
 * Multiply and shift: for a random odd multiplier no two keys meet more often than by chance
 * (Dietzfelbinger), and keys in a row lie apart. The multiplier differs by the table's size: else
 * what comes in a large table's order would fill a small one from its beginning, as one run.
 */
static inline size_t map__home(const struct map *map, uint64_t key)
{
	unsigned int zeros = (unsigned int)__builtin_clzll(map->cap);
	uint64_t multiplier = (hash__seed[0] << zeros | hash__seed[0] >> (63 - zeros) >> 1) | 1;

	return (key * multiplier) >> (zeros + 1);
}

/* The key will be asked for soon: of a million look-ups in a row most of the time is memory's. */
static inline void map__prefetch(const struct map *map, uint64_t key)
{
	if (map->cap)
		__builtin_prefetch(&map->slot[map__home(map, key)]);
}

/* NULL: none. Inline, because a reader of traces asks it once or twice an event. */
static inline void *map__get(const struct map *map, uint64_t key)
{
	size_t i;

	if (!map->cap)
		return NULL;
	for (i = map__home(map, key); map->slot[i].value; i = (i + 1) & (map->cap - 1))
		if (map->slot[i].key == key)
			return map->slot[i].value;
	return NULL;
}

/* for (size_t i = 0; map__next(&map, &i, &value);) — no put or remove meanwhile. */
bool map__next(const struct map *map, size_t *i, void **value);

/*
 * The entries by ascending key, for what is written in their order; to be freed. NULL, and none: no
 * memory.
 */
struct map_slot *map__sorted(const struct map *map, size_t *ret_n);

#endif
