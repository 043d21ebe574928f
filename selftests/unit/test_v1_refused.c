// SPDX-License-Identifier: GPL-2.0
/* v1 traces that cannot have been written, or say what cannot have happened. */
#include <time.h>

#include "v1_made.h"

struct refusal {
	uint8_t type;
	uint64_t arg[5];
	uint8_t n;
	const char *reason;
};

/* Each an event that cannot follow upon begin_21(). */
static void what_cannot_have_happened(void **state)
{
	static const struct refusal refusals[] = {
		{ V1_PROC_START, { 10, 1 }, 2, "(ProcStart): P 0 runs already" },
		{ V1_PROC_STOP, { 10 }, 1, "(ProcStop): P 0 still runs goroutine 1" },
		{ V1_GC_DONE, { 10 }, 1, "(GCDone): none has begun" },
		{ V1_STW_DONE, { 10 }, 1, "(STWDone): none has begun" },
		{ V1_SWEEP_DONE, { 10, 1, 1 }, 3, "(GCSweepDone): none has begun" },
		{ V1_GO_CREATE, { 10, 0, 0, 0 }, 4, "(GoCreate): goroutine 0 exists already" },
		{ V1_GO_START_LOCAL, { 10, 3 }, 2, "(GoStart): P 0 still runs goroutine 1" },
		{ V1_GO_UNBLOCK_LOCAL, { 10, 1, 0 }, 3, "goroutine 1 is never in a state" },
		{ V1_GO_SYS_EXIT, { 10, 2, 2, 5000 }, 4, "goroutine 2 was in no system call" },
		{ V1_GO_START, { 10, UINT64_MAX, 9 }, 3, "551615 is not runnable" },
		{ V1_REGION, { 10, 1, 2, 0 }, 4, "(UserRegion): 4 arguments; it has 5" },
	};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		struct made t = begin_21();

		add_event(&t, refusals[i].type, refusals[i].arg, refusals[i].n);
		expect_reason(&t, refusals[i].reason);
	}
}

/* Version 5, whose order does not keep these out. 1 runs on P 0, 2 waits, 3 is in a system call. */
static void what_numbers_let_pass(void **state)
{
	static const struct refusal refusals[] = {
		{ V1_GO_UNBLOCK, { 1, 1, 1, 0 }, 4, "(GoUnblock): goroutine 1 is not waiting" },
		{ V1_GO_SYS_EXIT,
		  { 1, 1, 1, 20, 0 },
		  5,
		  "(GoSysExit): goroutine 1 is in no system" },
		{ V1_GO_START, { 1, 1, 2 }, 3, "(GoStart): goroutine 2 is not runnable" },
		{ V1_GO_START, { 1, 1, UINT64_MAX }, 3, "551615 is not runnable" },
		{ V1_GO_WAITING, { 1, 1, 1 }, 3, "(GoWaiting): goroutine 1 is not runnable" },
		{ V1_GO_IN_SYSCALL, { 1, 1, 1 }, 3, "(GoInSyscall): goroutine 1 is not runnable" },
		{ V1_GO_CREATE, { 1, 1, 2, 0, 0 }, 5, "(GoCreate): goroutine 2 exists already" },
		{ V1_GO_SYS_EXIT, { 1, 1, 3, 20, 0 }, 5, "GoSyscallEndBlocked" },
		{ V1_GO_UNBLOCK, { 1, 1, 2, 0 }, 4, "GoUnblock m-1 p0 g1 2" },
	};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		struct made t = begin(5);

		EV(&t, V1_BATCH, 0, 0, 1000);
		EV(&t, V1_FREQUENCY, 1000000000, 0);
		for (uint64_t g = 1; g < 4; g++)
			EV(&t, V1_GO_CREATE, 1, 1, g, 0x401000, 0);
		EV(&t, V1_GO_WAITING, 1, 1, 2);
		EV(&t, V1_GO_IN_SYSCALL, 1, 1, 3);
		EV(&t, V1_GO_START, 1, 1, 1);
		add_event(&t, refusals[i].type, refusals[i].arg, refusals[i].n);
		expect_reason(&t, refusals[i].reason);
	}
}

