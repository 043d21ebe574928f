/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arenas: memory for many small objects that are freed together, allocated in large blocks.
 *
 * reader/decode.c keeps a generation's batches in one, format/dictionary.c strings, writer/intern.c
 * strings and stacks, reader/order.c states. Objects never move.
 */
#ifndef LIB_ARENA_H
#define LIB_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_block *first, *now; /* NULL: none yet. `now` is the one that is being filled */
	size_t block;			 /* bytes of one; larger objects have one of their own */
	size_t memory;			 /* bytes of all blocks */
};

/* Allocates nothing. */
static inline void arena__init(struct arena *a, size_t block)
{
	*a = (struct arena){ .block = block };
}

/* `len` bytes, aligned to 8, not cleared. NULL: no memory. */
void *arena__alloc(struct arena *a, size_t len);

/* Frees all objects: arena__reset() keeps the blocks, arena__deinit() does not. Both leave it usable. */
void arena__reset(struct arena *a);
void arena__deinit(struct arena *a);

#endif
