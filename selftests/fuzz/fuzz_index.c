// SPDX-License-Identifier: GPL-2.0
/*
 * Arbitrary bytes as the index of a valid trace: reading continues at any position in any state.
 * Checksums are ignored, since a fuzzer cannot produce them.
 */
#include <errno.h>

#include "reader/index.h"
#include "rewrite/rewrite.h"
#include "make_trace.h"
#include "read.h"

static uint8_t trace[MADE_MAX];
static size_t trace_len;

/* As `gotrace cut` does. */
static void read_from(struct reader_place *place, struct order *state,
		      struct start_functions *functions)
{
	const struct rewrite_opts opts = { .version = 25, .from = place->last_time };
	struct trace_file *nowhere;
	struct rewrite *rewrite;
	struct error err = {};
	struct trace_event ev;
	struct reader *r;
	int code;

	if (trace_file__open(&nowhere, "/dev/null", FILE_ANY) ||
	    rewrite__create(&rewrite, nowhere, &opts) ||
	    reader__open(&r, open_plain(trace, trace_len), &(struct reader_opts){}, NULL))
		abort();
	code = reader__resume(r, place, state, &err);
	if (!code)
		code = rewrite__begin_at(rewrite, reader__order(r), functions);
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
		struct start_functions functions;
		struct error err = {};
		struct order state;
		int64_t time = index__generation(ix, i)->sync;

		if (!index__place(ix, time, &place, &state, &functions, &err)) {
			read_from(&place, &state, &functions);
			order__deinit(&state);
			start_functions__deinit(&functions);
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
