// SPDX-License-Identifier: GPL-2.0
/* Of perf's events what belongs into a trace: waits, CPUs, the target's own switches. */
#include "unit/test.h"
#include "align/join.h"
#include "align/perfdata_impl.h"

#define OURS	 100 /* threads 100 to 103 are the target's */
#define OURS_END 104

static const char *const names[] = { "swapper", "target", "hog", "other" };

/* A perf.data in memory: threads 2… are of processes 1002…, the target's of process 100. */
static struct {
	struct perf_data data;
	struct perf_sched sched[4096];
	struct map target;
	struct join_perf perf;
	struct join_waits waits;
	uint8_t *wanted;
} x;

static int setup(void **state)
{
	uint32_t pid;

	memset(&x, 0, sizeof(x));
	x.data.names = intern__create();
	assert_non_null(x.data.names);
	for (uint32_t i = 0; i < 4; i++) /* with their NUL */
		assert_int_equal(intern__string(x.data.names, names[i], strlen(names[i]) + 1),
				 i + 1);
	for (uint32_t tid = 1; tid < 200; tid++) {
		pid = tid >= OURS && tid < OURS_END ? OURS : 1000 + tid;
		assert_int_equal(perf__thread(&x.data, tid, pid, NULL), 0);
	}
	for (uint32_t tid = OURS; tid < OURS_END; tid++)
		assert_int_equal(map__put(&x.target, tid, &x), 0);
	x.perf = (struct join_perf){ .sched = x.sched, .data = &x.data };
	return 0;
}

static void teardown(void)
{
	join_waits__deinit(&x.waits);
	intern__destroy(x.data.names);
	map__deinit(&x.data.threads);
	map__deinit(&x.target);
	free(x.wanted);
}

FIXTURE(setup, teardown)

static uint32_t comm(uint32_t tid)
{
	return !tid ? 1 : tid >= OURS && tid < OURS_END ? 2 : tid == 2 ? 3 : 4;
}

static struct perf_sched *put(uint64_t time, enum perf_sched_kind kind, uint16_t cpu, uint32_t tid,
			      uint32_t next)
{
	struct perf_sched *ev = &x.sched[x.perf.n++];

	*ev = (struct perf_sched){ .time = time,
				   .tid = tid,
				   .next = next,
				   .by = tid,
				   .cpu = cpu,
				   .kind = kind,
				   .comm = comm(tid),
				   .next_comm = comm(next) };
	return ev;
}

static void item(enum kernel_kind kind, uint64_t time, uint32_t tid, uint16_t cpu, enum gt_off why)
{
	const struct kernel_item it = {
		.time = time, .kind = kind, .tid = tid, .cpu = cpu, .why = (uint8_t)why
	};

	assert_int_equal(join_waits__item(&x.waits, &it), 0);
}

static void assert_waits(const struct join_wait *expected, size_t n)
{
	assert_int_equal(x.waits.n, n);
	for (size_t i = 0; i < n; i++)
		assert_memory_equal(&x.waits.at[i], &expected[i], sizeof(*expected));
}

TEST(threads_that_wait)
{
	static const struct join_wait expected[] = {
		{ 200, 250, 100, 0 },			     /* preempted, the same CPU again */
		{ 400, 450, 100, 0 },			     /* woken, another CPU */
		{ 400, 450, 100, 1 },  { 500, 600, 100, 1 }, /* throttled */
		{ 700, 800, 101, 1 },			     /* created, where its creator was */
		{ 900, 1000, 100, 1 },			     /* until the end */
	};

	item(KERNEL_ON, 100, 100, 0, 0);
	item(KERNEL_OFF, 200, 100, 0, GT_OFF_PREEMPTED);
	item(KERNEL_ON, 250, 100, 0, 0);
	item(KERNEL_OFF, 300, 100, 0, GT_OFF_SLEEPING);
	item(KERNEL_WAKING, 400, 100, 1, 0);
	item(KERNEL_WAKING, 420, 100, 1, 0); /* once more: it waits since the first one */
	item(KERNEL_ON, 450, 100, 1, 0);
	item(KERNEL_OFF, 500, 100, 1, GT_OFF_THROTTLED);
	item(KERNEL_CPU, 550, 100, 1, 0); /* what the CPU does is no change of the thread */
	item(KERNEL_ON, 600, 100, 1, 0);
	item(KERNEL_CREATED, 700, 101, 1, 0);
	item(KERNEL_ON, 800, 101, 1, 0);
	item(KERNEL_OFF, 850, 101, 1, GT_OFF_DISK);
	item(KERNEL_OFF, 900, 100, 1, GT_OFF_YIELDED);
	assert_int_equal(join_waits__end(&x.waits, 1000), 0);
	assert_waits(expected, 6);
}

