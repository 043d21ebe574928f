// SPDX-License-Identifier: GPL-2.0
/*
 * The sums of a goroutine that has few: most of a million goroutines only wait, and one that starts
 * and blocks has three. struct latency_stats would take ten times as much memory.
 *
 * Between latency_part.c, which adds times, and latency.c, which reports them. A sum that has no room,
 * or is of another sort, such as a migration, turns the brief sums into a struct latency_stats.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/latency_impl.h"

bool live__add_brief(struct live *g, uint32_t reason, uint32_t place, int64_t ns)
{
	struct brief_sum *sum = g->brief, *end = sum + g->nbrief;

	while (sum < end &&
	       (sum->reason != reason || sum->place != place || sum->unknown != g->unknown))
		sum++;
	if (sum == end) {
		if (g->nbrief == BRIEF_SUMS)
			return false;
		g->nbrief++;
		*sum = (struct brief_sum){ 0, reason, (uint16_t)place, g->unknown };
	}
	sum->ns = time_add(sum->ns, ns);
	return true;
}

/* There is room for each sum of the brief ones. */
static void add_duration(struct durations *to, uint32_t kind, int64_t ns)
{
	struct duration *at = durations__find(to, kind);

	if (at)
		at->ns = time_add(at->ns, ns);
	else
		to->at[to->n++] = (struct duration){ .ns = ns, .kind = kind };
}

const struct latency_stats *live__stats(const struct live *g, struct brief_stats *at)
{
	struct latency_stats *stats = &at->stats;
	enum latency_part part;

	if (g->full)
		return g->stats;
	*stats = (struct latency_stats){ .reasons.at = at->reasons, .places.at = at->places };
	for (const struct brief_sum *sum = g->brief; sum < g->brief + g->nbrief; sum++) {
		part = latency_reason__part(sum->reason);
		stats->part[part] = time_add(stats->part[part], sum->ns);
		if (sum->unknown)
			stats->unknown = time_add(stats->unknown, sum->ns);
		if (latency_part__has_reasons(part))
			add_duration(&stats->reasons, sum->reason, sum->ns);
		if (sum->place != LATENCY_NO_PLACE)
			add_duration(&stats->places, sum->place, sum->ns);
	}
	return stats;
}

int live__expand(struct live *g)
{
	struct latency_stats *stats;
	struct brief_stats brief;

	if (g->full)
		return 0;
	stats = malloc(sizeof(*stats));
	if (!stats || latency_stats__copy(stats, live__stats(g, &brief))) {
		free(stats);
		return -ENOMEM;
	}
	g->stats = stats;
	g->full = true;
	return 0;
}

void live__free_stats(struct live *g)
{
	if (!g->full)
		return;
	latency_stats__deinit(g->stats);
	free(g->stats);
}
