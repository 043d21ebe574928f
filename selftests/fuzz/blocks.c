// SPDX-License-Identifier: GPL-2.0
/*
 * lib/blocks.h for the fuzz targets, in the place of lib/blocks.c: each thing has memory of its
 * own, so that the sanitizer sees where it ends and when it is gone, and no input pays for a block.
 */
#include <stdint.h>
#include <stdlib.h>

#include "lib/blocks.h"

struct thing {
	struct thing *next;
	size_t len;
	_Alignas(8) unsigned char data[];
};

struct blocks {
	struct thing *first;
	size_t memory;
};

struct blocks *blocks__create(size_t block)
{
	return calloc(1, sizeof(struct blocks));
}

void blocks__reset(struct blocks *b)
{
	struct thing *thing;

	while ((thing = b->first)) {
		b->first = thing->next;
		free(thing);
	}
	b->memory = 0;
}

void blocks__destroy(struct blocks *b)
{
	if (b)
		blocks__reset(b);
	free(b);
}

void *blocks__take(struct blocks *b, size_t len)
{
	struct thing *thing = malloc(sizeof(*thing) + len);

	if (!thing)
		return NULL;
	thing->next = b->first;
	b->first = thing;
	b->memory += len;
	return thing->data;
}

size_t blocks__memory(const struct blocks *b)
{
	return b->memory;
}