/* What a generation's table says of a thread is news only if something was lost in between. */
TEST(threads_of_a_table)
{
	static const struct join_wait expected[] = { { 90, 150, 100, 3 } };
	struct kernel_thread thread = { .tid = 100, .run = KERNEL_RUNNABLE, .cpu = 3, .since = 90 };

	assert_int_equal(join_waits__thread(&x.waits, &thread), 0);
	item(KERNEL_ON, 150, 100, 3, 0);
	thread.run = KERNEL_RUNNING;
	thread.cpu = 5;
	assert_int_equal(join_waits__thread(&x.waits, &thread), 0);
	assert_int_equal(kernel_threads__find(&x.waits.threads, 100)->cpu, 3);
	thread.run = KERNEL_SLEEPING;
	assert_int_equal(join_waits__thread(&x.waits, &thread), 0);
	assert_int_equal(kernel_threads__find(&x.waits.threads, 100)->run, KERNEL_SLEEPING);
	assert_int_equal(join_waits__end(&x.waits, 1000), 0);
	assert_waits(expected, 1);
}

static void add_wait(uint32_t tid, uint64_t from, uint64_t to, uint16_t cpu)
{
	item(KERNEL_ON, from - 1, tid, cpu, 0);
	item(KERNEL_OFF, from, tid, cpu, GT_OFF_PREEMPTED);
	item(KERNEL_ON, to, tid, cpu, 0);
}

static void assert_wanted(const char *expected)
{
	char have[64] = {};

	free(x.wanted);
	assert_int_equal(join__cpus(&x.perf, &x.target, &x.waits, &x.wanted), 0);
	for (size_t i = 0; i < x.perf.n; i++)
		have[i] = ".x?"[x.wanted[i]];
	assert_string_equal(have, expected);
}

TEST(who_occupied_the_cpu)
{
	struct kernel_item core;

	put(10, PERF_SWITCH, 0, 0, 3);	 /* before */
	put(20, PERF_SWITCH, 0, 3, 2);	 /* has it as the wait begins */
	put(25, PERF_SWITCH, 1, 0, 3);	 /* another CPU */
	put(40, PERF_SWITCH, 0, 2, 3);	 /* meanwhile */
	put(45, PERF_SWITCH, 0, 3, 101); /* one of the target's: the trace has it */
	put(46, PERF_SWITCH, 0, 101, 2);
	put(48, PERF_OTHER_SCHED, 0, 2, 0);
	put(50, PERF_SWITCH, 0, 2, 100); /* it gets the CPU */
	put(60, PERF_SWITCH, 0, 100, 0); /* after */
	assert_wanted(".........");
	add_wait(100, 30, 50, 0);
	assert_wanted(".x.x.x...");
	core = join__cpu_item(&x.perf, 1, JOIN_TASK);
	assert_int_equal(core.kind, KERNEL_CPU);
	assert_int_equal(core.time, 20);
	assert_int_equal(core.tid, 2);
	assert_int_equal(core.other_pid, 1002);
	assert_int_equal(core.cpu, 0);
	assert_int_equal(core.name.len, 3);
	assert_memory_equal(core.name.data, "hog", 3);
	core = join__cpu_item(&x.perf, 8, JOIN_TASK);
	assert_int_equal(core.tid, 0);
	assert_int_equal(core.other_pid, 0);
	core = join__cpu_item(&x.perf, 1, JOIN_UNKNOWN);
	assert_int_equal(core.time, 20);
	assert_int_equal(core.tid, KERNEL_NO_THREAD);
	assert_int_equal(core.other_pid, 0);
	assert_int_equal(core.name.len, 0);
}

