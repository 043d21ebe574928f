// SPDX-License-Identifier: GPL-2.0
/*
 * The top cause of a time: see latency_cause.h. Between latency.c, which adds times up, and what
 * prints them.
 */
#include "analysis/latency_cause.h"
#include "lib/array.h"

#include <stdlib.h>
#include <string.h>

/* A mark assist that finds no work waits for some. */
static bool is_assist(const struct latency *l, uint32_t reason)
{
	static const char assist[] = "GC mark assist wait for work";
	struct trace_string name = latency__reason(l, reason);

	return latency_reason__part(reason) == PART_GO_BLOCKED && name.len == sizeof(assist) - 1 &&
	       !memcmp(name.data, assist, name.len);
}

static void keep_longest(struct latency_cause *longest, const struct latency_cause *next)
{
	if (next->ns > longest->ns)
		*longest = *next;
}

static struct latency_cause find_assist(const struct latency *l, const struct latency_stats *stats)
{
	struct latency_cause cause = { .part = PART_ONCPU, .assist = true, .ns = stats->gc_assist };

	for (uint32_t i = 0; i < stats->reasons.n; i++)
		if (is_assist(l, stats->reasons.at[i].kind))
			cause.ns = time_add(cause.ns, stats->reasons.at[i].ns);
	return cause;
}

/* The longest reason of a part; all of the part, if it is kernel-runnable. */
static struct latency_cause find_reason(const struct latency *l, const struct latency_stats *stats,
					enum latency_part part)
{
	struct latency_cause longest = { .part = part };
	const struct duration *reason;

	for (uint32_t i = 0; i < stats->reasons.n; i++) {
		reason = &stats->reasons.at[i];
		if (latency_reason__part(reason->kind) != part || is_assist(l, reason->kind) ||
		    reason->ns <= longest.ns)
			continue;
		longest.ns = reason->ns;
		longest.reason = latency__reason(l, reason->kind);
	}
	if (part == PART_KERNEL_RUNNABLE)
		longest.ns = stats->part[part];
	return longest;
}

static bool is_of(const struct latency *l, const struct latency_cause *cause,
		  const struct latency_place *at)
{
	if (cause->assist)
		return at->part == PART_ONCPU || is_assist(l, at->kind);
	return at->part == cause->part && cause->part != PART_ONCPU &&
	       at->reason.len == cause->reason.len &&
	       (!at->reason.len || !memcmp(at->reason.data, cause->reason.data, at->reason.len));
}

static void find_place(const struct latency *l, const struct latency_stats *stats,
		       struct latency_cause *cause)
{
	struct latency_place at;
	int64_t most = 0;

	for (uint32_t i = 0; i < stats->places.n; i++) {
		at = latency__place(l, stats->places.at[i].kind);
		if (at.others || !is_of(l, cause, &at) || stats->places.at[i].ns <= most)
			continue;
		most = stats->places.at[i].ns;
		cause->place = at.frame;
	}
}

bool latency__top_cause(const struct latency *l, const struct latency_stats *stats,
			struct latency_cause *ret)
{
	struct latency_cause cause = {
		.part = PART_ONCPU,
		.ns = time_sub(stats->part[PART_ONCPU], stats->gc_assist),
	};
	struct latency_cause next = find_assist(l, stats);

	keep_longest(&cause, &next);
	for (unsigned int part = PART_ONCPU + 1; part < LATENCY_PARTS; part++) {
		if (latency_part__has_reasons(part))
			next = find_reason(l, stats, part);
		else
			next = (struct latency_cause){ .part = part, .ns = stats->part[part] };
		keep_longest(&cause, &next);
	}
	if (cause.ns <= 0)
		return false;
	find_place(l, stats, &cause);
	*ret = cause;
	return true;
}

/* Longest first; of equally long ones that with the first part. */
static int compare_causes(const void *a, const void *b)
{
	const struct latency_cause *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (int)x->part - (int)y->part;
}

static void add_cause(struct latency_cause ret[LATENCY_CAUSES_MAX], size_t *n,
		      struct latency_cause cause)
{
	if (cause.ns > 0 && *n < LATENCY_CAUSES_MAX)
		ret[(*n)++] = cause;
}

size_t latency__causes(const struct latency *l, const struct latency_stats *stats,
		       struct latency_cause ret[LATENCY_CAUSES_MAX])
{
	const struct duration *at;
	enum latency_part part;
	size_t n = 0;

	add_cause(ret, &n, find_assist(l, stats));
	add_cause(ret, &n, find_reason(l, stats, PART_KERNEL_RUNNABLE));
	for (part = PART_ONCPU + 1; part < LATENCY_PARTS; part++)
		if (!latency_part__has_reasons(part))
			add_cause(ret, &n,
				  (struct latency_cause){ part, false, stats->part[part] });
	for (at = stats->reasons.at; at < stats->reasons.at + stats->reasons.n; at++) {
		part = latency_reason__part(at->kind);
		if (part != PART_KERNEL_RUNNABLE && !is_assist(l, at->kind))
			add_cause(ret, &n,
				  (struct latency_cause){ part, false, at->ns,
							  latency__reason(l, at->kind) });
	}
	array__sort(ret, n, sizeof(*ret), compare_causes);
	for (size_t i = 0; i < n; i++)
		find_place(l, stats, &ret[i]);
	return n;
}
