// SPDX-License-Identifier: GPL-2.0
/*
 * Reading of several generations at once: whether a state at the start of a generation is guessed
 * rightly, and that a wrong guess makes no difference but time.
 *
 * The traces are written in the lines of unit/events_made.h. test_order.c reads its traces with
 * several threads, too; selftests/fuzz/fuzz_parallel.c and selftests/check/parallel.sh any others.
 */
#include "unit/test.h"
#include "fuzz/parallel_read.h"
#include "unit/events_made.h"

struct example {
	const char *events;
	unsigned int again; /* generations that have to be read again, because the guess is wrong */
};

static struct input *input_of(const struct made_bytes *b)
{
	struct input *in;

	assert_int_equal(input__open_memory(&in, b->data, b->len, NULL), 0);
	return in;
}

static void check(const struct example *example, size_t n)
{
	static struct made_bytes b;
	struct outcome one, two;
	const char *what;

	for (size_t i = 0; i < n; i++) {
		make(&b, example[i].events);
		read_with_jobs(input_of(&b), false, 1, &one);
		read_with_jobs(input_of(&b), false, 2, &two);
		what = differing(&one, &two);
		if (what)
			fail_msg("%s\n%s differs with 2 jobs: %s, %s", example[i].events, what,
				 one.text, two.text);
		if (!example[i].again && two.code)
			fail_msg("%s\nis refused: %s", example[i].events, two.text);
		/* The reader of the caller also reads the end, unless there is an error. */
		if (two.again != example[i].again + !two.code)
			fail_msg("%s\n%u generations were read again", example[i].events,
				 two.again - !two.code);
		outbuf__deinit(&one.state);
		outbuf__deinit(&two.state);
	}
}

#define CHECK(examples) check(examples, sizeof(examples) / sizeof(*examples))

#define P		"ProcStatus 0 1\n"		   /* runs on the thread */
#define RUNS		"ProcStatus 0 1\nGoStatus 1 1 2\n" /* and goroutine 1 */
#define IN_CALL		"ProcStatus 0 3\nGoStatus 1 1 3\n" /* both in a system call */

TEST(statuses_tell_the_state)
{
	static const struct example examples[] = {
		{ RUNS "#2\n" RUNS "GoBlock 1 0\n#3\n" P "GoStatus 1 - 4\nGoUnblock 1 1 0" },
		{ RUNS "GoBlock 1 0\nProcStop\n#2\nGoStatus 1 - 4\nProcStatus 0 2\nProcStart 0 1" },
		{ RUNS "#2\nProcStatus 7 2\n" RUNS "GoCreate 2 0 0\n#3\nGoStatus 2 - 1\n" RUNS },
		{ RUNS "GoCreate 2 0 0\n#2\n" RUNS "GoDestroy\nGoStatus 2 - 1\nGoStart 2 1\n#3\n"
		       "GoDestroy\nProcStop" },
		{ RUNS "#2\n" RUNS "GoDestroy\nGoCreate 1 0 0\n#3\nGoStatus 1 - 1\n" P
		       "GoStart 1 1" },
		{ RUNS "#2\n@2\nGoStatus 1 1 2", 1 },
		{ RUNS "#2\nGoStatus 2 - 1", 1 },
		{ RUNS "#2\n" P "GoStatus 1 1 4", 1 },
		{ RUNS "#2\nProcStart 0 1", 1 },
		{ RUNS "#2\n@2\n" RUNS, 1 },
		{ RUNS "#2\n" RUNS "GoCreate 2 0 0\n#3\n" RUNS "GoCreate 2 0 0", 1 },
		{ RUNS "#2\n" RUNS "GoDestroy\nGoStatus 1 1 2", 1 },
	};

	CHECK(examples);
}

