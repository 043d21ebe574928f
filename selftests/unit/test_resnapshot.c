// SPDX-License-Identifier: GPL-2.0
/*
 * After a loss: what a pair of snapshots says against the model, and the smallest legal transitions
 * that make it true. Records outrank it. Also what the file says of losses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"

#define SECOND 1000000000ull

/* Begins another snapshot, long after whatever was told. */
static void snap_begin(struct machine *m)
{
	m->now += SECOND;
	m->snap.ng = m->snap.nm = 0;
}

/* A pair that is what was collected; `between` records things of that time. */
static void pair_give(struct machine *m, void (*between)(struct machine *m))
{
	struct snapshot first = m->snap, second = m->snap;

	first.time = m->now;
	first.time_end = ++m->now;
	m->now += 1000;
	if (between)
		between(m);
	second.time = m->now;
	second.time_end = ++m->now;
	m->now += STEP_NS;
	assert_int_equal(sequencer__resnapshot(m->seq, &first, &second), 0);
	flush(m);
}

/* Goroutines 1 to 3 runnable, then 1 runs on thread 1 with P 0. */
static void begin(struct machine *m, unsigned int version, const char *go)
{
	start(m, version, go, 3);
	p_start(m, 1, 0);
	execute(m, 1, 1);
	flush(m);
	forget(m);
}

static void agreement_changes_nothing(void **state)
{
	struct machine m;

	begin(&m, 25, "go1.25.3");
	snap_begin(&m);
	snap_g(&m, 1, GS_RUNNING, 1);
	snap_g(&m, 2, GS_RUNNABLE, 0);
	snap_g(&m, 3, GS_RUNNABLE, 0);
	snap_m(&m, 1, 0);
	pair_give(&m, NULL);
	expect(&m, "");
	assert_int_equal(stats(&m)->resnapshots, 1);
	assert_int_equal(stats(&m)->repairs, 0);
	stop(&m);
}

/* It blocked, another runs there since, one has ended, and one came: all of that was lost. */
static void puts_goroutines_right(void **state)
{
	struct machine m;

	begin(&m, 25, "go1.25.3");
	snap_begin(&m);
	snap_g(&m, 1, GS_WAITING, 0);
	snap_g(&m, 2, GS_RUNNING, 1);
	snap_g(&m, 4, GS_WAITING, 0);
	snap_m(&m, 1, 0);
	pair_give(&m, NULL);
	expect(&m, "m1 GoBlock \"unspecified\" -\n"
		   "m1 GoStart g3 #1\n"
		   "m1 GoDestroy\n"
		   "m1 GoCreateBlocked g4 f4 -\n"
		   "m1 GoStart g2 #1\n");
	assert_int_equal(stats(&m)->corrected, 4);
	assert_int_equal(stats(&m)->repairs, 5);
	stop(&m);
}

/* Version 22 can't create a blocked one. */
static void creates_by_parts(void **state)
{
	struct machine m;

	begin(&m, 22, "go1.22.3");
	park(&m, 1, 1, 0);
	flush(&m);
	forget(&m);
	snap_begin(&m);
	snap_g(&m, 1, GS_WAITING, 0);
	snap_g(&m, 2, GS_RUNNABLE, 0);
	snap_g(&m, 3, GS_RUNNABLE, 0);
	snap_g(&m, 4, GS_WAITING, 0);
	snap_m(&m, 1, 0);
	pair_give(&m, NULL);
	expect(&m, "m1 GoCreate g4 f4 -\n"
		   "m1 GoStart g4 #1\n"
		   "m1 GoBlock \"unspecified\" -\n");
	stop(&m);
}

/* Nothing runs: what ends needs a thread and a P for a moment. */
static void borrows_a_proc(void **state)
{
	struct machine m;

	begin(&m, 25, "go1.25.3");
	park(&m, 1, 1, 0);
	p_stop(&m, 1, 0);
	flush(&m);
	forget(&m);
	snap_begin(&m);
	snap_g(&m, 2, GS_RUNNABLE, 0);
	snap_g(&m, 3, GS_RUNNABLE, 0);
	snap_m(&m, 1, -1);
	pair_give(&m, NULL);
	assert_non_null(strstr(m.writer.text, "m1 ProcStart p"));
	assert_non_null(strstr(m.writer.text, "m1 GoUnblock g1 #2 -\nm1 GoStart g1 #3\n"
					      "m1 GoDestroy\nm1 ProcStop\n"));
	stop(&m);
}

