/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The string and stack tables of one generation, by the ids that the trace uses.
 *
 * reader/decode_tables.c fills them for v2; v1/v1_parse.c, v1_symbolize.c and v1_convert.c for v1
 * (one dictionary per trace). reader/order.c checks that ids exist, and whatever prints events
 * resolves them. Ids may be sparse and large: memory grows with their number, not their value. Id 0
 * is the empty string and the empty stack.
 *
 * Frames are kept by PC: the first function, file and line seen for a PC hold for the generation,
 * as in Go's internal/trace.
 *
 * The data of an experiment, such as the types of AllocFree (heap/heap_types.h), has a format of
 * its own and is kept as it is.
 */
#ifndef FORMAT_DICTIONARY_H
#define FORMAT_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "format/spec.h"
#include "lib/arena.h"
#include "lib/map.h"

struct trace_string {
	const char *data; /* not NUL-terminated; any bytes */
	uint32_t len;
};

static inline bool trace_string__begins(struct trace_string s, const char *with)
{
	return s.len >= strlen(with) && !memcmp(s.data, with, strlen(with));
}

static inline bool trace_string__equals(struct trace_string s, const char *text)
{
	return s.len == strlen(text) && trace_string__begins(s, text);
}

struct trace_frame {
	uint64_t pc;
	uint64_t func, file; /* string ids */
	uint64_t line;
};

/* Maps ids of the trace to indices: an array while ids are dense, a hash map for the others. */
struct ids {
	uint32_t *dense; /* 0: no such id; else index + 1 */
	size_t cap, top; /* top: one past the largest id in the array */
	struct map sparse;
	uint32_t count;
};

/* A batch of experiment AllocFree; any bytes. */
struct trace_experiment {
	const unsigned char *data;
	size_t len;
};

/* Why goroutines wait when the file begins: format/parked_read.h. Ascending, if the records are valid. */
struct parked_list {
	struct parked_entry {
		uint64_t goid;
		uint64_t waited; /* for how long it has waited at least, ns + 1; 0: unknown */
		uint32_t text;
	} *at;
	struct parked_text {
		uint32_t len;
		char data[60];
	} *texts;
	size_t n, cap, ntexts, texts_cap;
};

struct dictionary {
	struct ids string_ids, stack_ids;
	struct map pcs; /* of struct trace_frame */
	struct trace_string *strings;
	struct trace_frame **stack_frames; /* of all stacks, concatenated */
	size_t *stack_at; /* stack i: stack_frames[stack_at[i]] up to stack_at[i + 1] */
	size_t strings_cap, stack_frames_cap, stacks_cap;
	size_t nstack_frames;
	struct trace_experiment *experiments; /* in the order of the file */
	size_t nexperiments, experiments_cap;
	struct map starts; /* of goroutines, to ids of stacks: see dictionary__start() */
	struct parked_list parked;
	struct arena bytes; /* owns the bytes of strings and experiments, and the frames */
};

void dictionary__init(struct dictionary *d);
void dictionary__deinit(struct dictionary *d);
void dictionary__clear(struct dictionary *d); /* removes all entries; keeps the memory */

/* Copies the bytes. Returns 0, -EEXIST (the id is 0 or already defined) or -ENOMEM. */
int dictionary__add_string(struct dictionary *d, uint64_t id, const void *data, size_t len);
/* Copies the frames, leaf first. Returns 0, -EEXIST or -ENOMEM. */
int dictionary__add_stack(struct dictionary *d, uint64_t id, const struct trace_frame *frames,
			  size_t n);
/* Copies the data of a batch of experiment AllocFree. Returns 0 or -ENOMEM. */
int dictionary__add_experiment(struct dictionary *d, const void *data, size_t len);

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

/* Returns a frame whose function or file is not in the string table, or NULL if there is none. */
const struct trace_frame *dictionary__bad_frame(const struct dictionary *d);

/* Returns false if the id is undefined. The result lives as long as the dictionary's entries. */
bool dictionary__string(const struct dictionary *d, uint64_t id, struct trace_string *ret);
/* Number of frames of a stack, 0 if the id is undefined; and its frame i, leaf first. */
size_t dictionary__frames(const struct dictionary *d, uint64_t stack);
const struct trace_frame *dictionary__frame(const struct dictionary *d, uint64_t stack, size_t i);

/*
 * The stack of a goroutine whose status has none, because the header is 1.22: from the private data
 * of gotrace-bpf. dictionary__add_start() ignores a stack that is undefined, and all but the first
 * one of a goroutine. Returns 0 or -ENOMEM.
 */
int dictionary__add_start(struct dictionary *d, uint64_t g, uint64_t stack);

/* 0: none. */
static inline uint64_t dictionary__start(const struct dictionary *d, uint64_t g)
{
	return d->starts.n ? (uintptr_t)map__get(&d->starts, g) : 0;
}

/* Number of strings; strings[0] and so on are in the order of the file. */
static inline size_t dictionary__nstrings(const struct dictionary *d)
{
	return d->string_ids.count;
}

#endif