/* Another task than the one that got the CPU leaves it: switches in between are missing. */
TEST(lost_switches)
{
	put(20, PERF_SWITCH, 0, 3, 2);
	put(25, PERF_SWITCH, 1, 5, 6); /* of another CPU */
	put(35, PERF_SWITCH, 0, 4, 3);
	put(40, PERF_SWITCH, 0, 3, 2);
	put(50, PERF_SWITCH, 0, 2, 100);
	add_wait(100, 30, 50, 0);
	assert_wanted("?.xx.");
}

/* It is preempted by the very switch that gives the CPU to another one; it gets another CPU. */
TEST(who_occupied_either_cpu)
{
	put(30, PERF_SWITCH, 0, 100, 2);
	put(31, PERF_SWITCH, 1, 0, 3);
	put(50, PERF_SWITCH, 1, 3, 100);
	put(70, PERF_SWITCH, 0, 2, 3); /* who kept it waiting leaves */
	put(80, PERF_SWITCH, 0, 3, 0);
	put(90, PERF_SWITCH, 1, 100, 0);
	item(KERNEL_ON, 10, 100, 0, 0);
	item(KERNEL_OFF, 30, 100, 0, GT_OFF_PREEMPTED);
	item(KERNEL_ON, 50, 100, 1, 0);
	assert_wanted("xx.x?.");
}

TEST(who_occupied_the_cpu_it_was_moved_to)
{
	put(10, PERF_SWITCH, 2, 0, 3);
	put(20, PERF_SWITCH, 2, 3, 2);
	put(40, PERF_MIGRATE, 0, 100, 2);
	put(45, PERF_MIGRATE, 0, 102, 1); /* does not wait */
	put(60, PERF_SWITCH, 2, 2, 3);
	put(90, PERF_SWITCH, 2, 3, 0);
	add_wait(100, 30, 50, 0);
	assert_wanted(".x..x?");
}

/* Waits are in the order of their ends, and are found by thread and time. */
TEST(moved_while_others_wait)
{
	put(10, PERF_SWITCH, 2, 0, 3);
	put(20, PERF_SWITCH, 2, 3, 2);
	put(40, PERF_MIGRATE, 0, 101, 2);
	put(45, PERF_SWITCH, 2, 2, 3);
	put(90, PERF_SWITCH, 2, 3, 0);
	add_wait(103, 5, 25, 0);
	add_wait(101, 30, 50, 0);
	add_wait(100, 35, 60, 0);
	assert_wanted(".x.xx");
}

/* It got the CPU at once, and nothing was switched before. */
TEST(no_time_at_all)
{
	put(30, PERF_SWITCH, 0, 2, 100);
	put(40, PERF_SWITCH, 0, 100, 2);
	add_wait(100, 30, 30, 0);
	assert_wanted("..");
}

TEST(clocks_differ)
{
	put(1010, PERF_SWITCH, 0, 0, 2);
	put(1020, PERF_SWITCH, 0, 2, 3);
	x.perf.clock.theirs = 1000;
	add_wait(100, 15, 20, 0);
	assert_wanted("xx");
	assert_int_equal(join__cpu_item(&x.perf, 0, JOIN_TASK).time, 10);
}

static uint64_t random_state;

static uint32_t rnd(uint32_t below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((random_state >> 33) % below);
}

/* By the words of join.h, switch by switch. */
static void walk(const struct join_wait *w, bool *ret)
{
	bool last_got_it = false;

	for (size_t i = 0; i < x.perf.n; i++) {
		const struct perf_sched *ev = &x.sched[i];
		bool before = false;

		if (ev->cpu != w->cpu)
			continue;
		for (size_t k = i + 1; k < x.perf.n; k++) /* another one comes before the wait */
			before |= x.sched[k].cpu == w->cpu && x.sched[k].time <= w->from;
		if (before)
			continue;
		if (ev->time < w->to || !last_got_it)
			ret[i] = !map__get(&x.target, ev->next);
		if (ev->time >= w->to)
			return;
		last_got_it = ev->time > w->from && ev->next == w->tid;
	}
}

