// SPDX-License-Identifier: GPL-2.0
/*
 * What is kept of regions that have ended and of goroutines that have: their figures as LEB
 * numbers.
 *
 * Packed by summary_regions.c and summary_store.c, unpacked one at a time by who prints.
 */
#include <errno.h>
#include <string.h>

#include "trace/summary_impl.h"

static size_t stats_room(const struct summary_stats *stats)
{
	return 7 * LEB_MAX + amounts__room(&stats->block) + amounts__room(&stats->ranges);
}

static void put_stats(struct pack *p, const struct summary_stats *stats)
{
	pack__number(p, (uint64_t)stats->exec);
	pack__number(p, (uint64_t)stats->sched_wait);
	pack__number(p, (uint64_t)stats->syscall);
	pack__number(p, (uint64_t)stats->syscall_block);
	pack__number(p, (uint64_t)stats->total);
	pack__number(p, (uint64_t)stats->gc_work);
	pack__number(p, (uint64_t)stats->go_twice);
	pack__amounts(p, &stats->block);
	pack__amounts(p, &stats->ranges);
}

/* A time that may be `never`, as what it is after `from`, which is known when it is read. */
static void put_time(struct pack *p, int64_t time, int64_t never, int64_t from)
{
	pack__number(p, time != never);
	if (time != never)
		pack__number(p, (uint64_t)time_sub(time, from));
}

int pack__region(struct pack *p, const struct summary_region *r)
{
	if (pack__room(p, 6 * LEB_MAX + stats_room(&r->stats)))
		return -ENOMEM;
	pack__number(p, r->task);
	pack__number(p, r->name);
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
	pack__number(p, g->id);
	pack__number(p, g->pc);
	pack__number(p, g->name);
	pack__number(p, (uint64_t)g->created);
	put_time(p, g->started, 0, g->created);
	put_time(p, g->ended, 0, g->created);
	put_stats(p, &g->stats);
	pack__number(p, regions);
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
	ret->exec = (int64_t)buf__uleb(b);
	ret->sched_wait = (int64_t)buf__uleb(b);
	ret->syscall = (int64_t)buf__uleb(b);
	ret->syscall_block = (int64_t)buf__uleb(b);
	ret->total = (int64_t)buf__uleb(b);
	ret->gc_work = (int64_t)buf__uleb(b);
	ret->go_twice = (int64_t)buf__uleb(b);
	if (!unpack__amounts(b, &ret->block) && !unpack__amounts(b, &ret->ranges))
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
