// SPDX-License-Identifier: GPL-2.0
/*
 * Arbitrary events in valid batches: reading several generations at once must give the same result,
 * events and state as reading one after the other.
 */
#include "parallel_read.h"
#include "make_trace.h"
#include "plain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t trace[MADE_MAX];
	size_t len = make_trace(data, size, trace);
	struct outcome one, three;
	const char *what;

	read_with_jobs(open_plain(trace, len), size % 2, 1, &one);
	read_with_jobs(open_plain(trace, len), size % 2, 3, &three);
	what = differing(&one, &three);
	if (what) {
		fprintf(stderr, "%s differs: %s %s, %s %s\n", what, one.text, one.left_out,
			three.text, three.left_out);
		abort();
	}
	outbuf__deinit(&one.state);
	outbuf__deinit(&three.state);
	return 0;
}
