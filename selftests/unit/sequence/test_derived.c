// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of transitions without a hit of their own: parks and ends that their thread reports with its
 * next hit. Under test: sequence/derived.c, and what hold.c, state.c and initial.c do for them.
 */
#include "unit/test.h"
#include "sequence/sequencer_impl.h"
#include "unit/machine.h"

#define MS 1000000ull

static const struct gt_park chan_receive = { .block_reason = 7, .derived = 1 };

RECORD(execute_parked, , unsigned int g, unsigned int before)
{
	machine_give(tid, GT_EXECUTE_PARKED, G(g), 0,
		     &(struct gt_execute_parked){ g, G(before), chan_receive });
}

RECORD(execute_ended, , unsigned int g, unsigned int before)
{
	machine_give(tid, GT_EXECUTE_ENDED, G(g), 0,
		     &(struct gt_execute_ended){ g, G(before), { before, chan_receive } });
}

RECORD(late_park, , unsigned int g)
{
	machine_give(tid, GT_PARK, G(g), 0, &chan_receive);
}

RECORD(late_end, , unsigned int g)
{
	machine_give(tid, GT_ENDED, G(g), 0, &(struct gt_ended){ g, chan_receive });
}

#define RELEASE "go1.25.3"

TEST(one_record_for_two)
{
	running(25, RELEASE, 3);
	execute_parked(1, 2, 1);
	execute_ended(1, 3, 2);
	late_park(1, 3);
	p_stop(1, 0);
	expect("m1 GoBlock \"chan receive\" -\n"
	       "m1 GoStart g2 #1\n"
	       "m1 GoDestroy\n"
	       "m1 GoStart g3 #1\n"
	       "m1 GoBlock \"chan receive\" -\n"
	       "m1 ProcStop\n");
	p_start(1, 0);
	ready(1, 3);
	execute(1, 3);
	late_end(1, 3);
	expect("m1 ProcStart p0 #2\n"
	       "m1 GoUnblock g3 #2 -\n"
	       "m1 GoStart g3 #3\n"
	       "m1 GoDestroy\n");
	expect_no_repair();
	assert_int_equal(sequencer__stats(m.seq)->holes, 0);
	expect_no_repair();
}

/* The park is earlier than the hit, but later than another record of the thread. */
TEST(times)
{
	uint64_t time;

	two_running(RELEASE);
	time = m.now += STEP_NS;
	execute_parked(1, 3, 1);
	m.now = time - GT_DERIVED_NS / 2;
	yield(2, 2, GT_YIELD_GOSCHED); /* between the park and the start */
	m.now = time + STEP_NS;
	expect("m1 GoBlock \"chan receive\" -\n"
	       "m2 GoStop \"runtime.Gosched\" -\n"
	       "m1 GoStart g3 #1\n");
	time = m.now;
	create(1, 9);
	m.now = time + 63;
	p_stop(2, 1);
	m.now = time + GT_DERIVED_NS / 2;
	late_park(1, 3);
	expect("m1 GoCreate g9 f19 -\n"
	       "m2 ProcStop\n"
	       "m1 GoBlock \"chan receive\" -\n");
	expect_no_repair();
}

/* By then a record is written however much earlier a park may be. */
#define LATER_NS (GT_DERIVED_NS_MAX + STEP_NS)

/* 8 ns after the previous record of its thread: in ticks of 64 ns that could be before it. */
TEST(a_tick_later)
{
	uint64_t time;

	two_running(RELEASE);
	time = m.now += STEP_NS;
	create(1, 9);
	m.now = time + 63;
	yield(2, 2, GT_YIELD_GOSCHED);
	m.now = time + GT_DERIVED_NS + 8;
	late_park(1, 1);
	expect("m1 GoCreate g9 f19 -\n"
	       "m2 GoStop \"runtime.Gosched\" -\n"
	       "m1 GoBlock \"chan receive\" -\n");
	expect_no_repair();
}