TEST(events_tell_the_state)
{
	static const struct example examples[] = {
		{ RUNS "#2\nGoBlock 1 0\nProcStop\n#3\nProcStatus 0 2\nGoStatus 1 - 4" },
		{ RUNS "#2\nGoDestroy\nGoCreate 2 0 0" },
		{ P "GoStatus 1 - 1\n#2\nGoStatus 1 - 1\nGoStart 1 1\nGoStop 1 0" },
		{ IN_CALL "#2\nGoSyscallEnd\nGoStop 1 0\nProcStop" },
		{ IN_CALL "ProcStop\n#2\nGoSyscallEndBlocked\n#3\nGoStatus 1 - 1" },
		{ IN_CALL "ProcStop\n#2\nGoDestroySyscall" },
		{ P "#2\nGoBlock 1 0", 1 },
		{ RUNS "#2\nGoStart 1 1", 1 },
		/* The P and goroutine are named after all. */
		{ RUNS "#2\nGoDestroy\nGoCreate 1 0 0", 1 },
		{ RUNS "#2\nGoBlock 1 0\n@2 5\nGoStatus 1 - 4\nGoUnblock 1 1 0", 1 },
		{ RUNS "#2\nGoBlock 1 0\nProcStop\n@2 9\nProcStatus 0 2\nProcStart 0 1", 1 },
		{ RUNS "#2\nUserRegionBegin 0 1 0", 1 },
	};

	CHECK(examples);
}

/* A P whose system call lasts from one generation to the next, and which is then stolen. */
TEST(stolen_ps)
{
	static const struct example examples[] = {
		{ IN_CALL
		  "#2\nGoStatus 1 1 3\n@2 2\nProcStatus 0 4\nProcSteal 0 1 1\nProcStart 0 2\n"
		  "@1 9\nGoSyscallEndBlocked\n#3\n@2\nProcStop" },
		{ IN_CALL "#2\n@2 2\nProcStatus 0 4\nGoStatus 1 1 3\nProcSteal 0 1 1\n#3\n"
			  "GoSyscallEndBlocked" },
		/* The victim is another one, or has ended the system call before. */
		{ IN_CALL "#2\nGoStatus 1 1 3\n@2 2\nProcStatus 0 4\nProcSteal 0 1 3", 1 },
		{ IN_CALL "#2\nGoStatus 1 1 3\nGoSyscallEndBlocked\n@2 8\nProcStatus 0 4\n"
			  "ProcSteal 0 1 1",
		  1 },
		{ IN_CALL "#2\n@2 2\nProcStatus 0 4", 1 },
	};

	CHECK(examples);
}

TEST(ranges)
{
	static const struct example examples[] = {
		{ RUNS "GCMarkAssistBegin 0\n#2\n" RUNS
		       "GCMarkAssistActive 1\nGCMarkAssistEnd\n#3\n" RUNS "GCMarkAssistBegin 0" },
		{ RUNS "GCMarkAssistBegin 0\n#2\n" RUNS "GCMarkAssistEnd" },
		{ P "GCSweepBegin 0\n#2\n" P "GCSweepEnd 1 1\n#3\n" P "GCSweepBegin 0" },
		{ RUNS "#2\n" RUNS "GCMarkAssistEnd", 1 },
		{ RUNS "GCMarkAssistBegin 0\n#2\n" RUNS "GCMarkAssistBegin 0", 1 },
		{ RUNS "STWBegin 1 0\n#2\n" RUNS "GCMarkAssistBegin 0", 1 },
		{ RUNS "STWBegin 1 0\n#2\n" RUNS "STWEnd", 1 },
		{ RUNS "STWBegin 1 0\n#2\n" RUNS "\n#3\n" RUNS "GoDestroy" },
	};

	CHECK(examples);
}

TEST(gc)
{
	static const struct example examples[] = {
		{ RUNS "GCBegin 5 0\n#2\n" RUNS "GCActive 6\nGCEnd 7\n#3\n" RUNS "GCBegin 8 0" },
		{ RUNS "#2\n" RUNS "GCBegin 5 0" },
		{ RUNS "GCBegin 5 0\n#2\n" RUNS "GCActive 7", 1 },
		{ RUNS "#2\n" RUNS "GCEnd 7", 1 },
		{ RUNS "GCBegin 1 0\nGCEnd 2\n#2\n" RUNS "GCActive 3", 1 },
	};

	CHECK(examples);
}

