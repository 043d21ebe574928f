// SPDX-License-Identifier: GPL-2.0
/*
 * The six rules by which the sequencer tracks Ps (docs/go-runtime.md), in the cases where they can
 * fail: records that precede their causes, lost records, and records without effect. Rules that
 * apply to all releases are tested for each; test_state.c has the plain case of each rule.
 */
#include "unit/test.h"
#include "unit/machine.h"

static const char *const releases[] = {
	"go1.21.13", "go1.22.12", "go1.23.12", "go1.24.9", "go1.25.3", "go1.26.0",
};
/* releases that report at the exit of a system call what became of the P */
#define LAST_WITH_CALL_SITE 5
#define HOLD_OVER_NS	    300000000ull /* by then held records are forced */

static void each(size_t first, size_t n, void (*test)(const char *go))
{
	for (size_t i = first; i < n; i++)
		test(releases[i]);
}

static void on_all(void (*test)(const char *go))
{
	each(0, sizeof(releases) / sizeof(releases[0]), test);
}

/* The time of the thief's acquirep is before that of the owner's releasep. */
static void acquired_before_released(const char *go)
{
	running(25, go, 3);
	park(1, 1, 0);
	p_start(2, 0);
	p_stop(1, 0);
	execute(2, 2);
	expect("m1 GoBlock \"unspecified\" -\n"
	       "m1 ProcStop\n"
	       "m2 ProcStart p0 #2\n"
	       "m2 GoStart g2 #1\n");
	expect_no_repair();
}

TEST(rule_1_out_of_order)
{
	on_all(acquired_before_released);
}

/* A P moves from thread to thread while the first releasep is late: in the order of moves. */
TEST(rule_1_waiters_in_order)
{
	running(25, "go1.25.3", 3);
	park(1, 1, 0);
	p_start(2, 0);
	execute(2, 2);
	park(2, 2, 0);
	p_stop(2, 0);
	p_start(3, 0);
	execute(3, 3);
	p_stop(1, 0);
	expect("m1 GoBlock \"unspecified\" -\n"
	       "m1 ProcStop\n"
	       "m2 ProcStart p0 #2\n"
	       "m2 GoStart g2 #1\n"
	       "m2 GoBlock \"unspecified\" -\n"
	       "m2 ProcStop\n"
	       "m3 ProcStart p0 #3\n"
	       "m3 GoStart g3 #1\n");
	expect_no_repair();
}

/* releasep of a P that the model has elsewhere or nowhere has no effect; a lost one is inserted. */
TEST(rule_1_release_lost)
{
	running(25, "go1.25.3", 3);
	p_stop(2, 0);
	p_stop(2, 3);
	park(1, 1, 0);
	p_start(2, 0);
	execute(2, 2);
	m.now += HOLD_OVER_NS;
	execute(2, 3);
	flush();
	assert_non_null(strstr(m.writer.text, "m1 GoBlock \"unspecified\" -\n"
					      "m1 ProcStop\n"
					      "m2 ProcStart p0 #2\n"
					      "m2 GoStart g2 #1\n"));
	assert_int_equal(stats()->dropped, 2);
	assert_true(stats()->repairs > 0);
}

/* handoffp is also called for a running or idle P: that is not a steal, and none happens twice. */
static void handoff_of_others(const char *go)
{
	running(25, go, 3);
	p_handoff(9, 0);
	p_handoff(9, 2);
	on_g(1, GT_SYSCALL_ENTER, 1);
	p_handoff(9, 0);
	p_handoff(8, 0);
	lost(1);
	on_g(1, GT_SYSCALL_NO_P, 1);
	expect("m1 GoSyscallBegin #2 -\n"
	       "m9 ProcSteal p0 #3 m1\n"
	       "m1 GoSyscallEndBlocked\n");
	expect_no_repair();
}

TEST(rule_2_handoff_without_effect)
{
	on_all(handoff_of_others);
}

