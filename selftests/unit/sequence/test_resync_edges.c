// SPDX-License-Identifier: GPL-2.0
/*
 * Edge cases of corrections: ties, exact limits and guards of rare paths. Each test fails without
 * the comparison or guard in the function that its comment names. Under test: sequence/resync.c and
 * resync_compare.c.
 */
#include "unit/test.h"
#include "sequence/sequencer_impl.h"
#include "unit/machine.h"
#include "unit/memory_use.h"

#define SECOND 1000000000ull

/* Goroutines 1 to 3 runnable, then 1 runs on thread 1 with P 0; snapshots follow later. */
static void begin(const char *go)
{
	start(25, go, 3);
	p_start(1, 0);
	execute(1, 1);
	flush_and_forget();
	assert_int_equal(sequencer__lost(m.seq, GT_CREATE, 1), 0);
	m.now += SECOND / 8;
	m.snap.ng = m.snap.nm = 0;
}

/* The first is the collected snapshot; the second has goroutines `g`. `between` passes records. */
static void pair_give(struct snapshot_g *g, void (*between)(void))
{
	struct snapshot first = m.snap, second = m.snap;

	first.time = m.now;
	first.time_end = ++m.now;
	m.now += 1000;
	if (between)
		between();
	second.g = g;
	second.time = m.now;
	second.time_end = ++m.now;
	m.now += STEP_NS;
	assert_int_equal(sequencer__resnapshot(m.seq, &first, &second), 0);
	flush();
}

/* resync_compare.c, compare_known(): it runs in both snapshots, but on different threads. */
TEST(snapshots_disagree_about_the_thread)
{
	struct snapshot_g second[3];
	uint64_t wanted;

	begin("go1.25.3");
	snap_g(1, GS_RUNNING, 1);
	snap_g(2, GS_RUNNING, 2);
	snap_g(3, GS_RUNNABLE, 0);
	snap_m(1, 0);
	snap_m(2, 1);
	snap_m(3, 2);
	memcpy(second, m.snap_g, sizeof(second));
	second[1].m = M(3);
	wanted = sequencer__go_losses(m.seq);
	pair_give(second, NULL);
	assert_null(strstr(m.writer.text, "GoStart g2"));
	assert_int_equal(stats()->corrected, 0);
	assert_true(sequencer__go_losses(m.seq) > wanted); /* another pair is requested */
}

static void loses_its_p(void)
{
	machine_give(2, GT_SYSCALL_NO_P, G(4), 0, "");
}

/* resync_compare.c, stray_state(): an unknown goroutine left its system call without a P. */
TEST(unknown_left_its_syscall)
{
	begin("go1.25.3");
	snap_g(1, GS_RUNNING, 1);
	snap_g(2, GS_RUNNABLE, 0);
	snap_g(3, GS_RUNNABLE, 0);
	snap_g(4, GS_SYSCALL, 2);
	snap_m(1, 0);
	snap_m(2, -1);
	pair_give(m.snap_g, loses_its_p);
	assert_non_null(strstr(m.writer.text, "GoCreate g4 f4 -\n"));
	assert_null(strstr(m.writer.text, "GoStart g4"));
	assert_null(strstr(m.writer.text, "GoSyscallBegin"));
}

/* resync.c, write_correction(): a failed write is an error, and the first error stays. */
TEST(correction_that_cannot_be_written)
{
	static const struct {
		int event, private, want;
	} cases[] = { { 0, -ENOSPC, -ENOSPC }, { -EIO, 0, -EIO }, { -EIO, -ENOSPC, -EIO } };
	struct snapshot snap;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin("go1.25.3");
		snap_g(1, GS_WAITING, 0);
		snap_g(2, GS_RUNNABLE, 0);
		snap_g(3, GS_RUNNABLE, 0);
		snap_m(1, 0);
		snap = m.snap;
		snap.time = snap.time_end = m.now++;
		assert_int_equal(sequencer__resnapshot(m.seq, &snap, &snap), 0);
		m.writer.fail = cases[i].event;
		m.writer.fail_private = cases[i].private;
		assert_int_equal(sequencer__watermark(m.seq, m.now), cases[i].want);
	}
}