/* How much earlier is in the record, of a park or an end. */
TEST(measured_times)
{
	const struct gt_park late = { .block_reason = 7, .derived = 5000 };
	const struct gt_ended ended = { 3, { .block_reason = 7, .derived = GT_DERIVED_NS_MAX } };
	uint64_t time;

	two_running(RELEASE);
	time = m.now += 20000;
	machine_give(1, GT_EXECUTE_PARKED, G(3), 0, &(struct gt_execute_parked){ 3, G(1), late });
	m.now = time - 5500;
	create(2, 9);
	m.now = time - 4500;
	yield(2, 2, GT_YIELD_GOSCHED);
	m.now = time + LATER_NS;
	expect("m2 GoCreate g9 f19 -\n"
	       "m1 GoBlock \"chan receive\" -\n"
	       "m2 GoStop \"runtime.Gosched\" -\n"
	       "m1 GoStart g3 #1\n");
	time = m.now += LATER_NS;
	machine_give(1, GT_ENDED, G(3), 0, &ended);
	m.now = time - GT_DERIVED_NS_MAX + 500;
	p_stop(2, 1);
	m.now = time + LATER_NS;
	expect("m1 GoDestroy\n"
	       "m2 ProcStop\n");
	expect_no_repair();
}

/* Not before the watermark, even if no record was put back until then. */
TEST(first_after_the_watermark)
{
	const struct gt_park late = { .block_reason = 7, .derived = 5000 };

	two_running(RELEASE);
	yield(2, 2, GT_YIELD_GOSCHED);
	expect("m2 GoStop \"runtime.Gosched\" -\n");
	machine_give(1, GT_PARK, G(1), 0, &late);
	m.now += LATER_NS;
	expect("m1 GoBlock \"chan receive\" -\n");
	expect_no_repair();
	expect_no_repair();
}

/* It is made runnable, and runs elsewhere, before its thread reports that it parked. */
TEST(made_runnable_before)
{
	two_running(RELEASE);
	ready(2, 1);
	late_park(2, 2);
	execute(2, 1);
	expect("");
	m.now += 20 * MS; /* the thread has lost its CPU */
	expect("");
	execute_parked(1, 3, 1);
	expect("m1 GoBlock \"chan receive\" -\n"
	       "m2 GoUnblock g1 #2 -\n"
	       "m2 GoBlock \"chan receive\" -\n"
	       "m2 GoStart g1 #3\n"
	       "m1 GoStart g3 #1\n");
	expect_no_repair();
}

/* What waits for the waiting thread is not forced either. */
TEST(others_wait_as_long)
{
	two_running(RELEASE);
	p_start(3, 2);
	execute(3, 9); /* created below, by a clock that is ahead */
	expect("m3 ProcStart p2 #1\n");
	late_park(1, 1);
	forget();
	execute(1, 3);
	late_park(2, 2);
	ready(2, 3);
	create(2, 9);
	flush_and_forget();
	m.now += 20 * MS;
	expect("");
	late_park(1, 3);
	flush();
	expect_no_repair();
}

/* Goroutine 1 leaves thread 1 at `time`; the BPF program needs 9 us to find that it is dead. */
static void end_slowly(uint64_t time)
{
	const struct gt_park slow = { .block_reason = 7, .derived = 9000 };

	m.now = time + slow.derived;
	machine_give(1, GT_EXECUTE_ENDED, G(3), 0,
		     &(struct gt_execute_ended){ 3, G(1), { 1, slow } });
	m.now += LATER_NS;
}

/* It ends elsewhere while the BPF program reads its state, which takes long: the park was before that. */
TEST(ended_elsewhere_meanwhile)
{
	uint64_t time;

	two_running(RELEASE);
	time = m.now += 20000;
	m.now = time + 1000;
	ready(2, 1);
	m.now = time + 3000;
	execute_parked(2, 1, 2);
	m.now = time + 6000;
	late_end(2, 1);
	end_slowly(time);
	expect("m1 GoBlock \"chan receive\" -\n"
	       "m2 GoUnblock g1 #2 -\n"
	       "m2 GoBlock \"chan receive\" -\n"
	       "m2 GoStart g1 #3\n"
	       "m2 GoDestroy\n"
	       "m1 GoStart g3 #1\n");
	expect_no_repair();
}

/* Another goroutine gets its struct meanwhile: it has ended. */
TEST(ended_and_used_again_meanwhile)
{
	uint64_t time;

	two_running(RELEASE);
	time = m.now += 20000;
	m.now = time + 2000;
	machine_give(2, GT_CREATE, G(1), 0, &(struct gt_create){ .goid = 9, .parent = 2 });
	end_slowly(time);
	expect("m1 GoDestroy\n"
	       "m2 GoCreate g9 - -\n"
	       "m1 GoStart g3 #1\n");
	expect_no_repair();
}

/*
 * It even ended elsewhere: then a hit of its thread cannot show that it had parked here. Its end, which is
 * applied before its turn, is counted as the other records are.
 */
