// SPDX-License-Identifier: GPL-2.0
/*
 * Edge cases of the sequencer: ties, exact limits and guards of rare paths. Each test fails without
 * the comparison or guard in the function that its comment names. test_resync_edges.c has those of
 * corrections.
 */
#include "unit/test.h"
#include "format/encode.h"
#include "sequence/sequencer_impl.h"
#include "unit/machine.h"

#define SECOND 1000000000ull
#define MS     1000000ull

/* repair.c, repair__free_proc(): the P is taken from a thread whose system call may have ended. */
TEST(owner_has_left_its_syscall)
{
	start(26, "go1.26.0", 5);
	p_start(5, 0); /* thread 5 had P 0 */
	p_stop(5, 0);
	for (unsigned int i = 1; i <= 4; i++) {
		p_start(i, i - 1);
		execute(i, i);
	}
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	flush_and_forget();
	execute(5, 5); /* the record of its P was lost */
	m.now += 2 * MS;
	park(2, 2, 7);
	expect("m2 GoBlock \"chan receive\" -\n"
	       "m1 GoSyscallEnd\n"
	       "m1 GoStop \"unspecified\" -\n"
	       "m1 ProcStop\n"
	       "m5 ProcStart p0 #4\n"
	       "m5 GoStart g5 #1\n");
}

/* state.c, apply_ready(): the latest record of it has the same time, and is not later. */
TEST(woken_at_the_time_of_its_last_record)
{
	running(25, "go1.25.3", 2);
	p_start(2, 1);
	execute(2, 2);
	flush_and_forget();
	on_g(1, GT_ASSIST_END, 1); /* its park was lost */
	m.now -= STEP_NS;
	ready(2, 1);
	m.now += 2 * MS;
	park(2, 2, 7);
	flush();
	assert_non_null(strstr(m.writer.text, "GoUnblock g1 #"));
	assert_int_equal(stats()->dropped, 0);
}

/*
 * state_syscall.c, has_continued(): a thread that got its CPU just before a boundary had no time to
 * report that its P is lost, however long ago its system call ended.
 */
TEST(just_on_its_cpu_at_the_boundary)
{
	running(26, "go1.26.0", 2);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	flush();
	m.now = m.seq->out.start + SECOND - MS / 2;
	machine_give(1, GT_CPU_ON, 9, 0, "");
	m.now = m.seq->out.start + SECOND + STEP_NS;
	p_start(2, 1);
	p_stop(2, 1);
	forget();
	flush();
	assert_non_null(strstr(m.writer.text, "open ")); /* a generation */
	assert_null(strstr(m.writer.text, "GoSyscallEnd"));
	m.now += SECOND; /* in the next generation it had time */
	p_start(2, 1);
	flush();
	assert_non_null(strstr(m.writer.text, "m1 GoSyscallEnd\n"));
}

/* state.c, apply_create(): the latest record of the struct's former goroutine is not later. */
TEST(created_at_the_time_of_the_last_record)
{
	running(25, "go1.25.3", 2);
	on_g(1, GT_ASSIST_END, 2); /* its end was lost */
	m.now -= STEP_NS;
	machine_give(1, GT_CREATE, G(2), 0, &(struct gt_create){ 20, 9, 5 });
	m.now += 2 * MS;
	flush();
	assert_non_null(strstr(m.writer.text, "m1 GoCreate g20 f9 -\n"));
}

/* state_proc.c, apply_procs(): a thread without a goroutine cannot write it; dropped in the end. */
TEST(procs_without_a_goroutine)
{
	running(25, "go1.25.3", 2);
	p_start(2, 1);
	flush_and_forget();
	plain(2, GT_PROCS, 8);
	expect("");
	m.now += 2 * MS;
	expect("");
	assert_int_equal(stats()->dropped, 1);
}

