/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes traces of v2 from text, for tests of the order of events. Include it after cmocka.h.
 *
 * A trace is written as lines "NAME ARGUMENT...", one per event, each 1 ns after the previous one
 * of its thread. They belong to thread 1 in generation 1; "@2 5" switches to thread 2 and adds 5
 * ns, "#2" switches to generation 2 and thread 1. "-" is the number for "no thread". The strings 1
 * to 3 are "ab", "a" and "b".
 */
#ifndef UNIT_EVENTS_MADE_H
#define UNIT_EVENTS_MADE_H

#include "unit/test.h"
#include "format/spec.h"

#include "unit/bytes_made.h"

/* Adds a batch unless it is empty, and empties it. */
static inline void move_batch(struct made_bytes *b, uint64_t gen, uint64_t m, uint64_t after,
			      struct made_bytes *batch)
{
	if (batch->len)
		add_batch(b, gen, m, 1000 * gen + after, batch->data, batch->len);
	batch->len = 0;
}

#define FREQUENCY "\x08\x80\x94\xeb\xdc\x03" /* 1e9 */
#define STRINGS	  "\4\5\1\2ab\5\2\1a\5\3\1b"

static inline void add_tables(struct made_bytes *b, uint64_t gen)
{
	add_batch(b, gen, 1, 1000 * gen, FREQUENCY, sizeof(FREQUENCY) - 1);
	add_batch(b, gen, 1, 1000 * gen, STRINGS, sizeof(STRINGS) - 1);
}

static inline void add_event(struct made_bytes *b, char *line)
{
	char *at, *name = strtok_r(line, " ", &at), *arg;
	const struct ev_spec *spec = NULL;
	unsigned int type;

	for (type = 0; type < EV_END; type++) {
		spec = spec__event(type);
		if (spec && !strcmp(spec->name, name))
			break;
	}
	if (type == EV_END)
		fail_msg("no event has the name %s", name);
	add_leb(b, type);
	add_leb(b, 1);
	for (unsigned int i = 1; i < spec->nargs; i++) {
		arg = strtok_r(NULL, " ", &at);
		if (!arg)
			fail_msg("%s has %u arguments", name, spec->nargs - 1u);
		add_leb(b, *arg == '-' ? UINT64_MAX : strtoull(arg, NULL, 10));
	}
}

static inline void make(struct made_bytes *b, const char *events)
{
	char *text = strdup(events), *at, *line, *rest;
	struct made_bytes batch = {};
	uint64_t gen = 1, m = 1, after = 0;

	b->len = 0;
	add(b, "go 1.23 trace\0\0\0", 16);
	add_tables(b, gen);
	for (line = strtok_r(text, "\n", &at); line; line = strtok_r(NULL, "\n", &at)) {
		if (*line != '@' && *line != '#') {
			add_event(&batch, line);
			continue;
		}
		move_batch(b, gen, m, after, &batch);
		m = strtoull(line + 1, &rest, 10);
		after = strtoull(rest, NULL, 10);
		if (*line == '#') {
			gen = m;
			m = 1;
			add_tables(b, gen);
		}
	}
	move_batch(b, gen, m, after, &batch);
	free(text);
}

#endif
