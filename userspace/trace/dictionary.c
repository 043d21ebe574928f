// SPDX-License-Identifier: GPL-2.0
/*
 * The dictionary of trace/dictionary.h: tables that are asked once or twice an event.
 *
 * Before it: trace/decode.c, which finds strings and stacks in a generation's batches. After it:
 * the order's checks and the commands' output.
 */
#include "trace/dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/blocks.h"

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

/* Gives `id` the next index. An id far beyond how many there are goes into the map. */
static int ids__add(struct ids *ids, uint64_t id)
{
	size_t cap = ids->cap;
	int err;

	if (id >= cap) {
		if (id >= 2 * (uint64_t)ids->count + 1024) {
			err = map__put(&ids->sparse, id, (void *)((uintptr_t)ids->count + 1));
			if (!err)
				ids->count++;
			return err;
		}
		err = array__grow(&ids->dense, id, &ids->cap, sizeof(*ids->dense));
		if (err)
			return err;
		memset(ids->dense + cap, 0, (ids->cap - cap) * sizeof(*ids->dense));
	}
	ids->dense[id] = ++ids->count;
	if (ids->top <= id)
		ids->top = id + 1;
	return 0;
}

int dictionary__init(struct dictionary *d)
{
	*d = (struct dictionary){ .bytes = blocks__create(BYTES_BLOCK) };
	return d->bytes ? 0 : -ENOMEM;
}

void dictionary__deinit(struct dictionary *d)
{
	ids__deinit(&d->string_ids);
	ids__deinit(&d->stack_ids);
	map__deinit(&d->pcs);
	free(d->strings);
	free(d->stack_frames);
	free(d->stack_at);
	blocks__destroy(d->bytes);
	*d = (struct dictionary){};
}

void dictionary__clear(struct dictionary *d)
{
	ids__clear(&d->string_ids);
	ids__clear(&d->stack_ids);
	map__deinit(&d->pcs);
	d->nstack_frames = 0;
	blocks__reset(d->bytes);
}

int dictionary__add_string(struct dictionary *d, uint64_t id, const void *data, size_t len)
{
	uint32_t n = d->string_ids.count;
	char *copy;

	if (dictionary__has_string(d, id))
		return -EEXIST;
	copy = blocks__take(d->bytes, len);
	if (!copy || array__grow(&d->strings, n, &d->strings_cap, sizeof(*d->strings)) ||
	    ids__add(&d->string_ids, id))
		return -ENOMEM;
	memcpy(copy, data, len);
	d->strings[n] = (struct trace_string){ copy, (uint32_t)len };
	return 0;
}

/* The frame kept for a PC: the first one seen. NULL: no memory. */
static struct trace_frame *dictionary__intern(struct dictionary *d, const struct trace_frame *frame)
{
	struct trace_frame *kept = map__get(&d->pcs, frame->pc);

	if (kept)
		return kept;
	kept = blocks__take(d->bytes, sizeof(*kept));
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

const struct trace_frame *dictionary__bad_frame(const struct dictionary *d)
{
	const struct trace_frame *frame, *bad = NULL;
	void *value;

	/* The one of the lowest PC: the map's order is another in each run. */
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
