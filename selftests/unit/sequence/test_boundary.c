// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of generation boundaries: when one is due, which statuses the next generation needs,
 * sequence numbers, and times that increase in the order of events. Under test:
 * sequence/boundary.c.
 */
#include "unit/test.h"
#include "sequence/sequencer_impl.h"
#include "unit/machine.h"

#define SECOND 1000000000ull

TEST(first_has_all)
{
	machine_init(25, "go1.25.3");
	snap_g(1, GS_WAITING, 0);
	snap_give();
	m.now += 2 * SECOND;
	ready(1, 1);
	flush();
	assert_non_null(strstr(m.writer.text, "- g1 4 f1\n"));
	assert_non_null(strstr(m.writer.text, "- p3 2\n"));
	assert_non_null(strstr(m.writer.text, "close\n"));
}

/* Only what has sequenced events needs a status; numbers restart at 1. */
TEST(later_generations_have_what_moved)
{
	two_running("go1.25.3");
	m.now = machine_t0 + SECOND;
	execute(9, 99); /* does not fit, but advances the time */
	park(1, 1, 0);	/* has no number: no status */
	execute(1, 3);
	ready(1, 1);
	ready(2, 77); /* unknown: held */
	expect("close\nopen 999999999\n"
	       "m1 GoBlock \"unspecified\" -\n"
	       "status - g3 1 f3\nm1 GoStart g3 #1\n"
	       "status m1 g1 2 f1\nm1 GoUnblock g1 #1 -\n");
}

/* A status describes the generation's start, not the time at which it is needed. */
TEST(statuses_are_of_the_start)
{
	two_running("go1.25.3");
	m.now = machine_t0 + SECOND;
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_NO_P, 1);
	execute(2, 1); /* its goroutine runs: held */
	park(1, 1, 0);
	expect("close\nopen 999999999\n"
	       "status m1 p0 1\nm1 GoSyscallBegin #1 -\n"
	       "m1 ProcSteal p0 #2 m1\nm1 GoSyscallEndBlocked\n");
}

TEST(created_needs_no_status)
{
	two_running("go1.25.3");
	m.now = machine_t0 + SECOND;
	create(1, 9);
	park(1, 1, 0);
	execute(1, 9);
	expect("close\nopen 999999999\n"
	       "m1 GoCreate g9 f19 -\nm1 GoBlock \"unspecified\" -\nm1 GoStart g9 #1\n");
	m.now = machine_t0 + 2 * SECOND;
	park(1, 9, 0);
	ready(1, 9);
	expect("close\nopen 1999999999\n"
	       "m1 GoBlock \"unspecified\" -\nstatus m1 g9 2 f19\nm1 GoUnblock g9 #1 -\n");
}

TEST(closes_by_size)
{
	two_running("go1.25.3");
	m.writer.size = 16 << 20;
	park(1, 1, 0);
	flush();
	assert_int_equal(strncmp(m.writer.text, "close\nopen ", 11), 0);
}

/* A process that does nothing: its generations end all the same, and the last one with the recording. */
TEST(without_records)
{
	two_running("go1.25.3");
	for (unsigned int i = 1; i <= 5; i++)
		assert_int_equal(sequencer__watermark(m.seq, machine_t0 + i * (SECOND / 2)), 0);
	assert_string_equal(m.writer.text, "close\nopen 1000000000\nclose\nopen 2000000000\n");
	assert_int_equal(m.writer.end, 2 * SECOND);
	forget();
	m.now = machine_t0 + 3 * SECOND - 1;
	park(1, 1, 0);
	assert_int_equal(sequencer__finish(m.seq, machine_t0 + 3 * SECOND), 0);
	assert_string_equal(m.writer.text, "m1 GoBlock \"unspecified\" -\nclose\n");
	assert_int_equal(m.writer.end, 3 * SECOND);
}

/* A generation ends when it is due, with a watermark before the next record as without. */
TEST(watermarks_move_no_boundary)
{
	for (int with = 0; with < 2; with++) {
		two_running("go1.25.3");
		if (with)
			assert_int_equal(
				sequencer__watermark(m.seq, machine_t0 + SECOND + SECOND / 4), 0);
		m.now = machine_t0 + SECOND + SECOND / 2;
		park(1, 1, 0);
		expect("close\nopen 1000000000\nm1 GoBlock \"unspecified\" -\n");
	}
}

/* At the end of a generation there is an event already, which shows it. */
TEST(ends_with_its_last_event)
{
	two_running("go1.25.3");
	park(1, 1, 0);
	assert_int_equal(sequencer__watermark(m.seq, m.now - STEP_NS), 0);
	assert_int_equal(sequencer__end_generation(m.seq), 0);
	expect("m1 GoBlock \"unspecified\" -\nclose\nopen 6000\n");
	assert_int_equal(m.writer.end, 0);
}

/* A goid that ends and begins again: readers could read the two in the wrong order. */
TEST(ended_id_waits_for_the_next)
{
	two_running("go1.25.3");
	destroy(1, 1);
	create(2, 1);
	expect("m1 GoDestroy\n");
	m.now += 2000000;
	execute(1, 3); /* advances the time: the create is dropped */
	expect("m1 GoStart g3 #1\n");
	assert_int_equal(stats()->dropped, 1);
	m.now = machine_t0 + SECOND;
	create(2, 1);
	expect("close\nopen 999999999\nm2 GoCreate g1 f11 -\n");
}

