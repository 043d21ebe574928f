// SPDX-License-Identifier: GPL-2.0
/*
 * What is kept of regions that have ended and of goroutines that have: their figures as LEB
 * numbers, 40 bytes where the structs have 150.
 *
 * Packed by summary_regions.c and summary_store.c, unpacked one at a time by who prints. An amount
 * of 0 is left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/encode.h"
#include "trace/summary_impl.h"

void pack__deinit(struct pack *p)
{
	free(p->data);
	*p = (struct pack){};
}

static int pack__room(struct pack *p, size_t len)
{
	size_t cap = p->cap ? p->cap : 64;
	uint8_t *data;

	while (cap - p->len < len)
		cap *= 2;
	if (cap == p->cap)
		return 0;
	data = realloc(p->data, cap);
	if (!data)
		return -ENOMEM;
	p->data = data;
	p->cap = cap;
	return 0;
}

/* There is room. Times that are less than 0 are rare and may be long. */
static void put(struct pack *p, uint64_t v)
{
	p->len = leb__put(p->data + p->len, v) - p->data;
}

static void put_amounts(struct pack *p, const struct summary_amounts *a)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->n; i++)
		n += a->at[i].ns != 0;
	put(p, n);
	for (uint32_t i = 0; i < a->n; i++) {
		if (!a->at[i].ns)
			continue;
		put(p, a->at[i].kind);
		put(p, (uint64_t)a->at[i].ns);
	}
}

static size_t stats_room(const struct summary_stats *stats)
{
	return (7 + 2 * ((size_t)stats->block.n + stats->ranges.n)) * LEB_MAX;
}

static void put_stats(struct pack *p, const struct summary_stats *stats)
{
	put(p, (uint64_t)stats->exec);
	put(p, (uint64_t)stats->sched_wait);
	put(p, (uint64_t)stats->syscall);
	put(p, (uint64_t)stats->syscall_block);
	put(p, (uint64_t)stats->total);
	put_amounts(p, &stats->block);
	put_amounts(p, &stats->ranges);
}

/* A time that may be `never`, as what it is after `from`, which is known when it is read. */
static void put_time(struct pack *p, int64_t time, int64_t never, int64_t from)
{
	put(p, time != never);
	if (time != never)
		put(p, (uint64_t)time_sub(time, from));
}

int pack__region(struct pack *p, const struct summary_region *r)
{
	if (pack__room(p, 6 * LEB_MAX + stats_room(&r->stats)))
		return -ENOMEM;
	put(p, r->task);
	put(p, r->name);
	put_time(p, r->start, SUMMARY_NEVER, 0);
	put_time(p, r->end, SUMMARY_NEVER, r->start);
	put_stats(p, &r->stats);
	return 0;
}

int pack__goroutine(struct pack *p, const struct summary_goroutine *g)
{
	size_t regions = buf__left(&g->regions);

	if (pack__room(p, 9 * LEB_MAX + stats_room(&g->stats) + regions))
		return -ENOMEM;
	put(p, g->id);
	put(p, g->pc);
	put(p, g->name);
	put(p, (uint64_t)g->created);
	put_time(p, g->started, 0, g->created);
	put_time(p, g->ended, 0, g->created);
	put_stats(p, &g->stats);
	put(p, regions);
	if (regions)
		memcpy(p->data + p->len, g->regions.pos, regions);
	p->len += regions;
	return 0;
}

static int64_t get_time(struct buf *b, int64_t never, int64_t from)
{
	return buf__uleb(b) ? time_add(from, (int64_t)buf__uleb(b)) : never;
}

static int get_amounts(struct buf *b, struct summary_amounts *ret)
{
	uint32_t n = (uint32_t)buf__uleb(b);

	*ret = (struct summary_amounts){};
	if (!n)
		return 0;
	ret->at = malloc(n * sizeof(*ret->at));
	if (!ret->at)
		return -ENOMEM;
	for (ret->cap = n; ret->n < n; ret->n++) {
		ret->at[ret->n].kind = (uint32_t)buf__uleb(b);
		ret->at[ret->n].ns = (int64_t)buf__uleb(b);
	}
	return 0;
}

static int get_stats(struct buf *b, struct summary_stats *ret)
{
	*ret = (struct summary_stats){};
	ret->exec = (int64_t)buf__uleb(b);
	ret->sched_wait = (int64_t)buf__uleb(b);
	ret->syscall = (int64_t)buf__uleb(b);
	ret->syscall_block = (int64_t)buf__uleb(b);
	ret->total = (int64_t)buf__uleb(b);
	if (!get_amounts(b, &ret->block) && !get_amounts(b, &ret->ranges))
		return 0;
	summary_stats__deinit(ret);
	return -ENOMEM;
}

int summary_region__unpack(struct buf *regions, struct summary_region *ret)
{
	struct summary_region r;

	if (!buf__left(regions))
		return 0;
	r.task = buf__uleb(regions);
	r.name = (uint32_t)buf__uleb(regions);
	r.start = get_time(regions, SUMMARY_NEVER, 0);
	r.end = get_time(regions, SUMMARY_NEVER, r.start);
	if (get_stats(regions, &r.stats))
		return -ENOMEM;
	*ret = r;
	return 1;
}

int unpack__goroutine(struct buf *b, struct summary_goroutine *ret)
{
	struct summary_goroutine g = {};
	size_t regions;

	g.id = buf__uleb(b);
	g.pc = buf__uleb(b);
	g.name = (uint32_t)buf__uleb(b);
	g.created = (int64_t)buf__uleb(b);
	g.started = get_time(b, 0, g.created);
	g.ended = get_time(b, 0, g.created);
	if (get_stats(b, &g.stats))
		return -ENOMEM;
	regions = buf__uleb(b);
	g.regions = buf__make(buf__take(b, regions), regions);
	*ret = g;
	return 0;
}
