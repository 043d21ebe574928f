// SPDX-License-Identifier: GPL-2.0
/*
 * What the summary adds up for a goroutine, and the difference of two such sums, which is a region.
 *
 * Used by summary.c and summary_regions.c while events go by.
 */
#include <errno.h>

#include "analysis/summary_impl.h"

void summary_stats__deinit(struct summary_stats *stats)
{
	durations__deinit(&stats->block);
	durations__deinit(&stats->ranges);
	*stats = (struct summary_stats){};
}

int summary_stats__add(struct summary_stats *sum, const struct summary_stats *more)
{
	int err = durations__add_all(&sum->block, &more->block);

	if (!err)
		err = durations__add_all(&sum->ranges, &more->ranges);
	if (err)
		return err;
	times__add(sum->times, more->times, SUMMARY_TIMES);
	return 0;
}

int64_t summary_stats__unknown(const struct summary_stats *stats)
{
	int64_t known = time_add(time_add(stats->exec, stats->sched_wait),
				 time_add(stats->syscall, stats->syscall_block));

	known = time_add(known, stats->lost);
	for (uint32_t i = 0; i < stats->block.n; i++)
		known = time_add(known, stats->block.at[i].ns);
	return known < stats->total ? time_sub(stats->total, known) : 0;
}

int stats__copy(struct summary_stats *to, const struct summary_stats *from)
{
	*to = *from;
	to->ranges = (struct durations){};
	if (durations__copy(&to->block, &from->block) ||
	    durations__copy(&to->ranges, &from->ranges)) {
		summary_stats__deinit(to);
		return -ENOMEM;
	}
	return 0;
}

void stats__subtract(struct summary_stats *stats, const struct summary_stats *from)
{
	for (unsigned int i = 0; i < SUMMARY_TIMES; i++)
		stats->times[i] = time_sub(stats->times[i], from->times[i]);
	durations__subtract(&stats->block, &from->block);
	durations__subtract(&stats->ranges, &from->ranges);
}

/* The records of a range are its begin and its end. */
int64_t live__range(const struct summary *s, int64_t since, int64_t now)
{
	return time_sub(time_sub(now, since),
			gaps__lost(&s->tracker.gaps, TRACE_NO_G, since, since, now));
}

int live__add_pending(const struct summary *s, const struct live *g, int64_t now,
		      struct summary_stats *stats)
{
	int64_t blocked = g->syscall_block ? time_sub(now, g->syscall_block) : 0;
	const struct duration *open;
	int err = 0;

	if (!stats->total)
		stats->total = time_sub(now, g->go.created);
	if (g->go.since)
		err = live__add_state(s, g, now, stats);
	if (g->go.since && g->go.state == GO_STATE_SYSCALL)
		stats->go_twice = time_add(stats->go_twice, blocked);
	for (uint32_t i = 0; i < g->open.n && !err; i++) {
		open = &g->open.at[i];
		err = durations__add(&stats->ranges, open->kind, live__range(s, open->ns, now));
	}
	return err;
}

/*
 * The kinds that are pending get their place in the goroutine's own stats first: so the kinds of a
 * snapshot are always the first ones of any later one, which stats__subtract() counts on.
 */
int live__snapshot(const struct summary *s, struct live *g, int64_t now, struct summary_stats *ret)
{
	bool blocked = g->go.since && g->go.state == GO_STATE_WAITING;
	int err = blocked ? durations__add(&g->stats.block, g->block_kind, 0) : 0;

	for (uint32_t i = 0; i < g->open.n && !err; i++)
		err = durations__add(&g->stats.ranges, g->open.at[i].kind, 0);
	if (!err)
		err = stats__copy(ret, &g->stats);
	if (err)
		return err;
	err = live__add_pending(s, g, now, ret);
	if (err)
		summary_stats__deinit(ret);
	return err;
}
