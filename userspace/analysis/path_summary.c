// SPDX-License-Identifier: GPL-2.0
/*
 * The time of a path by cause, and that of many paths.
 *
 * path_walk.c makes the segments. Causes that are printed alike are one, and others are not: in the
 * summary of a path goroutines are distinguished, in that of many paths their start functions, and
 * what the goroutine of a path did itself is distinguished from what others did. Downstream:
 * gotrace/path_print.c and path_json.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/path.h"
#include "lib/array.h"

#define SUMS_MIN 4096 /* sums that are kept before equal ones are added up */

#define COMPARE_VALUES(x, y)                                                                       \
	do {                                                                                       \
		if ((x) != (y))                                                                    \
			return (x) < (y) ? -1 : 1;                                                 \
	} while (0)
#define COMPARE(member) COMPARE_VALUES(a->member, b->member)

uint32_t path_cause__own_thread(const struct path_segment *seg)
{
	return seg->goroutine == PATH_NONE ? seg->thread : PATH_NONE;
}

uint32_t path_cause__thread(const struct path_segment *seg)
{
	return seg->cause == PATH_CAUSE_GOROUTINE || seg->other_pid ? 0 : seg->other;
}

bool path_cause__held_cpu(const struct path_segment *seg)
{
	return seg->other && (seg->kind == PATH_GO_RUNNABLE || seg->kind == PATH_KERNEL_RUNNABLE);
}

/* A page fault is a reason of its own; but the kind of an interrupt depends on the sleep. */
static uint8_t sleep_reason(const struct path_segment *seg)
{
	return seg->fault && seg->cause != PATH_CAUSE_INTERRUPT ?
		       0 :
		       (uint8_t)(seg->why | seg->sleep << 4);
}

/* What goroutines they concern is left out. */
static int compare_kinds(const struct path_segment *a, const struct path_segment *b)
{
	COMPARE(kind);
	COMPARE(cause);
	COMPARE(other_pid);
	COMPARE(other_name);
	COMPARE(reason);
	COMPARE(call);
	COMPARE(fault);
	COMPARE(got_first);
	COMPARE_VALUES(path_cause__own_thread(a), path_cause__own_thread(b));
	COMPARE_VALUES(path_cause__thread(a), path_cause__thread(b));
	COMPARE_VALUES(path_cause__held_cpu(a), path_cause__held_cpu(b));
	COMPARE_VALUES(sleep_reason(a), sleep_reason(b));
	return 0;
}

static int compare_causes(const struct path_segment *a, const struct path_segment *b)
{
	COMPARE(kind);
	COMPARE(cause);
	COMPARE(goroutine);
	COMPARE(by);
	return compare_kinds(a, b);
}

static int by_cause(const void *left, const void *right)
{
	return compare_causes(*(const struct path_segment *const *)left,
			      *(const struct path_segment *const *)right);
}

static int by_time(const void *left, const void *right)
{
	const struct path_cause_total *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return compare_causes(a->like, b->like);
}

static uint64_t segment__ns(const struct path_segment *seg)
{
	return (uint64_t)seg->to - (uint64_t)seg->from;
}

/* Segments of one cause are adjacent. NULL: no memory. */
static struct path_cause_total *add_up(const struct path_segment **sorted, size_t n, size_t *ret_n)
{
	struct path_cause_total *all;
	size_t causes = 0;

	for (size_t i = 0; i < n; i++)
		causes += !i || compare_causes(sorted[i - 1], sorted[i]);
	all = calloc(causes + 1, sizeof(*all));
	if (!all)
		return NULL;
	causes = 0;
	for (size_t i = 0; i < n; i++) {
		if (!i || compare_causes(sorted[i - 1], sorted[i]))
			all[causes++].like = sorted[i];
		all[causes - 1].ns += segment__ns(sorted[i]);
		all[causes - 1].count++;
	}
	*ret_n = causes;
	return all;
}

int path__summary(const struct path *p, struct path_cause_total **ret, size_t *ret_n)
{
	const struct path_segment **sorted = calloc(p->n + 1, sizeof(*sorted));
	struct path_cause_total *all = NULL;

	for (size_t i = 0; sorted && i < p->n; i++)
		sorted[i] = &p->segments[i];
	if (sorted) {
		array__sort(sorted, p->n, sizeof(*sorted), by_cause);
		all = add_up(sorted, p->n, ret_n);
	}
	free(sorted);
	if (!all)
		return -ENOMEM;
	array__sort(all, *ret_n, sizeof(*all), by_time);
	*ret = all;
	return 0;
}

/* ---- of many paths ---- */

void path_sums__init(struct path_sums *s, const struct path_history *h)
{
	*s = (struct path_sums){ .h = h };
}

void path_sums__deinit(struct path_sums *s)
{
	free(s->at);
	*s = (struct path_sums){};
}

