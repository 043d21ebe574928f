// SPDX-License-Identifier: GPL-2.0
/*
 * lib/arena.h for the fuzz targets, instead of lib/arena.c: each object has a block of its own, so
 * that the sanitizer detects accesses past its end and after it was freed, and no input pays for a
 * whole block.
 */
#include <stdlib.h>

#include "lib/arena.h"

struct arena_block {
	struct arena_block *next;
	_Alignas(8) unsigned char data[];
};

void arena__deinit(struct arena *a)
{
	struct arena_block *block;

	while ((block = a->first)) {
		a->first = block->next;
		free(block);
	}
	arena__init(a, a->block);
}

void arena__reset(struct arena *a)
{
	arena__deinit(a);
}

void *arena__alloc(struct arena *a, size_t len)
{
	struct arena_block *block = malloc(sizeof(*block) + len);

	if (!block)
		return NULL;
	block->next = a->first;
	a->first = block;
	a->memory += len;
	return block->data;
}
