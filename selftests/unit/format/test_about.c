// SPDX-License-Identifier: GPL-2.0
/* What a trace contains about its recording: private data, clocks, and times out of range. */
#include "unit/scratch.h"
#include "format/about.h"
#include "unit/writer_fixture.h"
#include "writer/private_write.h"

#define WALL 1795707683748973137

static int setup(void **state)
{
	start(25, 1);
	ok(writer__open(x.w, 1000, 2000));
	ok(writer__proc_status(x.w, TRACE_NO_M, 0, PROC_IDLE));
	return 0;
}

FIXTURE(setup, stop)

/* The members that are written for a sync at `time` with the private data and the clock. */
static void expect(int64_t time, struct trace_clock clock, const char *expected)
{
	struct dictionary dictionary = dictionary_of_file();
	const struct trace_sync sync = { .n = 1, .generation = 1, .clock = clock };
	const struct trace_event ev = { .time = time, .dictionary = &dictionary, .sync = &sync };
	struct about about = {};
	struct json j;
	FILE *out = capture();

	assert_int_equal(about__sync(&about, &ev), 0);
	json__init(&j, out, true);
	json__open(&j, NULL, '{');
	about__print(&about, &j);
	json__close(&j, '}');
	expect_captured(expected);
	dictionary__deinit(&dictionary);
}

/* Such as the sync at the end of a trace that ends before its first generation. */
TEST_WITH(no_dictionary, NULL, NULL)
{
	const struct trace_sync sync = { .n = 1 };
	const struct trace_event ev = { .sync = &sync };
	struct about about = {};

	assert_int_equal(about__sync(&about, &ev), 0);
	assert_string_equal(about.command, "");
	assert_false(about.has_wall);
}

TEST(nothing_is_known)
{
	expect(5, (struct trace_clock){},
	       "{\"program\":null,\"go_version\":null,\"start_wall\":null}\n");
}

TEST(private_data)
{
	static const char command[] = "/bin/x\0-p\0";
	struct private_meta m = { .command = command, .command_len = 10, .go_version = "go1.26.8" };

	private__meta(x.w, &m);
	private__ticks(x.w, 64, 1000, WALL);
	expect(1500, (struct trace_clock){},
	       "{\"program\":\"/bin/x -p\",\"go_version\":\"go1.26.8\","
	       "\"start_wall\":\"2026-11-26T15:41:23.748973637Z\"}\n");
}

/* The clock of a sync has precedence. */
TEST(clock_of_sync)
{
	const struct trace_clock clock = {
		.known = true, .time = 900, .sec = WALL / 1000000000, .nsec = WALL % 1000000000
	};

	private__ticks(x.w, 64, 0, 7);
	expect(1000, clock,
	       "{\"program\":null,\"go_version\":null,"
	       "\"start_wall\":\"2026-11-26T15:41:23.748973237Z\"}\n");
}

TEST(invalid_ticks)
{
	private__ticks(x.w, 64, 1, UINT64_MAX);
	expect(5, (struct trace_clock){},
	       "{\"program\":null,\"go_version\":null,\"start_wall\":null}\n");
}

TEST(invalid_clock)
{
	const struct trace_clock late = { .known = true, .sec = UINT64_MAX };

	expect(5, late, "{\"program\":null,\"go_version\":null,\"start_wall\":null}\n");
}

TEST(before_1970)
{
	const struct trace_clock clock = { .known = true, .time = 1000, .nsec = 5 };

	expect(5, clock, "{\"program\":null,\"go_version\":null,\"start_wall\":null}\n");
}

TEST(texts)
{
	static const char command[] = "/bin/x\0-p\0";
	const struct private_meta m = {
		.command = command, .command_len = 10, .tool = "gotrace-bpf 0.1", .build_id = "00ff"
	};
	struct dictionary dictionary;
	struct about about = {};

	private__meta(x.w, &m);
	private__ticks(x.w, 64, 1000, WALL);
	dictionary = dictionary_of_file();
	assert_int_equal(about__read(&about, &dictionary), 0);
	assert_string_equal(about.program, "/bin/x");
	assert_string_equal(about.command, "/bin/x -p");
	assert_string_equal(about.tool, "gotrace-bpf 0.1");
	assert_string_equal(about.build_id, "00ff");
	assert_string_equal(about.go_version, "");
	assert_true(about.has_ticks);
	assert_int_equal(about.ticks.start_ns, 1000);
	assert_int_equal(about.ticks.wall_ns, WALL);
	assert_false(about.has_wall);
	dictionary__deinit(&dictionary);
}

/* A name longer than any path is left out, since a part of it names another program. */
TEST(long_program)
{
	static char command[PATH_MAX + 1];

	memset(command, 'a', sizeof(command));
	for (size_t len = PATH_MAX - 1; len <= PATH_MAX; len++) {
		struct private_meta m = { .command = command, .command_len = len };
		struct dictionary dictionary;
		struct about about = {};

		private__meta(x.w, &m);
		dictionary = dictionary_of_file();
		assert_int_equal(about__read(&about, &dictionary), 0);
		assert_int_equal(strlen(about.program), len < PATH_MAX ? len : 0);
		dictionary__deinit(&dictionary);
		stop(state);
		setup(state);
	}
}

TEST(long_command)
{
	char command[1000], expected[400];
	struct private_meta m = { .command = command, .command_len = sizeof(command) };

	memset(command, 'a', sizeof(command));
	private__meta(x.w, &m);
	snprintf(expected, sizeof(expected),
		 "{\"program\":\"%.*s...\",\"go_version\":null,\"start_wall\":null}\n",
		 ABOUT_TEXT_MAX - 3, command);
	expect(5, (struct trace_clock){}, expected);
}
