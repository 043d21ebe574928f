/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hash map from 64-bit keys (addresses, TIDs, hashes, IDs of a trace) to non-NULL pointers.
 *
 * Open addressing with linear probing and backward-shift deletion: one cache line per look-up, of
 * which the sequencer makes several per record. The map owns neither keys nor values. The order of
 * map__next() depends on hash__seed and differs in each run.
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
	size_t n, cap;	     /* cap is 0 or a power of two */
	uint64_t multiplier; /* of map__home(), and how far it shifts: depend on cap */
	unsigned int shift;
};

void map__deinit(struct map *map);
void map__free(struct map *map); /* also passes all values to free(), unlike map__deinit() */
int map__reserve(struct map *map, size_t n);		  /* room for n in one step */
int map__put(struct map *map, uint64_t key, void *value); /* replaces; 0 or -ENOMEM */
void *map__remove(struct map *map, uint64_t key);	  /* the value, or NULL */
/* Puts a new value, `size` bytes of 0 from calloc(), and returns it. NULL: no memory. */
void *map__put_new(struct map *map, uint64_t key, size_t size);

/*
 * Multiply and shift: for a random odd multiplier two keys collide no more often than by chance
 * (Dietzfelbinger), and successive keys are scattered. The multiplier depends on the size of the
 * table: otherwise entries copied in the order of a large table would fill a small one from its
 * beginning, as one run.
 */
static inline size_t map__home(const struct map *map, uint64_t key)
{
	return (key * map->multiplier) >> map->shift;
}

/*
 * The key will be looked up soon: in a long series of look-ups most of the time is spent on memory.
 */
static inline void map__prefetch(const struct map *map, uint64_t key)
{
	if (map->cap)
		__builtin_prefetch(&map->slot[map__home(map, key)]);
}

/* NULL: none. Inline, because a reader of traces calls it once or twice per event. */
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

/* for (size_t i = 0; map__next(&map, &i, &value);) - without put or remove in between. */
bool map__next(const struct map *map, size_t *i, void **value);

/* The entries by ascending key; the caller frees them. NULL, with *ret_n 0: out of memory. */
struct map_slot *map__sorted(const struct map *map, size_t *ret_n);

#endif
