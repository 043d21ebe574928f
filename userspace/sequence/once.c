// SPDX-License-Identifier: GPL-2.0
/*
 * See once.h. Upstream: sequencer.c, when records arrive. Downstream: texts.c and state_sample.c,
 * when their records are applied, a watermark later.
 */
#include "sequence/once.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"

#define PATIENCE_NS 2000000000ull /* a thread can be descheduled between its two records */

struct once_item {
	struct once_item *next, *prev;
	uint64_t number, time;
	size_t len;
	_Alignas(8) char data[];
};

static size_t item_size(size_t len)
{
	return sizeof(struct once_item) + len;
}

static void remove_item(struct once *o, struct once_item *item)
{
	PARSER_STEPS(1);
	map__remove(&o->map, item->number);
	*(item->prev ? &item->prev->next : &o->first) = item->next;
	*(item->next ? &item->next->prev : &o->last) = item->prev;
	o->bytes -= item_size(item->len);
	free(item);
}

void once__deinit(struct once *o)
{
	while (o->first)
		remove_item(o, o->first);
	map__deinit(&o->map);
}

int once__put(struct once *o, uint64_t number, uint64_t time, const void *data, size_t len)
{
	struct once_item *item;

	once__drop(o, number);
	if (o->bytes + item_size(len) > (o->bytes_max ? o->bytes_max : ONCE_BYTES))
		return -ENOBUFS;
	item = malloc(item_size(len));
	if (!item)
		return -ENOMEM;
	*item = (struct once_item){ .prev = o->last, .number = number, .time = time, .len = len };
	memcpy(item->data, data, len);
	if (map__put(&o->map, number, item)) {
		free(item);
		return -ENOMEM;
	}
	*(o->last ? &o->last->next : &o->first) = item;
	o->last = item;
	o->bytes += item_size(len);
	return 0;
}

const void *once__get(const struct once *o, uint64_t number, size_t *ret_len)
{
	const struct once_item *item = map__get(&o->map, number);

	*ret_len = item ? item->len : 0;
	return item ? item->data : NULL;
}

void once__drop(struct once *o, uint64_t number)
{
	struct once_item *item = map__get(&o->map, number);

	if (item)
		remove_item(o, item);
}

void once__expire(struct once *o, uint64_t time)
{
	while (o->first && o->first->time + PATIENCE_NS < time)
		remove_item(o, o->first);
}
