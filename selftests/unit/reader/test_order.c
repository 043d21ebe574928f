// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of the event order: small traces, and why each is rejected, if it is.
 *
 * The traces are written in the lines of unit/events_made.h, and are also read by several threads,
 * which must make no difference.
 */
#include "unit/test.h"
#include "format/spec.h"
#include "reader/order.h"
#include "reader/reader.h"

#include "fuzz/parallel_read.h"
#include "unit/events_made.h"

/* Returns why the trace is rejected, or "". Stores the threads of the events delivered. */
static const char *refusal(const struct made_bytes *b, char *ret_threads)
{
	static struct error err;
	struct trace_event ev;
	struct input *in;
	struct reader *r;
	int code;

	err = (struct error){};
	assert_int_equal(input__open_memory(&in, b->data, b->len, &err), 0);
	assert_int_equal(reader__open(&r, in, NULL, &err), 0);
	while ((code = reader__next(r, &ev, &err)) > 0)
		if (ret_threads && ev.type != EV_SYNC)
			ret_threads += sprintf(ret_threads, "%d ", (int)ev.m);
	assert_int_equal(code, err.text[0] ? -EBADMSG : 0);
	reader__destroy(r);
	return err.text;
}

static void check_jobs(const struct made_bytes *b, const char *events)
{
	struct outcome one, three;
	struct input *in;
	const char *what;

	assert_int_equal(input__open_memory(&in, b->data, b->len, NULL), 0);
	read_with_jobs(in, false, 1, &one);
	assert_int_equal(input__open_memory(&in, b->data, b->len, NULL), 0);
	read_with_jobs(in, false, 3, &three);
	what = differing(&one, &three);
	if (what)
		fail_msg("%s\n%s differs with 3 jobs: %s, %s", events, what, one.text, three.text);
	outbuf__deinit(&one.state);
	outbuf__deinit(&three.state);
}

struct example {
	const char *events, *reason; /* NULL: the trace is valid */
};

static void check(const struct example *example, size_t n)
{
	static struct made_bytes b;
	const char *why;

	for (size_t i = 0; i < n; i++) {
		make(&b, example[i].events);
		check_jobs(&b, example[i].events);
		why = refusal(&b, NULL);
		if (example[i].reason ? !strstr(why, example[i].reason) : *why)
			fail_msg("%s\nis refused for \"%s\", not \"%s\"", example[i].events, why,
				 example[i].reason ?: "");
	}
}

#define CHECK(examples) check(examples, sizeof(examples) / sizeof(*examples))

#define P		"ProcStatus 0 1\n"		   /* runs on the thread */
#define RUNS		"ProcStatus 0 1\nGoStatus 1 1 2\n" /* and goroutine 1 */
#define IN_CALL		"ProcStatus 0 3\nGoStatus 1 1 3\n" /* both in a system call */
#define WAITS		"no thread can advance; 1 are waiting, this one the longest"
#define NO_P		"expected a proc but didn't have one"
#define NO_G		"expected a goroutine but didn't have one"
#define A_G		"expected no goroutine but had one"