/* state.c, try_switch(): a coroutine switch to the goroutine itself is invalid. */
TEST(switches_to_itself)
{
	running(25, "go1.25.3", 1);
	coswitch(1, 1, 1, false);
	expect("");
	assert_int_equal(stats()->dropped, 1);
	assert_int_equal(stats()->repairs, 0);
}

/* state.c, step__is_overtaking(): other records of a goroutine do not hide one that is held. */
TEST(overtakes_one_that_waits)
{
	running(25, "go1.25.3", 1);
	p_start(2, 1);
	flush_and_forget();
	execute(2, 1); /* the record that brought it there was lost */
	m.now += 4 * STEP_NS;
	on_g(1, GT_ASSIST_END, 1);
	park(1, 1, 7);
	m.now += 20 * STEP_NS;
	ready(1, 1);
	flush();
	assert_null(strstr(m.writer.text, "GoUnblock"));
	m.now += 2 * MS;
	flush();
	assert_non_null(strstr(m.writer.text, "m2 GoStart g1"));
}

/* repair.c: nothing can run while no P is known. */
TEST(without_any_p)
{
	static const struct {
		unsigned int kind;
		uint64_t payload[3];
	} cases[] = {
		{ GT_EXECUTE, { 1 } },
		{ GT_PARK, { 0 } },
		{ GT_YIELD, { 0 } },
		{ GT_PREEMPT_PARK, { 0 } },
		{ GT_DESTROY, { 1 } },
		{ GT_SWITCH, { G(2), 2, 0 } },
		{ GT_DESTROY_SYSCALL, { 1 } },
		{ GT_SYSCALL_ENTER, { 0 } },
		{ GT_LOG, { 0 } },
		{ GT_REGION, { 0 } },
		{ GT_TASK_END, { 1 } },
		{ GT_TASK_BEGIN, { 1, 0, 0 } },
		{ GT_ASSIST_BEGIN, { 0 } },
		{ GT_CREATE, { 9, 1, 1 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		machine_init(25, "go1.25.3");
		m.snap.np = 0;
		snap_g(1, GS_RUNNABLE, 0);
		snap_g(2, GS_WAITING, 0);
		snap_give();
		forget();
		machine_give(1, cases[i].kind, G(cases[i].kind == GT_CREATE ? 9 : 1), 0,
			     cases[i].payload);
		m.now += 2 * MS;
		expect("");
		if (stats()->dropped != 1)
			fail_msg("case %zu: %llu dropped", i, (unsigned long long)stats()->dropped);
	}
}

/* repair.c, repair__unknown(): the creator must not be in a system call. */
TEST(unknown_on_a_thread_in_a_syscall)
{
	running(25, "go1.25.3", 1);
	execute(1, 9);
	m.now += 2 * MS;
	expect("m1 GoCreate g9 - -\n"
	       "m1 GoStop \"unspecified\" -\n"
	       "m1 GoStart g9 #1\n");
	on_g(1, GT_SYSCALL_ENTER, 9);
	execute(1, 8);
	m.now += 2 * MS;
	expect("m1 GoSyscallBegin #2 -\n"
	       "m1 ProcStop\n"
	       "m1 GoSyscallEndBlocked\n"
	       "m1 ProcStart p0 #3\n"
	       "m1 GoCreate g8 - -\n"
	       "m1 GoStart g8 #1\n");
}

/* The latest batch of losses, or its last part. */
static void expect_loss(unsigned int kind, uint64_t count, uint64_t from, uint64_t to)
{
	uint8_t want[4 * LEB_MAX], *end = want;

	end = leb__put(end, kind);
	end = leb__put(end, count);
	end = leb__put(end, from);
	end = leb__put(end, to - from);
	assert_true(m.writer.private_len > (size_t)(end - want));
	assert_memory_equal(m.writer.private + m.writer.private_len - (end - want), want,
			    end - want);
	m.writer.private_len = 0;
}

/* losses.c: only new losses of a kind are reported again; a loss ends with the window. */
TEST(losses_as_reported)
{
	uint64_t last, from;

	running(25, "go1.25.3", 1);
	last = m.now - 1;
	assert_int_equal(sequencer__lost(m.seq, GT_PARK, 3), 0);
	flush();
	m.now += 2 * SECOND;
	flush();
	expect_loss(GT_PARK, 3, last, m.now - 1);
	last = m.now - 1;
	assert_int_equal(sequencer__lost(m.seq, GT_PARK, 5), 0);
	m.now++;
	flush();
	m.now += 2 * SECOND;
	flush();
	expect_loss(GT_PARK, 2, last, last + 1); /* the watermark after the count was read */

	running(25, "go1.25.3", 1);
	from = m.now;
	plain(1, GT_HEAP_ALLOC, 1);
	flush();
	m.ring_seq += 4;
	assert_int_equal(sequencer__lost(m.seq, GT_PARK, 4), 0);
	plain(1, GT_HEAP_ALLOC, 2);
	assert_int_equal(sequencer__finish(m.seq, from + STEP_NS / 2), 0);
	expect_loss(GT_PARK, 4, from, from + STEP_NS / 2);
}

/* sequencer.c, sequencer__record(): one without room was lost at its own time. */
TEST(no_room_for_a_record)
{
	uint64_t from;

	running(25, "go1.25.3", 1);
	for (from = m.now - 1; !stats()->lost; m.now -= STEP_NS - 1)
		plain(1, GT_SYSCALL_LOST, 0);
	m.now += SECOND / 2;
	flush();
	m.now += SECOND;
	flush();
	expect_loss(GT_SYSCALL_LOST, 1, from, m.now - 3 * SECOND / 2 - 1);
}

/* sequencer.c, take_all(): a record at the window's start belongs to the window. */
TEST(at_the_windows_start)
{
	machine_init(25, "go1.25.3");
	snap_g(1, GS_RUNNABLE, 0);
	m.now = machine_t0;
	p_start(1, 0);
	snap_give();
	assert_non_null(strstr(m.writer.text, "m1 ProcStart p0 #1\n"));
}

/* sequencer__create(): fails for an unknown layout. */
TEST(without_a_layout)
{
	struct sequencer_opts opts = { .version = 25, .tick_ns = 1 };
	struct sequencer *s;

	opts.intern = intern__create();
	assert_int_equal(sequencer__create(&s, &opts), 0);
	sequencer__destroy(s);
	intern__destroy(opts.intern);
}

/* state_runtime.c, apply_gc_begin() and _end(): held and dropped without a running goroutine. */
TEST(collections_without_a_p)
{
	running(25, "go1.25.3", 1);
	plain(9, GT_GC_BEGIN, 0);
	expect("");
	m.now += 5 * MS;
	plain(1, GT_GC_BEGIN, 0);
	expect("m1 GCBegin #1 -\n");
	assert_int_equal(stats()->dropped, 1);
	plain(9, GT_GC_END, 0);
	expect("");
	m.now += 5 * MS;
	plain(1, GT_GC_END, 0);
	expect("m1 GCEnd #2\n"); /* and the other one ends nothing */
	assert_int_equal(stats()->dropped, 1);
}

static void name_task(uint64_t id)
{
	machine_give(1, GT_REGION, G(1), 0, &(struct gt_region){ id, GT_TEXT_EMPTY, false });
}

/* state_user.c, task__may_begin_later(): waits only for valid task ids. */
TEST(tasks_that_may_begin_later)
{
	const uint64_t last = 1ull << 48;

	running(25, "go1.25.3", 1);
	machine_give(1, GT_TASK_BEGIN, G(1), 0, &(struct gt_task){ 7, 0, GT_TEXT_EMPTY });
	expect("m1 UserTaskBegin 7 0 \"\" -\n");
	name_task(last + 1);
	expect("m1 UserRegionBegin 281474976710657 \"\" -\n");
	name_task(last);
	expect("");
	m.now += 5 * MS;
	expect("m1 UserRegionBegin 281474976710656 \"\" -\n");
}
