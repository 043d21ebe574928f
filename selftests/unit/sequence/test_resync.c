// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of corrections after a loss: differences between a pair of snapshots and the model, and the
 * fewest legal transitions that correct them. Records have precedence. Also what the trace contains
 * about losses. Under test: sequence/resync.c, resync_compare.c and losses.c.
 */
#include "unit/test.h"
#include "unit/machine.h"

#define SECOND 1000000000ull

/* Begins another snapshot, long after any record. */
static void snap_begin(void)
{
	m.now += SECOND / 8;
	m.snap.ng = m.snap.nm = 0;
}

/* Passes the collected pair; `between` records events between the two. */
static void pair_give(void (*between)(void))
{
	struct snapshot first = m.snap, second = m.snap;

	first.time = m.now;
	first.time_end = ++m.now;
	m.now += 1000;
	if (between)
		between();
	second.time = m.now;
	second.time_end = ++m.now;
	m.now += STEP_NS;
	assert_int_equal(sequencer__resnapshot(m.seq, &first, &second), 0);
	flush();
}

/* Goroutines 1 to 3 runnable, then 1 runs on thread 1 with P 0. */
static void begin(unsigned int version, const char *go)
{
	start(version, go, 3);
	p_start(1, 0);
	execute(1, 1);
	flush_and_forget();
}

TEST(agreement_changes_nothing)
{
	begin(25, "go1.25.3");
	snap_begin();
	snap_g(1, GS_RUNNING, 1);
	snap_g(2, GS_RUNNABLE, 0);
	snap_g(3, GS_RUNNABLE, 0);
	snap_m(1, 0);
	pair_give(NULL);
	expect("");
	assert_int_equal(stats()->resnapshots, 1);
	assert_int_equal(stats()->repairs, 0);
}

/* One blocked, another runs in its place, one has ended, and one is new: all of that was lost. */
TEST(corrects_goroutines)
{
	begin(25, "go1.25.3");
	snap_begin();
	snap_g(1, GS_WAITING, 0);
	snap_g(2, GS_RUNNING, 1);
	snap_g(4, GS_WAITING, 0);
	snap_m(1, 0);
	pair_give(NULL);
	expect("m1 GoBlock \"unspecified\" -\n"
	       "m1 GoStart g3 #1\n"
	       "m1 GoDestroy\n"
	       "m1 GoCreateBlocked g4 f4 -\n"
	       "m1 GoStart g2 #1\n");
	assert_int_equal(stats()->corrected, 4);
	assert_int_equal(stats()->repairs, 5);
}

/* Trace format 1.22 has no event to create a blocked goroutine. */
TEST(creates_by_parts)
{
	begin(22, "go1.22.3");
	park(1, 1, 0);
	flush_and_forget();
	snap_begin();
	snap_g(1, GS_WAITING, 0);
	snap_g(2, GS_RUNNABLE, 0);
	snap_g(3, GS_RUNNABLE, 0);
	snap_g(4, GS_WAITING, 0);
	snap_m(1, 0);
	pair_give(NULL);
	expect("m1 GoCreate g4 f4 -\n"
	       "m1 GoStart g4 #1\n"
	       "m1 GoBlock \"unspecified\" -\n");
}

/* Nothing runs: a goroutine can end only with a thread and a P. */
TEST(borrows_a_proc)
{
	begin(25, "go1.25.3");
	park(1, 1, 0);
	p_stop(1, 0);
	flush_and_forget();
	snap_begin();
	snap_g(2, GS_RUNNABLE, 0);
	snap_g(3, GS_RUNNABLE, 0);
	snap_m(1, -1);
	pair_give(NULL);
	assert_non_null(strstr(m.writer.text, "m1 ProcStart p"));
	assert_non_null(strstr(m.writer.text, "m1 GoUnblock g1 #2 -\nm1 GoStart g1 #3\n"
					      "m1 GoDestroy\nm1 ProcStop\n"));
}

TEST(system_calls)
{
	/* the enter was lost, and that its P was taken */
	begin(25, "go1.25.3");
	snap_begin();
	snap_g(1, GS_SYSCALL, 1);
	snap_g(2, GS_RUNNABLE, 0);
	snap_g(3, GS_RUNNABLE, 0);
	snap_m(1, -1);
	pair_give(NULL);
	expect("m1 GoSyscallBegin #2 -\nm1 ProcSteal p0 #3 m1\n");
	on_g(1, GT_SYSCALL_NO_P, 1);
	flush();
	assert_non_null(strstr(m.writer.text, "m1 GoSyscallEndBlocked\n"));

	/* the exit was lost */
	begin(25, "go1.25.3");
	on_g(1, GT_SYSCALL_ENTER, 1);
	flush_and_forget();
	snap_begin();
	snap_g(1, GS_RUNNING, 1);
	snap_g(2, GS_RUNNABLE, 0);
	snap_g(3, GS_RUNNABLE, 0);
	snap_m(1, 0);
	pair_give(NULL);
	expect("m1 GoSyscallEnd\n");
}

/* Two threads have exchanged their Ps without a record. */
TEST(corrects_procs)
{
	begin(25, "go1.25.3");
	p_start(2, 1);
	execute(2, 2);
	flush_and_forget();
	snap_begin();
	snap_g(1, GS_RUNNING, 1);
	snap_g(2, GS_RUNNING, 2);
	snap_g(3, GS_RUNNABLE, 0);
	snap_m(1, 1);
	snap_m(2, 0);
	pair_give(NULL);
	assert_int_equal(stats()->corrected_procs, 2);
	assert_non_null(strstr(m.writer.text, "m1 ProcStart p1 #"));
	assert_non_null(strstr(m.writer.text, "m2 ProcStart p0 #"));
	assert_non_null(strstr(m.writer.text, "m1 GoStart g1 #"));
	assert_non_null(strstr(m.writer.text, "m2 GoStart g2 #"));
}