TEST(goroutines)
{
	static const struct example examples[] = {
		{ RUNS "GoBlock 1 0" },
		{ RUNS "GoStop 1 0\nGoStart 1 1\nGoDestroy\nGoCreate 1 0 0" },
		{ "GoBlock 1 0", NO_P },
		{ P "GoBlock 1 0", NO_G },
		{ IN_CALL "GoBlock 1 0", "goroutine 1 is not running" },
		{ RUNS "GoBlock 9 0", "string 9 is not defined" },
		{ RUNS "GoBlock 1 9", "stack 9 is not defined" },
		{ P "GoCreate 2 0 0\nGoStart 2 1" },
		{ "GoCreate 2 0 0", NO_P },
		{ IN_CALL "GoCreate 2 0 0", "goroutine 1 is not running" },
		{ RUNS "GoCreate 1 0 0", "goroutine 1 already exists" },
		{ RUNS "GoCreateBlocked 2 0 0\nGoUnblock 2 1 0" },
		{ P "GoStatus 2 - 1\nGoStart 2 2", WAITS },
		{ P "GoStatus 2 - 4\nGoStart 2 1", WAITS },
		{ "GoStatus 2 - 1\nGoStart 2 1", NO_P },
		{ RUNS "GoStatus 2 - 1\nGoStart 2 1", A_G },
		{ "GoStatus 2 - 4\nGoUnblock 2 1 0" },
		{ "GoStatus 2 - 4\nGoUnblock 2 2 0", WAITS },
		{ "GoStatus 2 - 1\nGoUnblock 2 1 0", WAITS },
		{ "GoStatus 2 - 4\nGoUnblock 2 1 9", "stack 9 is not defined" },
	};

	CHECK(examples);
}

/* The ids differ by ORDER_RECENT: the state finds both in the same place. */
TEST(goroutines_of_one_place)
{
	static const struct example examples[] = {
		{ RUNS "GoStatus 129 - 4\nGoUnblock 129 1 0\nGoStop 1 0\nGoStart 1 1\nGoStop 1 0\n"
		       "GoStart 129 2\nGoDestroy\nGoStart 1 2\nGoCreate 129 0 0\nGoStop 1 0\n"
		       "GoStart 129 1" },
		{ RUNS "GoStop 1 0\nGoStart 1 1\nGoDestroy\nGoStatus 1 - 1\nGoStart 1 1" },
		{ RUNS "GoStop 1 0\nGoStart 1 1\nGoStatus 129 - 4\nGoDestroy\nGoUnblock 1 1 0",
		  WAITS },
	};

	_Static_assert(ORDER_RECENT == 128, "the ids above are those of one place");
	CHECK(examples);
}

TEST(coroutine_switches)
{
	static const struct example examples[] = {
		{ RUNS "GoStatus 2 - 4\nGoSwitch 2 1\nGoBlock 1 0\nGoUnblock 1 1 0" },
		{ RUNS "GoStatus 2 - 4\nGoSwitchDestroy 2 1\nGoCreate 1 0 0" },
		{ P "GoStatus 2 - 4\nGoSwitch 2 1", NO_G },
		{ IN_CALL "GoStatus 2 - 4\nGoSwitch 2 1", "goroutine 1 is not running" },
		{ RUNS "GoStatus 2 - 1\nGoSwitch 2 1", WAITS },
		{ RUNS "GoStatus 2 - 4\nGoSwitch 2 2", WAITS },
		{ RUNS "GoSwitch 2 1", WAITS },
	};

	CHECK(examples);
}

TEST(statuses)
{
	static const struct example examples[] = {
		{ "GoStatus 1 1 5", "invalid status 5 of goroutine 1" },
		{ "GoStatus 1 - 1\nGoStatus 1 - 4", "goroutine 1 has status 1, not 4" },
		{ "GoStatus 1 - 3", "goroutine 1 is in a system call without a thread" },
		{ "GoStatus 1 2 3\n" },
		{ "GoStatus 1 2 3\nGoStatus 2 2 3",
		  "goroutine 2 is in a system call on thread 2, which has another one" },
		{ "GoStatusStack 1 - 4 9", "stack 9 is not defined" },
		{ RUNS "#2\n" RUNS },
		{ RUNS "#2\n" RUNS "GoStatus 2 - 1",
		  "goroutine 2 is new, but has a status event after the first generation" },
		{ "ProcStatus 0 5", "invalid status 5 of proc 0" },
		{ P "ProcStatus 0 2", "proc 0 has status 1, not 2" },
		{ IN_CALL "@2\nProcStatus 0 4" },
		{ RUNS "@2\nProcStatus 0 4", "proc 0 has status 1, not 4" },
	};

	CHECK(examples);
}

