/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory for the batches of generations: large blocks, each reused as soon as none of its batches is
 * needed any more.
 *
 * Upstream: reader/decode.c, which copies batches. A reader has one pool, which the readers of
 * reader/parallel.c share. So a generation can be decoded into the memory of those whose events have
 * been read already.
 */
#ifndef READER_BLOCKS_H
#define READER_BLOCKS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* The functions below may be called by several threads, but each block is used by one at a time. */
struct block_pool {
	pthread_mutex_t lock;
	struct block *unused;
	size_t bytes; /* of the blocks in use */
	/* Called after `bytes` has decreased, without the lock; NULL: not. */
	void (*freed)(void *context);
	void *context;
};

struct block;

void block_pool__init(struct block_pool *pool);
void block_pool__deinit(struct block_pool *pool); /* no block may be in use */

size_t block_pool__bytes(struct block_pool *pool);

/*
 * `len` bytes, not aligned and not cleared, of the block *now, which is replaced if it has no room.
 * *ret_block is the block, for block__release(). {NULL} is no block. NULL: out of memory.
 */
void *block_pool__alloc(struct block_pool *pool, struct block **now, size_t len,
			struct block **ret_block);

/* What was allocated is no longer needed. */
void block__release(struct block_pool *pool, struct block *block);

/* No more is allocated from *now; sets it to NULL. */
void block_pool__end(struct block_pool *pool, struct block **now);

#endif
