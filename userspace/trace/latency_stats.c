// SPDX-License-Identifier: GPL-2.0
/*
 * Sums of goroutines' parts, the classes that run-queue delays are counted in, and what is kept of
 * goroutines that have ended.
 *
 * Between trace/latency.c, which adds up, and `gotrace latency`, which sums by function, sorts and
 * prints.
 */
#include "trace/latency_impl.h"

void latency_stats__deinit(struct latency_stats *stats)
{
	amounts__deinit(&stats->reasons);
	amounts__deinit(&stats->delays);
}

int latency_stats__add(struct latency_stats *sum, const struct latency_stats *more)
{
	if (amounts__add_all(&sum->reasons, &more->reasons) ||
	    amounts__add_all(&sum->delays, &more->delays))
		return -ENOMEM;
	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		sum->part[i] = time_add(sum->part[i], more->part[i]);
	sum->total = time_add(sum->total, more->total);
	sum->syscall_oncpu = time_add(sum->syscall_oncpu, more->syscall_oncpu);
	sum->gc_assist = time_add(sum->gc_assist, more->gc_assist);
	sum->unknown = time_add(sum->unknown, more->unknown);
	sum->migrations += more->migrations;
	if (sum->longest < more->longest)
		sum->longest = more->longest;
	return 0;
}

/* Below 32 ns a class a nanosecond, from there on 16 classes to each power of two. */
static uint32_t class__of(int64_t ns)
{
	unsigned int bits;

	if (ns < 32)
		return ns > 0 ? (uint32_t)ns : 0;
	bits = 63 - (unsigned int)__builtin_clzll((uint64_t)ns);
	return (bits - 4) * 16 + (uint32_t)(ns >> (bits - 4));
}

/* The middle of a class. */
static int64_t class__length(uint32_t class)
{
	unsigned int shift;

	if (class < 32)
		return class;
	shift = class / 16 - 1;
	return ((int64_t)(class % 16 + 16) << shift) + ((int64_t)1 << shift) / 2;
}

int latency_stats__count_delay(struct latency_stats *stats, int64_t ns)
{
	if (stats->longest < ns)
		stats->longest = ns;
	return amounts__add(&stats->delays, class__of(ns), 1);
}

uint64_t latency_stats__delays(const struct latency_stats *stats)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < stats->delays.n; i++)
		n += (uint64_t)stats->delays.at[i].ns;
	return n;
}

/* How many were in classes up to this one. */
static uint64_t count_up_to(const struct amounts *delays, uint32_t class)
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
	const struct amounts *delays = &stats->delays;
	uint32_t class = UINT32_MAX;
	int64_t length;

	for (uint32_t i = 0; i < delays->n; i++)
		if (delays->at[i].kind < class &&
		    (double)count_up_to(delays, delays->at[i].kind) >= wanted)
			class = delays->at[i].kind;
	if (class == UINT32_MAX)
		return 0;
	length = class__length(class);
	return length < stats->longest ? length : stats->longest;
}

int latency__pack(struct pack *p, const struct latency_goroutine *g)
{
	const struct latency_stats *stats = &g->stats;

	if (pack__room(p, (9 + LATENCY_PARTS) * LEB_MAX + amounts__room(&stats->reasons) +
				  amounts__room(&stats->delays)))
		return -ENOMEM;
	pack__number(p, g->id);
	pack__number(p, g->pc);
	pack__number(p, g->name);
	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		pack__number(p, (uint64_t)stats->part[i]);
	pack__number(p, (uint64_t)stats->total);
	pack__number(p, (uint64_t)stats->syscall_oncpu);
	pack__number(p, (uint64_t)stats->gc_assist);
	pack__number(p, (uint64_t)stats->unknown);
	pack__number(p, stats->migrations);
	pack__number(p, (uint64_t)stats->longest);
	pack__amounts(p, &stats->reasons);
	pack__amounts(p, &stats->delays);
	return 0;
}

int latency__unpack(struct buf record, struct latency_goroutine *ret)
{
	struct latency_goroutine g = {};

	g.id = buf__uleb(&record);
	g.pc = buf__uleb(&record);
	g.name = (uint32_t)buf__uleb(&record);
	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		g.stats.part[i] = (int64_t)buf__uleb(&record);
	g.stats.total = (int64_t)buf__uleb(&record);
	g.stats.syscall_oncpu = (int64_t)buf__uleb(&record);
	g.stats.gc_assist = (int64_t)buf__uleb(&record);
	g.stats.unknown = (int64_t)buf__uleb(&record);
	g.stats.migrations = buf__uleb(&record);
	g.stats.longest = (int64_t)buf__uleb(&record);
	if (unpack__amounts(&record, &g.stats.reasons) ||
	    unpack__amounts(&record, &g.stats.delays)) {
		latency_stats__deinit(&g.stats);
		return -ENOMEM;
	}
	*ret = g;
	return 0;
}