TEST(ended_elsewhere)
{
	uint64_t before;

	two_running(RELEASE);
	before = stats()->records;
	ready(2, 1);
	late_park(2, 2);
	execute(2, 1);
	destroy(2, 1);
	execute_ended(1, 3, 1);
	expect("m1 GoBlock \"chan receive\" -\n"
	       "m2 GoUnblock g1 #2 -\n"
	       "m2 GoBlock \"chan receive\" -\n"
	       "m2 GoStart g1 #3\n"
	       "m2 GoDestroy\n"
	       "m1 GoStart g3 #1\n");
	assert_int_equal(stats()->records - before, 6);
	expect_no_repair();
}

/* Another thread has started its P since: that does not show that it goes on. */
TEST(ended_and_lost_its_p)
{
	two_running(RELEASE);
	late_park(2, 2);
	p_stop(2, 1);
	p_start(2, 0);
	m.now += LATER_NS;
	late_end(1, 1);
	expect("m2 GoBlock \"chan receive\" -\n"
	       "m2 ProcStop\n"
	       "m1 GoDestroy\n");
	expect_no_repair();
}

/* Its struct is used again, for one that is made runnable: it had ended all the same. */
TEST(ended_and_used_again)
{
	two_running(RELEASE);
	machine_give(2, GT_CREATE, G(1), 0, &(struct gt_create){ 7, 17, 2 });
	late_park(2, 2);
	machine_give(2, GT_EXECUTE, G(1), 0, &(struct gt_execute){ 7 });
	late_park(2, 1);
	ready(2, 1);
	expect("");
	late_end(1, 1);
	expect("m1 GoDestroy\n"
	       "m2 GoCreate g7 f17 -\n"
	       "m2 GoBlock \"chan receive\" -\n"
	       "m2 GoStart g7 #1\n"
	       "m2 GoBlock \"chan receive\" -\n"
	       "m2 GoUnblock g7 #2 -\n");
	expect_no_repair();
}

/* A stack that was read after the goroutine had run elsewhere may be another's. */
TEST(no_stack_if_late)
{
	two_running(RELEASE);
	send_stack(1);
	ready(2, 1);
	machine_give(1, GT_EXECUTE_PARKED, G(3), 5,
		     &(struct gt_execute_parked){ 3, G(1), chan_receive });
	expect("m1 GoBlock \"chan receive\" f20<f21\n"
	       "m2 GoUnblock g1 #2 -\n"
	       "m1 GoStart g3 #1\n");
	ready(2, 3);
	late_park(2, 2);
	execute(2, 3);
	machine_give(1, GT_PARK, G(3), 5, &chan_receive);
	flush();
	assert_non_null(strstr(m.writer.text, "m1 GoBlock \"chan receive\" -\n"));
	assert_int_equal(sequencer__stats(m.seq)->stacks_gone, 1);
	expect_no_repair();
}

/* The same if the park is put back to before the other records. */
TEST(no_stack_if_put_back)
{
	const struct gt_park late = { .block_reason = 7, .derived = 5000 };
	uint64_t time;

	two_running(RELEASE);
	send_stack(1);
	time = m.now += 20000;
	machine_give(1, GT_PARK, G(1), 5, &late);
	m.now = time - 4000;
	ready(2, 1);
	late_park(2, 2);
	execute(2, 1);
	m.now = time + LATER_NS;
	expect("m1 GoBlock \"chan receive\" -\n"
	       "m2 GoUnblock g1 #2 -\n"
	       "m2 GoBlock \"chan receive\" -\n"
	       "m2 GoStart g1 #3\n");
	expect_no_repair();
}

/* The stack is sent just before the hit, and thus after the time of the park. */
TEST(stack_of_hit)
{
	const struct gt_park late = { .block_reason = 7, .derived = 50000 };

	two_running(RELEASE);
	m.now += 2 * LATER_NS;
	send_stack(m.now - 1000);
	machine_give(1, GT_PARK, G(1), 5, &late);
	m.now += LATER_NS;
	expect("m1 GoBlock \"chan receive\" f20<f21\n");
	expect_no_repair();
}

/* The thread that would report it has sent another record: the report was lost. */
TEST(report_lost)
{
	two_running(RELEASE);
	late_park(2, 2);
	ready(2, 1);
	plain(1, GT_STW_END, 0);
	m.now += 2 * MS;
	flush();
	assert_non_null(strstr(m.writer.text, "m1 GoBlock \"unspecified\" -\nm2 GoUnblock g1"));
	assert_int_not_equal(stats()->repairs, 0);
}