/* Rule 3: the thief has passed the P on before the goroutine returns to it. */
static void stolen_and_given_back(const char *go)
{
	running(25, go, 3);
	on_g(1, GT_SYSCALL_ENTER, 1);
	p_start(2, 0);
	p_stop(2, 0);
	lost(1);
	p_start(1, 0);
	on_g(1, GT_SYSCALL_EXIT, 1);
	expect("m1 GoSyscallBegin #2 -\n"
	       "m2 ProcSteal p0 #3 m1\n"
	       "m2 ProcStart p0 #4\n"
	       "m2 ProcStop\n"
	       "m1 ProcStart p0 #5\n"
	       "m1 GoSyscallEndBlocked\n"
	       "m1 GoStart g1 #2\n");
	expect_no_repair();
}

TEST(rule_3_passed_on_and_returned)
{
	each(0, LAST_WITH_CALL_SITE, stolen_and_given_back);
}

/* The model has the P elsewhere: its holder loses it, with its goroutine. */
TEST(rule_3_release_lost)
{
	running(25, "go1.25.3", 3);
	p_start(2, 0);
	execute(2, 2);
	m.now += HOLD_OVER_NS;
	park(2, 2, 0);
	expect("m1 GoStop \"unspecified\" -\n"
	       "m1 ProcStop\n"
	       "m2 ProcStart p0 #2\n"
	       "m2 GoStart g2 #1\n"
	       "m2 GoBlock \"unspecified\" -\n");
	assert_int_equal(stats()->repairs, 1);
}

/* Rule 4: a P is stolen, used, left idle, and taken back; no acquirep precedes the exit. */
static void reacquired_idle(const char *go)
{
	running(25, go, 3);
	on_g(1, GT_SYSCALL_ENTER, 1);
	p_start(2, 0);
	execute(2, 2);
	on_g(2, GT_SYSCALL_ENTER, 2);
	p_handoff(9, 0);
	on_g(1, GT_SYSCALL_EXIT, 1);
	expect("m1 GoSyscallBegin #2 -\n"
	       "m2 ProcSteal p0 #3 m1\n"
	       "m2 ProcStart p0 #4\n"
	       "m2 GoStart g2 #1\n"
	       "m2 GoSyscallBegin #5 -\n"
	       "m9 ProcSteal p0 #6 m2\n"
	       "m1 ProcStart p0 #7\n"
	       "m1 GoSyscallEndBlocked\n"
	       "m1 GoStart g1 #2\n");
	expect_no_repair();
}

TEST(rule_4_idle_p_taken_back)
{
	each(0, LAST_WITH_CALL_SITE, reacquired_idle);
}

/* The exit's time is before that of the system call in which the other thread left the P. */
static void exit_before_enter(const char *go)
{
	running(25, go, 3);
	on_g(1, GT_SYSCALL_ENTER, 1);
	p_handoff(9, 0);
	p_start(2, 0);
	execute(2, 2);
	on_g(1, GT_SYSCALL_EXIT, 1);
	on_g(2, GT_SYSCALL_ENTER, 2);
	expect("m1 GoSyscallBegin #2 -\n"
	       "m9 ProcSteal p0 #3 m1\n"
	       "m2 ProcStart p0 #4\n"
	       "m2 GoStart g2 #1\n"
	       "m2 GoSyscallBegin #5 -\n"
	       "m1 ProcSteal p0 #6 m2\n"
	       "m1 ProcStart p0 #7\n"
	       "m1 GoSyscallEndBlocked\n"
	       "m1 GoStart g1 #2\n");
	expect_no_repair();
}

TEST(rule_4_out_of_order)
{
	each(0, LAST_WITH_CALL_SITE, exit_before_enter);
}

