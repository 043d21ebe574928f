// SPDX-License-Identifier: GPL-2.0
/*
 * The data of experiment AllocFree: see heap_types.h. Its format is that of Go's runtime
 * (traceallocfree.go, tracetype.go), from Go 1.23 to 1.27.
 */
#include "heap/heap_types.h"

#include <errno.h>

#include "lib/buf.h"

#define PAGE_SIZE_GO   8192
#define OBJECT_UNIT_GO 8
#define UNIT_MAX       (1u << 20) /* greater ones are invalid */

int heap_types__init(struct heap_types *t)
{
	*t = (struct heap_types){
		.names = intern__create(),
		.page_size = PAGE_SIZE_GO,
		.object_unit = OBJECT_UNIT_GO,
	};
	return t->names ? 0 : -ENOMEM;
}

void heap_types__deinit(struct heap_types *t)
{
	map__deinit(&t->by_id);
	intern__destroy(t->names);
	*t = (struct heap_types){};
}

static bool is_unit(uint64_t n)
{
	return n && n <= UNIT_MAX && !(n & (n - 1));
}

static void read_units(struct heap_types *t, struct buf *b)
{
	uint64_t page, object;

	buf__uleb(b); /* the lowest address */
	page = buf__uleb(b);
	object = buf__uleb(b);
	if (b->bad || !is_unit(page) || !is_unit(object) || object > page)
		return;
	t->page_size = page;
	t->object_unit = object;
}

static int read_types(struct heap_types *t, struct buf *b)
{
	struct trace_string name;
	uint64_t id, len;
	uint32_t as;
	int err;

	while (buf__left(b)) {
		id = buf__uleb(b);
		buf__uleb(b); /* address */
		buf__uleb(b); /* size */
		buf__uleb(b); /* bytes with pointers */
		len = buf__uleb(b);
		name.len = len < buf__left(b) ? (uint32_t)len : (uint32_t)buf__left(b);
		name.data = buf__take(b, len);
		if (b->bad)
			return 0;
		as = 0;
		err = intern__text(t->names, name, &as);
		err = err ?: map__put(&t->by_id, id, (void *)((uintptr_t)as + 1));
		if (err)
			return err;
	}
	return 0;
}

int heap_types__begin(struct heap_types *t, const struct dictionary *d)
{
	struct buf b;
	uint8_t kind;
	int err = 0;

	map__deinit(&t->by_id);
	for (size_t i = 0; !err && i < d->nexperiments; i++) {
		b = buf__make(d->experiments[i].data, d->experiments[i].len);
		kind = buf__u8(&b);
		if (b.bad)
			continue;
		if (kind == ALLOC_FREE_UNITS)
			read_units(t, &b);
		else if (kind == ALLOC_FREE_TYPES)
			err = read_types(t, &b);
	}
	return err;
}

uint32_t heap_types__name(const struct heap_types *t, uint64_t type)
{
	uintptr_t found = type ? (uintptr_t)map__get(&t->by_id, type) : 0;

	return found ? (uint32_t)(found - 1) : 0;
}