static void system_calls(void **state)
{
	struct machine m;

	/* the enter was lost, and that its P was taken */
	begin(&m, 25, "go1.25.3");
	snap_begin(&m);
	snap_g(&m, 1, GS_SYSCALL, 1);
	snap_g(&m, 2, GS_RUNNABLE, 0);
	snap_g(&m, 3, GS_RUNNABLE, 0);
	snap_m(&m, 1, -1);
	pair_give(&m, NULL);
	expect(&m, "m1 GoSyscallBegin #2 -\nm1 ProcSteal p0 #3 m1\n");
	on_g(&m, 1, GT_SYSCALL_NO_P, 1);
	flush(&m);
	assert_non_null(strstr(m.writer.text, "m1 GoSyscallEndBlocked\n"));
	stop(&m);

	/* the exit was lost */
	begin(&m, 25, "go1.25.3");
	on_g(&m, 1, GT_SYSCALL_ENTER, 1);
	flush(&m);
	forget(&m);
	snap_begin(&m);
	snap_g(&m, 1, GS_RUNNING, 1);
	snap_g(&m, 2, GS_RUNNABLE, 0);
	snap_g(&m, 3, GS_RUNNABLE, 0);
	snap_m(&m, 1, 0);
	pair_give(&m, NULL);
	expect(&m, "m1 GoSyscallEnd\n");
	stop(&m);
}

/* Two threads have swapped their Ps, and the file said nothing of it. */
static void puts_procs_right(void **state)
{
	struct machine m;

	begin(&m, 25, "go1.25.3");
	p_start(&m, 2, 1);
	execute(&m, 2, 2);
	flush(&m);
	forget(&m);
	snap_begin(&m);
	snap_g(&m, 1, GS_RUNNING, 1);
	snap_g(&m, 2, GS_RUNNING, 2);
	snap_g(&m, 3, GS_RUNNABLE, 0);
	snap_m(&m, 1, 1);
	snap_m(&m, 2, 0);
	pair_give(&m, NULL);
	assert_int_equal(stats(&m)->corrected_procs, 2);
	assert_non_null(strstr(m.writer.text, "m1 ProcStart p1 #"));
	assert_non_null(strstr(m.writer.text, "m2 ProcStart p0 #"));
	assert_non_null(strstr(m.writer.text, "m1 GoStart g1 #"));
	assert_non_null(strstr(m.writer.text, "m2 GoStart g2 #"));
	stop(&m);
}

static void park_it(struct machine *m)
{
	park(m, 1, 1, 0);
}

/* A record of the pair's own time is right, and the snapshots are from before it. */
static void records_outrank(void **state)
{
	struct machine m;

	begin(&m, 25, "go1.25.3");
	snap_begin(&m);
	snap_g(&m, 1, GS_RUNNING, 1);
	snap_g(&m, 2, GS_RUNNABLE, 0);
	snap_g(&m, 3, GS_RUNNABLE, 0);
	snap_m(&m, 1, 0);
	pair_give(&m, park_it);
	assert_int_equal(stats(&m)->corrected, 0);
	assert_int_equal(stats(&m)->repairs, 0);
	stop(&m);
}

/* What was told just before may not show in the status yet: another pair is wanted. */
static void lag_is_waited_for(void **state)
{
	struct machine m;
	uint64_t before;

	begin(&m, 25, "go1.25.3");
	snap_begin(&m);
	park(&m, 1, 1, 0);
	flush(&m);
	forget(&m);
	snap_g(&m, 1, GS_RUNNING, 1);
	snap_g(&m, 2, GS_RUNNABLE, 0);
	snap_g(&m, 3, GS_RUNNABLE, 0);
	snap_m(&m, 1, 0);
	before = sequencer__losses(m.seq);
	pair_give(&m, NULL);
	expect(&m, "");
	assert_true(sequencer__losses(m.seq) > before);
	/* but not for ever */
	for (unsigned int i = 0; i < 10; i++) {
		before = sequencer__losses(m.seq);
		pair_give(&m, NULL);
	}
	assert_int_equal(sequencer__losses(m.seq), before);
	stop(&m);
}

/* Its end and another's create were lost: the struct is that one's, who is told by records. */
static void struct_has_another(void **state)
{
	struct machine m;

	begin(&m, 25, "go1.25.3");
	snap_begin(&m);
	snap_g(&m, 1, GS_RUNNING, 1);
	snap_g(&m, 2, GS_RUNNABLE, 0);
	snap_g(&m, 3, GS_WAITING, 0);
	m.snap_g[2].goid = 33;
	snap_m(&m, 1, 0);
	pair_give(&m, NULL);
	expect(&m, "m1 GoStop \"unspecified\" -\n"
		   "m1 GoStart g3 #1\n"
		   "m1 GoDestroy\n"
		   "m1 GoCreateBlocked g33 f3 -\n"
		   "m1 GoStart g1 #2\n");
	stop(&m);
}

