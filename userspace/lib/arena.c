// SPDX-License-Identifier: GPL-2.0
/*
 * Arenas: see arena.h. A list of blocks, filled one after another.
 *
 * After a reset they are filled again in the same order, so that a reader of many generations asks
 * the allocator only for what its largest one needs.
 */
#include "lib/arena.h"

#include <stdlib.h>

struct arena_block {
	struct arena_block *next;
	size_t cap, len;
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

/* Puts a block of at least `len` bytes behind the current one. */
static struct arena_block *add_block(struct arena *a, size_t len)
{
	size_t cap = len > a->block ? len : a->block;
	struct arena_block *block = malloc(sizeof(*block) + cap);

	if (!block)
		return NULL;
	block->cap = cap;
	block->len = 0;
	block->next = a->now ? a->now->next : NULL;
	if (a->now)
		a->now->next = block;
	else
		a->first = block;
	a->memory += sizeof(*block) + cap;
	return block;
}

void *arena__alloc(struct arena *a, size_t len)
{
	struct arena_block *block = a->now;
	void *p;

	len = (len + 7) & ~(size_t)7;
	if (!block || block->cap - block->len < len) {
		block = block ? block->next : NULL;
		if (!block || block->cap < len)
			block = add_block(a, len);
		if (!block)
			return NULL;
		a->now = block;
	}
	p = block->data + block->len;
	block->len += len;
	return p;
}

void arena__reset(struct arena *a)
{
	struct arena_block *block;

	for (block = a->first; block; block = block->next) {
		block->len = 0;
		if (block == a->now) /* those behind it are empty */
			break;
	}
	a->now = a->first;
}
