// SPDX-License-Identifier: GPL-2.0
/*
 * The spans of Go's heap: see heap_spans.h.
 */
#include "heap/heap_spans.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Bytes of a slot by size class, in Go 1.16 to 1.27 (internal/runtime/gc/sizeclasses.go). Class 0
 * is that of large objects, each in a span of its own. Spans of the others have at most 10 pages
 * and 1024 slots.
 */
static const uint16_t slot_sizes[] = {
	0,     8,     16,    24,    32,	   48,	  64,	 80,	96,    112,   128,   144,
	160,   176,   192,   208,   224,   240,	  256,	 288,	320,   352,   384,   416,
	448,   480,   512,   576,   640,   704,	  768,	 896,	1024,  1152,  1280,  1408,
	1536,  1792,  2048,  2304,  2688,  3072,  3200,	 3456,	4096,  4864,  5376,  6144,
	6528,  6784,  6912,  8192,  9472,  9728,  10240, 10880, 12288, 13568, 14336, 16384,
	18432, 19072, 20480, 21760, 24576, 27264, 28672, 32768,
};

#define CLASSES	   (sizeof(slot_sizes) / sizeof(*slot_sizes))
#define PAGES_MAX  16 /* of a span with slots; one with more is invalid */
#define SLOTS_MAX  1024
#define LARGE_MAX  (1ull << 44) /* bytes of a span; more are counted as so many */
#define NO_OBJECTS 1		/* bit of kind_class */
#define TINY_CLASS 5		/* size class 2, without pointers */

void heap_spans__init(struct heap_spans *s, uint64_t page_size)
{
	*s = (struct heap_spans){ .page_size = page_size };
}

static void destroy(struct heap_span *span)
{
	free(span->value);
	free(span);
}

void heap_spans__deinit(struct heap_spans *s)
{
	struct heap_span *span;
	void *value;

	for (size_t i = 0; map__next(&s->by_page, &i, &value);) {
		span = value;
		if (!--span->pages)
			destroy(span);
	}
	map__deinit(&s->by_page);
}

/*
 * kind_class is NO_OBJECTS, or in the bits above the lowest one the runtime's span class: twice the
 * size class, plus 1 for objects without pointers.
 */
static struct heap_span decode(const struct heap_spans *s, uint64_t first, uint64_t pages,
			       uint64_t kind_class)
{
	uint64_t class = kind_class >> 1, max = LARGE_MAX / s->page_size;
	struct heap_span span = { .first = first, .pages = 1 };

	span.bytes = (pages && pages < max ? pages : max) * s->page_size;
	if (kind_class & NO_OBJECTS || class >= 2 * CLASSES)
		return span;
	span.slot = slot_sizes[class >> 1];
	if (!span.slot) {
		span.slot = span.bytes;
		span.slots = 1;
	} else if (span.bytes / span.slot && pages <= PAGES_MAX &&
		   span.bytes / span.slot <= SLOTS_MAX) {
		span.slots = (uint32_t)(span.bytes / span.slot);
		span.pages = (uint16_t)pages;
		span.tiny = class == TINY_CLASS;
	} else {
		span.slot = 0;
	}
	return span;
}

uint64_t heap_spans__pages(const struct heap_spans *s, uint64_t pages, uint64_t kind_class)
{
	return decode(s, 0, pages, kind_class).pages;
}

struct heap_span *heap_spans__add(struct heap_spans *s, uint64_t first, uint64_t pages,
				  uint64_t kind_class)
{
	struct heap_span *span = malloc(sizeof(*span));
	uint16_t n, i;

	if (!span)
		return NULL;
	*span = decode(s, first, pages, kind_class);
	n = span->pages;
	for (i = 0; i < n; i++)
		if (map__put(&s->by_page, first + i, span))
			break;
	if (i == n)
		return span;
	while (i--)
		map__remove(&s->by_page, first + i);
	destroy(span);
	return NULL;
}

void heap_spans__remove(struct heap_spans *s, struct heap_span *span)
{
	for (uint16_t i = 0; i < span->pages; i++)
		map__remove(&s->by_page, span->first + i);
	destroy(span);
}

int heap_span__set(struct heap_span *span, uint32_t slot, uint32_t value, uint32_t *ret_before)
{
	if (!span->value && !value) {
		*ret_before = 0;
		return 0;
	}
	if (!span->value)
		span->value = calloc(span->slots, sizeof(*span->value));
	if (!span->value)
		return -ENOMEM;
	*ret_before = span->value[slot];
	span->value[slot] = value;
	span->live += !!value - !!*ret_before;
	return 0;
}
