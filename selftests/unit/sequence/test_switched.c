// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of what a switch shows that the thread's next record reports late: a park or an end, the begin
 * of a system call, its end. Under test: sequence/state_syscall.c, and state.c and boundary.c for it.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "unit/test.h"
#include "sequence/sequencer_impl.h"
#include "unit/machine.h"

#define RELEASE	 "go1.26.4"
#define LATER_NS (GT_DERIVED_NS_MAX + STEP_NS) /* a park may be put back by the first */

static const struct gt_park chan_receive = { .block_reason = 7, .derived = 1 };

RECORD(execute_parked, , unsigned int g, unsigned int before)
{
	machine_give(tid, GT_EXECUTE_PARKED, G(g), 0,
		     &(struct gt_execute_parked){ g, G(before), chan_receive });
}

RECORD(late_end, , unsigned int g)
{
	machine_give(tid, GT_ENDED, G(g), 0, &(struct gt_ended){ g, chan_receive });
}

static uint64_t off_at; /* time of the last off_cpu(), after the start of the trace */

/* Some time after the thread's last hit: before, it may still be at the probe. */
RECORD(off_cpu, , enum gt_off_at at)
{
	m.now += 6000;
	off_at = m.now - machine_t0;
	machine_give(tid, GT_CPU_OFF, 0, 0,
		     &(struct gt_off_cpu){ .why = GT_OFF_PREEMPTED, .at = (uint8_t)at });
}

RECORD(on_cpu)
{
	machine_give(tid, GT_CPU_ON, 0, 0, "");
}

static const char *events(const char *format, ...)
{
	static char ret[512];
	va_list args;

	va_start(args, format);
	vsnprintf(ret, sizeof(ret), format, args);
	va_end(args);
	return ret;
}

/* The time of the next record, after the start of the trace. */
static uint64_t now(void)
{
	return m.now - machine_t0;
}

/* A switch shows that the park is past, the next hit comes only when the thread has a CPU again. */
TEST(left_before_its_thread_lost_its_cpu)
{
	uint64_t left, yielded, started, ended;

	two_running(RELEASE);
	m.writer.times = true;
	off_cpu(1, GT_OFF_AT_LEFT);
	left = off_at;
	on_cpu(1);
	off_cpu(1, GT_OFF_AT_LEFT); /* the first one counts */
	yielded = now();
	yield(2, 2, GT_YIELD_GOSCHED);
	on_cpu(1);
	m.now += LATER_NS;
	started = now();
	execute_parked(1, 3, 1);
	off_cpu(1, GT_OFF_AT_LEFT);
	ended = off_at;
	on_cpu(1);
	m.now += LATER_NS;
	late_end(1, 3);
	expect(events("m2 GoStop @%" PRIu64 " \"runtime.Gosched\" -\n"
		      "m1 GoBlock @%" PRIu64 " \"chan receive\" -\n"
		      "m1 GoStart @%" PRIu64 " g3 #1\n"
		      "m1 GoDestroy @%" PRIu64 "\n",
		      yielded, left, started, ended));
	expect_no_repair();
}

TEST(begins_a_call_before_its_thread_lost_its_cpu)
{
	two_running(RELEASE);
	m.writer.times = true;
	off_cpu(1, GT_OFF_AT_BEGIN);
	on_cpu(1);
	on_g(1, GT_SYSCALL_ENTER, 1);
	expect(events("m1 GoSyscallBegin @%" PRIu64 " #2 -\n", off_at));
	expect_no_repair();
}

/* Its stack is sent with the hit: later than the call begins. */
TEST(stack_of_a_call_that_is_reported_late)
{
	two_running(RELEASE);
	m.writer.times = true;
	off_cpu(1, GT_OFF_AT_BEGIN);
	m.now += 1000000;
	on_cpu(1);
	send_stack(m.now);
	machine_give(1, GT_SYSCALL_ENTER, G(1), 5, "");
	expect(events("m1 GoSyscallBegin @%" PRIu64 " #2 f21\n", off_at));
	assert_int_equal(stats()->stack_misses, 0);
}

/* Ticks truncate times: in ticks, too, the call begins no earlier than the switch. */
TEST(begins_a_call_in_the_next_tick)
{
	uint64_t next;

	two_running(RELEASE);
	m.writer.times = true;
	m.seq->opts.tick_ns = 64;
	off_cpu(1, GT_OFF_AT_BEGIN);
	on_cpu(1);
	on_g(1, GT_SYSCALL_ENTER, 1);
	next = (machine_t0 + off_at) / 64 * 64 + 64 - machine_t0;
	assert_int_not_equal((machine_t0 + off_at) % 64, 0);
	expect(events("m1 GoSyscallBegin @%" PRIu64 " #2 -\n", next));
}

/* What a switch shows concerns only the next record, if that reports it. */
TEST(another_record_after_the_switch)
{
	uint64_t created, begun;

	two_running(RELEASE);
	m.writer.times = true;
	off_cpu(1, GT_OFF_AT_BEGIN);
	on_cpu(1);
	created = now();
	create(1, 9);
	begun = now();
	on_g(1, GT_SYSCALL_ENTER, 1);
	expect(events("m1 GoCreate @%" PRIu64 " g9 f19 -\n"
		      "m1 GoSyscallBegin @%" PRIu64 " #2 -\n",
		      created, begun));
	expect_no_repair();
}

/* The thread loses its CPU at the probe itself, which may be before what the record reports. */
TEST(a_switch_at_the_hit)
{
	uint64_t created, begun;

	two_running(RELEASE);
	m.writer.times = true;
	created = now();
	create(1, 9);
	machine_give(1, GT_CPU_OFF, 0, 0,
		     &(struct gt_off_cpu){ .why = GT_OFF_PREEMPTED, .at = GT_OFF_AT_BEGIN });
	on_cpu(1);
	begun = now();
	on_g(1, GT_SYSCALL_ENTER, 1);
	expect(events("m1 GoCreate @%" PRIu64 " g9 f19 -\n"
		      "m1 GoSyscallBegin @%" PRIu64 " #2 -\n",
		      created, begun));
	expect_no_repair();
}

/* The kernel's part of a call is over; for Go it ends when the thread has a CPU again. */
TEST(returns_from_a_call_without_a_cpu)
{
	uint64_t begun, back, again;

	two_running(RELEASE);
	m.writer.times = true;
	begun = now();
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	off_cpu(1, GT_OFF_AT_CALL);
	back = now();
	on_cpu(1);
	off_cpu(1, GT_OFF_AT_BEGIN); /* in user mode: before exitsyscall, or in the next call */
	on_cpu(1);
	again = now();
	on_g(1, GT_SYSCALL_ENTER, 1);
	expect(events("m1 GoSyscallBegin @%" PRIu64 " #2 -\n"
		      "m1 GoSyscallEnd @%" PRIu64 "\n"
		      "m1 GoSyscallBegin @%" PRIu64 " #3 -\n",
		      begun, back, again));
	expect_no_repair();
}