/* The first switch that is not selected ends what the last one says, unless the trace itself does. */
static enum join_wanted expected_of(const bool *selected, size_t i)
{
	size_t before = i;

	if (selected[i])
		return JOIN_TASK;
	while (before-- && x.sched[before].cpu != x.sched[i].cpu)
		;
	if (before == SIZE_MAX || !selected[before] || map__get(&x.target, x.sched[i].next))
		return JOIN_NOT;
	return JOIN_UNKNOWN;
}

TEST(as_one_by_one)
{
	uint32_t running[3], next;
	bool expected[200];
	uint64_t time;
	uint16_t cpu;

	for (random_state = 1; random_state < 20;) {
		const uint64_t seed = random_state;

		teardown();
		setup(NULL);
		memset(running, 0, sizeof(running));
		for (time = 1000; x.perf.n < 200;) {
			time += 2 + rnd(20);
			cpu = (uint16_t)rnd(3);
			next = rnd(4) ? rnd(12) : OURS + rnd(4);
			if (next == running[cpu])
				continue;
			put(time, PERF_SWITCH, cpu, running[cpu], next);
			running[cpu] = next;
		}
		for (time = 900; time < 2500; time += 50 + rnd(200))
			add_wait(OURS + rnd(4), time + 1, time + 2 + rnd(50), (uint16_t)rnd(4));
		assert_int_equal(join__cpus(&x.perf, &x.target, &x.waits, &x.wanted), 0);
		memset(expected, 0, sizeof(expected));
		for (size_t i = 0; i < x.waits.n; i++)
			walk(&x.waits.at[i], expected);
		for (size_t i = 0; i < x.perf.n; i++)
			if (x.wanted[i] != expected_of(expected, i))
				fail_msg("seed %d, switch %zu", (int)seed, i);
		random_state = seed + 1;
	}
}

TEST(the_targets_own)
{
	static const struct {
		uint64_t state;
		uint8_t preempted, why;
	} off[] = { { 0, 1, GT_OFF_PREEMPTED }, { 1, 0, GT_OFF_SLEEPING }, { 2, 0, GT_OFF_DISK },
		    { 4, 0, GT_OFF_STOPPED },	{ 8, 0, GT_OFF_STOPPED },  { 16, 0, GT_OFF_DEAD },
		    { 32, 0, GT_OFF_DEAD } };
	struct kernel_item it[2];
	struct perf_sched *ev;

	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		x.perf.n = 0;
		ev = put(77, PERF_SWITCH, 1, 100, 2);
		ev->state = off[i].state;
		ev->preempted = off[i].preempted;
		assert_int_equal(join__items(&x.perf, &x.target, 0, it), 1);
		assert_int_equal(it[0].kind, KERNEL_OFF);
		assert_int_equal(it[0].why, off[i].why);
		assert_int_equal(it[0].time, 77);
		assert_int_equal(it[0].other, 2);
		assert_int_equal(it[0].other_pid, 1002);
		assert_memory_equal(it[0].name.data, "hog", 3);
	}
	put(80, PERF_SWITCH, 1, 101, 102);
	assert_int_equal(join__items(&x.perf, &x.target, 1, it), 2);
	assert_int_equal(it[0].kind, KERNEL_OFF);
	assert_int_equal(it[0].tid, 101);
	assert_int_equal(it[1].kind, KERNEL_ON);
	assert_int_equal(it[1].tid, 102);
	assert_int_equal(it[1].other, 101);
	put(81, PERF_SWITCH, 1, 3, 2);
	assert_int_equal(join__items(&x.perf, &x.target, 2, it), 0);
	ev = put(82, PERF_WAKING, 1, 103, 0);
	ev->by = 2;
	ev->pid = 1002;
	assert_int_equal(join__items(&x.perf, &x.target, 3, it), 1);
	assert_int_equal(it[0].kind, KERNEL_WAKING);
	assert_int_equal(it[0].other, 2);
	assert_int_equal(it[0].other_pid, 1002);
	assert_false(it[0].interrupt);
	ev->by = ev->pid = 0;
	assert_int_equal(join__items(&x.perf, &x.target, 3, it), 1);
	assert_true(it[0].interrupt);
	ev->by = ev->pid = UINT32_MAX; /* the kernel did not know */
	assert_int_equal(join__items(&x.perf, &x.target, 3, it), 1);
	assert_false(it[0].interrupt);
	assert_int_equal(it[0].other, 0);
	assert_int_equal(it[0].other_pid, 0);
	put(83, PERF_FORK, 1, 100, 101);
	assert_int_equal(join__items(&x.perf, &x.target, 4, it), 1);
	assert_int_equal(it[0].kind, KERNEL_CREATED);
	assert_int_equal(it[0].tid, 101);
	assert_int_equal(it[0].other, 100);
	put(84, PERF_EXIT, 1, 101, 0);
	assert_int_equal(join__items(&x.perf, &x.target, 5, it), 1);
	assert_int_equal(it[0].kind, KERNEL_ENDED);
	put(85, PERF_MIGRATE, 1, 101, 0);
	assert_int_equal(join__items(&x.perf, &x.target, 6, it), 0);
}

