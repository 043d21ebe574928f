// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of transitions without a hit of their own: parks and ends that their thread reports with its
 * next hit. Under test: sequence/derived.c, and what hold.c, state.c and initial.c do for them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

static void one_record_for_two(void **state)
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
static void times(void **state)
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
static void a_tick_later(void **state)
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
static void measured_times(void **state)
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
static void first_after_the_watermark(void **state)
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
static void made_runnable_before(void **state)
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
static void others_wait_as_long(void **state)
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
static void ended_elsewhere(void **state)
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
static void ended_and_lost_its_p(void **state)
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
static void ended_and_used_again(void **state)
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
static void no_stack_if_late(void **state)
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
static void no_stack_if_put_back(void **state)
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
static void stack_of_hit(void **state)
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
static void report_lost(void **state)
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
static void patience_ends(void **state)
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

/* The window ends before the report: the events that depend on it are lost, which is stated. */
static void window_ends_before(void **state)
{
	struct machine m;

	two_running(&m, RELEASE);
	late_park(&m, 2, 2);
	ready(&m, 2, 1);
	execute(&m, 2, 1);
	assert_int_equal(sequencer__finish(m.seq, m.now), 0);
	assert_null(strstr(m.writer.text, "GoUnblock g1"));
	assert_int_equal(sequencer__stats(m.seq)->repairs, 0);
	assert_int_equal(sequencer__stats(m.seq)->dropped, 0);
	assert_int_equal(sequencer__stats(m.seq)->lost, 2);
	assert_int_equal(sequencer__stats(m.seq)->lost_by_kind[GT_READY], 1);
	assert_int_equal(sequencer__stats(m.seq)->lost_by_kind[GT_EXECUTE], 1);
	stop(&m);
}

/* At the start of the window: it ran on the thread that reports its park late. */
static void at_the_start(void **state)
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
static void late_but_not_at_the_start(void **state)
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
static void system_calls(void **state)
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
static void system_calls_only(void **state)
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
static void taken_before_the_entry(void **state)
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
static void taken_before_the_next_call(void **state)
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
static void taken_back(void **state)
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
static void nothing_is_overtaken(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_record_for_two),
		cmocka_unit_test(times),
		cmocka_unit_test(a_tick_later),
		cmocka_unit_test(measured_times),
		cmocka_unit_test(first_after_the_watermark),
		cmocka_unit_test(made_runnable_before),
		cmocka_unit_test(others_wait_as_long),
		cmocka_unit_test(ended_elsewhere),
		cmocka_unit_test(ended_and_lost_its_p),
		cmocka_unit_test(ended_and_used_again),
		cmocka_unit_test(no_stack_if_late),
		cmocka_unit_test(no_stack_if_put_back),
		cmocka_unit_test(stack_of_hit),
		cmocka_unit_test(report_lost),
		cmocka_unit_test(patience_ends),
		cmocka_unit_test(window_ends_before),
		cmocka_unit_test(at_the_start),
		cmocka_unit_test(late_but_not_at_the_start),
		cmocka_unit_test(system_calls),
		cmocka_unit_test(system_calls_only),
		cmocka_unit_test(taken_before_the_entry),
		cmocka_unit_test(taken_before_the_next_call),
		cmocka_unit_test(taken_back),
		cmocka_unit_test(nothing_is_overtaken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
