// SPDX-License-Identifier: GPL-2.0
/*
 * Sums over the samples of a profile: see totals.h.
 *
 * IDs of names are small and without gaps, so functions are counted in an array that they index.
 */
#include "profile/totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

static void add(int64_t *sum, int64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = INT64_MAX;
}

/* ---- by function ---- */

/* A function by the id of its name, and the last sample that has been added to it, plus 1. */
struct counted {
	struct function_total total;
	size_t last;
};

static void count(struct counted *all, const struct samples *s, size_t i)
{
	const struct sample *sample = &s->at[i];
	size_t n;
	const struct intern_frame *frames = samples__frames(s, sample, &n);

	add(&all[n ? frames[0].func : 0].total.flat, sample->value);
	for (size_t f = 0; f < (n ?: 1); f++) {
		struct counted *function = &all[n ? frames[f].func : 0];

		if (function->last == i + 1) /* recursive */
			continue;
		function->last = i + 1;
		add(&function->total.cumulative, sample->value);
	}
}

static int compare_names(const struct intern *texts, uint32_t a, uint32_t b)
{
	struct trace_string x = intern__text_at(texts, a), y = intern__text_at(texts, b);
	int order = memcmp(x.data, y.data, x.len < y.len ? x.len : y.len);

	return order ?: (x.len > y.len) - (x.len < y.len);
}

static int largest_first(const void *left, const void *right, void *texts)
{
	const struct function_total *a = left, *b = right;

	if (a->flat != b->flat)
		return a->flat < b->flat ? 1 : -1;
	if (a->cumulative != b->cumulative)
		return a->cumulative < b->cumulative ? 1 : -1;
	return compare_names(texts, a->name, b->name);
}

int totals__by_function(const struct samples *s, struct totals *ret)
{
	size_t names = (size_t)intern__strings(s->texts) + 1;
	struct counted *all = calloc(names, sizeof(*all));

	*ret = (struct totals){ .functions = malloc(names * sizeof(*ret->functions)) };
	if (!all || !ret->functions) {
		free(all);
		free(ret->functions);
		ret->functions = NULL;
		return -ENOMEM;
	}
	for (size_t i = 0; i < s->n; i++) {
		count(all, s, i);
		add(&ret->value, s->at[i].value);
		ret->count += s->at[i].count;
	}
	for (size_t name = 0; name < names; name++) {
		if (!all[name].last)
			continue;
		all[name].total.name = (uint32_t)name;
		ret->functions[ret->n++] = all[name].total;
	}
	free(all);
	qsort_r(ret->functions, ret->n, sizeof(*ret->functions), largest_first, s->texts);
	return 0;
}

/* ---- by stack of functions ---- */

static int fold(struct folded *f, struct map *index, const struct samples *s,
		const struct sample *sample)
{
	struct intern_frame functions[TRACE_STACK_MAX] = {};
	size_t n;
	const struct intern_frame *frames = samples__frames(s, sample, &n);
	uint32_t stack = 0;
	uintptr_t known;

	for (size_t i = 0; i < n; i++)
		functions[i].func = frames[i].func;
	if (n)
		stack = intern__stack(f->stacks, functions, n);
	if (n && !stack)
		return -ENOMEM;
	known = (uintptr_t)map__get(index, stack);
	if (!known) {
		if (array__grow(&f->at, f->n, &f->cap, sizeof(*f->at)) ||
		    map__put(index, stack, (void *)(uintptr_t)(f->n + 1)))
			return -ENOMEM;
		f->at[f->n++] = (struct folded_stack){ .stack = stack };
		known = f->n;
	}
	add(&f->at[known - 1].value, sample->value);
	return 0;
}

int folded__make(const struct samples *s, struct folded *ret)
{
	struct map index = {};
	int err = 0;

	*ret = (struct folded){ .stacks = intern__create() };
	if (!ret->stacks)
		return -ENOMEM;
	for (size_t i = 0; i < s->n && !err; i++)
		err = fold(ret, &index, s, &s->at[i]);
	map__deinit(&index);
	return err;
}

void folded__deinit(struct folded *f)
{
	intern__destroy(f->stacks);
	free(f->at);
	*f = (struct folded){};
}

const struct intern_frame *folded__frames(const struct folded *f, const struct folded_stack *stack,
					  size_t *ret_n)
{
	const struct intern_frame *frames = intern__stack_at(f->stacks, stack->stack, ret_n);

	if (!frames)
		*ret_n = 0;
	return frames;
}
