// SPDX-License-Identifier: GPL-2.0
/*
 * Sums of goroutines' parts, the classes of run-queue delays, and goroutines that have ended.
 *
 * Between analysis/latency.c, which adds up, and `gotrace latency`, which sums by function, sorts
 * and prints.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/latency_impl.h"
#include "analysis/lengths.h"

void latency_stats__deinit(struct latency_stats *stats)
{
	durations__deinit(&stats->reasons);
	durations__deinit(&stats->delays);
	durations__deinit(&stats->tasks);
	durations__deinit(&stats->places);
	durations__deinit(&stats->calls);
}

int latency_stats__copy(struct latency_stats *ret, const struct latency_stats *stats)
{
	*ret = *stats;
	ret->delays = ret->tasks = ret->places = ret->calls = (struct durations){};
	if (durations__copy(&ret->reasons, &stats->reasons) ||
	    durations__copy(&ret->tasks, &stats->tasks) ||
	    durations__copy(&ret->places, &stats->places) ||
	    durations__copy(&ret->calls, &stats->calls)) {
		latency_stats__deinit(ret);
		return -ENOMEM;
	}
	return 0;
}

int latency_stats__add(struct latency_stats *sum, const struct latency_stats *more)
{
	if (durations__add_all(&sum->reasons, &more->reasons) ||
	    durations__add_all(&sum->delays, &more->delays) ||
	    durations__add_all(&sum->tasks, &more->tasks) ||
	    durations__add_all(&sum->places, &more->places) ||
	    durations__add_all(&sum->calls, &more->calls))
		return -ENOMEM;
	times__add(sum->times, more->times, LATENCY_TIMES);
	if (sum->longest < more->longest)
		sum->longest = more->longest;
	return 0;
}

void latency_stats__subtract(struct latency_stats *stats, const struct latency_stats *before)
{
	for (unsigned int i = 0; i < LATENCY_TIMES; i++)
		stats->times[i] = time_sub(stats->times[i], before->times[i]);
	durations__subtract(&stats->reasons, &before->reasons);
	durations__subtract(&stats->tasks, &before->tasks);
	durations__subtract(&stats->places, &before->places);
	durations__subtract(&stats->calls, &before->calls);
}

int latency_stats__count_delay(struct latency_stats *stats, int64_t ns)
{
	if (stats->longest < ns)
		stats->longest = ns;
	return durations__add(&stats->delays, length_class__of(ns), 1);
}

uint64_t latency_stats__delays(const struct latency_stats *stats)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < stats->delays.n; i++)
		n += (uint64_t)stats->delays.at[i].ns;
	return n;
}

/* How many were in classes up to this one. */
static uint64_t count_up_to(const struct durations *delays, uint32_t class)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < delays->n; i++)
		if (delays->at[i].kind <= class)
			n += (uint64_t)delays->at[i].ns;
	return n;
}

int64_t latency_stats__delay(const struct latency_stats *stats, double share)
{
	double wanted = share * (double)latency_stats__delays(stats);
	const struct durations *delays = &stats->delays;
	uint32_t class = UINT32_MAX;
	int64_t length;

	for (uint32_t i = 0; i < delays->n; i++)
		if (delays->at[i].kind < class &&
		    (double)count_up_to(delays, delays->at[i].kind) >= wanted)
			class = delays->at[i].kind;
	if (class == UINT32_MAX)
		return 0;
	length = length_class__middle(class);
	return length < stats->longest ? length : stats->longest;
}

int latency__pack(struct outbuf *p, const void *goroutine)
{
	const struct latency_goroutine *g = goroutine;
	const struct latency_stats *stats = &g->stats;

	if (outbuf__room(p,
			 (4 + LATENCY_TIMES) * LEB_MAX + durations__room(&stats->reasons) +
				 durations__room(&stats->delays) + durations__room(&stats->tasks),
			 NULL))
		return -ENOMEM;
	leb__append(p, g->id);
	leb__append(p, g->pc);
	leb__append(p, g->name);
	pack__times(p, stats->times, LATENCY_TIMES);
	leb__append(p, (uint64_t)stats->longest);
	pack__durations(p, &stats->reasons);
	pack__durations(p, &stats->delays);
	pack__durations(p, &stats->tasks);
	return 0;
}

int latency__unpack(struct buf record, struct latency_goroutine *ret)
{
	struct latency_goroutine g = {};

	g.id = buf__uleb(&record);
	g.pc = buf__uleb(&record);
	g.name = (uint32_t)buf__uleb(&record);
	unpack__times(&record, g.stats.times, LATENCY_TIMES);
	g.stats.longest = (int64_t)buf__uleb(&record);
	if (unpack__durations(&record, &g.stats.reasons) ||
	    unpack__durations(&record, &g.stats.delays) ||
	    unpack__durations(&record, &g.stats.tasks)) {
		latency_stats__deinit(&g.stats);
		return -ENOMEM;
	}
	*ret = g;
	return 0;
}
