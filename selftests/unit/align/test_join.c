// SPDX-License-Identifier: GPL-2.0
/* Of perf's events what belongs into a trace: CPUs, the target's own switches. */
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

static void assert_wanted(uint64_t from, const char *expected)
{
	char have[64] = {};

	free(x.wanted);
	assert_int_equal(join__cpus(&x.perf, &x.target, from, &x.wanted), 0);
	for (size_t i = 0; i < x.perf.n; i++)
		have[i] = ".x?"[x.wanted[i]];
	assert_string_equal(have, expected);
}

TEST(who_occupied_the_cpus)
{
	struct kernel_item core;

	put(10, PERF_SWITCH, 0, 0, 3); /* before the trace */
	put(20, PERF_SWITCH, 0, 3, 2); /* has it as the trace begins */
	put(25, PERF_SWITCH, 1, 0, 3); /* another CPU */
	put(40, PERF_SWITCH, 0, 2, 3);
	put(45, PERF_SWITCH, 0, 3, 101); /* one of the target's: the trace has it */
	put(46, PERF_SWITCH, 0, 101, 2);
	put(48, PERF_OTHER_SCHED, 0, 2, 0);
	put(50, PERF_SWITCH, 0, 2, 100);
	put(60, PERF_SWITCH, 0, 100, 0);
	assert_wanted(30, ".xxx.x..x");
	assert_wanted(40, "..xx.x..x");
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
	put(60, PERF_SWITCH, 0, 3, 0); /* the trace shows what 100 did */
	assert_wanted(0, "?xxx.x");
}

TEST(clocks_differ)
{
	put(1010, PERF_SWITCH, 0, 0, 2);
	put(1020, PERF_SWITCH, 0, 2, 3);
	x.perf.clock.theirs = 1000;
	assert_wanted(15, "xx");
	assert_wanted(20, ".x");
	assert_int_equal(join__cpu_item(&x.perf, 0, JOIN_TASK).time, 10);
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