/* resync.c, borrow_proc(): a system call needs a P to begin, and none is known. */
TEST(no_proc_to_borrow)
{
	uint64_t wanted;

	machine_init(25, "go1.25.3");
	m.snap.np = 0;
	snap_g(1, GS_RUNNABLE, 0);
	snap_give();
	forget();
	m.now += SECOND / 8;
	m.snap.ng = 0;
	snap_g(1, GS_SYSCALL, 1);
	snap_m(1, -1);
	m.snap.np = 1;
	m.snap_p[0].addr = 0;
	wanted = sequencer__go_losses(m.seq);
	pair_give(m.snap_g, NULL);
	expect("");
	assert_true(sequencer__go_losses(m.seq) > wanted);
}

/* resync_compare.c, restore_address(): its struct seemed to be another's, but is still its own. */
TEST(address_restored)
{
	uint64_t wanted;

	begin("go1.25.3");
	wanted = sequencer__go_losses(m.seq);
	model__orphan(m.seq, map__get(&m.seq->model.by_addr, G(2)));
	snap_g(1, GS_RUNNING, 1);
	snap_g(2, GS_RUNNABLE, 0);
	snap_g(3, GS_RUNNABLE, 0);
	snap_m(1, 0);
	pair_give(m.snap_g, NULL);
	expect("");
	assert_int_equal(stats()->resnapshots, 1);
	assert_int_equal(stats()->corrected, 0);
	assert_ptr_equal(map__get(&m.seq->model.by_addr, G(2)), map__get(&m.seq->model.by_id, 2));
	assert_true(sequencer__go_losses(m.seq) > wanted); /* its state was not compared */
}

/* resync_compare.c, correction__compare(): no goroutines, or no Ps, in one of the pair: useless. */
TEST(empty_snapshots)
{
	struct snapshot pair[2];

	for (unsigned int i = 0; i < 3; i++) {
		begin("go1.25.3");
		snap_g(1, GS_WAITING, 0);
		snap_m(1, 0);
		pair[0] = pair[1] = m.snap;
		pair[i % 2].ng = i < 2 ? 0 : 1;
		pair[1].np = i < 2 ? 4 : 0;
		pair[0].time = pair[0].time_end = pair[1].time = pair[1].time_end = m.now++;
		assert_int_equal(sequencer__resnapshot(m.seq, &pair[0], &pair[1]), 0);
		m.now += STEP_NS;
		expect("");
		assert_int_equal(stats()->resnapshots, 0);
	}
}

/* Goroutine 1 is in a system call on thread 1, begun with P 0; snapshots follow later. */
static void enter(const char *go)
{
	begin(go);
	on_g(1, GT_SYSCALL_ENTER, 1);
	flush_and_forget();
	m.now += SECOND / 8;
	snap_g(1, GS_SYSCALL, 1);
	snap_g(2, GS_RUNNABLE, 0);
	snap_g(3, GS_RUNNABLE, 0);
}