/* Goroutine 1 is said to run on P 0, which it left, and on P 1, where it never was. */
static void on_another_p(void **state)
{
	struct made t = begin(5);

	EV(&t, V1_BATCH, 0, 0, 1000);
	EV(&t, V1_FREQUENCY, 1000000000, 0);
	EV(&t, V1_GO_CREATE, 1, 1, 1, 0x401000, 0);
	EV(&t, V1_GO_CREATE, 1, 1, 2, 0x401000, 0);
	EV(&t, V1_GO_START, 1, 1, 1);
	EV(&t, V1_BATCH, 1, 10, 2000);
	EV(&t, V1_GO_START, 1, 1, 2);
	EV(&t, V1_GO_SCHED, 1, 1, 0);
	EV(&t, V1_BATCH, 1, 2, 1990);
	EV(&t, V1_GO_START, 18, 80, 1);
	EV(&t, V1_GO_SCHED, UINT64_MAX - 16, UINT64_MAX - 69, 0);
	expect_reason(&t, "(GoSched): P 1 runs goroutine 0, not 1");
}

static void what_happens_twice(void **state)
{
	static const struct refusal refusals[] = {
		{ V1_GC_START, { 10, 0, 0 }, 3, "never in a state for it" },
		{ V1_STW_START, { 10, 0 }, 2, "(STWStart): the one before it has not ended" },
		{ V1_SWEEP_START, { 10, 0 }, 2, "(GCSweepStart): the one before it has not ended" },
		{ V1_MARK_ASSIST_START, { 10, 0 }, 2, "goroutine 1 assists already" },
		{ V1_GO_END, { 10 }, 1, "(GoEnd): goroutine 0 did it (time 26)" },
		{ V1_GO_SYS_BLOCK, { 10 }, 1, "goroutine 0 is never in a state for it" },
		{ V1_GO_SYS_CALL, { 10, 0 }, 2, NULL },
	};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		struct made t = begin_21();

		for (int twice = 0; twice < 2; twice++)
			add_event(&t, refusals[i].type, refusals[i].arg, refusals[i].n);
		if (refusals[i].reason)
			expect_reason(&t, refusals[i].reason);
		else
			expect_reason(&t, "27 GoSyscallEnd m7 p0 g1\n28 Sync 2\n");
	}
}

static void exits_before_their_call(void **state)
{
	struct made t = begin_21();

	EV(&t, V1_GO_SYS_CALL, 14, 0);
	EV(&t, V1_GO_SYS_BLOCK, 10);
	EV(&t, V1_GO_SYS_EXIT, 10, 1, 2, 1029);
	expect_reason(&t, "(GoSysExit): time stamps out of order");
}

static void annotations_that_contradict(void **state)
{
	struct made t = begin_21();

	EV(&t, V1_TASK_CREATE, 10, 7, 0, 0, 0);
	EV(&t, V1_TASK_CREATE, 10, 7, 0, 0, 0);
	expect_reason(&t, "(UserTaskCreate): task 7 exists already (time 26)");

	t = begin_21();
	EV(&t, V1_REGION, 10, 7, 0, 1, 0);
	EV(&t, V1_REGION, 10, 7, 1, 2, 0);
	expect_reason(&t, "(UserRegion): goroutine 1 ends a region of task 7");

	t = begin_21();
	EV(&t, V1_REGION, 10, 7, 0, 1, 0);
	EV(&t, V1_REGION, 10, 7, 0, 2, 0);
	EV(&t, V1_REGION, 10, 7, 1, 2, 0);
	EV(&t, V1_REGION, 10, 7, 1, 2, 0);
	expect_reason(&t, "(UserRegion): goroutine 1 ends a region of task 7");

	t = begin_21();
	EV(&t, V1_REGION, 10, 7, 2, 1, 0);
	expect_reason(&t, "(UserRegion): a region's mode of 2");
}