/* Nothing is waited for longer than half a second, or at all while records are being lost. */
TEST(patience_ends)
{
	two_running(RELEASE);
	late_park(2, 2);
	ready(2, 1);
	expect("m2 GoBlock \"chan receive\" -\n");
	m.now += 490 * MS;
	expect("");
	m.now += 20 * MS;
	expect("m1 GoBlock \"unspecified\" -\nm2 GoUnblock g1 #2 -\n");

	two_running(RELEASE);
	late_park(2, 2);
	assert_int_equal(sequencer__lost(m.seq, GT_PARK, 1), 0);
	ready(2, 1);
	m.now += 2 * MS;
	flush();
	assert_non_null(strstr(m.writer.text, "m1 GoBlock \"unspecified\""));
}

/* The window ends before the report: the events that depend on it are left out, which is counted. */
TEST(window_ends_before)
{
	two_running(RELEASE);
	late_park(2, 2);
	ready(2, 1);
	execute(2, 1);
	assert_int_equal(sequencer__finish(m.seq, m.now), 0);
	assert_null(strstr(m.writer.text, "GoUnblock g1"));
	expect_no_repair();
	assert_int_equal(stats()->left_out_at_end, 2);
}

/* At the start of the window: it ran on the thread that reports its park late. */
TEST(at_the_start)
{
	machine_init(25, RELEASE);
	snap_g(1, GS_WAITING, 0);
	snap_g(2, GS_RUNNING, 2);
	snap_g(3, GS_RUNNABLE, 0);
	snap_m(1, 0);
	snap_m(2, 1);
	ready(2, 1);
	late_park(2, 2);
	execute(2, 1);
	execute_parked(1, 3, 1);
	snap_give();
	assert_non_null(strstr(m.writer.text, "m1 GoBlock \"chan receive\" -\n"
					      "m2 GoUnblock g1 #1 -\n"
					      "m2 GoBlock \"chan receive\" -\n"
					      "m2 GoStart g1 #2\n"
					      "m1 GoStart g3 #1\n"));
	expect_no_repair();
}

/* A park as late as that, of a goroutine that waited at the start and has run there since. */
TEST(late_but_not_at_the_start)
{
	machine_init(25, RELEASE);
	snap_g(1, GS_WAITING, 0);
	snap_g(2, GS_RUNNING, 2);
	snap_m(1, 0);
	snap_m(2, 1);
	ready(2, 1);
	execute(1, 1);
	ready(2, 1);
	late_park(2, 2);
	execute(2, 1);
	late_park(1, 1);
	snap_give();
	assert_non_null(strstr(m.writer.text, "m2 GoUnblock g1 #1 -\n"
					      "m1 GoStart g1 #2\n"
					      "m1 GoBlock \"chan receive\" -\n"
					      "m2 GoUnblock g1 #3 -\n"
					      "m2 GoBlock \"chan receive\" -\n"
					      "m2 GoStart g1 #4\n"));
	expect_no_repair();
}

RECORD(go_sys_enter, , unsigned int g)
{
	machine_give(tid, GT_GO_SYS_ENTER, G(g), 0, &(struct gt_go_sys_enter){ 7 });
}

RECORD(go_sys_exit, , unsigned int g)
{
	machine_give(tid, GT_GO_SYS_EXIT, G(g), 0, &(struct gt_go_sys_exit){ 7, 1 });
}

/* One record of a system call is that of the goroutine and that of its thread. */
TEST(system_calls)
{
	const struct kernel_thread *k;

	running(26, "go1.26.0", 3);
	go_sys_enter(1, 1);
	expect("m1 GoSyscallBegin #2 -\n");
	k = kernel_threads__find(&m.seq->kernel.threads, 1);
	assert_int_equal(k->call, 7);
	go_sys_exit(1, 1);
	late_park(1, 1);
	expect("m1 GoSyscallEnd\nm1 GoBlock \"chan receive\" -\n");
	assert_int_equal(kernel_threads__find(&m.seq->kernel.threads, 1)->call, KERNEL_NO_CALL);
	assert_int_equal(sequencer__stats(m.seq)->holes, 0);
	expect_no_repair();
}

/* The program reads the stack, and sends it, before its record: the call began before that. */
TEST(a_call_begins_before_its_stack_is_read)
{
	running(26, "go1.26.0", 3);
	m.writer.times = true;
	m.now = machine_t0 + 100700;
	send_stack(m.now - 10);
	machine_give(1, GT_GO_SYS_ENTER, G(1), 5, &(struct gt_go_sys_enter){ 7, 700 });
	m.now += LATER_NS;
	expect("m1 GoSyscallBegin @100000 #2 f21\n");
	assert_int_equal(kernel_threads__find(&m.seq->kernel.threads, 1)->call_since,
			 machine_t0 + 100000);
	m.now = machine_t0 + 200000;
	go_sys_exit(1, 1);
	m.now = machine_t0 + 300000; /* call -1, in a file of earlier versions */
	machine_give(1, GT_GO_SYS_ENTER, G(1), 0, &(struct gt_value){ UINT64_MAX });
	m.now += LATER_NS;
	expect("m1 GoSyscallEnd @200000\nm1 GoSyscallBegin @300000 #3 -\n");
	expect_no_repair();
}

