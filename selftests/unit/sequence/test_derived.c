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
	machine_give(m, tid, GT_EXECUTE_PARKED, G(g), 0,
		     &(struct gt_execute_parked){ g, G(before), chan_receive });
}

RECORD(execute_ended, , unsigned int g, unsigned int before)
{
	machine_give(m, tid, GT_EXECUTE_ENDED, G(g), 0,
		     &(struct gt_execute_ended){ g, G(before), { before, chan_receive } });
}

RECORD(late_park, , unsigned int g)
{
	machine_give(m, tid, GT_PARK, G(g), 0, &chan_receive);
}

RECORD(late_end, , unsigned int g)
{
	machine_give(m, tid, GT_ENDED, G(g), 0, &(struct gt_ended){ g, chan_receive });
}

#define RELEASE "go1.25.3"

TEST(one_record_for_two)
{
	struct machine m;

	running(&m, 25, RELEASE, 3);
	execute_parked(&m, 1, 2, 1);
	execute_ended(&m, 1, 3, 2);
	late_park(&m, 1, 3);
	p_stop(&m, 1, 0);
	expect(&m, "m1 GoBlock \"chan receive\" -\n"
		   "m1 GoStart g2 #1\n"
		   "m1 GoDestroy\n"
		   "m1 GoStart g3 #1\n"
		   "m1 GoBlock \"chan receive\" -\n"
		   "m1 ProcStop\n");
	p_start(&m, 1, 0);
	ready(&m, 1, 3);
	execute(&m, 1, 3);
	late_end(&m, 1, 3);
	expect(&m, "m1 ProcStart p0 #2\n"
		   "m1 GoUnblock g3 #2 -\n"
		   "m1 GoStart g3 #3\n"
		   "m1 GoDestroy\n");
	expect_no_repair(&m);
	assert_int_equal(sequencer__stats(m.seq)->holes, 0);
	finish(&m);
}

/* The park is earlier than the hit, but later than another record of the thread. */
TEST(times)
{
	struct machine m;
	uint64_t time;

	two_running(&m, RELEASE);
	time = m.now += STEP_NS;
	execute_parked(&m, 1, 3, 1);
	m.now = time - GT_DERIVED_NS / 2;
	yield(&m, 2, 2, GT_YIELD_GOSCHED); /* between the park and the start */
	m.now = time + STEP_NS;
	expect(&m, "m1 GoBlock \"chan receive\" -\n"
		   "m2 GoStop \"runtime.Gosched\" -\n"
		   "m1 GoStart g3 #1\n");
	time = m.now;
	create(&m, 1, 9);
	m.now = time + 63;
	p_stop(&m, 2, 1);
	m.now = time + GT_DERIVED_NS / 2;
	late_park(&m, 1, 3);
	expect(&m, "m1 GoCreate g9 f19 -\n"
		   "m2 ProcStop\n"
		   "m1 GoBlock \"chan receive\" -\n");
	finish(&m);
}

/* By then a record is written however much earlier a park may be. */
#define LATER_NS (GT_DERIVED_NS_MAX + STEP_NS)

/* 8 ns after the previous record of its thread: in ticks of 64 ns that could be before it. */
TEST(a_tick_later)
{
	struct machine m;
	uint64_t time;

	two_running(&m, RELEASE);
	time = m.now += STEP_NS;
	create(&m, 1, 9);
	m.now = time + 63;
	yield(&m, 2, 2, GT_YIELD_GOSCHED);
	m.now = time + GT_DERIVED_NS + 8;
	late_park(&m, 1, 1);
	expect(&m, "m1 GoCreate g9 f19 -\n"
		   "m2 GoStop \"runtime.Gosched\" -\n"
		   "m1 GoBlock \"chan receive\" -\n");
	finish(&m);
}

