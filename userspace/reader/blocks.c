// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks of memory for batches: see reader/blocks.h.
 *
 * Used by reader/decode.c. Unused blocks are kept until the pool ends, since the next generation
 * needs as many.
 */
#include "reader/blocks.h"

#include <stdbool.h>
#include <stdlib.h>

/* The fuzz targets set 0: each batch has a block of its own, and is guarded by the sanitizer. */
#ifndef BLOCK_SIZE
#define BLOCK_SIZE (1u << 20)
#endif

struct block {
	struct block *next; /* unused */
	size_t size, used;
	uint32_t users; /* batches, and 1 while it is being filled */
	unsigned char data[];
};

void block_pool__init(struct block_pool *pool)
{
	*pool = (struct block_pool){ .lock = PTHREAD_MUTEX_INITIALIZER };
}

void block_pool__deinit(struct block_pool *pool)
{
	struct block *block;

	while ((block = pool->unused)) {
		pool->unused = block->next;
		free(block);
	}
	pthread_mutex_destroy(&pool->lock);
}

size_t block_pool__bytes(struct block_pool *pool)
{
	size_t bytes;

	pthread_mutex_lock(&pool->lock);
	bytes = pool->bytes;
	pthread_mutex_unlock(&pool->lock);
	return bytes;
}

static struct block *take_block(struct block_pool *pool, size_t size)
{
	struct block *block = NULL;

	pthread_mutex_lock(&pool->lock);
	if (size == BLOCK_SIZE && pool->unused) {
		block = pool->unused;
		pool->unused = block->next;
	}
	if (!block)
		block = malloc(sizeof(*block) + size);
	if (block) {
		block->size = size;
		block->used = 0;
		block->users = 1;
		pool->bytes += size;
	}
	pthread_mutex_unlock(&pool->lock);
	return block;
}

/* One user less. */
static void leave(struct block_pool *pool, struct block *block)
{
	size_t size = block->size;

	if (--block->users)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->bytes -= size;
	if (size == BLOCK_SIZE) {
		block->next = pool->unused;
		pool->unused = block;
		block = NULL;
	}
	pthread_mutex_unlock(&pool->lock);
	free(block);
	if (pool->freed)
		pool->freed(pool->context);
}

void *block_pool__alloc(struct block_pool *pool, struct block **now, size_t len,
			struct block **ret_block)
{
	struct block *block = *now;

	if (!block || block->size - block->used < len) {
		block = take_block(pool, len > BLOCK_SIZE ? len : BLOCK_SIZE);
		if (!block)
			return NULL;
		block_pool__end(pool, now);
		*now = block;
	}
	block->users++;
	block->used += len;
	*ret_block = block;
	return block->data + block->used - len;
}

void block__release(struct block_pool *pool, struct block *block)
{
	leave(pool, block);
}

void block_pool__end(struct block_pool *pool, struct block **now)
{
	if (*now)
		leave(pool, *now);
	*now = NULL;
}
