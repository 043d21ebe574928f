// SPDX-License-Identifier: GPL-2.0
/*
 * What the summary adds up for a goroutine, and the difference of two such sums, which is a region.
 *
 * Used by summary.c and summary_regions.c while events go by.
 */
#include <errno.h>

#include "trace/summary_impl.h"

void summary_stats__deinit(struct summary_stats *stats)
{
	amounts__deinit(&stats->block);
	amounts__deinit(&stats->ranges);
	*stats = (struct summary_stats){};
}

int summary_stats__add(struct summary_stats *sum, const struct summary_stats *more)
{
	int err = amounts__add_all(&sum->block, &more->block);

	if (!err)
		err = amounts__add_all(&sum->ranges, &more->ranges);
	if (err)
		return err;
	sum->exec = time_add(sum->exec, more->exec);
	sum->sched_wait = time_add(sum->sched_wait, more->sched_wait);
	sum->syscall = time_add(sum->syscall, more->syscall);
	sum->syscall_block = time_add(sum->syscall_block, more->syscall_block);
	sum->total = time_add(sum->total, more->total);
	sum->gc_work = time_add(sum->gc_work, more->gc_work);
	sum->go_twice = time_add(sum->go_twice, more->go_twice);
	return 0;
}

int64_t summary_stats__unknown(const struct summary_stats *stats)
{
	int64_t known = time_add(time_add(stats->exec, stats->sched_wait),
				 time_add(stats->syscall, stats->syscall_block));

	for (uint32_t i = 0; i < stats->block.n; i++)
		known = time_add(known, stats->block.at[i].ns);
	return known < stats->total ? time_sub(stats->total, known) : 0;
}

int stats__copy(struct summary_stats *to, const struct summary_stats *from)
{
	*to = *from;
	to->ranges = (struct amounts){};
	if (amounts__copy(&to->block, &from->block) || amounts__copy(&to->ranges, &from->ranges)) {
		summary_stats__deinit(to);
		return -ENOMEM;
	}
	return 0;
}

void stats__subtract(struct summary_stats *stats, const struct summary_stats *from)
{
	stats->exec = time_sub(stats->exec, from->exec);
	stats->sched_wait = time_sub(stats->sched_wait, from->sched_wait);
	stats->syscall = time_sub(stats->syscall, from->syscall);
	stats->syscall_block = time_sub(stats->syscall_block, from->syscall_block);
	stats->total = time_sub(stats->total, from->total);
	stats->gc_work = time_sub(stats->gc_work, from->gc_work);
	stats->go_twice = time_sub(stats->go_twice, from->go_twice);
	amounts__subtract(&stats->block, &from->block);
	amounts__subtract(&stats->ranges, &from->ranges);
}

void live__add_gc_work(const struct live *g, int64_t now, struct summary_stats *stats)
{
	int64_t since = g->running > g->gc_work ? g->running : g->gc_work;

	if (g->running && g->gc_work)
		stats->gc_work = time_add(stats->gc_work, time_sub(now, since));
}

int live__add_pending(const struct live *g, int64_t now, struct summary_stats *stats)
{
	int64_t until = g->syscall_block ? g->syscall_block : now;
	const struct amount *open;
	int err = 0;

	if (!stats->total)
		stats->total = time_sub(now, g->created);
	live__add_gc_work(g, now, stats);
	if (g->running)
		stats->exec = time_add(stats->exec, time_sub(now, g->running));
	if (g->runnable)
		stats->sched_wait = time_add(stats->sched_wait, time_sub(now, g->runnable));
	if (g->blocked)
		err = amounts__add(&stats->block, g->block_kind, time_sub(now, g->blocked));
	if (g->syscall) {
		stats->syscall = time_add(stats->syscall, time_sub(until, g->syscall));
		stats->syscall_block = time_add(stats->syscall_block, time_sub(now, until));
		stats->go_twice = time_add(stats->go_twice, time_sub(now, until));
	}
	for (uint32_t i = 0; i < g->open.n && !err; i++) {
		open = &g->open.at[i];
		err = amounts__add(&stats->ranges, open->kind, time_sub(now, open->ns));
	}
	return err;
}

/*
 * The kinds that are pending get their place in the goroutine's own stats first: so the kinds of a
 * snapshot are always the first ones of any later one, which stats__subtract() counts on.
 */
int live__snapshot(struct live *g, int64_t now, struct summary_stats *ret)
{
	int err = g->blocked ? amounts__add(&g->stats.block, g->block_kind, 0) : 0;

	for (uint32_t i = 0; i < g->open.n && !err; i++)
		err = amounts__add(&g->stats.ranges, g->open.at[i].kind, 0);
	if (!err)
		err = stats__copy(ret, &g->stats);
	if (err)
		return err;
	err = live__add_pending(g, now, ret);
	if (err)
		summary_stats__deinit(ret);
	return err;
}