/* As Go's own test of what once crashed it has them. */
static void corrupted(void **state)
{
	static const struct {
		unsigned int version;
		const char *rest;
		size_t len;
	} bytes[] = {
		{ 0,
		  "\x02"
		  "0",
		  2 },
		{ 0,
		  "Q00\x02"
		  "0",
		  5 },
		{ 0,
		  "T00\x02"
		  "0",
		  5 },
		{ 0,
		  "\xc3\x02"
		  "00",
		  4 },
		{ 5,
		  "\x02"
		  "0",
		  2 },
		{ 5,
		  "Q00\x02"
		  "0",
		  5 },
		{ 5,
		  "T00\x02"
		  "0",
		  5 },
		{ 5,
		  "\xc3\x02"
		  "00",
		  4 },
	};

	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		struct made t = begin(bytes[i].version);

		add(&t, bytes[i].rest, bytes[i].len);
		expect_reason(&t, "broken trace");
	}
}

static void bytes_that_are_no_events(void **state)
{
	static const struct {
		unsigned int version;
		const char *rest;
		size_t len;
		const char *reason;
	} bytes[] = {
		{ 21, "\x40\x00\x01", 3,
		  "at byte 16 (no event): this version has no event of type 0" },
		{ 21, "\x32", 1, "no event of type 50" },
		{ 10, "\xed\x00", 2, "(UserTaskCreate): this version has no event of type 45" },
		{ 5, "\x25\x01\x01x", 4, "no event of type 37" },
		{ 0, "\x24\x00", 2, "no event of type 36" },
		{ 21, "\x41\x00", 2, "at byte 16 (Batch): the trace ends within it" },
		{ 21, "\xc1\x02\x00\x01", 4, "(Batch): 4 arguments; it has 2" },
		{ 21, "\x41\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x00", 12, "more than 64 bits" },
		{ 21, "\x41\x80\x80\x80\x80\x08\x00", 7, "P 2147483648: the greatest is" },
		{ 21, "\x06\x00", 2, "(ProcStop): it stands before the first batch" },
		{ 21, "\x41\x00\x01\x02\x00", 5, "0 ticks per second: time stamps out of order" },
		{ 21, "\x41\x00\x01\xc3\x02\x01\x80", 7, "do not end where its length says" },
		{ 21, "\x41\x00\x01\xc3\x81\x10", 6, "2049 bytes of arguments; the most is 2048" },
		{ 21, "\x41\x00\x01\x03\x01", 5, "18446744073709551615 frames; the most is 1000" },
		{ 21, "\x41\x00\x01\x43\x01\xe9\x07", 7, "a stack of 1001 frames" },
		{ 21, "\x41\x00\x01\x43\x01\x01", 6, "2 numbers for a stack of 1 frames" },
		{ 21, "\x41\x00\x01\x25\x00\x01x", 7, "string 0 of 1 bytes" },
		{ 21, "\x41\x00\x01\x25\x01\x00", 6, "string 1 of 0 bytes" },
		{ 21, "\x41\x00\x01\x25\x01\xc1\x84\x3d", 8, "1000001 bytes; the most is 1000000" },
		{ 21, "\x41\x00\x01\x25\x01\xc0\x84\x3d", 8,
		  "ends within a string of 1000000 bytes" },
		{ 21, "\x41\x00\x01\x25\x01\x01x\x25\x01\x01x", 11, "string 1 is defined twice" },
		{ 9, "\x41\x00\x01\x43\x01\x00\x02\x01", 8, "it has no events" },
		{ 21, "\x41\x00\x01\x21\x01", 5, "(HeapAlloc): 1 arguments; it has 2" },
		{ 21, "\x41\x00\x01", 3, "does not say how long a tick is" },
		{ 10, "\x41\x00\x01\x49\x01\x02", 6, "the world stopped for reason 2" },
	};

	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		struct made t = begin(bytes[i].version);

		add(&t, bytes[i].rest, bytes[i].len);
		expect_reason(&t, bytes[i].reason);
	}
}

