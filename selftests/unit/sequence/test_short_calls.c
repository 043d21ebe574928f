// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of leaving out short system calls of goroutines: which calls remain, in which order and with
 * which times, and the sums. Kernel events: test_kernel_sequence.c. Under test:
 * sequence/short_calls.c.
 */
#include "unit/test.h"
#include "sequence/sequencer_impl.h"
#include "unit/machine.h"

#define SECOND 1000000000ull
#define MIN_NS 10000u /* ten records */

/* Goroutines 1 and 2 run on threads 1 and 2 with Ps 0 and 1. */
static void begin(const char *go)
{
	two_running(go);
	m.seq->shorts.sum.min_ns = MIN_NS;
}

static void call(uint32_t tid, unsigned int g, uint64_t ns)
{
	on_g(tid, GT_SYSCALL_ENTER, g);
	m.now += ns - STEP_NS;
	on_g(tid, GT_SYSCALL_EXIT, g);
}

static void expect_sum(uint64_t calls, uint64_t ns)
{
	assert_int_equal(m.seq->shorts.sum.calls, calls);
	assert_int_equal(m.seq->shorts.sum.calls_ns, ns);
}

/* The P's sequence numbers have no gap. */
TEST(short_ones)
{
	begin("go1.25.3");
	call(1, 1, MIN_NS - 1);
	call(1, 1, 2000);
	expect("");
	expect_sum(2, MIN_NS + 1999);
	assert_int_equal(stats()->short_calls, 2);
	call(1, 1, MIN_NS);
	expect("m1 GoSyscallBegin #2 -\nm1 GoSyscallEnd\n");
	expect_sum(2, MIN_NS + 1999);
	park(1, 1, 0);
	p_stop(1, 0);
	p_start(1, 0);
	expect("m1 GoBlock \"unspecified\" -\nm1 ProcStop\nm1 ProcStart p0 #3\n");
	expect_no_repair();
}

/* The same times as without a minimum: those of other threads increase around the begin. */
TEST(times_stay)
{
	begin("go1.25.3");
	m.writer.times = true;
	m.now = machine_t0 + 100000;
	on_g(1, GT_SYSCALL_ENTER, 1);
	m.now -= STEP_NS;
	create(2, 8);
	m.now += MIN_NS;
	on_g(1, GT_SYSCALL_EXIT, 1);
	call(1, 1, 2000);
	create(1, 9);
	expect("m2 GoCreate @100001 g8 f18 -\n"
	       "m1 GoSyscallBegin @100000 #2 -\n"
	       "m1 GoSyscallEnd @111000\n"
	       "m1 GoCreate @115000 g9 f19 -\n");
	expect_no_repair();
}

TEST(stolen)
{
	begin("go1.25.3");
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(2, GT_SYSCALL_ENTER, 2);
	p_handoff(9, 0);
	lost(1);
	on_g(1, GT_SYSCALL_NO_P, 1);
	p_start(3, 1);
	expect("m1 GoSyscallBegin #2 -\nm9 ProcSteal p0 #3 m1\nm1 GoSyscallEndBlocked\n"
	       "m2 GoSyscallBegin #2 -\nm3 ProcSteal p1 #3 m2\nm3 ProcStart p1 #4\n");
	expect_sum(0, 0);
	expect_no_repair();
}

/* A call that hands its P off at once, and one that a C thread leaves. */
TEST(left_without_p)
{
	begin("go1.25.3");
	on_g(1, GT_SYSCALL_BLOCK, 1);
	p_stop(1, 0);
	on_g(2, GT_SYSCALL_ENTER, 2);
	machine_give(2, GT_DESTROY_SYSCALL, G(2), 0, &(struct gt_destroy){ 2 });
	expect("m1 GoSyscallBegin #2 -\nm1 ProcStop\n"
	       "m2 GoSyscallBegin #2 -\nm2 ProcSteal p1 #3 m2\nm2 GoDestroySyscall\n");
	expect_no_repair();
}