TEST(annotations)
{
	static const struct example examples[] = {
		{ RUNS "UserRegionBegin 0 1 0\nUserRegionBegin 0 2 0\n#2\n" RUNS
		       "UserRegionEnd 0 2 0\nUserRegionBegin 3 3 0\n#3\n" RUNS
		       "UserRegionEnd 3 3 0\nUserRegionEnd 0 1 0\nUserRegionEnd 0 1 0" },
		{ RUNS "UserRegionBegin 0 1 0\n#2\n" RUNS "UserRegionEnd 0 2 0", 1 },
		{ RUNS "UserRegionBegin 0 1 0\n#2\n" RUNS "UserRegionEnd 1 1 0", 1 },
		{ RUNS "UserTaskBegin 5 0 1 0\n#2\n" RUNS "UserTaskEnd 5 0\nUserTaskBegin 5 0 1 0\n"
		       "#3\n" RUNS "UserTaskEnd 5 0\nUserTaskEnd 6 0" },
		{ RUNS "UserTaskBegin 5 0 1 0\n#2\n" RUNS "UserTaskBegin 5 0 1 0", 1 },
		{ RUNS "UserTaskBegin 5 0 1 0\n#2\n" RUNS
		       "UserTaskBegin 6 5 2 0\nUserTaskEnd 6 0" },
	};

	CHECK(examples);
}

/* Times increase: a late last event moves those of the next generation. */
TEST(times_increase)
{
	static struct made_bytes b;
	struct outcome one, two;
	struct trace_event ev;
	struct reader *r;

	make(&b, RUNS "@2 2000\nGoStatus 2 - 1\nGoStatus 3 - 1\n#2\n" RUNS "GoBlock 1 0");
	read_with_jobs(input_of(&b), false, 2, &two);
	assert_int_equal(two.code, 0);
	assert_int_equal(two.again, 1);
	assert_int_equal(reader__open(&r, input_of(&b), NULL, NULL), 0);
	while (reader__next(r, &ev, NULL) > 0)
		one.end = ev.time;
	assert_int_equal(one.end, two.end);
	assert_true(two.end > 3000);
	reader__destroy(r);
	outbuf__deinit(&two.state);
}

/*
 * Appends a generation of 7.5 MB: a region of the goroutine that runs, which is guessed wrongly, and
 * logs.
 */
static void add_logs(struct outbuf *trace, uint64_t gen)
{
	static struct made_bytes batch, part;
	char begin[] = "UserRegionBegin 0 1 0", end[] = "UserRegionEnd 0 1 0";
	char line[sizeof("UserLog 0 1 1 0")];

	part.len = batch.len = 0;
	add_tables(&part, gen);
	add_event(&batch, begin);
	add_event(&batch, end);
	move_batch(&part, gen, 1, 0, &batch);
	assert_int_equal(outbuf__put(trace, part.data, part.len, NULL), 0);
	while (batch.len < 30000) {
		strcpy(line, "UserLog 0 1 1 0");
		add_event(&batch, line);
	}
	for (unsigned int i = 0; i < 250; i++) {
		part.len = 0;
		add_batch(&part, gen, 1, 1000 * gen + 5000 * i, batch.data, batch.len);
		assert_int_equal(outbuf__put(trace, part.data, part.len, NULL), 0);
	}
}

/*
 * No guess is right: the workers have generations that they have not read to their end, and whose
 * memory must not be waited for.
 */
TEST(large_and_read_again)
{
	static struct made_bytes first;
	struct outbuf trace = {};
	struct outcome outcome;
	struct input *in;

	make(&first, RUNS);
	assert_int_equal(outbuf__put(&trace, first.data, first.len, NULL), 0);
	for (uint64_t gen = 2; gen < 8; gen++)
		add_logs(&trace, gen);
	assert_int_equal(input__open_memory(&in, trace.data, trace.len, NULL), 0);
	read_with_jobs(in, false, 2, &outcome);
	assert_int_equal(outcome.code, 0);
	assert_int_equal(outcome.again, 7);
	assert_int_equal(outcome.events[EV_USER_LOG], 6 * 250 * 5000);
	outbuf__deinit(&outcome.state);
	outbuf__deinit(&trace);
}
