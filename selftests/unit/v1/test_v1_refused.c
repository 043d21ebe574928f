// SPDX-License-Identifier: GPL-2.0
/*
 * Invalid v1 traces: bytes that no tracer writes, and inconsistent events.
 */
#include <time.h>

#include "unit/test.h"
#include "unit/v1_made.h"

struct refusal {
	uint8_t type;
	uint64_t arg[5];
	uint8_t n;
	const char *reason;
};

/* Each event is invalid after begin_21(). */
TEST(impossible_transitions)
{
	static const struct refusal refusals[] = {
		{ V1_PROC_START, { 10, 1 }, 2, "(ProcStart): P 0 is already running" },
		{ V1_PROC_STOP, { 10 }, 1, "(ProcStop): P 0 still runs goroutine 1" },
		{ V1_GC_DONE, { 10 }, 1, "(GCDone): no such range is open" },
		{ V1_STW_DONE, { 10 }, 1, "(STWDone): no such range is open" },
		{ V1_SWEEP_DONE, { 10, 1, 1 }, 3, "(GCSweepDone): no such range is open" },
		{ V1_GO_CREATE, { 10, 0, 0, 0 }, 4, "(GoCreate): goroutine 0 already exists" },
		{ V1_GO_START_LOCAL, { 10, 3 }, 2, "(GoStart): P 0 still runs goroutine 1" },
		{ V1_GO_UNBLOCK_LOCAL, { 10, 1, 0 }, 3, "goroutine 1 is never in a state" },
		{ V1_GO_SYS_EXIT, { 10, 2, 2, 5000 }, 4, "goroutine 2 was not in a system call" },
		{ V1_GO_START, { 10, UINT64_MAX, 9 }, 3, "551615 is not runnable" },
		{ V1_REGION, { 10, 1, 2, 0 }, 4, "(UserRegion): 4 arguments; expected 5" },
	};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		struct made t = begin_21();

		add_event(&t, refusals[i].type, refusals[i].arg, refusals[i].n);
		expect_reason(&t, refusals[i].reason);
	}
}

