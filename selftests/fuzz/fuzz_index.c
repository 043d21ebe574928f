// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as the index of a trace that is well: reading goes on from wherever it says, in
 * whatever state. Its sums are not looked at, since no fuzzer gets them right.
 */
#include <errno.h>

#include "make_trace.h"
#include "read.h"
#include "trace/index.h"
#include "trace/rewrite.h"

static uint8_t trace[MADE_MAX];
static size_t trace_len;

/* As `gotrace cut` does. */
static void read_from(struct reader_place *place, struct order *state, struct origins *origins)
{
	const struct rewrite_opts opts = { .version = 25, .from = place->last_time };
	struct trace_file *nowhere;
	struct rewrite *rewrite;
	struct error err = {};
	struct trace_event ev;
	struct reader *r;
	int code;

	if (trace_file__open(&nowhere, "/dev/null") || rewrite__create(&rewrite, nowhere, &opts) ||
	    reader__open(&r, open_plain(trace, trace_len), &(struct reader_opts){}, NULL))
		abort();
	code = reader__resume(r, place, state, &err);
	if (!code)
		code = rewrite__begin_at(rewrite, reader__order(r), origins);
	while (!code && (code = reader__next(r, &ev, &err)) > 0) {
		look_at_event(&ev);
		code = rewrite__event(rewrite, &ev);
	}
	if (code < 0 && code != -ERANGE && !err.text[0])
		abort();
	if (!code)
		rewrite__end(rewrite);
	rewrite__destroy(rewrite);
	trace_file__destroy(nowhere);
	reader__destroy(r);
}

static void use_index(const struct index *ix)
{
	size_t n = index__generations(ix);

	for (size_t i = 0; i < n && i < 8; i++) {
		struct reader_place place;
		struct origins origins;
		struct error err = {};
		struct order state;
		int64_t time = index__generation(ix, i)->sync;

		if (!index__place(ix, time, &place, &state, &origins, &err)) {
			read_from(&place, &state, &origins);
			order__deinit(&state);
			origins__deinit(&origins);
		} else if (!err.text[0]) {
			abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = {};
	struct index *ix;

	if (!trace_len)
		trace_len = make_trace(made_example, made_example_len, trace);
	if (!index__parse(&ix, data, size, false, &err)) {
		use_index(ix);
		index__destroy(ix);
	} else if (!err.text[0]) {
		abort();
	}
	return 0;
}
