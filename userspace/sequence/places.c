// SPDX-License-Identifier: GPL-2.0
/* See places.h. Upstream: stacks.c and texts.c, which own the items. */
#include "sequence/places.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/buf.h"

int places__init(struct places *p, uint32_t n, size_t bytes_max,
		 void (*drop)(void *ctx, struct placed *item), void *ctx)
{
	*p = (struct places){ .n = n, .bytes_max = bytes_max, .drop = drop, .ctx = ctx };
	p->latest = calloc(n, sizeof(struct placed *));
	return p->latest ? 0 : -ENOMEM;
}

void places__deinit(struct places *p)
{
	struct placed *item, *next;
	void *value;

	/* Items that are gone are in this list only. */
	for (item = p->first; item; item = next) {
		next = item->next;
		if (item->is_gone)
			p->drop(p->ctx, item);
	}
	for (size_t i = 0; map__next(&p->map, &i, &value);)
		p->drop(p->ctx, value);
	map__deinit(&p->map);
	free(p->latest);
}

static void append(struct places *p, struct placed *item)
{
	item->next = NULL;
	*(p->first ? &p->last->next : &p->first) = item;
	p->last = item;
	p->bytes += item->bytes;
}

static struct placed *take_first(struct places *p)
{
	struct placed *item = p->first;

	PARSER_STEPS(1);
	p->first = item->next;
	p->bytes -= item->bytes;
	return item;
}

static void drop_first(struct places *p)
{
	struct placed *item = take_first(p);

	if (!item->is_gone)
		map__remove(&p->map, item->key);
	p->drop(p->ctx, item);
}

static void displace(struct places *p, struct placed *item, uint64_t time)
{
	item->is_displaced = true;
	item->displaced = time;
	append(p, item);
	while (p->bytes > p->bytes_max)
		drop_first(p);
}

/* Another item has its key from now on. */
static void replace(struct places *p, struct placed *item)
{
	struct placed **latest = &p->latest[item->key & (p->n - 1)];

	item->is_gone = true;
	if (item->is_displaced)
		return; /* freed with the displaced items */
	if (*latest == item)
		*latest = NULL;
	p->drop(p->ctx, item);
}

int places__put_for_ever(struct places *p, struct placed *item)
{
	struct placed *before = map__get(&p->map, item->key);
	int err = map__put(&p->map, item->key, item);

	if (!err && before)
		replace(p, before);
	return err;
}

int places__put(struct places *p, struct placed *item)
{
	struct placed **latest = &p->latest[item->key & (p->n - 1)], *before;
	int err = places__put_for_ever(p, item);

	if (err)
		return err;
	before = *latest;
	*latest = item;
	if (before)
		displace(p, before, item->time);
	return 0;
}

struct placed *places__get(struct places *p, uint64_t key, uint64_t time)
{
	struct placed *item = map__get(&p->map, key);

	if (item && time > item->used)
		item->used = time;
	return item;
}

const struct placed *places__latest(const struct places *p, uint64_t key)
{
	return p->latest[key & (p->n - 1)];
}

void places__expire(struct places *p, uint64_t time)
{
	struct placed *item;

	while (p->first && p->first->displaced + PLACES_PATIENCE_NS < time) {
		if (p->first->is_gone || p->first->used <= p->first->displaced) {
			drop_first(p);
			continue;
		}
		item = take_first(p);
		item->displaced = time;
		append(p, item);
	}
}
