// SPDX-License-Identifier: GPL-2.0
/*
 * Times by kind: what the summary adds up for a goroutine, and the difference of two such sums,
 * which is a region.
 *
 * Used by summary.c and summary_regions.c while events go by. A goroutine meets a handful of kinds,
 * so they are searched from the first to the last.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/summary_impl.h"

struct summary_amount *amounts__find(const struct summary_amounts *a, uint32_t kind)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->at[i].kind == kind)
			return &a->at[i];
	return NULL;
}

int amounts__add(struct summary_amounts *a, uint32_t kind, int64_t ns)
{
	struct summary_amount *amount = amounts__find(a, kind);
	uint32_t cap;

	if (amount) {
		amount->ns = time_add(amount->ns, ns);
		return 0;
	}
	if (a->n == a->cap) {
		cap = a->cap ? a->cap * 2 : 2;
		amount = reallocarray(a->at, cap, sizeof(*a->at));
		if (!amount)
			return -ENOMEM;
		a->at = amount;
		a->cap = cap;
	}
	a->at[a->n++] = (struct summary_amount){ .ns = ns, .kind = kind };
	return 0;
}

void amounts__remove(struct summary_amounts *a, struct summary_amount *which)
{
	*which = a->at[--a->n];
}

static int amounts__copy(struct summary_amounts *to, const struct summary_amounts *from)
{
	*to = (struct summary_amounts){};
	if (!from->n)
		return 0;
	to->at = malloc(from->n * sizeof(*to->at));
	if (!to->at)
		return -ENOMEM;
	memcpy(to->at, from->at, from->n * sizeof(*to->at));
	to->n = to->cap = from->n;
	return 0;
}

static void amounts__subtract(struct summary_amounts *a, const struct summary_amounts *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		a->at[i].ns = time_sub(a->at[i].ns, from->at[i].ns);
}

static int amounts__add_all(struct summary_amounts *sum, const struct summary_amounts *more)
{
	int err = 0;

	for (uint32_t i = 0; i < more->n && !err; i++)
		err = amounts__add(sum, more->at[i].kind, more->at[i].ns);
	return err;
}

void summary_stats__deinit(struct summary_stats *stats)
{
	free(stats->block.at);
	free(stats->ranges.at);
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
	to->ranges = (struct summary_amounts){};
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
	amounts__subtract(&stats->block, &from->block);
	amounts__subtract(&stats->ranges, &from->ranges);
}

int live__add_pending(const struct live *g, int64_t now, struct summary_stats *stats)
{
	const struct summary_amount *open;
	int err = 0;

	if (!stats->total)
		stats->total = time_sub(now, g->created);
	if (g->running)
		stats->exec = time_add(stats->exec, time_sub(now, g->running));
	if (g->runnable)
		stats->sched_wait = time_add(stats->sched_wait, time_sub(now, g->runnable));
	if (g->blocked)
		err = amounts__add(&stats->block, g->block_kind, time_sub(now, g->blocked));
	if (g->syscall)
		stats->syscall = time_add(stats->syscall, time_sub(now, g->syscall));
	if (g->syscall_block) /* what Go does: it counts twice as long as the call lasts */
		stats->sched_wait = time_add(stats->sched_wait, time_sub(now, g->syscall_block));
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