/* How much earlier is in the record, of a park or an end. */
TEST(measured_times)
{
	const struct gt_park late = { .block_reason = 7, .derived = 5000 };
	const struct gt_ended ended = { 3, { .block_reason = 7, .derived = GT_DERIVED_NS_MAX } };
	struct machine m;
	uint64_t time;

	two_running(&m, RELEASE);
	time = m.now += 20000;
	machine_give(&m, 1, GT_EXECUTE_PARKED, G(3), 0,
		     &(struct gt_execute_parked){ 3, G(1), late });
	m.now = time - 5500;
	create(&m, 2, 9);
	m.now = time - 4500;
	yield(&m, 2, 2, GT_YIELD_GOSCHED);
	m.now = time + LATER_NS;
	expect(&m, "m2 GoCreate g9 f19 -\n"
		   "m1 GoBlock \"chan receive\" -\n"
		   "m2 GoStop \"runtime.Gosched\" -\n"
		   "m1 GoStart g3 #1\n");
	time = m.now += LATER_NS;
	machine_give(&m, 1, GT_ENDED, G(3), 0, &ended);
	m.now = time - GT_DERIVED_NS_MAX + 500;
	p_stop(&m, 2, 1);
	m.now = time + LATER_NS;
	expect(&m, "m1 GoDestroy\n"
		   "m2 ProcStop\n");
	finish(&m);
}

/* Not before the watermark, even if no record was put back until then. */
TEST(first_after_the_watermark)
{
	const struct gt_park late = { .block_reason = 7, .derived = 5000 };
	struct machine m;

	two_running(&m, RELEASE);
	yield(&m, 2, 2, GT_YIELD_GOSCHED);
	expect(&m, "m2 GoStop \"runtime.Gosched\" -\n");
	machine_give(&m, 1, GT_PARK, G(1), 0, &late);
	m.now += LATER_NS;
	expect(&m, "m1 GoBlock \"chan receive\" -\n");
	expect_no_repair(&m);
	finish(&m);
}

/* It is made runnable, and runs elsewhere, before its thread reports that it parked. */
TEST(made_runnable_before)
{
	struct machine m;

	two_running(&m, RELEASE);
	ready(&m, 2, 1);
	late_park(&m, 2, 2);
	execute(&m, 2, 1);
	expect(&m, "");
	m.now += 20 * MS; /* the thread has lost its CPU */
	expect(&m, "");
	execute_parked(&m, 1, 3, 1);
	expect(&m, "m1 GoBlock \"chan receive\" -\n"
		   "m2 GoUnblock g1 #2 -\n"
		   "m2 GoBlock \"chan receive\" -\n"
		   "m2 GoStart g1 #3\n"
		   "m1 GoStart g3 #1\n");
	finish(&m);
}

/* What waits for the waiting thread is not forced either. */
TEST(others_wait_as_long)
{
	struct machine m;

	two_running(&m, RELEASE);
	p_start(&m, 3, 2);
	execute(&m, 3, 9); /* created below, by a clock that is ahead */
	expect(&m, "m3 ProcStart p2 #1\n");
	late_park(&m, 1, 1);
	forget(&m);
	execute(&m, 1, 3);
	late_park(&m, 2, 2);
	ready(&m, 2, 3);
	create(&m, 2, 9);
	flush(&m);
	forget(&m);
	m.now += 20 * MS;
	expect(&m, "");
	late_park(&m, 1, 3);
	flush(&m);
	finish(&m);
}

/* It even ended elsewhere: then its thread cannot tell that it had parked here. */
TEST(ended_elsewhere)
{
	struct machine m;

	two_running(&m, RELEASE);
	ready(&m, 2, 1);
	late_park(&m, 2, 2);
	execute(&m, 2, 1);
	destroy(&m, 2, 1);
	execute_ended(&m, 1, 3, 1);
	expect(&m, "m1 GoBlock \"chan receive\" -\n"
		   "m2 GoUnblock g1 #2 -\n"
		   "m2 GoBlock \"chan receive\" -\n"
		   "m2 GoStart g1 #3\n"
		   "m2 GoDestroy\n"
		   "m1 GoStart g3 #1\n");
	finish(&m);
}

/* Another thread has started its P since: that does not show that it goes on. */
TEST(ended_and_lost_its_p)
{
	struct machine m;

	two_running(&m, RELEASE);
	late_park(&m, 2, 2);
	p_stop(&m, 2, 1);
	p_start(&m, 2, 0);
	m.now += LATER_NS;
	late_end(&m, 1, 1);
	expect(&m, "m2 GoBlock \"chan receive\" -\n"
		   "m2 ProcStop\n"
		   "m1 GoDestroy\n");
	finish(&m);
}

