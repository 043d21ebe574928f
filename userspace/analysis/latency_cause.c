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

static struct latency_cause find_assist(const struct latency *l, const struct latency_stats *stats)
{
	struct latency_cause cause = { .part = PART_ONCPU, .assist = true, .ns = stats->gc_assist };

	for (uint32_t i = 0; i < stats->reasons.n; i++)
		if (is_assist(l, stats->reasons.at[i].kind))
			cause.ns = time_add(cause.ns, stats->reasons.at[i].ns);
	return cause;
}

/* All time in which it waited for a CPU, with the longest of the reasons. */
static struct latency_cause find_runnable(const struct latency *l,
					  const struct latency_stats *stats)
{
	struct latency_cause cause = {
		.part = PART_KERNEL_RUNNABLE,
		.ns = stats->part[PART_KERNEL_RUNNABLE],
	};
	const struct duration *reason = stats->reasons.at;
	int64_t longest = 0;

	for (; reason < stats->reasons.at + stats->reasons.n; reason++) {
		if (latency_reason__part(reason->kind) != PART_KERNEL_RUNNABLE ||
		    reason->ns <= longest)
			continue;
		longest = reason->ns;
		cause.reason = latency__reason(l, reason->kind);
	}
	return cause;
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

/* All system calls of that kind: its parts, which are separate in latency_stats.calls. */
static struct latency_cause find_call(const struct latency *l, const struct latency_stats *stats,
				      uint32_t kind)
{
	struct latency_cause cause = {
		.part = PART_SYSCALL_BLOCKED,
		.call = true,
		.reason = latency__reason(l, kind),
	};
	enum latency_part part;

	for (const struct duration *at = stats->calls.at; at < stats->calls.at + stats->calls.n;
	     at++) {
		part = latency_reason__part(at->kind);
		if ((uint16_t)at->kind != (uint16_t)kind)
			continue;
		cause.split[part] = time_add(cause.split[part], at->ns);
		cause.ns = time_add(cause.ns, at->ns);
	}
	return cause;
}

/* Longest first; of equally long ones a system call, then that with the first part. */
static int compare_causes(const void *a, const void *b)
{
	const struct latency_cause *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->call != y->call)
		return x->call ? -1 : 1;
	return (int)x->part - (int)y->part;
}

/* If there is no room, in place of the shortest one. */
static void add_cause(struct latency_cause ret[LATENCY_CAUSES_MAX], size_t *n,
		      struct latency_cause cause)
{
	struct latency_cause *shortest = ret;

	if (cause.ns <= 0)
		return;
	if (*n < LATENCY_CAUSES_MAX) {
		ret[(*n)++] = cause;
		return;
	}
	for (size_t i = 1; i < *n; i++)
		if (ret[i].ns < shortest->ns)
			shortest = &ret[i];
	if (shortest->ns < cause.ns)
		*shortest = cause;
}

static void add_calls(const struct latency *l, const struct latency_stats *stats,
		      struct latency_cause ret[LATENCY_CAUSES_MAX], size_t *n)
{
	const struct duration *at = stats->calls.at;
	bool again;

	for (uint32_t i = 0; i < stats->calls.n; i++) {
		again = false;
		for (uint32_t k = 0; k < i; k++)
			again |= (uint16_t)at[k].kind == (uint16_t)at[i].kind;
		if (!again)
			add_cause(ret, n, find_call(l, stats, at[i].kind));
	}
}

/* Whether the reason has a cause of its own: it is not that of all of a part, or in a system call. */
static bool is_cause(const struct latency *l, const struct latency_stats *stats, uint32_t reason)
{
	enum latency_part part = latency_reason__part(reason);

	return part != PART_KERNEL_RUNNABLE && !is_assist(l, reason) &&
	       (part == PART_GO_BLOCKED || !durations__find(&stats->calls, reason));
}

size_t latency__causes(const struct latency *l, const struct latency_stats *stats,
		       struct latency_cause ret[LATENCY_CAUSES_MAX])
{
	const struct duration *at;
	struct latency_cause next;
	size_t n = 0;

	add_cause(ret, &n, find_assist(l, stats));
	add_cause(ret, &n, find_runnable(l, stats));
	add_calls(l, stats, ret, &n);
	for (unsigned int part = PART_ONCPU + 1; part < LATENCY_PARTS; part++) {
		next = (struct latency_cause){ .part = part, .ns = stats->part[part] };
		if (!latency_part__has_reasons(part))
			add_cause(ret, &n, next);
	}
	for (at = stats->reasons.at; at < stats->reasons.at + stats->reasons.n; at++) {
		next = (struct latency_cause){
			.part = latency_reason__part(at->kind),
			.ns = at->ns,
			.reason = latency__reason(l, at->kind),
		};
		if (is_cause(l, stats, at->kind))
			add_cause(ret, &n, next);
	}
	array__sort(ret, n, sizeof(*ret), compare_causes);
	for (size_t i = 0; i < n; i++)
		find_place(l, stats, &ret[i]);
	return n;
}

bool latency__top_cause(const struct latency *l, const struct latency_stats *stats,
			struct latency_cause *ret)
{
	struct latency_cause causes[LATENCY_CAUSES_MAX];
	struct latency_cause oncpu = {
		.part = PART_ONCPU,
		.ns = time_sub(stats->part[PART_ONCPU], stats->gc_assist),
	};
	size_t n = latency__causes(l, stats, causes);

	for (const struct duration *at = stats->calls.at; at < stats->calls.at + stats->calls.n;
	     at++)
		if (latency_reason__part(at->kind) == PART_ONCPU)
			oncpu.ns = time_sub(oncpu.ns, at->ns);
	if (n && (causes[0].ns > oncpu.ns || (causes[0].call && causes[0].ns == oncpu.ns)))
		oncpu = causes[0];
	if (oncpu.ns <= 0)
		return false;
	*ret = oncpu;
	return true;
}