/* Version 5, whose order does not exclude these. 1 runs on P 0, 2 waits, 3 is in a system call. */
TEST(impossible_events_of_version_5)
{
	static const struct refusal refusals[] = {
		{ V1_GO_UNBLOCK, { 1, 1, 1, 0 }, 4, "(GoUnblock): goroutine 1 is not waiting" },
		{ V1_GO_SYS_EXIT,
		  { 1, 1, 1, 20, 0 },
		  5,
		  "(GoSysExit): goroutine 1 is not in a system" },
		{ V1_GO_START, { 1, 1, 2 }, 3, "(GoStart): goroutine 2 is not runnable" },
		{ V1_GO_START, { 1, 1, UINT64_MAX }, 3, "551615 is not runnable" },
		{ V1_GO_WAITING, { 1, 1, 1 }, 3, "(GoWaiting): goroutine 1 is not runnable" },
		{ V1_GO_IN_SYSCALL, { 1, 1, 1 }, 3, "(GoInSyscall): goroutine 1 is not runnable" },
		{ V1_GO_CREATE, { 1, 1, 2, 0, 0 }, 5, "(GoCreate): goroutine 2 already exists" },
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

/* Goroutine 1 has an event on P 0, which it left, and on P 1, where it never was. */
TEST(events_on_wrong_p)
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

TEST(repeated_events)
{
	static const struct refusal refusals[] = {
		{ V1_GC_START, { 10, 0, 0 }, 3, "never in a state that permits this event" },
		{ V1_STW_START, { 10, 0 }, 2, "(STWStart): the range is already open" },
		{ V1_SWEEP_START, { 10, 0 }, 2, "(GCSweepStart): the range is already open" },
		{ V1_MARK_ASSIST_START, { 10, 0 }, 2, "goroutine 1 is already in a mark assist" },
		{ V1_GO_END,
		  { 10 },
		  1,
		  "(GoEnd): goroutine 0 cannot have an event of this type (time 26)" },
		{ V1_GO_SYS_BLOCK,
		  { 10 },
		  1,
		  "goroutine 0 is never in a state that permits this event" },
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

TEST(exit_before_system_call)
{
	struct made t = begin_21();

	EV(&t, V1_GO_SYS_CALL, 14, 0);
	EV(&t, V1_GO_SYS_BLOCK, 10);
	EV(&t, V1_GO_SYS_EXIT, 10, 1, 2, 1029);
	expect_reason(&t, "(GoSysExit): time stamps out of order");
}

TEST(inconsistent_annotations)
{
	struct made t = begin_21();

	EV(&t, V1_TASK_CREATE, 10, 7, 0, 0, 0);
	EV(&t, V1_TASK_CREATE, 10, 7, 0, 0, 0);
	expect_reason(&t, "(UserTaskCreate): task 7 already exists (time 26)");

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
	expect_reason(&t, "(UserRegion): unknown region mode 2");
}

/* From Go's own test of inputs that once crashed its reader. */
TEST(inputs_that_crashed_go)
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
		expect_reason(&t, "invalid trace");
	}
}

TEST(invalid_event_bytes)
{
	static const struct {
		unsigned int version;
		const char *rest;
		size_t len;
		const char *reason;
	} bytes[] = {
		{ 21, "\x40\x00\x01", 3,
		  "at byte 16 (unknown event): this version has no event of type 0" },
		{ 21, "\x32", 1, "no event of type 50" },
		{ 10, "\xed\x00", 2, "(UserTaskCreate): this version has no event of type 45" },
		{ 5, "\x25\x01\x01x", 4, "no event of type 37" },
		{ 0, "\x24\x00", 2, "no event of type 36" },
		{ 21, "\x41\x00", 2, "at byte 16 (Batch): the trace ends within it" },
		{ 21, "\xc1\x02\x00\x01", 4, "(Batch): 4 arguments; expected 2" },
		{ 21, "\x41\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x00", 12, "more than 64 bits" },
		{ 21, "\x41\x80\x80\x80\x80\x08\x00", 7, "P ID 2147483648; the limit is" },
		{ 21, "\x06\x00", 2, "(ProcStop): the event precedes the first batch" },
		{ 21, "\x41\x00\x01\x02\x00", 5, "0 ticks per second: time stamps out of order" },
		{ 21, "\x41\x00\x01\xc3\x02\x01\x80", 7, "do not match its length" },
		{ 21, "\x41\x00\x01\xc3\x81\x10", 6, "2049 bytes of arguments; the limit is 2048" },
		{ 21, "\x41\x00\x01\x03\x01", 5, "18446744073709551615 frames; the limit is 1000" },
		{ 21, "\x41\x00\x01\x43\x01\xe9\x07", 7, "a stack of 1001 frames" },
		{ 21, "\x41\x00\x01\x43\x01\x01", 6, "2 numbers for a stack of 1 frames" },
		{ 21, "\x41\x00\x01\x25\x00\x01x", 7, "invalid string 0 of 1 bytes" },
		{ 21, "\x41\x00\x01\x25\x01\x00", 6, "invalid string 1 of 0 bytes" },
		{ 21, "\x41\x00\x01\x25\x01\xc1\x84\x3d", 8,
		  "1000001 bytes; the limit is 1000000" },
		{ 21, "\x41\x00\x01\x25\x01\xc0\x84\x3d", 8,
		  "ends within a string of 1000000 bytes" },
		{ 21, "\x41\x00\x01\x25\x01\x01x\x25\x01\x01x", 11, "string 1 is defined twice" },
		{ 9, "\x41\x00\x01\x43\x01\x00\x02\x01", 8, "invalid trace: no events" },
		{ 21, "\x41\x00\x01\x21\x01", 5, "(HeapAlloc): 1 arguments; expected 2" },
		{ 21, "\x41\x00\x01", 3, "no Frequency event" },
		{ 10, "\x41\x00\x01\x49\x01\x02", 6, "unknown stop-the-world reason 2" },
	};

	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		struct made t = begin(bytes[i].version);

		add(&t, bytes[i].rest, bytes[i].len);
		expect_reason(&t, bytes[i].reason);
	}
}

/* Lengths beyond the trace or the limits. */
TEST(long_arguments)
{
	struct made t = begin(9);

	EV(&t, V1_BATCH, 0, 1);
	add_byte(&t, V1_STACK | 3 << 6);
	add_number(&t, 40021);
	expect_reason(&t, "40021 bytes of arguments; the limit is 40020");

	t = begin(9);
	EV(&t, V1_BATCH, 0, 1);
	add_byte(&t, V1_STACK | 3 << 6);
	add_number(&t, 40020);
	for (int i = 0; i < 40020; i++)
		add_byte(&t, 0);
	expect_reason(&t, "more than 4002 arguments");
}

/* A trace that is cut anywhere, or has any byte changed, yields events or an error. */
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

TEST(truncated_and_changed_traces)
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

/* Many Ps wait for one goroutine, each for another number: the time is linear. */
TEST(many_waiting_ps_take_linear_time)
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
	expect_reason(&t, "goroutine 7 is never in a state that permits this event");
	assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
}