/* Its struct is used again, for one that is made runnable: it had ended all the same. */
TEST(ended_and_used_again)
{
	struct machine m;

	two_running(&m, RELEASE);
	machine_give(&m, 2, GT_CREATE, G(1), 0, &(struct gt_create){ 7, 17, 2 });
	late_park(&m, 2, 2);
	machine_give(&m, 2, GT_EXECUTE, G(1), 0, &(struct gt_execute){ 7 });
	late_park(&m, 2, 1);
	ready(&m, 2, 1);
	expect(&m, "");
	late_end(&m, 1, 1);
	expect(&m, "m1 GoDestroy\n"
		   "m2 GoCreate g7 f17 -\n"
		   "m2 GoBlock \"chan receive\" -\n"
		   "m2 GoStart g7 #1\n"
		   "m2 GoBlock \"chan receive\" -\n"
		   "m2 GoUnblock g7 #2 -\n");
	finish(&m);
}

/* Stack 5. */
static void send_stack(struct machine *m, uint64_t time)
{
	struct {
		struct gt_record rec;
		struct gt_stack stack;
		uint64_t pc[2];
	} sent = { .rec = { .time = time, .tid = 1, .kind = GT_STACK, .object = 5, .stack = 5 },
		   .stack = { .depth = 2, .placed = 1 },
		   .pc = { 20, 21 } };

	sent.rec.seq = m->ring_seq++;
	assert_int_equal(sequencer__record(m->seq, 0, &sent.rec, sizeof(sent)), 0);
}

/* A stack that was read after the goroutine had run elsewhere may be another's. */
TEST(no_stack_if_late)
{
	struct machine m;

	two_running(&m, RELEASE);
	send_stack(&m, 1);
	ready(&m, 2, 1);
	machine_give(&m, 1, GT_EXECUTE_PARKED, G(3), 5,
		     &(struct gt_execute_parked){ 3, G(1), chan_receive });
	expect(&m, "m1 GoBlock \"chan receive\" f20<f21\n"
		   "m2 GoUnblock g1 #2 -\n"
		   "m1 GoStart g3 #1\n");
	ready(&m, 2, 3);
	late_park(&m, 2, 2);
	execute(&m, 2, 3);
	machine_give(&m, 1, GT_PARK, G(3), 5, &chan_receive);
	flush(&m);
	assert_non_null(strstr(m.writer.text, "m1 GoBlock \"chan receive\" -\n"));
	finish(&m);
}

/* The same if the park is put back to before the other records. */
TEST(no_stack_if_put_back)
{
	const struct gt_park late = { .block_reason = 7, .derived = 5000 };
	struct machine m;
	uint64_t time;

	two_running(&m, RELEASE);
	send_stack(&m, 1);
	time = m.now += 20000;
	machine_give(&m, 1, GT_PARK, G(1), 5, &late);
	m.now = time - 4000;
	ready(&m, 2, 1);
	late_park(&m, 2, 2);
	execute(&m, 2, 1);
	m.now = time + LATER_NS;
	expect(&m, "m1 GoBlock \"chan receive\" -\n"
		   "m2 GoUnblock g1 #2 -\n"
		   "m2 GoBlock \"chan receive\" -\n"
		   "m2 GoStart g1 #3\n");
	finish(&m);
}

/* The stack is sent just before the hit, and thus after the time of the park. */
TEST(stack_of_hit)
{
	const struct gt_park late = { .block_reason = 7, .derived = 50000 };
	struct machine m;

	two_running(&m, RELEASE);
	m.now += 2 * LATER_NS;
	send_stack(&m, m.now - 1000);
	machine_give(&m, 1, GT_PARK, G(1), 5, &late);
	m.now += LATER_NS;
	expect(&m, "m1 GoBlock \"chan receive\" f20<f21\n");
	finish(&m);
}

/* The thread that would report it has sent another record: the report was lost. */
TEST(report_lost)
{
	struct machine m;

	two_running(&m, RELEASE);
	late_park(&m, 2, 2);
	ready(&m, 2, 1);
	plain(&m, 1, GT_STW_END, 0);
	m.now += 2 * MS;
	flush(&m);
	assert_non_null(strstr(m.writer.text, "m1 GoBlock \"unspecified\" -\nm2 GoUnblock g1"));
	assert_int_not_equal(stats(&m)->repairs, 0);
	stop(&m);
}

