/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory for many small things that go away together: taken from blocks, never freed one by one.
 *
 * trace/decode.c keeps a generation's batches in it, trace/dictionary.c strings, trace/order.c
 * states. Nothing taken ever moves.
 */
#ifndef LIB_BLOCKS_H
#define LIB_BLOCKS_H

#include <stddef.h>

struct blocks;

struct blocks *blocks__create(size_t block); /* bytes of one block; NULL: no memory */
void blocks__destroy(struct blocks *b);	     /* b may be NULL */

/* `len` bytes, aligned to 8, not cleared. NULL: no memory. */
void *blocks__take(struct blocks *b, size_t len);
void blocks__reset(struct blocks *b); /* all of it again; keeps the memory */
size_t blocks__memory(const struct blocks *b);

#endif