static void park_it(void)
{
	park(1, 1, 0);
}

/* Records between the snapshots have precedence, because the snapshots are older. */
TEST(records_outrank)
{
	begin(25, "go1.25.3");
	snap_begin();
	snap_g(1, GS_RUNNING, 1);
	snap_g(2, GS_RUNNABLE, 0);
	snap_g(3, GS_RUNNABLE, 0);
	snap_m(1, 0);
	pair_give(park_it);
	assert_int_equal(stats()->corrected, 0);
	assert_int_equal(stats()->repairs, 0);
}

/* A record shortly before may not be visible in the status yet: another pair is requested. */
TEST(waits_for_lag)
{
	uint64_t before;

	begin(25, "go1.25.3");
	snap_begin();
	park(1, 1, 0);
	flush_and_forget();
	snap_g(1, GS_RUNNING, 1);
	snap_g(2, GS_RUNNABLE, 0);
	snap_g(3, GS_RUNNABLE, 0);
	snap_m(1, 0);
	before = sequencer__losses(m.seq);
	pair_give(NULL);
	expect("");
	assert_true(sequencer__losses(m.seq) > before);
	/* but not for ever */
	for (unsigned int i = 0; i < 10; i++) {
		before = sequencer__losses(m.seq);
		pair_give(NULL);
	}
	assert_int_equal(sequencer__losses(m.seq), before);
}

/* Its end and another's create were lost: records name the goroutine that has the struct. */
TEST(struct_has_another)
{
	begin(25, "go1.25.3");
	snap_begin();
	snap_g(1, GS_RUNNING, 1);
	snap_g(2, GS_RUNNABLE, 0);
	snap_g(3, GS_WAITING, 0);
	m.snap_g[2].goid = 33;
	snap_m(1, 0);
	pair_give(NULL);
	expect("m1 GoStop \"unspecified\" -\n"
	       "m1 GoStart g3 #1\n"
	       "m1 GoDestroy\n"
	       "m1 GoCreateBlocked g33 f3 -\n"
	       "m1 GoStart g1 #2\n");
}

/* The first snapshot saw it on thread 3, and the second one on 2: no record decides. */
TEST(a_thread_that_differs_is_left_open)
{
	struct snapshot_g earlier[4];
	struct snapshot first, second;
	uint64_t before;

	begin(25, "go1.25.3");
	snap_begin();
	snap_g(1, GS_RUNNING, 1);
	snap_g(2, GS_RUNNING, 2);
	snap_g(3, GS_RUNNABLE, 0);
	snap_m(1, 0);
	snap_m(2, 1);
	snap_m(3, 2);
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
	flush();
	assert_null(strstr(m.writer.text, "GoStart g2"));
	assert_true(sequencer__losses(m.seq) > before);
}

static unsigned int stray_kind; /* of the record below */

static void stray(void)
{
	static const uint64_t payload[3];

	machine_give(2, stray_kind, G(4), 0, payload);
}

/*
 * Goroutine 4, whose create was lost, is in a system call in both snapshots; a record between them
 * about an unknown goroutine has precedence.
 */
TEST(strays_outrank_snapshots)
{
	static const struct {
		unsigned int kind;
		const char *created; /* its creation in the trace */
	} cases[] = {
		{ GT_SYSCALL_NO_P, "GoCreate g4 f4 -\n" },
		{ GT_READY, "GoCreate g4 f4 -\n" },
		{ GT_YIELD, "GoCreate g4 f4 -\n" },
		{ GT_PARK, "GoCreateBlocked g4 f4 -\n" },
		{ GT_PREEMPT_PARK, "GoCreateBlocked g4 f4 -\n" },
		{ GT_DESTROY, NULL },
		{ GT_DESTROY_SYSCALL, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(25, "go1.25.3");
		assert_int_equal(sequencer__lost(m.seq, GT_CREATE, 1), 0);
		snap_begin();
		snap_g(1, GS_RUNNING, 1);
		snap_g(2, GS_RUNNABLE, 0);
		snap_g(3, GS_RUNNABLE, 0);
		snap_g(4, GS_SYSCALL, 2);
		snap_m(1, 0);
		snap_m(2, 1);
		stray_kind = cases[i].kind;
		pair_give(stray);
		if (cases[i].created) {
			assert_non_null(strstr(m.writer.text, cases[i].created));
			assert_null(strstr(m.writer.text, "GoStart g4"));
		} else {
			assert_null(strstr(m.writer.text, "g4"));
		}
	}
}

TEST(useless_pairs)
{
	machine_init(25, "go1.25.3");
	assert_int_equal(sequencer__resnapshot(m.seq, &m.snap, &m.snap), -EAGAIN);
	begin(25, "go1.25.3");
	snap_begin();
	pair_give(NULL); /* no goroutine in it: nothing is ended because of it */
	expect("");
	m.snap.time = m.snap.time_end = m.now + SECOND;
	assert_int_equal(sequencer__resnapshot(m.seq, &m.snap, &m.snap), 0);
	assert_int_equal(sequencer__resnapshot(m.seq, &m.snap, &m.snap), -EAGAIN);
}