/* Nothing is waited for longer than half a second, or at all while records are being lost. */
TEST(patience_ends)
{
	struct machine m;

	two_running(&m, RELEASE);
	late_park(&m, 2, 2);
	ready(&m, 2, 1);
	expect(&m, "m2 GoBlock \"chan receive\" -\n");
	m.now += 490 * MS;
	expect(&m, "");
	m.now += 20 * MS;
	expect(&m, "m1 GoBlock \"unspecified\" -\nm2 GoUnblock g1 #2 -\n");
	stop(&m);

	two_running(&m, RELEASE);
	late_park(&m, 2, 2);
	assert_int_equal(sequencer__lost(m.seq, GT_PARK, 1), 0);
	ready(&m, 2, 1);
	m.now += 2 * MS;
	flush(&m);
	assert_non_null(strstr(m.writer.text, "m1 GoBlock \"unspecified\""));
	stop(&m);
}

/* The window ends before the report: the events that depend on it are not written. */
TEST(window_ends_before)
{
	struct machine m;

	two_running(&m, RELEASE);
	late_park(&m, 2, 2);
	ready(&m, 2, 1);
	execute(&m, 2, 1);
	assert_int_equal(sequencer__finish(m.seq, m.now), 0);
	assert_null(strstr(m.writer.text, "GoUnblock g1"));
	expect_no_repair(&m);
	stop(&m);
}

/* At the start of the window: it ran on the thread that reports its park late. */
TEST(at_the_start)
{
	struct machine m;

	machine_init(&m, 25, RELEASE);
	snap_g(&m, 1, GS_WAITING, 0);
	snap_g(&m, 2, GS_RUNNING, 2);
	snap_g(&m, 3, GS_RUNNABLE, 0);
	snap_m(&m, 1, 0);
	snap_m(&m, 2, 1);
	ready(&m, 2, 1);
	late_park(&m, 2, 2);
	execute(&m, 2, 1);
	execute_parked(&m, 1, 3, 1);
	snap_give(&m);
	assert_non_null(strstr(m.writer.text, "m1 GoBlock \"chan receive\" -\n"
					      "m2 GoUnblock g1 #1 -\n"
					      "m2 GoBlock \"chan receive\" -\n"
					      "m2 GoStart g1 #2\n"
					      "m1 GoStart g3 #1\n"));
	expect_no_repair(&m);
	stop(&m);
}

/* A park as late as that, of a goroutine that waited at the start and has run there since. */
TEST(late_but_not_at_the_start)
{
	struct machine m;

	machine_init(&m, 25, RELEASE);
	snap_g(&m, 1, GS_WAITING, 0);
	snap_g(&m, 2, GS_RUNNING, 2);
	snap_m(&m, 1, 0);
	snap_m(&m, 2, 1);
	ready(&m, 2, 1);
	execute(&m, 1, 1);
	ready(&m, 2, 1);
	late_park(&m, 2, 2);
	execute(&m, 2, 1);
	late_park(&m, 1, 1);
	snap_give(&m);
	assert_non_null(strstr(m.writer.text, "m2 GoUnblock g1 #1 -\n"
					      "m1 GoStart g1 #2\n"
					      "m1 GoBlock \"chan receive\" -\n"
					      "m2 GoUnblock g1 #3 -\n"
					      "m2 GoBlock \"chan receive\" -\n"
					      "m2 GoStart g1 #4\n"));
	expect_no_repair(&m);
	stop(&m);
}

RECORD(go_sys_enter, , unsigned int g)
{
	machine_give(m, tid, GT_GO_SYS_ENTER, G(g), 0, &(struct gt_value){ 7 });
}

RECORD(go_sys_exit, , unsigned int g)
{
	machine_give(m, tid, GT_GO_SYS_EXIT, G(g), 0, &(struct gt_go_sys_exit){ 7, 1 });
}

/* One record of a system call is that of the goroutine and that of its thread. */
TEST(system_calls)
{
	const struct kernel_thread *k;
	struct machine m;

	running(&m, 26, "go1.26.0", 3);
	go_sys_enter(&m, 1, 1);
	expect(&m, "m1 GoSyscallBegin #2 -\n");
	k = kernel_threads__find(&m.seq->kernel.threads, 1);
	assert_int_equal(k->call, 7);
	go_sys_exit(&m, 1, 1);
	late_park(&m, 1, 1);
	expect(&m, "m1 GoSyscallEnd\nm1 GoBlock \"chan receive\" -\n");
	assert_int_equal(kernel_threads__find(&m.seq->kernel.threads, 1)->call, KERNEL_NO_CALL);
	assert_int_equal(sequencer__stats(m.seq)->holes, 0);
	finish(&m);
}