TEST(waits_with_losses)
{
	static const struct join_wait expected[] = { { 300, 350, 101, 1 } };

	item(KERNEL_OFF, 200, 100, 0, GT_OFF_PREEMPTED);
	join_waits__lose(&x.waits, 250);
	item(KERNEL_ON, 290, 100, 0, 0); /* there may have been another one before */
	item(KERNEL_OFF, 300, 101, 1, GT_OFF_PREEMPTED);
	join_waits__lose(&x.waits, 300);
	item(KERNEL_ON, 350, 101, 1, 0);
	assert_waits(expected, 1);
}

TEST(losses_are_passed)
{
	static const struct perf_loss losses[] = { { 1000, 1010, 1 }, { 1005, 1020, 2 } };
	size_t at = 0;

	x.perf.losses = losses;
	x.perf.nlosses = 2;
	x.perf.clock.theirs = 1000;
	assert_false(join_perf__pass_losses(&x.perf, &at, 9));
	assert_true(join_perf__pass_losses(&x.perf, &at, 10));
	assert_int_equal(at, 1);
	assert_false(join_perf__pass_losses(&x.perf, &at, 19));
	assert_true(join_perf__pass_losses(&x.perf, &at, 100));
	assert_int_equal(at, 2);
	assert_false(join_perf__pass_losses(&x.perf, &at, 100));
	assert_int_equal(join_perf__end(&x.perf), 0);
	put(1004, PERF_SWITCH, 0, 0, 2);
	put(1044, PERF_SWITCH, 0, 0, 2);
	assert_int_equal(join_perf__begin(&x.perf), 4);
	assert_int_equal(join_perf__end(&x.perf), 44);
}

/* Events of a perf -a recording, compared with those of perf -p and of one CPU. */
TEST(what_is_lacking)
{
	struct join_gaps gaps;

	for (uint64_t time = 10; time < 1000; time += 30) {
		put(time, PERF_SWITCH, 0, 0, 100);
		put(time + 10, PERF_SWITCH, 0, 100, 101);
		put(time + 20, PERF_SWITCH, 1, 101, 2);
	}
	assert_int_equal(join__gaps(&x.perf, &x.target, &gaps), 0);
	assert_int_equal(gaps.switches, 33 * 4);
	assert_int_equal(gaps.lacking, 0);
	assert_true(gaps.others);
	for (size_t i = 0; i < x.perf.n; i += 3) /* who got a CPU from others */
		x.sched[i].kind = PERF_OTHER_SCHED;
	assert_int_equal(join__gaps(&x.perf, &x.target, &gaps), 0);
	assert_int_equal(gaps.switches, 33 * 3);
	assert_int_equal(gaps.lacking, 32); /* before the first nothing is known */
	assert_false(gaps.others);
	for (size_t i = 0; i < x.perf.n; i++)
		x.sched[i].kind = i % 3 == 2 ? PERF_OTHER_SCHED : PERF_SWITCH;
	assert_int_equal(join__gaps(&x.perf, &x.target, &gaps), 0);
	assert_int_equal(gaps.switches, 33 * 3);
	assert_int_equal(gaps.lacking, 32); /* that leave CPU 1 */
	assert_true(gaps.others);
}