/* Rule 5: between exitsyscall's entry and its CAS, the P goes to the thread that acquires it. */
TEST(rule_5_stolen_meanwhile)
{
	running(25, "go1.26.0", 3);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	p_start(2, 0);
	execute(2, 2);
	lost(1);
	on_g(1, GT_SYSCALL_NO_P, 1);
	expect("m1 GoSyscallBegin #2 -\n"
	       "m2 ProcSteal p0 #3 m1\n"
	       "m2 ProcStart p0 #4\n"
	       "m2 GoStart g2 #1\n"
	       "m1 GoSyscallEndBlocked\n");
	expect_no_repair();
}

/* The P is kept, and the thread's next event is another system call, a stop, or an end. */
TEST(rule_5_p_kept)
{
	running(25, "go1.26.0", 3);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	yield(1, 1, GT_YIELD_PREEMPTED);
	execute(1, 1);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	create(1, 5);
	destroy(1, 1);
	expect("m1 GoSyscallBegin #2 -\n"
	       "m1 GoSyscallEnd\n"
	       "m1 GoSyscallBegin #3 -\n"
	       "m1 GoSyscallEnd\n"
	       "m1 GoStop \"preempted\" -\n"
	       "m1 GoStart g1 #2\n"
	       "m1 GoSyscallBegin #4 -\n"
	       "m1 GoSyscallEnd\n"
	       "m1 GoCreate g5 f15 -\n"
	       "m1 GoDestroy\n");
	expect_no_repair();
}

/* The P is lost, and the P found instead is the same again. */
TEST(rule_5_same_p_found_again)
{
	running(25, "go1.26.0", 3);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	lost(1);
	p_start(1, 0);
	park(1, 1, 0);
	expect("m1 GoSyscallBegin #2 -\n"
	       "m1 ProcSteal p0 #3 m1\n"
	       "m1 ProcStart p0 #4\n"
	       "m1 GoSyscallEndBlocked\n"
	       "m1 GoStart g1 #2\n"
	       "m1 GoBlock \"unspecified\" -\n");
	expect_no_repair();
}

/* procresize keeps the caller's P: the caller continues with it, without an event. */
static void resized_p_stays(const char *go)
{
	running(25, go, 3);
	plain(1, GT_PROCS, 4);
	park(1, 1, 0);
	expect("m1 ProcsChange 4 -\nm1 GoBlock \"unspecified\" -\n");
	expect_no_repair();
}

TEST(rule_6_p_stays)
{
	on_all(resized_p_stays);
}

/* procresize removes the caller's P while another thread is in a system call with P 0. */
static void resized_into_a_syscall(const char *go)
{
	start(25, go, 2);
	p_start(1, 0);
	execute(1, 1);
	on_g(1, GT_SYSCALL_ENTER, 1);
	p_start(2, 1);
	execute(2, 2);
	plain(2, GT_PROCS, 1);
	p_start(2, 0);
	lost(1);
	on_g(1, GT_SYSCALL_NO_P, 1);
	expect("m1 ProcStart p0 #1\n"
	       "m1 GoStart g1 #1\n"
	       "m1 GoSyscallBegin #2 -\n"
	       "m2 ProcStart p1 #1\n"
	       "m2 GoStart g2 #1\n"
	       "m2 ProcsChange 1 -\n"
	       "m2 GoStop \"runtime.Gosched\" -\n"
	       "m2 ProcStop\n"
	       "m2 ProcSteal p0 #3 m1\n"
	       "m2 ProcStart p0 #4\n"
	       "m2 GoStart g2 #2\n"
	       "m1 GoSyscallEndBlocked\n");
	expect_no_repair();
}

TEST(rule_6_into_a_syscall)
{
	on_all(resized_into_a_syscall);
}

/* The record of procresize was lost: the stop has no stack, and everything else is the same. */
TEST(rule_6_record_lost)
{
	running(25, "go1.25.3", 3);
	p_start(1, 1);
	park(1, 1, 0);
	expect("m1 GoStop \"runtime.Gosched\" -\n"
	       "m1 ProcStop\n"
	       "m1 ProcStart p1 #1\n"
	       "m1 GoStart g1 #2\n"
	       "m1 GoBlock \"unspecified\" -\n");
	expect_no_repair();
}
