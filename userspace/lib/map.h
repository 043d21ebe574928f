/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hash map from non-zero 64-bit keys (addresses, TIDs, hashes) to pointers.
 *
 * Open addressing with linear probing and backward-shift deletion: one cache line a look-up, which
 * the sequencer does several times a record. The map owns neither keys nor values.
 */
#ifndef LIB_MAP_H
#define LIB_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;		/* 0: empty */
	void *value;
};

struct map {
	struct map_slot *slot;
	size_t n, cap;		/* cap is 0 or a power of two */
};

void map__deinit(struct map *map);
int map__put(struct map *map, uint64_t key, void *value);	/* replaces; 0 or -ENOMEM */
void *map__get(const struct map *map, uint64_t key);		/* NULL: none */
void *map__remove(struct map *map, uint64_t key);		/* the value, or NULL */

/* for (size_t i = 0; map__next(&map, &i, &value);) — no put or remove meanwhile. */
bool map__next(const struct map *map, size_t *i, void **value);

#endif