TEST(system_calls)
{
	static const struct example examples[] = {
		{ RUNS "GoSyscallBegin 1 0\nGoSyscallEnd\nGoBlock 1 0" },
		{ RUNS "GoSyscallBegin 2 0",
		  "sequence number 2 of proc 0 does not follow 0 of generation 1" },
		{ IN_CALL "GoSyscallBegin 1 0", "goroutine 1 is not running" },
		{ RUNS "GoSyscallEnd", "goroutine 1 is not in a system call" },
		{ P "GoStatus 1 1 3\nGoSyscallEnd", "proc 0 is not in a system call" },
		{ "GoStatus 1 1 3\nGoSyscallEnd", NO_P },
		{ "ProcStatus 0 3\nGoStatus 1 1 2\nGoSyscallEnd",
		  "goroutine 1 is not in a system call" },
		{ "GoStatus 1 1 3\nGoSyscallEndBlocked" },
		{ IN_CALL "GoSyscallEndBlocked", WAITS },
		{ RUNS "GoSyscallEndBlocked", "goroutine 1 is not in a system call" },
		{ P "GoStatus 1 1 3\nGoSyscallEndBlocked\nGoStart 1 1" },
		{ IN_CALL "GoDestroySyscall\nGoCreateSyscall 1" },
		{ IN_CALL "GoDestroySyscall\nGoBlock 1 0", NO_P },
		{ "GoStatus 1 1 3\nGoDestroySyscall" },
		{ RUNS "GoDestroySyscall", "goroutine 1 is not in a system call" },
		{ P "GoStatus 1 1 3\nGoDestroySyscall", "proc 0 is not in a system call" },
		{ "GoSyscallBegin 1 0", NO_P },
		{ P "GoSyscallBegin 1 0", NO_G },
		{ P "GoSyscallEndBlocked", NO_G },
		{ P "GoDestroySyscall", NO_G },
		{ "GoStatus 1 1 3\nGoCreateSyscall 2", A_G },
		{ "GoStatus 2 - 1\nGoCreateSyscall 2", "goroutine 2 already exists" },
	};

	CHECK(examples);
}

TEST(ps)
{
	static const struct example examples[] = {
		{ P "ProcStop\nProcStart 0 1\nHeapAlloc 1" },
		{ "ProcStop", NO_P },
		{ IN_CALL "ProcStop" },
		{ "ProcStatus 0 2\nProcStart 0 2", WAITS },
		{ "ProcStatus 0 4\nProcStart 0 1", WAITS },
		{ "ProcStart 0 1", WAITS },
		{ P "ProcStatus 1 2\nProcStart 1 1", WAITS },
		{ IN_CALL "@2\nProcSteal 0 1 1\nProcStart 0 2" },
		{ IN_CALL "ProcSteal 0 1 1\nGoSyscallEndBlocked" },
		{ IN_CALL "@2\nProcSteal 0 2 1", WAITS },
		{ RUNS "@2\nProcSteal 0 1 1", WAITS },
		{ IN_CALL "@2\nProcSteal 0 1 3",
		  "proc 0 stolen from thread 3, which does not exist" },
		{ IN_CALL "@2\nProcSteal 0 1 2",
		  "proc 0 stolen from thread 2, which has another one" },
		{ "ProcStatus 0 4\n@2\nProcSteal 0 1 3\nProcStart 0 2" },
		{ P "HeapAlloc 1" },
		{ "HeapAlloc 1", NO_P },
		{ P "GoLabel 1", NO_G },
	};

	CHECK(examples);
}

