/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads a trace in memory up to its end or first error, and everything that its events provide.
 * Shared by several fuzz targets.
 */
#ifndef SELFTESTS_FUZZ_READ_H
#define SELFTESTS_FUZZ_READ_H

#include <stdint.h>
#include <stdlib.h>

#include "reader/reader.h"
#include "plain.h"

static volatile uint8_t seen;

/* Accesses both ends, for the sanitizer. */
static inline void look_at(const char *data, size_t len)
{
	if (len)
		seen = data[0] ^ data[len - 1];
}

static inline void look_at_string(const struct dictionary *dictionary, uint64_t id)
{
	struct trace_string string;

	if (dictionary__string(dictionary, id, &string))
		look_at(string.data, string.len);
}

static inline void look_at_stack(const struct dictionary *dictionary, uint64_t id)
{
	size_t n = dictionary__frames(dictionary, id);

	for (size_t i = 0; i < n; i++) {
		const struct trace_frame *frame = dictionary__frame(dictionary, id, i);

		look_at_string(dictionary, frame->func);
		look_at_string(dictionary, frame->file);
	}
}

/* Any argument may be asked for as any id: most of them are not there. */
static inline void look_at_event(const struct trace_event *ev)
{
	look_at(ev->name.data, ev->name.len);
	if (ev->sync)
		seen = ev->sync->clock.known;
	for (size_t i = 0; ev->dictionary && i < sizeof(ev->arg) / sizeof(*ev->arg); i++) {
		look_at_string(ev->dictionary, ev->arg[i]);
		look_at_stack(ev->dictionary, ev->arg[i]);
	}
}

/* A failure without a reason is a finding, as is an event after the end. */
static inline void read_trace(const uint8_t *data, size_t size, const struct reader_opts *opts)
{
	struct input *in = open_plain(data, size);
	struct error err = {};
	struct trace_event ev;
	struct reader *r;
	int code;

	if (!in)
		return;
	code = reader__open(&r, in, opts, &err);
	if (!code) {
		while ((code = reader__next(r, &ev, &err)) > 0)
			look_at_event(&ev);
		if (!code && reader__next(r, &ev, &err))
			abort();
		reader__destroy(r);
	}
	if (code && !err.text[0])
		abort();
}

static inline void read_both_ways(const uint8_t *data, size_t size)
{
	read_trace(data, size, &(struct reader_opts){});
	read_trace(data, size, &(struct reader_opts){ .lenient = true });
}

#endif
