/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The strings and stacks of one generation, as a reader finds them: by the ids of the file.
 *
 * Filled by trace/decode.c (v2) or trace/v1.c (v1, one dictionary a trace); asked by trace/order.c
 * (does this id exist?) and by all who print. Ids may be sparse and huge: memory follows how many
 * there are, not how large they are. Id 0 is the empty string and the empty stack.
 *
 * Frames are kept by PC: the first function, file and line seen for a PC hold for the generation
 * (Go's internal/trace does the same).
 */
#ifndef TRACE_DICTIONARY_H
#define TRACE_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/map.h"
#include "trace/spec.h"

struct trace_string {
	const char *data; /* not NUL-terminated; any bytes */
	uint32_t len;
};

struct trace_frame {
	uint64_t pc;
	uint64_t func, file; /* string ids */
	uint64_t line;
};

/* From ids of the file to indices: an array while ids are dense, a hash map for the others. */
struct ids {
	uint32_t *dense; /* 0: not there; else index + 1 */
	size_t cap, top; /* top: behind the largest id in it */
	struct map sparse;
	uint32_t count;
};

struct dictionary {
	struct ids string_ids, stack_ids;
	struct map pcs; /* to struct trace_frame */
	struct trace_string *strings;
	struct trace_frame **stack_frames; /* of all stacks, one after another */
	size_t *stack_at; /* stack i: stack_frames[stack_at[i]] up to stack_at[i + 1] */
	size_t strings_cap, stack_frames_cap, stacks_cap;
	size_t nstack_frames;
	struct blocks *bytes; /* the strings' bytes and the frames */
};

int dictionary__init(struct dictionary *d); /* 0 or -ENOMEM */
void dictionary__deinit(struct dictionary *d);
void dictionary__clear(struct dictionary *d); /* empty again; keeps memory for the next one */

/* Copies the bytes. 0, -EEXIST (the id has one already, or is 0), -ENOMEM. */
int dictionary__add_string(struct dictionary *d, uint64_t id, const void *data, size_t len);
/* Leaf first. 0, -EEXIST, -ENOMEM. */
int dictionary__add_stack(struct dictionary *d, uint64_t id, const struct trace_frame *frames,
			  size_t n);

static inline bool ids__find(const struct ids *ids, uint64_t id, uint32_t *ret)
{
	uintptr_t found = id < ids->cap ? ids->dense[id] : 0;

	if (!found && ids->sparse.n)
		found = (uintptr_t)map__get(&ids->sparse, id);
	if (found)
		*ret = (uint32_t)found - 1;
	return found;
}

static inline bool dictionary__has_string(const struct dictionary *d, uint64_t id)
{
	uint32_t i;

	return !id || ids__find(&d->string_ids, id, &i);
}

static inline bool dictionary__has_stack(const struct dictionary *d, uint64_t id)
{
	uint32_t i;

	return !id || ids__find(&d->stack_ids, id, &i);
}

/* A frame whose function or file is no string of the dictionary; NULL: all are. */
const struct trace_frame *dictionary__bad_frame(const struct dictionary *d);

/* False: no such id. Id 0 is always there. What is returned lives as long as the dictionary. */
bool dictionary__string(const struct dictionary *d, uint64_t id, struct trace_string *ret);
/* The number of frames of a stack (0: none, or no such id), and the i-th of them, leaf first. */
size_t dictionary__frames(const struct dictionary *d, uint64_t stack);
const struct trace_frame *dictionary__frame(const struct dictionary *d, uint64_t stack, size_t i);

/* Strings by index 0 .. string_ids.count - 1, in the order of the file. */
static inline size_t dictionary__nstrings(const struct dictionary *d)
{
	return d->string_ids.count;
}

#endif
