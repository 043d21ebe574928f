// SPDX-License-Identifier: GPL-2.0
/*
 * How long the window of the flight recorder is when the state of all goroutines is large, so that
 * not every generation contains it.
 */
#include "unit/test.h"
#include "flight/flight.h"
#include "unit/trace_bytes.h"
#include "writer/intern.h"
#include "writer/writer.h"

#define SECOND 1000000000ull
#define START  (1000 * SECOND)
#define MANY   400000u /* goroutines: their state takes more than 2 MiB */

static struct flight *open_flight(struct writer *writer, uint64_t window_ns)
{
	const struct flight_opts opts = {
		.dir = scratch("dir"),
		.window_ns = window_ns,
		.max_bytes = 1ull << 30,
		.keep = 1ull << 40,
		.version = 26,
		.target = { .program = "program", .pid = 7 },
	};
	struct error error = {};
	struct flight *f;

	assert_int_equal(flight__open(&f, &opts, &error), 0);
	flight__start(f, writer, START, SECOND);
	return f;
}

/* The window of the only line of the index, in ns. */
static uint64_t length_of_snapshot(void)
{
	struct bytes b = bytes__read(scratch("dir/index.tsv"));
	unsigned long long from, to;
	char *line;

	b.data[b.len] = '\0';
	line = strchr((char *)b.data, '\n') + 1;
	assert_int_equal(sscanf(line, "%*s %*s %*s %*s %llu %llu", &from, &to), 2);
	assert_ptr_equal(strchr(line, '\n') + 1, b.data + b.len);
	free(b.data);
	return to - from;
}

/* A recording of so many generations, each of a second, and a snapshot at its end. */
static uint64_t record(unsigned int seconds, uint64_t window_ns)
{
	const struct writer_opts format = { .version = 26, .tick_ns = 64 };
	const struct flight_cause cause = { "exit", "the end", START + seconds * SECOND };
	struct intern *tables = intern__create();
	struct writer *writer = writer__create(NULL, tables, &format);
	struct flight *flight = open_flight(writer, window_ns);
	struct error error = {};
	bool has_state = true;
	uint64_t length;

	for (unsigned int n = 0; n < seconds; n++) {
		uint64_t end = START + (n + 1) * SECOND;

		assert_int_equal(writer__open(writer, end - SECOND, SECOND), 0);
		for (unsigned int g = 1; g <= (has_state ? MANY : 1); g++)
			writer__go_status(writer, TRACE_NO_M, g, GO_WAITING, 0);
		assert_int_equal(writer__close(writer), 0);
		if (n + 1 < seconds)
			has_state = flight__next(flight, end) == 1;
	}
	assert_true(flight__request(flight, &cause));
	assert_int_equal(flight__end(flight, 0, cause.time, &error), 0);
	flight__destroy(flight);
	writer__destroy(writer);
	intern__destroy(tables);
	length = length_of_snapshot();
	assert_int_equal(unlink(scratch("dir/index.tsv")), 0);
	return length;
}

TEST(a_quarter_may_be_missing)
{
	for (unsigned int seconds = 20; seconds < 28; seconds++) {
		uint64_t length = record(seconds, 16 * SECOND);

		assert_true(length >= 12 * SECOND);
		assert_true(length <= 17 * SECOND);
	}
}

TEST(everything_is_kept)
{
	assert_int_equal(record(11, 60 * SECOND), 11 * SECOND);
}
