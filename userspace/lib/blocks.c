// SPDX-License-Identifier: GPL-2.0
/*
 * The blocks of lib/blocks.h: a list of them, filled one after another.
 *
 * After a reset they are filled again in the same order, so that a reader of many generations asks
 * the allocator only for what its largest one needs.
 */
#include "lib/blocks.h"

#include <stdint.h>
#include <stdlib.h>

struct block {
	struct block *next;
	size_t cap, len;
	unsigned char data[];
};

struct blocks {
	struct block *first, *now;
	size_t block, memory;
};

struct blocks *blocks__create(size_t block)
{
	struct blocks *b = calloc(1, sizeof(*b));

	if (b)
		b->block = block;
	return b;
}

void blocks__destroy(struct blocks *b)
{
	struct block *block;

	while (b && (block = b->first)) {
		b->first = block->next;
		free(block);
	}
	free(b);
}

/* Puts a block of at least `len` bytes behind the current one. */
static struct block *blocks__add(struct blocks *b, size_t len)
{
	size_t cap = len > b->block ? len : b->block;
	struct block *block = malloc(sizeof(*block) + cap);

	if (!block)
		return NULL;
	block->cap = cap;
	block->len = 0;
	block->next = b->now ? b->now->next : NULL;
	if (b->now)
		b->now->next = block;
	else
		b->first = block;
	b->memory += cap;
	return block;
}

void *blocks__take(struct blocks *b, size_t len)
{
	struct block *block = b->now;
	void *p;

	len = (len + 7) & ~(size_t)7;
	if (!block || block->cap - block->len < len) {
		block = block ? block->next : NULL;
		if (!block || block->cap < len)
			block = blocks__add(b, len);
		if (!block)
			return NULL;
		b->now = block;
	}
	p = block->data + block->len;
	block->len += len;
	return p;
}

void blocks__reset(struct blocks *b)
{
	struct block *block;

	for (block = b->first; block; block = block->next) {
		block->len = 0;
		if (block == b->now) /* those behind it are empty */
			break;
	}
	b->now = b->first;
}

size_t blocks__memory(const struct blocks *b)
{
	return b->memory;
}
