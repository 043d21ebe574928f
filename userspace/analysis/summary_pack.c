// SPDX-License-Identifier: GPL-2.0
/*
 * Regions and goroutines that have ended, as LEB numbers.
 *
 * Packed by summary_regions.c and record_store.c; unpacked one at a time for printing.
 */
#include <errno.h>
#include <string.h>

#include "analysis/summary_impl.h"

static size_t stats_room(const struct summary_stats *stats)
{
	return SUMMARY_TIMES * LEB_MAX + durations__room(&stats->block) +
	       durations__room(&stats->ranges);
}

static void put_stats(struct outbuf *p, const struct summary_stats *stats)
{
	pack__times(p, stats->times, SUMMARY_TIMES);
	pack__durations(p, &stats->block);
	pack__durations(p, &stats->ranges);
}

/* A time that may be `never`, as what it is after `from`, which is known when it is read. */
static void put_time(struct outbuf *p, int64_t time, int64_t never, int64_t from)
{
	leb__append(p, time != never);
	if (time != never)
		leb__append(p, (uint64_t)time_sub(time, from));
}

int pack__region(struct outbuf *p, const struct summary_region *r)
{
	if (outbuf__room(p, 6 * LEB_MAX + stats_room(&r->stats), NULL))
		return -ENOMEM;
	leb__append(p, r->task);
	leb__append(p, r->name);
	put_time(p, r->start, SUMMARY_NEVER, 0);
	put_time(p, r->end, SUMMARY_NEVER, r->start);
	put_stats(p, &r->stats);
	return 0;
}

int summary__pack(struct outbuf *p, const void *goroutine)
{
	const struct summary_goroutine *g = goroutine;
	size_t regions = buf__left(&g->regions);

	if (outbuf__room(p, 9 * LEB_MAX + stats_room(&g->stats) + regions, NULL))
		return -ENOMEM;
	leb__append(p, g->id);
	leb__append(p, g->pc);
	leb__append(p, g->name);
	leb__append(p, (uint64_t)g->created);
	put_time(p, g->started, 0, g->created);
	put_time(p, g->ended, 0, g->created);
	put_stats(p, &g->stats);
	leb__append(p, regions);
	if (regions)
		memcpy(p->data + p->len, g->regions.pos, regions);
	p->len += regions;
	return 0;
}

static int64_t get_time(struct buf *b, int64_t never, int64_t from)
{
	return buf__uleb(b) ? time_add(from, (int64_t)buf__uleb(b)) : never;
}

static int get_stats(struct buf *b, struct summary_stats *ret)
{
	*ret = (struct summary_stats){};
	unpack__times(b, ret->times, SUMMARY_TIMES);
	if (!unpack__durations(b, &ret->block) && !unpack__durations(b, &ret->ranges))
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

int summary__unpack(struct buf b, struct summary_goroutine *ret)
{
	struct summary_goroutine g = {};
	size_t regions;

	g.id = buf__uleb(&b);
	g.pc = buf__uleb(&b);
	g.name = (uint32_t)buf__uleb(&b);
	g.created = (int64_t)buf__uleb(&b);
	g.started = get_time(&b, 0, g.created);
	g.ended = get_time(&b, 0, g.created);
	if (get_stats(&b, &g.stats))
		return -ENOMEM;
	regions = buf__uleb(&b);
	g.regions = buf__make(buf__take(&b, regions), regions);
	*ret = g;
	return 0;
}