/* Goroutines with the same start function are one; one without a known function is one of its own. */
static uint64_t function_of(const struct path_history *h, uint32_t goroutine)
{
	uint32_t name = goroutine == PATH_NONE ? 0 : path_goroutine(h, goroutine)->name;

	return goroutine == PATH_NONE ? 0 : name ? name : 1ull << 32 | goroutine;
}

static int compare_sums(const struct path_history *h, const struct path_sum *a,
			const struct path_sum *b)
{
	COMPARE(own);
	COMPARE(by_own);
	COMPARE_VALUES(function_of(h, a->like.goroutine), function_of(h, b->like.goroutine));
	COMPARE_VALUES(function_of(h, a->like.by), function_of(h, b->like.by));
	return compare_kinds(&a->like, &b->like);
}

static int by_sum(const void *left, const void *right, void *history)
{
	return compare_sums(history, left, right);
}

static int sum_by_time(const void *left, const void *right, void *history)
{
	const struct path_sum *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return compare_sums(history, a, b);
}

/* Adds up equal ones of those from `first` on; of one path, `paths` remains 1. */
static void combine(struct path_sums *s, size_t first, bool one_path)
{
	struct path_sum *to = s->at + first, *from = to, *end = s->at + s->n;

	if (s->n - first < 2)
		return;
	qsort_r(to, s->n - first, sizeof(*to), by_sum, (void *)s->h);
	for (from++; from < end; from++) {
		if (compare_sums(s->h, to, from)) {
			*++to = *from;
			continue;
		}
		to->ns += from->ns;
		to->count += from->count;
		to->paths += one_path ? 0 : from->paths;
	}
	s->n = (size_t)(to + 1 - s->at);
}

static int append(struct path_sums *s, const struct path_cause_total *total, uint32_t goroutine)
{
	if (array__grow(&s->at, s->n, &s->cap, sizeof(*s->at)))
		return -ENOMEM;
	s->at[s->n++] = (struct path_sum){
		.like = *total->like,
		.own = total->like->goroutine == goroutine,
		.by_own = total->like->by == goroutine,
		.ns = total->ns,
		.count = total->count,
		.paths = 1,
	};
	return 0;
}

int path_sums__add(struct path_sums *s, const struct path *p, uint32_t goroutine)
{
	struct path_cause_total *all;
	size_t n, first = s->n;
	int err = path__summary(p, &all, &n);

	if (err)
		return err;
	for (size_t i = 0; i < n && !err; i++)
		err = append(s, &all[i], goroutine);
	free(all);
	if (err)
		return err;
	combine(s, first, true);
	s->ns += (uint64_t)p->to - (uint64_t)p->from;
	s->paths++;
	if (s->n < s->combine_at)
		return 0;
	combine(s, 0, false);
	s->combine_at = 2 * s->n + SUMS_MIN;
	return 0;
}

void path_sums__finish(struct path_sums *s)
{
	combine(s, 0, false);
	if (s->n)
		qsort_r(s->at, s->n, sizeof(*s->at), sum_by_time, (void *)s->h);
}

/* ---- system calls ---- */

static int by_call(const void *left, const void *right)
{
	const struct path_call_sum *a = left, *b = right;

	COMPARE(call);
	return 0;
}

static int call_by_time(const void *left, const void *right)
{
	const struct path_call_sum *a = left, *b = right;

	COMPARE_VALUES(b->ns, a->ns);
	return by_call(a, b);
}

/* Adds up those of one call, which are adjacent. Returns how many calls there are. */
static size_t add_calls(struct path_call_sum *all, size_t n)
{
	size_t calls = 0;

	for (size_t i = 0; i < n; i++) {
		if (!calls || all[calls - 1].call != all[i].call) {
			all[calls++] = all[i];
			continue;
		}
		all[calls - 1].ns += all[i].ns;
		for (unsigned int kind = 0; kind < PATH_KINDS; kind++)
			all[calls - 1].kinds[kind] += all[i].kinds[kind];
	}
	return calls;
}

int path_sums__calls(const struct path_sums *s, struct path_call_sum **ret, size_t *ret_n)
{
	struct path_call_sum *all = calloc(s->n + 1, sizeof(*all));
	size_t n = 0;

	if (!all)
		return -ENOMEM;
	for (const struct path_sum *sum = s->at; sum < s->at + s->n; sum++) {
		if (sum->like.call == KERNEL_NO_CALL)
			continue;
		all[n].call = sum->like.call;
		all[n].ns = all[n].kinds[sum->like.kind] = sum->ns;
		n++;
	}
	array__sort(all, n, sizeof(*all), by_call);
	n = add_calls(all, n);
	array__sort(all, n, sizeof(*all), call_by_time);
	*ret = all;
	*ret_n = n;
	return 0;
}