/* The first snapshot saw it on thread 3, and the second one on 2: no record says which holds. */
static void a_thread_that_differs_is_left_open(void **state)
{
	struct snapshot_g earlier[4];
	struct snapshot first, second;
	struct machine m;
	uint64_t before;

	begin(&m, 25, "go1.25.3");
	snap_begin(&m);
	snap_g(&m, 1, GS_RUNNING, 1);
	snap_g(&m, 2, GS_RUNNING, 2);
	snap_g(&m, 3, GS_RUNNABLE, 0);
	snap_m(&m, 1, 0);
	snap_m(&m, 2, 1);
	snap_m(&m, 3, 2);
	memcpy(earlier, m.snap_g, sizeof(earlier));
	earlier[1].m = M(3);
	before = sequencer__losses(m.seq);
	first = second = m.snap;
	first.g = earlier;
	first.time = m.now;
	first.time_end = second.time = m.now + 1;
	second.time_end = m.now + 2;
	m.now += STEP_NS;
	assert_int_equal(sequencer__resnapshot(m.seq, &first, &second), 0);
	flush(&m);
	assert_null(strstr(m.writer.text, "GoStart g2"));
	assert_true(sequencer__losses(m.seq) > before);
	stop(&m);
}

static unsigned int stray_kind; /* of the record below */

static void stray(struct machine *m)
{
	static const uint64_t payload[3];

	machine_give(m, 2, stray_kind, G(4), 0, payload);
}

/*
 * Goroutine 4, whose create was lost, is in a system call in both snapshots; a record between them
 * that no goroutine was found for says more.
 */
static void strays_outrank_snapshots(void **state)
{
	static const struct {
		unsigned int kind;
		const char *created; /* how it appears in the trace */
	} cases[] = {
		{ GT_SYSCALL_NO_P, "GoCreate g4 f4 -\n" },
		{ GT_READY, "GoCreate g4 f4 -\n" },
		{ GT_YIELD, "GoCreate g4 f4 -\n" },
		{ GT_PARK, "GoCreateBlocked g4 f4 -\n" },
		{ GT_PREEMPT_PARK, "GoCreateBlocked g4 f4 -\n" },
		{ GT_DESTROY, NULL },
		{ GT_DESTROY_SYSCALL, NULL },
	};
	struct machine m;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&m, 25, "go1.25.3");
		assert_int_equal(sequencer__lost(m.seq, GT_CREATE, 1), 0);
		snap_begin(&m);
		snap_g(&m, 1, GS_RUNNING, 1);
		snap_g(&m, 2, GS_RUNNABLE, 0);
		snap_g(&m, 3, GS_RUNNABLE, 0);
		snap_g(&m, 4, GS_SYSCALL, 2);
		snap_m(&m, 1, 0);
		snap_m(&m, 2, 1);
		stray_kind = cases[i].kind;
		pair_give(&m, stray);
		if (cases[i].created) {
			assert_non_null(strstr(m.writer.text, cases[i].created));
			assert_null(strstr(m.writer.text, "GoStart g4"));
		} else {
			assert_null(strstr(m.writer.text, "g4"));
		}
		stop(&m);
	}
}

static void pairs_of_no_use(void **state)
{
	struct machine m;

	machine_init(&m, 25, "go1.25.3");
	assert_int_equal(sequencer__resnapshot(m.seq, &m.snap, &m.snap), -EAGAIN);
	stop(&m);
	begin(&m, 25, "go1.25.3");
	snap_begin(&m);
	pair_give(&m, NULL); /* no goroutine in it: nothing ends for that */
	expect(&m, "");
	m.snap.time = m.snap.time_end = m.now + SECOND;
	assert_int_equal(sequencer__resnapshot(m.seq, &m.snap, &m.snap), 0);
	assert_int_equal(sequencer__resnapshot(m.seq, &m.snap, &m.snap), -EAGAIN);
	stop(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agreement_changes_nothing),
		cmocka_unit_test(puts_goroutines_right),
		cmocka_unit_test(creates_by_parts),
		cmocka_unit_test(borrows_a_proc),
		cmocka_unit_test(system_calls),
		cmocka_unit_test(puts_procs_right),
		cmocka_unit_test(records_outrank),
		cmocka_unit_test(lag_is_waited_for),
		cmocka_unit_test(struct_has_another),
		cmocka_unit_test(a_thread_that_differs_is_left_open),
		cmocka_unit_test(strays_outrank_snapshots),
		cmocka_unit_test(pairs_of_no_use),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