/* Since Go 1.26 an exit is tentative: the call ends there, although the next record shows it. */
TEST(tentative)
{
	begin("go1.26.0");
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	m.now += 5 * MIN_NS;
	create(1, 9);
	expect("m1 GoCreate g9 f19 -\n");
	expect_sum(1, STEP_NS);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	lost(1);
	p_start(1, 2);
	expect("m1 GoSyscallBegin #2 -\nm1 ProcSteal p0 #3 m1\nm1 ProcStart p2 #1\n"
	       "m1 GoSyscallEndBlocked\nm1 GoStart g1 #2\n");
	expect_sum(1, STEP_NS);
	expect_no_repair();
}

/* A generation ends during the call: by time, and for a snapshot of the flight recorder. */
TEST(boundaries)
{
	begin("go1.25.3");
	call(1, 1, 2000);
	on_g(2, GT_SYSCALL_ENTER, 2);
	m.now = machine_t0 + SECOND;
	create(1, 9);
	on_g(2, GT_SYSCALL_EXIT, 2);
	expect("m2 GoSyscallBegin #2 -\nclose\nopen 999999999\n"
	       "m1 GoCreate g9 f19 -\nm2 GoSyscallEnd\n");
	expect_sum(0, 0);
	on_g(2, GT_SYSCALL_ENTER, 2);
	flush();
	assert_int_equal(sequencer__end_generation(m.seq), 0);
	call(1, 1, 3000);
	on_g(2, GT_SYSCALL_EXIT, 2);
	flush();
	assert_non_null(strstr(m.writer.text, "status m2 p1 3\nm2 GoSyscallBegin #1 -\nclose\n"));
	assert_non_null(strstr(m.writer.text, "m2 GoSyscallEnd\n"));
	assert_null(strstr(m.writer.text, "m1 GoSyscall"));
	expect_sum(1, 3000);
	expect_no_repair();
}

TEST(statement)
{
	static const char prefix[] = PRIVATE_PREFIX;
	struct private_short sum = {};
	const unsigned char *text;
	struct buf data;

	begin("go1.25.3");
	call(1, 1, 2000);
	call(2, 2, 4000);
	on_g(1, GT_SYSCALL_ENTER, 1);
	flush();
	assert_int_equal(sequencer__finish(m.seq, m.now), 0);
	assert_string_equal(m.writer.text, "m1 GoSyscallBegin #2 -\nclose\n");
	text = m.writer.private;
	assert_memory_equal(text, prefix, PRIVATE_PREFIX_LEN);
	for (size_t i = PRIVATE_PREFIX_LEN; i < m.writer.private_len && !sum.min_ns; i++) {
		data = buf__make(text + i, m.writer.private_len - i);
		if (private_read__add_short(&data, &sum) && (buf__left(&data) || sum.calls != 2))
			sum = (struct private_short){};
	}
	assert_int_equal(sum.min_ns, MIN_NS);
	assert_int_equal(sum.calls, 2);
	assert_int_equal(sum.calls_ns, 6000);
	assert_int_equal(sum.kernel, 0);
	assert_int_equal(sum.kernel_ns, 0);
}

/* Calls that were in progress at the start, or whose begin was lost. */
TEST(without_begin)
{
	machine_init(25, "go1.25.3");
	m.seq->shorts.sum.min_ns = MIN_NS;
	snap_g(1, GS_SYSCALL, 1);
	snap_m(1, 0);
	snap_give();
	forget();
	on_g(1, GT_SYSCALL_EXIT, 1);
	expect("m1 GoSyscallEnd\n");
	expect_sum(0, 0);
	expect_no_repair();
}

/* The exit was lost: the call ends, by a repair, with the next record of the goroutine. */
TEST(without_end)
{
	begin("go1.25.3");
	on_g(1, GT_SYSCALL_ENTER, 1);
	park(1, 1, 0);
	on_g(2, GT_SYSCALL_ENTER, 2);
	m.now += MIN_NS;
	park(2, 2, 0);
	m.now += 5000000;
	execute(1, 3); /* advances the time: the parks are forced */
	flush();
	expect("m1 GoBlock \"unspecified\" -\nm1 GoStart g3 #1\n"
	       "m2 GoSyscallBegin #2 -\nm2 GoSyscallEnd\nm2 GoBlock \"unspecified\" -\n");
	assert_int_equal(stats()->repairs, 2);
	expect_sum(1, STEP_NS);
}
