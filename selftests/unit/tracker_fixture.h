/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of all clients of the goroutine tracker need: strings and stacks, and hand-made
 * events in the context of a thread, a P and a goroutine.
 */
#ifndef UNIT_TRACKER_FIXTURE_H
#define UNIT_TRACKER_FIXTURE_H

#include "unit/test.h"
#include "format/dictionary.h"
#include "format/event.h"

static struct dictionary dictionary;
static uint64_t on_m, on_p, on_g; /* the context of the next events */

static inline void add_string(uint64_t id, const char *text)
{
	assert_int_equal(dictionary__add_string(&dictionary, id, text, strlen(text)), 0);
}

/* A new dictionary, with strings 1 to n - 1. */
static inline void add_strings(const char *const *strings, uint64_t n)
{
	dictionary__init(&dictionary);
	for (uint64_t id = 1; id < n; id++)
		add_string(id, strings[id]);
}

/* Stack N is the start function N, without callers, and a leaf; for N from `first` to `last`. */
static inline void add_start_functions(uint64_t first, uint64_t last, uint64_t leaf)
{
	struct trace_frame frames[] = { { .pc = 0x1000, .func = leaf }, {} };

	for (uint64_t id = first; id <= last; id++) {
		frames[1] = (struct trace_frame){ .pc = 0x100 * id, .func = id };
		assert_int_equal(dictionary__add_stack(&dictionary, id, frames, 2), 0);
	}
}

static inline struct trace_event made_event(int64_t time, unsigned int type, uint64_t a, uint64_t b,
					    uint64_t c)
{
	return (struct trace_event){
		.time = time,
		.type = (uint8_t)type,
		.m = on_m,
		.p = on_p,
		.g = on_g,
		.arg = { a, b, c },
		.dictionary = &dictionary,
		.parent = TRACE_NO_TASK,
	};
}

#endif