/* Lengths that would lead out of the trace or its limits. */
static void long_arguments(void **state)
{
	struct made t = begin(9);

	EV(&t, V1_BATCH, 0, 1);
	add_byte(&t, V1_STACK | 3 << 6);
	add_number(&t, 40021);
	expect_reason(&t, "40021 bytes of arguments; the most is 40020");

	t = begin(9);
	EV(&t, V1_BATCH, 0, 1);
	add_byte(&t, V1_STACK | 3 << 6);
	add_number(&t, 40020);
	for (int i = 0; i < 40020; i++)
		add_byte(&t, 0);
	expect_reason(&t, "more than 4002 arguments");
}

/* Cut anywhere, or with any byte changed, it ends in events or a reason. */
static struct made everything(unsigned int version)
{
	struct made t = version == 5 ? begin_5() : begin_21();

	if (version == 5)
		return t;
	EV(&t, V1_GO_CREATE, 10, 9, 2, 1);
	EV(&t, V1_GO_UNBLOCK_LOCAL, 10, 2, 1);
	EV(&t, V1_TASK_CREATE, 14, 77, 0, 1, 1);
	EV(&t, V1_REGION, 10, 77, 0, 3, 1);
	add_log(&t, 10, 3, "hello");
	EV(&t, V1_REGION, 10, 77, 1, 3, 1);
	EV(&t, V1_TASK_END, 10, 77, 1);
	EV(&t, V1_GO_SYS_CALL, 10, 1);
	EV(&t, V1_GO_SYS_BLOCK, 10);
	EV(&t, V1_GO_SYS_EXIT, 20, 1, 2, 1100);
	EV(&t, V1_GO_START_LABEL, 10, 2, 3, 3);
	EV(&t, V1_CPU_SAMPLE, 1, 1060, 0, 1, 1);
	EV(&t, V1_SWEEP_START, 10, 1);
	EV(&t, V1_SWEEP_DONE, 10, 100, 50);
	add_tables(&t);
	return t;
}

static void cut_and_changed(void **state)
{
	static const unsigned int versions[] = { 5, 21 };

	for (size_t i = 0; i < 2; i++) {
		struct made whole = everything(versions[i]);

		for (size_t at = 16; at < whole.len; at++) {
			struct made t = { .version = versions[i] };

			add(&t, whole.data, at);
			free(read_all(&t, NULL));
			for (unsigned int byte = 0; byte < 256; byte += 3) {
				t = (struct made){ .version = versions[i] };
				add(&t, whole.data, whole.len);
				t.data[at] = (unsigned char)byte;
				free(read_all(&t, NULL));
			}
		}
		free(whole.data);
	}
}

/* Many Ps that wait for one goroutine, each for another number: time is linear in them. */
static void many_that_wait(void **state)
{
	struct made t = begin(21);
	clock_t start = clock();

	EV(&t, V1_BATCH, 0, 1);
	EV(&t, V1_FREQUENCY, 1000);
	EV(&t, V1_GO_CREATE, 1, 7, 0, 0);
	for (uint64_t i = 0; i < 100000; i++) {
		EV(&t, V1_GO_START, 1, 7, 1 + i);
		EV(&t, V1_GO_SCHED, 1, 0);
	}
	for (uint64_t p = 1; p < 100000; p++) {
		EV(&t, V1_BATCH, p, 1);
		EV(&t, V1_GO_START, 1, 7, 1000000 + p);
	}
	expect_reason(&t, "goroutine 7 is never in a state for it");
	assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_have_happened),
		cmocka_unit_test(what_numbers_let_pass),
		cmocka_unit_test(on_another_p),
		cmocka_unit_test(exits_before_their_call),
		cmocka_unit_test(what_happens_twice),
		cmocka_unit_test(annotations_that_contradict),
		cmocka_unit_test(corrupted),
		cmocka_unit_test(bytes_that_are_no_events),
		cmocka_unit_test(long_arguments),
		cmocka_unit_test(cut_and_changed),
		cmocka_unit_test(many_that_wait),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