/* Without kernel events it is that of the goroutine only. */
TEST(system_calls_only)
{
	running(26, "go1.26.0", 3);
	sequencer__calls_only(m.seq);
	go_sys_enter(1, 1);
	expect("m1 GoSyscallBegin #2 -\n");
	assert_null(kernel_threads__find(&m.seq->kernel.threads, 1));
	go_sys_exit(1, 1);
	late_park(1, 1);
	expect("m1 GoSyscallEnd\nm1 GoBlock \"chan receive\" -\n");
	assert_null(kernel_threads__find(&m.seq->kernel.threads, 1));
	expect_no_repair();
}

/* The P is taken before the thread, which has lost its CPU, enters the kernel. */
TEST(taken_before_the_entry)
{
	running(26, "go1.26.0", 3);
	late_park(1, 1);
	ready(1, 1);
	execute(1, 1);
	flush_and_forget();
	p_handoff(3, 0);
	p_start(2, 0);
	m.now += 20 * MS;
	expect("");
	send_stack(m.now - 1000);
	machine_give(1, GT_GO_SYS_ENTER, G(1), 5, &(struct gt_go_sys_enter){ 1 });
	flush();
	assert_non_null(strstr(m.writer.text, "m1 GoSyscallBegin #2 f21\n"
					      "m2 ProcSteal p0 #3 m1\n"
					      "m2 ProcStart p0 #4\n"));
	expect_no_repair();
}

/* The same, with much of others before the thread sends its record: it left one call for another. */
TEST(taken_before_the_next_call)
{
	running(26, "go1.26.0", 3);
	go_sys_enter(1, 1);
	go_sys_exit(1, 1);
	flush_and_forget();
	p_start(2, 0);
	m.now += 2 * MS;
	plain(3, GT_SWEEP_END, 0);
	m.now += 2 * MS;
	go_sys_enter(1, 1);
	expect("m1 GoSyscallEnd\n"
	       "m1 GoSyscallBegin #3 -\n"
	       "m2 ProcSteal p0 #4 m1\n"
	       "m2 ProcStart p0 #5\n");
	expect_no_repair();
	expect_no_repair();
}

/*
 * Up to 1.25 the end of a call is not derived, and a thread may take its P back from the call of
 * another one, which has not entered the kernel yet.
 */
TEST(taken_back)
{
	two_running(RELEASE);
	go_sys_enter(1, 1);
	late_park(2, 2);
	p_stop(2, 1);
	p_start(2, 0);
	execute(2, 3);
	flush_and_forget();
	on_g(1, GT_SYSCALL_EXIT, 1);
	m.now += 20 * MS;
	expect("");
	go_sys_enter(2, 3);
	expect("m2 GoSyscallBegin #5 -\n"
	       "m1 ProcSteal p0 #6 m2\n"
	       "m1 ProcStart p0 #7\n"
	       "m1 GoSyscallEndBlocked\n"
	       "m1 GoStart g1 #2\n");
	expect_no_repair();
	expect_no_repair();
}

/*
 * While a record waits for a silent thread, those of others wait, too: here the last one would fit,
 * but g3 was made runnable twice.
 */
TEST(nothing_is_overtaken)
{
	two_running(RELEASE);
	p_start(3, 2);
	execute(3, 3);
	late_park(3, 3);
	flush_and_forget();
	ready(2, 1); /* waits for thread 1 */
	ready(2, 3);
	m.now += MS;
	execute(3, 3);
	late_park(3, 3);
	m.now += MS;
	p_start(4, 3);
	ready(4, 3);
	expect("");
	late_park(1, 1);
	expect("m1 GoBlock \"chan receive\" -\n"
	       "m2 GoUnblock g1 #2 -\n"
	       "m2 GoUnblock g3 #2 -\n"
	       "m3 GoStart g3 #3\n"
	       "m3 GoBlock \"chan receive\" -\n"
	       "m4 ProcStart p3 #1\n"
	       "m4 GoUnblock g3 #4 -\n");
	expect_no_repair();
}
