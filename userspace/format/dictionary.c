// SPDX-License-Identifier: GPL-2.0
/*
 * The string and stack tables of format/dictionary.h. Each event causes one or two look-ups.
 *
 * Upstream: reader/decode_tables.c, v1/v1_parse.c, v1_symbolize.c and v1_convert.c, which add
 * strings and stacks. Downstream: the checks in reader/order.c and the output of the commands.
 */
#include "format/dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/parked_read.h"
#include "lib/array.h"

#define BYTES_BLOCK (64u << 10)

static void ids__deinit(struct ids *ids)
{
	free(ids->dense);
	map__deinit(&ids->sparse);
	*ids = (struct ids){};
}

static void ids__clear(struct ids *ids)
{
	if (ids->top)
		memset(ids->dense, 0, ids->top * sizeof(*ids->dense));
	ids->top = 0;
	map__deinit(&ids->sparse);
	ids->count = 0;
}

/* Assigns the next index to `id`. Ids far beyond the number of entries go into the map. */
static int ids__add(struct ids *ids, uint64_t id)
{
	int err;

	if (id >= ids->cap) {
		if (id >= 2 * (uint64_t)ids->count + 1024) {
			err = map__put(&ids->sparse, id, (void *)((uintptr_t)ids->count + 1));
			if (!err)
				ids->count++;
			return err;
		}
		err = array__grow_cleared(&ids->dense, id, &ids->cap, sizeof(*ids->dense));
		if (err)
			return err;
	}
	ids->dense[id] = ++ids->count;
	if (ids->top <= id)
		ids->top = id + 1;
	return 0;
}

void dictionary__init(struct dictionary *d)
{
	*d = (struct dictionary){ .bytes.block = BYTES_BLOCK };
}

void dictionary__deinit(struct dictionary *d)
{
	parked_list__deinit(&d->parked);
	ids__deinit(&d->string_ids);
	ids__deinit(&d->stack_ids);
	map__deinit(&d->pcs);
	free(d->strings);
	free(d->stack_frames);
	free(d->stack_at);
	free(d->experiments);
	map__deinit(&d->starts);
	arena__deinit(&d->bytes);
	*d = (struct dictionary){};
}

void dictionary__clear(struct dictionary *d)
{
	parked_list__deinit(&d->parked);
	ids__clear(&d->string_ids);
	ids__clear(&d->stack_ids);
	map__deinit(&d->pcs);
	d->nstack_frames = 0;
	d->nexperiments = 0;
	map__deinit(&d->starts);
	arena__reset(&d->bytes);
}

int dictionary__add_string(struct dictionary *d, uint64_t id, const void *data, size_t len)
{
	uint32_t n = d->string_ids.count;
	char *copy;

	if (dictionary__has_string(d, id))
		return -EEXIST;
	copy = arena__alloc(&d->bytes, len);
	if (!copy || array__grow(&d->strings, n, &d->strings_cap, sizeof(*d->strings)) ||
	    ids__add(&d->string_ids, id))
		return -ENOMEM;
	memcpy(copy, data, len);
	d->strings[n] = (struct trace_string){ copy, (uint32_t)len };
	return 0;
}

/* Returns the frame kept for a PC, which is the first one seen, or NULL if memory is exhausted. */
static struct trace_frame *dictionary__intern(struct dictionary *d, const struct trace_frame *frame)
{
	struct trace_frame *kept = map__get(&d->pcs, frame->pc);

	if (kept)
		return kept;
	kept = arena__alloc(&d->bytes, sizeof(*kept));
	if (!kept || map__put(&d->pcs, frame->pc, kept))
		return NULL;
	*kept = *frame;
	return kept;
}

int dictionary__add_stack(struct dictionary *d, uint64_t id, const struct trace_frame *frames,
			  size_t n)
{
	uint32_t stack = d->stack_ids.count;
	size_t i, at = d->nstack_frames;

	if (dictionary__has_stack(d, id))
		return -EEXIST;
	if (array__grow(&d->stack_at, stack + 1, &d->stacks_cap, sizeof(*d->stack_at)) ||
	    array__grow(&d->stack_frames, at + n, &d->stack_frames_cap, sizeof(*d->stack_frames)))
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		d->stack_frames[at + i] = dictionary__intern(d, &frames[i]);
		if (!d->stack_frames[at + i])
			return -ENOMEM;
	}
	if (ids__add(&d->stack_ids, id))
		return -ENOMEM;
	d->stack_at[stack] = at;
	d->stack_at[stack + 1] = d->nstack_frames = at + n;
	return 0;
}

int dictionary__add_experiment(struct dictionary *d, const void *data, size_t len)
{
	unsigned char *copy = arena__alloc(&d->bytes, len);

	if (!copy || array__grow(&d->experiments, d->nexperiments, &d->experiments_cap,
				 sizeof(*d->experiments)))
		return -ENOMEM;
	memcpy(copy, data, len);
	d->experiments[d->nexperiments++] = (struct trace_experiment){ copy, len };
	return 0;
}

int dictionary__add_start(struct dictionary *d, uint64_t g, uint64_t stack)
{
	if (!stack || !dictionary__has_stack(d, stack) || map__get(&d->starts, g))
		return 0;
	return map__put(&d->starts, g, (void *)(uintptr_t)stack);
}

const struct trace_frame *dictionary__bad_frame(const struct dictionary *d)
{
	const struct trace_frame *frame, *bad = NULL;
	void *value;

	/* Choose the lowest PC: the order of the map differs from run to run. */
	for (size_t i = 0; map__next(&d->pcs, &i, &value);) {
		frame = value;
		if ((!bad || frame->pc < bad->pc) && (!dictionary__has_string(d, frame->func) ||
						      !dictionary__has_string(d, frame->file)))
			bad = frame;
	}
	return bad;
}

bool dictionary__string(const struct dictionary *d, uint64_t id, struct trace_string *ret)
{
	uint32_t i;

	if (!id) {
		*ret = (struct trace_string){ "", 0 };
		return true;
	}
	if (!ids__find(&d->string_ids, id, &i))
		return false;
	*ret = d->strings[i];
	return true;
}

size_t dictionary__frames(const struct dictionary *d, uint64_t stack)
{
	uint32_t i;

	if (!stack || !ids__find(&d->stack_ids, stack, &i))
		return 0;
	return d->stack_at[i + 1] - d->stack_at[i];
}

const struct trace_frame *dictionary__frame(const struct dictionary *d, uint64_t stack, size_t i)
{
	uint32_t at = 0;

	ids__find(&d->stack_ids, stack, &at);
	return d->stack_frames[d->stack_at[at] + i];
}