/* resync_compare.c, syscall_proc(): up to go1.25 the P of a system call is the M's old one. */
TEST(proc_of_a_syscall)
{
	static const struct {
		const char *go;
		int p, oldp;
		uint32_t status; /* of P 0 */
		const char *want;
	} cases[] = {
		{ "go1.25.3", -1, 0, 2, "" },
		{ "go1.25.3", -1, 0, 0, "m1 ProcSteal p0 #3 m1\n" }, /* the P is idle */
		{ "go1.25.3", -1, -1, 2, "m1 ProcSteal p0 #3 m1\n" },
		{ "go1.25.3", 0, -1, 2, "m1 ProcSteal p0 #3 m1\n" },
		{ "go1.26.0", 0, -1, 0, "" },
		{ "go1.26.0", -1, 0, 2, "m1 ProcSteal p0 #3 m1\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enter(cases[i].go);
		snap_m(1, cases[i].p);
		m.snap_m[0].oldp = cases[i].oldp < 0 ? 0 : P(cases[i].oldp);
		m.snap_p[0].status = cases[i].status;
		pair_give(m.snap_g, NULL);
		expect(cases[i].want);
		assert_int_equal(stats()->corrected_procs, cases[i].want[0] != 0);
	}
}

/*
 * resync_compare.c, compare_unknown(): an unknown goroutine is on a thread only in the second
 * snapshot. It becomes runnable, and thread 1, which is in neither, is not created.
 */
TEST(unknown_on_a_thread_once)
{
	struct snapshot_g second[4];
	uint64_t wanted;

	start(25, "go1.25.3", 3);
	p_start(2, 0);
	execute(2, 2);
	flush_and_forget();
	m.now += SECOND / 8;
	m.snap.ng = m.snap.nm = 0;
	snap_g(1, GS_RUNNABLE, 0);
	snap_g(2, GS_RUNNING, 2);
	snap_g(3, GS_RUNNABLE, 0);
	snap_g(4, GS_RUNNABLE, 0);
	snap_m(2, 0);
	snap_m(3, -1);
	memcpy(second, m.snap_g, sizeof(second));
	second[3].status = GS_RUNNING;
	second[3].m = M(3);
	wanted = sequencer__go_losses(m.seq);
	pair_give(second, NULL);
	expect("m3 ProcStart p1 #1\n"
	       "m3 GoCreate g4 f4 -\n"
	       "m3 ProcStop\n");
	assert_true(sequencer__go_losses(m.seq) > wanted);
}

/* resync.c, is_done(): it is started on its own thread, which is sufficient. */
TEST(only_started)
{
	static const struct {
		const char *go;
		uint32_t status;
		int p;
		const char *want;
	} cases[] = {
		{ "go1.26.0", GS_RUNNING, 1, "m2 ProcStart p1 #1\nm2 GoStart g2 #1\n" },
		{ "go1.26.0", GS_SYSCALL, 1,
		  "m2 ProcStart p1 #1\nm2 GoStart g2 #1\nm2 GoSyscallBegin #2 -\n" },
		{ "go1.26.0", GS_SYSCALL, -1,
		  "m2 ProcStart p1 #1\nm2 GoStart g2 #1\nm2 GoSyscallBegin #2 -\nm2 ProcSteal p1 #3 m2\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(cases[i].go);
		snap_g(1, GS_RUNNING, 1);
		snap_g(2, cases[i].status, 2);
		snap_g(3, GS_RUNNABLE, 0);
		snap_m(1, 0);
		snap_m(2, cases[i].p);
		pair_give(m.snap_g, NULL);
		expect(cases[i].want);
	}
}

/* resync_compare.c, assign(): a thread that is not in the first snapshot loses its P to another. */
TEST(proc_is_with_another_thread)
{
	struct snapshot_m ms[2];
	struct snapshot first, second;

	start(25, "go1.25.3", 2);
	p_start(1, 0);
	flush_and_forget();
	m.now += SECOND / 8;
	m.snap.ng = m.snap.nm = 0;
	snap_g(1, GS_RUNNABLE, 0);
	snap_g(2, GS_RUNNABLE, 0);
	snap_m(2, 0);
	snap_m(1, -1);
	first = second = m.snap;
	memcpy(ms, m.snap_m, sizeof(ms));
	first.m = ms;
	first.nm = 1;
	first.time = first.time_end = second.time = second.time_end = m.now;
	m.now += STEP_NS;
	assert_int_equal(sequencer__resnapshot(m.seq, &first, &second), 0);
	expect("m1 ProcStop\nm2 ProcStart p0 #2\n");
}

static void stop_with_stack(unsigned int number, uint64_t pc)
{
	struct {
		struct gt_record rec;
		struct gt_stack stack;
		uint64_t pc[60];
	} s = { .rec = { .time = machine_t0,
			 .tid = 1,
			 .kind = GT_STACK,
			 .object = number,
			 .stack = number,
			 .seq = m.ring_seq++ },
		.stack = { .depth = 60 } };

	for (unsigned int i = 0; i < 60; i++)
		s.pc[i] = pc + i;
	assert_int_equal(sequencer__record(m.seq, 0, &s.rec, sizeof(s)), 0);
	machine_give(1, GT_YIELD, G(1), number, &(struct gt_yield){ 0 });
	execute(1, 1);
}

/* All that may exist at the end: stacks, open regions, applied and held records, snapshots. */
static void one_life(unsigned int number)
{
	begin("go1.25.3");
	execute(3, 3);
	for (unsigned int i = 0; i < 6; i++)
		park(3, 3, 7);
	m.now += 2000000;
	flush();
	for (unsigned int i = 1; i < 7; i++) /* of PCs that no other iteration has */
		stop_with_stack(i, (number * 8 + i) * 64);
	for (unsigned int i = 0; i < 3; i++) {
		machine_give(1, GT_REGION, G(1), 0, &(struct gt_region){ 0, 100, false });
		execute(2, 77);
	}
	flush();
	snap_g(1, GS_RUNNING, 1);
	m.snap.time = m.snap.time_end = m.now + SECOND;
	assert_int_equal(sequencer__resnapshot(m.seq, &m.snap, &m.snap), 0);
}

/* sequencer__destroy(): all memory is freed. */
TEST(nothing_is_leaked)
{
	size_t before = 0;

	sequencer__destroy(NULL);
	for (unsigned int i = 0; i < 210; i++) {
		if (i == 10) /* the allocator has its own memory by then */
			before = memory_in_use();
		one_life(i);
	}
	assert_true(memory_in_use() <= before + 4000);
}

/* resync_compare.c, compare_unknown(): a goroutine on one thread in both snapshots runs on it. */
TEST(unknown_runs_on_its_thread)
{
	begin("go1.25.3");
	snap_g(1, GS_RUNNING, 1);
	snap_g(2, GS_RUNNABLE, 0);
	snap_g(3, GS_RUNNABLE, 0);
	snap_g(4, GS_RUNNING, 2);
	snap_m(1, 0);
	snap_m(2, 1);
	pair_give(m.snap_g, NULL);
	assert_non_null(strstr(m.writer.text, "GoCreate g4 f4 -\n"));
	assert_non_null(strstr(m.writer.text, "m2 GoStart g4 #1\n"));
}

/* resync.c, move_all(): goroutines end before others are moved. */
TEST(ends_go_first)
{
	begin("go1.25.3");
	snap_g(1, GS_RUNNING, 1);
	snap_g(2, GS_WAITING, 0);
	snap_m(1, 0); /* goroutine 3 has ended */
	pair_give(m.snap_g, NULL);
	expect("m1 GoStop \"unspecified\" -\n"
	       "m1 GoStart g3 #1\n"
	       "m1 GoDestroy\n"
	       "m1 GoStart g2 #1\n"
	       "m1 GoBlock \"unspecified\" -\n"
	       "m1 GoStart g1 #2\n");
}

/* resync_compare.c, sort_changes(): goroutines end in the order of their ids. */
TEST(ends_in_order)
{
	begin("go1.25.3");
	snap_g(1, GS_RUNNING, 1);
	snap_m(1, 0);
	pair_give(m.snap_g, NULL);
	expect("m1 GoStop \"unspecified\" -\n"
	       "m1 GoStart g2 #1\n"
	       "m1 GoDestroy\n"
	       "m1 GoStart g3 #1\n"
	       "m1 GoDestroy\n"
	       "m1 GoStart g1 #2\n");
}