/* Without kernel events it is that of the goroutine only. */
TEST(system_calls_only)
{
	struct machine m;

	running(&m, 26, "go1.26.0", 3);
	sequencer__calls_only(m.seq);
	go_sys_enter(&m, 1, 1);
	expect(&m, "m1 GoSyscallBegin #2 -\n");
	assert_null(kernel_threads__find(&m.seq->kernel.threads, 1));
	go_sys_exit(&m, 1, 1);
	late_park(&m, 1, 1);
	expect(&m, "m1 GoSyscallEnd\nm1 GoBlock \"chan receive\" -\n");
	assert_null(kernel_threads__find(&m.seq->kernel.threads, 1));
	finish(&m);
}

/* The P is taken before the thread, which has lost its CPU, enters the kernel. */
TEST(taken_before_the_entry)
{
	struct machine m;

	running(&m, 26, "go1.26.0", 3);
	late_park(&m, 1, 1);
	ready(&m, 1, 1);
	execute(&m, 1, 1);
	flush(&m);
	forget(&m);
	p_handoff(&m, 3, 0);
	p_start(&m, 2, 0);
	m.now += 20 * MS;
	expect(&m, "");
	send_stack(&m, m.now - 1000);
	machine_give(&m, 1, GT_GO_SYS_ENTER, G(1), 5, &(struct gt_value){ 1 });
	flush(&m);
	assert_non_null(strstr(m.writer.text, "m1 GoSyscallBegin #2 f21\n"
					      "m2 ProcSteal p0 #3 m1\n"
					      "m2 ProcStart p0 #4\n"));
	finish(&m);
}

/* The same, with much of others before the thread sends its record: it left one call for another. */
TEST(taken_before_the_next_call)
{
	struct machine m;

	running(&m, 26, "go1.26.0", 3);
	go_sys_enter(&m, 1, 1);
	go_sys_exit(&m, 1, 1);
	flush(&m);
	forget(&m);
	p_start(&m, 2, 0);
	m.now += 2 * MS;
	plain(&m, 3, GT_SWEEP_END, 0);
	m.now += 2 * MS;
	go_sys_enter(&m, 1, 1);
	expect(&m, "m1 GoSyscallEnd\n"
		   "m1 GoSyscallBegin #3 -\n"
		   "m2 ProcSteal p0 #4 m1\n"
		   "m2 ProcStart p0 #5\n");
	expect_no_repair(&m);
	finish(&m);
}

/*
 * Up to 1.25 the end of a call is not derived, and a thread may take its P back from the call of
 * another one, which has not entered the kernel yet.
 */
TEST(taken_back)
{
	struct machine m;

	two_running(&m, RELEASE);
	go_sys_enter(&m, 1, 1);
	late_park(&m, 2, 2);
	p_stop(&m, 2, 1);
	p_start(&m, 2, 0);
	execute(&m, 2, 3);
	flush(&m);
	forget(&m);
	on_g(&m, 1, GT_SYSCALL_EXIT, 1);
	m.now += 20 * MS;
	expect(&m, "");
	go_sys_enter(&m, 2, 3);
	expect(&m, "m2 GoSyscallBegin #5 -\n"
		   "m1 ProcSteal p0 #6 m2\n"
		   "m1 ProcStart p0 #7\n"
		   "m1 GoSyscallEndBlocked\n"
		   "m1 GoStart g1 #2\n");
	expect_no_repair(&m);
	finish(&m);
}

/*
 * While a record waits for a silent thread, those of others wait, too: here the last one would fit,
 * but g3 was made runnable twice.
 */
TEST(nothing_is_overtaken)
{
	struct machine m;

	two_running(&m, RELEASE);
	p_start(&m, 3, 2);
	execute(&m, 3, 3);
	late_park(&m, 3, 3);
	flush(&m);
	forget(&m);
	ready(&m, 2, 1); /* waits for thread 1 */
	ready(&m, 2, 3);
	m.now += MS;
	execute(&m, 3, 3);
	late_park(&m, 3, 3);
	m.now += MS;
	p_start(&m, 4, 3);
	ready(&m, 4, 3);
	expect(&m, "");
	late_park(&m, 1, 1);
	expect(&m, "m1 GoBlock \"chan receive\" -\n"
		   "m2 GoUnblock g1 #2 -\n"
		   "m2 GoUnblock g3 #2 -\n"
		   "m3 GoStart g3 #3\n"
		   "m3 GoBlock \"chan receive\" -\n"
		   "m4 ProcStart p3 #1\n"
		   "m4 GoUnblock g3 #4 -\n");
	finish(&m);
}