/* A stop-the-world pause delays the boundary, for a while. */
TEST(stw_delays_the_boundary)
{
	two_running("go1.25.3");
	plain(1, GT_STW_BEGIN, 1);
	m.now = machine_t0 + SECOND;
	create(1, 8);
	plain(1, GT_STW_END, 0);
	create(1, 9);
	expect("m1 STWBegin \"GC mark termination\" -\nm1 GoCreate g8 f18 -\n"
	       "m1 STWEnd\nclose\nopen 1000001001\nm1 GoCreate g9 f19 -\n");
	plain(1, GT_STW_BEGIN, 1);
	m.now = machine_t0 + 8 * SECOND + SECOND / 2;
	create(1, 10);
	plain(1, GT_STW_END, 0);
	expect("m1 STWBegin \"GC mark termination\" -\nm1 STWEnd\n"
	       "close\nopen 8000001001\nm1 GoCreate g10 f20 -\n");
	expect_no_repair();
}

/* No goroutine is left that can end the pause: the range is its last. */
TEST(stw_end_lost)
{
	two_running("go1.25.3");
	plain(1, GT_STW_BEGIN, 1);
	park(1, 1, 0);
	m.now = machine_t0 + 9 * SECOND;
	ready(2, 1);
	execute(1, 1);
	plain(1, GT_STW_BEGIN, 1);
	expect("m1 STWBegin \"GC mark termination\" -\nm1 GoBlock \"unspecified\" -\n"
	       "close\nopen 8999999999\n"
	       "status - g1 4 f1\nm2 GoUnblock g1 #1 -\nm1 GoStart g1 #2\n");
}

/*
 * Times increase with the events whatever the records' times, by a tick when the thread changes:
 * Go's reader fails on equal times of threads that wait for each other.
 */
TEST(times_go_up)
{
	two_running("go1.25.3");
	m.writer.times = true;
	m.now = machine_t0 + 100000;
	park(1, 1, 0);
	m.now = machine_t0 + 100000;
	park(2, 2, 0);
	m.now = machine_t0 + 100000;
	execute(2, 3);
	m.now = machine_t0 + 100003;
	ready(1, 4); /* before its park: held */
	m.now = machine_t0 + 100002;
	execute(1, 4);
	expect("m1 GoBlock @100000 \"unspecified\" -\n"
	       "m2 GoBlock @100001 \"unspecified\" -\n"
	       "m2 GoStart @100001 g3 #1\n"
	       "m1 GoStart @100002 g4 #1\n");
}

TEST(no_time_before_the_start)
{
	two_running("go1.25.3");
	m.writer.times = true;
	m.now = machine_t0 + SECOND;
	park(1, 1, 0);
	expect("close\nopen 999999999\nm1 GoBlock @1000000000 \"unspecified\" -\n");
	m.now = machine_t0 + 5000;
	machine_give(1, GT_EXECUTE, G(3), 0, &(struct gt_execute){ 3 }); /* late */
	m.now = machine_t0 + SECOND + 10000;
	expect("status - g3 1 f3\nm1 GoStart @1000000000 g3 #1\n");
}

/* A status describes the start of the generation, whatever unnumbered events there were since. */
TEST(procs_that_moved_without_a_number)
{
	two_running("go1.25.3");
	m.now = machine_t0 + SECOND;
	execute(9, 99);
	park(2, 2, 0);
	p_stop(2, 1);
	p_start(3, 1);
	ready(1, 2);
	expect("close\nopen 999999999\n"
	       "m2 GoBlock \"unspecified\" -\n"
	       "m2 ProcStop\n"
	       "status m2 p1 1\nm3 ProcStart p1 #1\n"
	       "status m2 g2 2 f2\nm1 GoUnblock g2 #1 -\n");
}

static int begin_file(void *ctx, uint64_t time)
{
	return 1;
}

/* A file in which goroutines only run on has the number of Ps; one in which none runs, with the next start. */
TEST(each_file_counts_procs)
{
	two_running("go1.25.3");
	m.seq->opts.between = begin_file;
	m.seq->runtime.procs = 4;
	assert_int_equal(sequencer__end_generation(m.seq), 0);
	assert_non_null(strstr(m.writer.text, "m1 ProcsChange 4 -\n"));
	assert_null(strstr(m.writer.text, "m2 ProcsChange"));
	park(1, 1, 0);
	park(2, 2, 0);
	flush_and_forget();
	assert_int_equal(sequencer__end_generation(m.seq), 0);
	assert_null(strstr(m.writer.text, "ProcsChange"));
	execute(2, 3);
	flush();
	assert_non_null(strstr(m.writer.text, "m2 GoStart g3 #1\nm2 ProcsChange 4 -\n"));
}

/* The first goroutine that runs in a file may return from a system call, or be switched to. */
TEST(each_way_to_run_counts_procs)
{
	two_running("go1.25.3");
	m.seq->opts.between = begin_file;
	m.seq->runtime.procs = 4;
	park(2, 2, 0);
	on_g(1, GT_SYSCALL_ENTER, 1);
	flush_and_forget();
	assert_int_equal(sequencer__end_generation(m.seq), 0);
	assert_null(strstr(m.writer.text, "ProcsChange"));
	on_g(1, GT_SYSCALL_EXIT, 1);
	flush();
	assert_non_null(strstr(m.writer.text, "m1 GoSyscallEnd\nm1 ProcsChange 4 -\n"));
	forget();
	m.seq->runtime.procs_due = 3; /* as after a loss, when no goroutine was seen to run */
	create_blocked(1, 10);
	coswitch(1, 1, 10, false);
	flush();
	assert_non_null(strstr(m.writer.text, "m1 GoSwitch g10 #1\nm1 ProcsChange 3 -\n"));
}
