// SPDX-License-Identifier: GPL-2.0
/* Tests of the stacks of goroutines that are parked when the window or a file begins. */
#include "format/parked_read.h"
#include "unit/machine.h"

static uint64_t words[] = { 3, 21, 22, 9, 2 | SNAPSHOT_STACK_CUT, 31, 32 };

/* Goroutine `g` with the stack at word `at`. */
static void snap_parked(unsigned int g, unsigned int at)
{
	snap_g(g, GS_WAITING, 0);
	m.snap_g[m.snap.ng - 1].stack = at + 1;
	m.snap.stacks = words;
	m.snap.nstacks = sizeof(words) / sizeof(words[0]);
}

/* The whole stack; of one that is cut, with the start function at its end. */
TEST(without_records)
{
	machine_init(25, "go1.25.3");
	snap_parked(2, 0);
	snap_parked(3, 4);
	snap_g(4, GS_WAITING, 0);
	snap_give();
	expect_statuses(
		"- g2 4 f21<f22<f9\n- g3 4 f31<f3\n- g4 4 f4\n- p0 2\n- p1 2\n- p2 2\n- p3 2\n",
		"open 0\n");
	assert_int_equal(stats()->parked, 2);
}

/* A goroutine that ran before its stack was read may have been parked elsewhere. */
TEST(ran_before_the_snapshot)
{
	machine_init(25, "go1.25.3");
	ready(1, 2);
	snap_parked(2, 0);
	snap_parked(3, 0);
	m.snap.time = m.now;
	m.snap.time_end = m.now + 1;
	m.now += STEP_NS;
	ready(1, 3);
	assert_int_equal(sequencer__snapshot(m.seq, &m.snap, &m.snap), 0);
	expect_statuses("- g2 4 f2\n- g3 4 f21<f22<f9\n- p0 2\n- p1 2\n- p2 2\n- p3 2\n",
			"open 0\nm1 GoUnblock g2 #1 -\nm1 GoUnblock g3 #1 -\n");
	assert_int_equal(stats()->parked, 1);
}

/* Its state by records is another one. */
TEST(ran_at_the_start)
{
	machine_init(25, "go1.25.3");
	snap_parked(2, 0);
	snap_m(1, 0);
	m.snap.time = machine_t0;
	m.snap.time_end = machine_t0;
	destroy(1, 2);
	assert_int_equal(sequencer__snapshot(m.seq, &m.snap, &m.snap), 0);
	expect_statuses("- p1 2\n- p2 2\n- p3 2\nm1 g2 2 f2\nm1 p0 1\n", "open 0\nm1 GoDestroy\n");
	assert_int_equal(stats()->parked, 0);
}

/* The reasons in the latest private data, which are those of the first generation. */
static void expect_reasons(const char *expected)
{
	struct dictionary d;
	char text[256] = "";

	dictionary__init(&d);
	assert_int_equal(dictionary__add_string(&d, 1, m.writer.private, m.writer.private_len), 0);
	assert_int_equal(parked_list__load(&d), 0);
	for (size_t i = 0; i < d.parked.n; i++) {
		struct trace_string reason = parked_list__reason(&d.parked, d.parked.at[i].goid);

		sprintf(text + strlen(text), "g%" PRIu64 " %.*s\n", d.parked.at[i].goid,
			(int)reason.len, reason.data);
	}
	assert_string_equal(text, expected);
	dictionary__deinit(&d);
}

static unsigned int wait_reason(const char *text)
{
	unsigned int i = 0;

	while (strcmp(m.layout.wait_reasons[i], text))
		i++;
	return i;
}

/* As the runtime's tracer would call them; none if the goroutine ran, or runs. */
TEST(reasons)
{
	static const char *const texts[] = {
		"",	   "chan receive", "select (no cases)", "sync.Mutex.Lock",
		"IO wait", "dumping heap"
	};

	machine_init(25, "go1.25.3");
	for (unsigned int i = 0; i < 6; i++) {
		snap_g(i + 1, GS_WAITING, 0);
		m.snap_g[i].wait_reason = wait_reason(texts[i]);
		m.snap_g[i].wait_since = i * 100;
	}
	snap_g(7, GS_RUNNABLE, 0);
	m.snap_g[6].wait_reason = wait_reason("chan receive");
	snap_g(8, GS_WAITING, 0);
	m.snap_g[7].wait_reason = 63;
	ready(1, 4);
	snap_give();
	expect_reasons("g2 chan receive\ng3 forever\ng5 network\n");
}

/* What did not fit into the tables of the snapshots is counted: parked_left_out. */
TEST(left_out)
{
	machine_init(25, "go1.25.3");
	snap_parked(2, 0);
	m.snap.stacks_left_out = 3;
	snap_give();
	assert_int_equal(stats()->parked, 1);
	assert_int_equal(stats()->parked_left_out, 2 * 3);
}

/* Of a goroutine in a system call, which has no reason. */
TEST(in_a_system_call)
{
	machine_init(25, "go1.25.3");
	snap_parked(2, 0);
	m.snap_g[0].status = GS_SYSCALL;
	m.snap_g[0].m = M(7);
	m.snap_g[0].wait_reason = wait_reason("chan receive");
	snap_m(7, -1);
	snap_give();
	expect_statuses("- p0 2\n- p1 2\n- p2 2\n- p3 2\nm7 g2 3 f21<f22<f9\n", "open 0\n");
	assert_int_equal(stats()->parked, 1);
}
