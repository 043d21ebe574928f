/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The spans of Go's heap, and the slots in them that hold live objects. Events contain only the
 * address of an object; its slot, and the size of that, follow from its span.
 *
 * Upstream: the events of experiment AllocFree. Downstream: heap/heap.c. Memory: 4 bytes per slot
 * of a span that had an object, and an entry per page of a span with slots.
 */
#ifndef HEAP_HEAP_SPANS_H
#define HEAP_HEAP_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/map.h"

struct heap_span {
	uint64_t first;	 /* page */
	uint64_t bytes;	 /* of the whole span */
	uint64_t slot;	 /* bytes of a slot; 0: a span of stacks or of the runtime itself */
	uint32_t slots;	 /* number */
	uint32_t live;	 /* number of those whose value is not 0 */
	uint32_t *value; /* by slot: set by the user, 0: free. NULL: all are */
	uint16_t pages;	 /* that are in the map */
	bool tiny;	 /* several objects without pointers may share a slot */
};

struct heap_spans {
	struct map by_page;
	uint64_t page_size;
};

void heap_spans__init(struct heap_spans *s, uint64_t page_size); /* allocates nothing */
void heap_spans__deinit(struct heap_spans *s);
/*
 * Adds a span of which an event has these arguments; its pages must not belong to others. NULL: no
 * memory.
 */
struct heap_span *heap_spans__add(struct heap_spans *s, uint64_t first, uint64_t pages,
				  uint64_t kind_class);
/* The pages, from `first` on, that heap_spans__add() would use: at most 16. */
uint64_t heap_spans__pages(const struct heap_spans *s, uint64_t pages, uint64_t kind_class);
void heap_spans__remove(struct heap_spans *s, struct heap_span *span);

/* The span that contains a page; NULL: the trace has not shown it. */
static inline struct heap_span *heap_spans__find(const struct heap_spans *s, uint64_t page)
{
	return map__get(&s->by_page, page);
}

/* The number of the slot that contains an address, which lies in the span. */
static inline uint32_t heap_span__slot(const struct heap_spans *s, const struct heap_span *span,
				       uint64_t address)
{
	uint64_t i = (address - span->first * s->page_size) / span->slot;

	return i < span->slots ? (uint32_t)i : span->slots - 1;
}

/* Sets the value of a slot, and returns the one before. -ENOMEM: nothing was set. */
int heap_span__set(struct heap_span *span, uint32_t slot, uint32_t value, uint32_t *ret_before);

#endif