TEST(ranges)
{
	static const struct example examples[] = {
		{ RUNS "STWBegin 1 0\nSTWEnd\nSTWBegin 1 0" },
		{ P "STWBegin 1 0", NO_G },
		{ P "GCMarkAssistBegin 0", NO_G },
		{ RUNS "STWBegin 1 0\nGoBlock 1 0\nSTWEnd", NO_G },
		{ "GCSweepBegin 0", NO_P },
		{ P "GCSweepBegin 0\nProcStop\nGCSweepEnd 1 1", NO_P },
		{ RUNS "STWBegin 1 0\nSTWBegin 1 0", "the range is already open" },
		{ RUNS "STWEnd", "no such range is open" },
		{ RUNS "STWBegin 1 0\nGCMarkAssistEnd", "no such range is open" },
		{ RUNS "GCMarkAssistBegin 0\nSTWEnd", "no such range is open" },
		{ RUNS "GCMarkAssistBegin 0\nSTWBegin 1 0\nSTWEnd\nGCMarkAssistEnd" },
		{ RUNS "STWBegin 1 0\nGCMarkAssistBegin 0\nSTWEnd\nGCMarkAssistEnd" },
		{ RUNS "GCMarkAssistActive 1\nGCMarkAssistEnd" },
		{ RUNS "GCMarkAssistActive 7", "unknown goroutine 7" },
		{ RUNS "#2\n" RUNS "GCMarkAssistActive 1", "no such range is open" },
		{ P "GCSweepBegin 0\nGCSweepEnd 1 1" },
		{ P "GCSweepBegin 0\nGCSweepBegin 0", "the range is already open" },
		{ P "GCSweepEnd 1 1", "no such range is open" },
		{ P "GCSweepActive 0\nGCSweepEnd 1 1" },
		{ P "GCSweepActive 0\n#2\n" P "GCSweepActive 0\nGCSweepEnd 1 1" },
		{ P "GCSweepActive 1", "unknown proc 1" },
	};

	CHECK(examples);
}

TEST(gc)
{
	static const struct example examples[] = {
		{ RUNS "GCBegin 1 0\nGCEnd 2\nGCBegin 3 0\nGCEnd 4" },
		{ RUNS "GCBegin 1 0\nGCEnd 3", WAITS },
		{ RUNS "GCBegin 1 0\nGCEnd 2\nGCBegin 4 0", WAITS },
		{ RUNS "GCBegin 1 0\nGCBegin 2 0", "a GC is already in progress" },
		{ RUNS "GCBegin 1 0\nGCEnd 2\nGCEnd 3", "no GC is known to be in progress" },
		{ RUNS "GCEnd 1", "no GC is known to be in progress" },
		{ RUNS "GCActive 5\nGCEnd 6" },
		{ "GCActive 5\nGCEnd 6", NO_P },
		{ RUNS "GCBegin 1 0\nGCEnd 2\nProcStop\nGCBegin 3 0", NO_P },
		{ RUNS "GCActive 5\n#2\nProcStatus 1 2\nGCActive 6" },
		{ "GCActive 5\n#2\nGCActive 6", NO_P },
		{ RUNS "GCBegin 1 0\nGCActive 2",
		  "in the first generation it must be the first event of the GC" },
		{ RUNS "GCActive 5\n#2\n" RUNS "GCActive 6\nGCEnd 7" },
		{ RUNS "GCActive 5\n#2\n" RUNS "GCActive 7", WAITS },
		{ RUNS "GCBegin 1 0\nGCEnd 2\n#2\n" RUNS "GCActive 3", "no GC is in progress" },
	};

	CHECK(examples);
}

