// SPDX-License-Identifier: GPL-2.0
/*
 * Flame graphs: see report/flames.h.
 *
 * With the stacks sorted from their roots, each node of the tree is written once, before its
 * children: where a stack differs from the one before it.
 */
#include "report/flames.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/durations.h"
#include "lib/array.h"
#include "lib/map.h"
#include "profile/totals.h"
#include "report/varints.h"

struct stack {
	const struct intern_frame *frames; /* leaf first */
	size_t n;
	int64_t value;
};

struct flames {
	const struct intern *texts;
	struct report_strings *strings;
	struct json *json;
	struct map index; /* of names: position in the array of frames, plus 1 */
	size_t nframes;
	struct varints nodes;
};

static uint32_t from_root(const struct stack *s, size_t depth)
{
	return s->frames[s->n - 1 - depth].func;
}

static int by_value(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;

	return (x->value < y->value) - (x->value > y->value);
}

static int by_frames(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;
	size_t depth = 0;

	while (depth < x->n && depth < y->n && from_root(x, depth) == from_root(y, depth))
		depth++;
	if (depth == x->n || depth == y->n)
		return (x->n > y->n) - (x->n < y->n);
	return from_root(x, depth) < from_root(y, depth) ? -1 : 1;
}

/* ---- frames ---- */

/* Writes the string of a name that was not used before into the array of frames. 0 or -ENOMEM. */
static int add_frame(struct flames *f, uint32_t name)
{
	struct trace_string text = intern__text_at(f->texts, name);
	uint32_t string;
	void *known = map__get(&f->index, name);

	if (known)
		return 0;
	if (!text.len)
		text = (struct trace_string){ "(unknown)", 9 };
	if (report_strings__get(f->strings, text, &string) ||
	    map__put(&f->index, name, (void *)(uintptr_t)++f->nframes))
		return -ENOMEM;
	json__u64(f->json, NULL, string);
	return 0;
}

static int print_frames(struct flames *f, const struct stack *stacks, size_t n)
{
	static const struct trace_string others = { "(other stacks)", 14 };
	uint32_t string;
	int err = report_strings__get(f->strings, others, &string);

	json__open(f->json, "frames", '[');
	json__u64(f->json, NULL, string);
	f->nframes = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; !err && k < stacks[i].n; k++)
			err = add_frame(f, stacks[i].frames[k].func);
	json__close(f->json, ']');
	return err;
}

/* ---- nodes ---- */

static void add_node(struct flames *f, size_t depth, uint64_t frame, int64_t value)
{
	varints__add(&f->nodes, depth);
	varints__add(&f->nodes, frame);
	varints__add(&f->nodes, (uint64_t)value);
}

static void add_stack(struct flames *f, const struct stack *before, const struct stack *s)
{
	size_t depth = 0;

	while (before && depth < before->n && depth < s->n &&
	       from_root(before, depth) == from_root(s, depth))
		depth++;
	for (; depth < s->n; depth++)
		add_node(f, depth, (uintptr_t)map__get(&f->index, from_root(s, depth)) - 1,
			 depth + 1 == s->n ? s->value : 0);
}

static int print_nodes(struct flames *f, struct stack *stacks, size_t n, int64_t rest)
{
	array__sort(stacks, n, sizeof(*stacks), by_frames);
	for (size_t i = 0; i < n; i++)
		add_stack(f, i ? &stacks[i - 1] : NULL, &stacks[i]);
	if (rest)
		add_node(f, 0, 0, rest);
	return varints__print(&f->nodes, f->json, "nodes");
}

/* ---- a profile ---- */

/*
 * The stacks that are known, those with the greatest values first; *ret_total is the sum of all. NULL: no
 * memory.
 */
static struct stack *take(const struct folded *folded, size_t *ret_n, int64_t *ret_total)
{
	struct stack *stacks = calloc(folded->n + 1, sizeof(*stacks));

	*ret_total = 0;
	*ret_n = 0;
	for (size_t i = 0; stacks && i < folded->n; i++) {
		struct stack *s = &stacks[*ret_n];

		s->frames = folded__frames(folded, &folded->at[i], &s->n);
		s->value = folded->at[i].value;
		*ret_total = time_add(*ret_total, s->value);
		*ret_n += s->n > 0;
	}
	if (stacks)
		array__sort(stacks, *ret_n, sizeof(*stacks), by_value);
	return stacks;
}

static int print(struct flames *f, const char *kind, const char *unit, struct stack *stacks,
		 size_t n, int64_t total)
{
	int64_t rest = total;
	size_t kept = 0;
	int err;

	while (kept < n && kept < FLAMES_STACKS && stacks[kept].value >= total / FLAMES_PARTS)
		rest -= stacks[kept++].value;
	json__open(f->json, NULL, '{');
	json__string(f->json, "kind", kind);
	json__string(f->json, "unit", unit);
	json__i64(f->json, "total", total);
	err = print_frames(f, stacks, kept);
	err = err ?: print_nodes(f, stacks, kept, rest);
	json__close(f->json, '}');
	return err;
}

int flames__print(const struct samples *s, const char *kind, struct report_strings *strings,
		  struct json *j)
{
	struct flames f = { .texts = s->texts, .strings = strings, .json = j };
	struct stack *stacks = NULL;
	struct folded folded;
	int64_t total;
	size_t n;
	int err = folded__make(s, &folded);

	if (!err)
		stacks = take(&folded, &n, &total);
	if (!err && !stacks)
		err = -ENOMEM;
	if (!err && total > 0)
		err = print(&f, kind, s->counted ? "samples" : "ns", stacks, n, total);
	free(stacks);
	map__deinit(&f.index);
	folded__deinit(&folded);
	return err;
}
