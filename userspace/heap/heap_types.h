/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The data of experiment AllocFree: names of types by their id in a generation, and the units of
 * ids of objects, spans and stacks.
 *
 * Upstream: the batches of a generation (format/dictionary.h). Downstream: heap/heap.c. Invalid
 * data is ignored, as Go's reader does: types are unknown then, and units those of Go on 64-bit
 * machines.
 */
#ifndef HEAP_HEAP_TYPES_H
#define HEAP_HEAP_TYPES_H

#include "format/dictionary.h"
#include "writer/intern.h"

struct heap_types {
	struct intern *names; /* of all generations */
	struct map by_id;     /* to the id of the name + 1, cast to a pointer */
	uint64_t page_size;
	uint64_t object_unit; /* ids of objects are addresses in units of so many bytes */
};

int heap_types__init(struct heap_types *t); /* 0 or -ENOMEM; deinit in either case */
void heap_types__deinit(struct heap_types *t);
/* A generation begins: its types replace those before. 0 or -ENOMEM. */
int heap_types__begin(struct heap_types *t, const struct dictionary *d);
/* The name of a type as an id of `names`; 0: it is unknown, or the object has none. */
uint32_t heap_types__name(const struct heap_types *t, uint64_t type);

#endif