TEST(annotations)
{
	static const struct example examples[] = {
		{ RUNS "UserTaskBegin 1 0 1 0\nUserTaskEnd 1 0\nUserTaskBegin 1 0 1 0" },
		{ RUNS "UserTaskBegin 1 0 1 0\nUserTaskBegin 1 0 1 0", "task 1 has already begun" },
		{ RUNS "UserTaskBegin 1 0 9 0", "string 9 is not defined" },
		{ P "UserTaskBegin 1 0 1 0", NO_G },
		{ RUNS "UserTaskEnd 5 0" },
		{ P "UserTaskEnd 5 0", NO_G },
		{ P "UserRegionEnd 1 1 0", NO_G },
		{ RUNS "UserRegionBegin 1 1 0\nUserRegionEnd 1 1 0\nUserRegionEnd 1 2 0" },
		{ RUNS "UserRegionBegin 1 1 0\nUserRegionBegin 2 2 0\n"
		       "UserRegionEnd 2 2 0\nUserRegionEnd 1 1 0" },
		{ RUNS "UserRegionBegin 1 1 0\nUserRegionEnd 2 1 0",
		  "another region of goroutine 1 is the innermost one" },
		{ RUNS "UserRegionBegin 1 1 0\nUserRegionEnd 1 2 0",
		  "another region of goroutine 1 is the innermost one" },
		{ RUNS "UserRegionBegin 1 2 0\nUserRegionEnd 1 3 0",
		  "another region of goroutine 1 is the innermost one" },
		{ RUNS "UserRegionBegin 1 1 0\nUserRegionBegin 1 2 0\nUserRegionEnd 1 1 0",
		  "another region of goroutine 1 is the innermost one" },
		{ RUNS "UserRegionBegin 1 1 0\nUserRegionBegin 1 2 0\nUserRegionEnd 1 1 0",
		  "region \"ab\" of task 1 ends" },
		{ RUNS "UserRegionBegin 1 1 0\nUserRegionBegin 1 2 0\nUserRegionEnd 1 1 0",
		  "innermost one: \"a\" of task 1" },
		{ RUNS "UserRegionBegin 1 9 0", "string 9 is not defined" },
		{ RUNS "UserRegionEnd 1 9 0", "string 9 is not defined" },
		{ P "UserRegionBegin 1 1 0", NO_G },
	};

	CHECK(examples);
}

/* The error names the event that waits longest, its position, and an error after the generation. */
TEST(deadlock_names_the_event)
{
	static struct made_bytes b;
	static const char events[] = RUNS "GoStatus 2 - 4\nGoUnblock 2 3 0\n@7\nGoUnblock 2 2 0";
	static const char reason[] =
		"invalid trace at byte 88 (generation 1, batch 4 of thread 7, event 1: "
		"GoUnblock): no thread can advance; 2 are waiting, this one the longest";
	const char *why;

	make(&b, events);
	why = refusal(&b, NULL);
	assert_memory_equal(why, reason, sizeof(reason) - 1);
	assert_string_equal(why + sizeof(reason) - 1, " (--lenient reads the part before it)");
	add_leb(&b, 99);
	why = refusal(&b, NULL);
	assert_memory_equal(why, reason, sizeof(reason) - 1);
	assert_string_equal(
		why + sizeof(reason) - 1,
		"; and after this generation: invalid trace at byte 93 (generation 0, batch 5): "
		"expected a batch, found event type 99 (--lenient reads the part before it)");
}

static void check_threads(const char *events, const char *threads)
{
	static struct made_bytes b;
	char text[256] = "";

	make(&b, events);
	assert_string_equal(refusal(&b, text), "");
	assert_string_equal(text, threads);
}

/* While the earliest event must wait, others are delivered in the order of their times. */
TEST(waiting_events_keep_time_order)
{
	check_threads("ProcStart 0 1\n@2 5\nProcStatus 1 2\n@3 3\nProcStatus 0 2", "3 1 2 ");
	check_threads("ProcStart 0 1\n@2 3\nProcStatus 0 2\n@3 5\nProcStatus 1 2", "2 1 3 ");
}

/* If two threads claimed a P, the one that claimed it last keeps it. */
TEST(last_claim_holds_the_p)
{
	check_threads("ProcStatus 0 3\n@2 5\nProcStatus 0 3\n@3 9\nProcStatus 0 4", "1 2 2 ");
	check_threads("@2\nProcStatus 0 3\n@1 5\nProcStatus 0 3\n@3 9\nProcStatus 0 4", "2 1 1 ");
}
