// SPDX-License-Identifier: GPL-2.0
/*
 * The samples of a profile: see samples.h.
 *
 * writer/intern.c has one id for equal names, stacks and labels; this file adds up the values.
 */
#include "profile/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

int samples__init(struct samples *s)
{
	*s = (struct samples){ .texts = intern__create(), .labels = intern__create() };
	return s->texts && s->labels ? 0 : -ENOMEM;
}

void samples__deinit(struct samples *s)
{
	intern__destroy(s->texts);
	intern__destroy(s->labels);
	map__deinit(&s->of_trace);
	map__deinit(&s->index);
	free(s->at);
	*s = (struct samples){};
}

void samples__begin_generation(struct samples *s)
{
	map__deinit(&s->of_trace);
}

static int intern_string(struct samples *s, const struct dictionary *dictionary, uint64_t string,
			 uint32_t *ret)
{
	struct trace_string text;

	*ret = 0;
	if (!dictionary__string(dictionary, string, &text))
		return 0;
	return intern__text(s->texts, text, ret);
}

static int intern_stack(struct samples *s, const struct dictionary *dictionary, uint64_t stack,
			uint32_t *ret)
{
	struct intern_frame frames[TRACE_STACK_MAX] = {};
	size_t n = dictionary__frames(dictionary, stack);
	const struct trace_frame *f;

	if (n > TRACE_STACK_MAX) /* v1 only */
		n = TRACE_STACK_MAX;
	if (!n)
		return 0;
	if (intern__memory(s->texts) > SAMPLES_MEMORY)
		return -E2BIG;
	for (size_t i = 0; i < n; i++) {
		f = dictionary__frame(dictionary, stack, i);
		frames[i].pc = f->pc;
		frames[i].line = f->line < UINT32_MAX ? (uint32_t)f->line : UINT32_MAX;
		if (intern_string(s, dictionary, f->func, &frames[i].func) ||
		    intern_string(s, dictionary, f->file, &frames[i].file))
			return -ENOMEM;
	}
	/* Go's tool compares stacks by their PCs only: one such frame is equal to no stack. */
	while (n && !frames[n - 1].pc && !frames[n - 1].func)
		n--;
	if (!n)
		return 0;
	*ret = intern__stack(s->texts, frames, n);
	return *ret ? 0 : -ENOMEM;
}

int samples__stack(struct samples *s, const struct dictionary *dictionary, uint64_t stack,
		   uint32_t *ret)
{
	uintptr_t known = (uintptr_t)map__get(&s->of_trace, stack);
	int err;

	*ret = 0;
	if (known) {
		*ret = (uint32_t)(known - 1);
		return 0;
	}
	err = intern_stack(s, dictionary, stack, ret);
	return err ? err : map__put(&s->of_trace, stack, (void *)((uintptr_t)*ret + 1));
}

int samples__with_leaf(struct samples *s, uint32_t leaf, uint32_t stack, uint32_t root,
		       uint32_t *ret)
{
	struct intern_frame frames[TRACE_STACK_MAX] = { { .func = leaf }, { .func = root } };
	const struct intern_frame *old;
	size_t n;

	old = intern__stack_at(s->texts, stack, &n);
	if (old) {
		if (n > TRACE_STACK_MAX - 1)
			n = TRACE_STACK_MAX - 1;
		memcpy(frames + 1, old, n * sizeof(*old));
	} else {
		n = root != 0;
	}
	*ret = intern__stack(s->texts, frames, n + 1);
	return *ret ? 0 : -ENOMEM;
}

static int new_sample(struct samples *s, uint64_t key, struct sample **ret)
{
	if (s->n == SAMPLES_MAX || intern__memory(s->labels) > SAMPLES_MEMORY)
		return -E2BIG;
	if (array__grow(&s->at, s->n, &s->cap, sizeof(*s->at)) ||
	    map__put(&s->index, key, (void *)(uintptr_t)(s->n + 1)))
		return -ENOMEM;
	*ret = &s->at[s->n++];
	**ret = (struct sample){ .stack = (uint32_t)key, .labels = (uint32_t)(key >> 32) };
	return 0;
}

/* Sums of a hostile trace stay at their limit instead of wrapping. */
static void add_value(struct sample *sample, uint64_t count, int64_t value)
{
	if (__builtin_add_overflow(sample->value, value, &sample->value))
		sample->value = INT64_MAX;
	sample->count += count;
}

int samples__add(struct samples *s, uint32_t stack, const struct sample_labels *labels,
		 uint64_t count, int64_t value)
{
	uint32_t id = intern__string(s->labels, (const char *)labels, sizeof(*labels));
	uint64_t key = (uint64_t)id << 32 | stack;
	struct sample *sample;
	uintptr_t known;
	int err;

	if (!id)
		return -ENOMEM;
	known = (uintptr_t)map__get(&s->index, key);
	if (known) {
		sample = &s->at[known - 1];
	} else {
		err = new_sample(s, key, &sample);
		if (err)
			return err;
	}
	add_value(sample, count, value);
	return 0;
}

void samples__use_counts(struct samples *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->at[i].value = s->at[i].count < INT64_MAX ? (int64_t)s->at[i].count : INT64_MAX;
	s->counted = true;
}

void samples__labels(const struct samples *s, const struct sample *sample,
		     struct sample_labels *ret)
{
	size_t len;
	const char *bytes = intern__string_at(s->labels, sample->labels, &len);

	memcpy(ret, bytes, sizeof(*ret));
}

const struct intern_frame *samples__frames(const struct samples *s, const struct sample *sample,
					   size_t *ret_n)
{
	const struct intern_frame *frames = intern__stack_at(s->texts, sample->stack, ret_n);

	if (!frames)
		*ret_n = 0;
	return frames;
}
