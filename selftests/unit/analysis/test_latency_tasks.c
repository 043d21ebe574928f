// SPDX-License-Identifier: GPL-2.0
/*
 * What held the CPUs that threads waited for, in a trace that contains what CPUs ran.
 */
#include "unit/scratch.h"
#include "unit/latency_fixture.h"

static void ran(int64_t time, uint16_t cpu, uint32_t tid, const char *name)
{
	item(time, tid, KERNEL_CPU,
	     (struct kernel_item){ .cpu = cpu,
				   .other_pid = tid + 1000,
				   .name = { name, (uint32_t)strlen(name) } });
}

/* Goroutine 5 is preempted on CPU 0 at 200 by the thread 99 of make. */
static void preempted(void)
{
	begin();
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	core(100, 8, 1);
	start_new(5, 7, 110);
	ran(150, 3, 98, "other");
	item(200, 7, KERNEL_OFF,
	     (struct kernel_item){ .why = GT_OFF_PREEMPTED, .other = 99, .name = { "make", 4 } });
}

/* The only goroutine has these tasks, in the order of their first times. */
static void expect_tasks(const char *want)
{
	struct latency_goroutine g;
	struct trace_string name;
	int64_t sum = 0;
	FILE *f = capture();

	assert_int_equal(latency__finish(latency, &error), 0);
	assert_int_equal(record_store__count(done), 1);
	assert_int_equal(latency__unpack(record_store__get(done, 0), &g), 0);
	for (uint32_t i = 0; i < g.stats.tasks.n; i++) {
		name = latency__task(latency, g.stats.tasks.at[i].kind);
		fprintf(f, "%.*s=%" PRId64 " ", (int)name.len, name.data, g.stats.tasks.at[i].ns);
		sum += g.stats.tasks.at[i].ns;
	}
	expect_captured(want);
	if (latency__is_aligned(latency))
		assert_int_equal(sum, g.stats.part[PART_KERNEL_RUNNABLE]);
	latency_stats__deinit(&g.stats);
}

/* A preempted thread waits for the CPU that it had, whichever it gets. */
TEST(of_the_last_cpu)
{
	preempted();
	ran(210, 0, 98, "");
	ran(213, 1, 97, "elsewhere");
	ran(217, 0, 0, "");
	core(218, 8, 0);
	ran(222, 0, 99, "make");
	core(230, 7, 1);
	event(240, EV_GO_DESTROY, 0, 0, 0);
	expect_tasks("make=18 process 1098=7 (idle)=1 (the program itself)=4 ");
}

/* A woken thread waits for the CPU that it gets. */
TEST(of_the_next_cpu)
{
	preempted();
	core(200, 7, 0);
	off(210, 7, GT_OFF_SLEEPING);
	ran(215, 1, 97, "cc");
	ran(216, 0, 96, "wrong");
	wake(220, 7);
	ran(224, 1, 95, "ld");
	core(230, 7, 1);
	event(240, EV_GO_DESTROY, 0, 0, 0);
	expect_tasks("cc=4 ld=6 ");
}

/* From the second item on, the next switches of the CPU are not in the trace. */
TEST(of_an_unknown_task)
{
	preempted();
	ran(205, 0, 98, "cc");
	ran(210, 0, KERNEL_NO_THREAD, "");
	core(230, 7, 0);
	event(240, EV_GO_DESTROY, 0, 0, 0);
	expect_tasks("make=5 cc=5 (unknown)=20 ");
}

/* It still waits when the trace ends. */
TEST(not_over)
{
	preempted();
	ran(210, 0, 98, "cc");
	on(8, TRACE_NO_G);
	event(230, EV_PROCS_CHANGE, 2, 0, 0);
	expect_tasks("make=10 cc=20 ");
}

/* What the CPU ran before is not known. */
TEST(began_before)
{
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 110);
	off(200, 7, GT_OFF_PREEMPTED);
	ran(205, 0, 98, "cc");
	core(230, 7, 0);
	event(240, EV_GO_DESTROY, 0, 0, 0);
	expect_tasks("(unknown)=5 cc=25 ");
}

TEST(not_aligned)
{
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 110);
	off(200, 7, GT_OFF_PREEMPTED);
	core(230, 7, 0);
	event(240, EV_GO_DESTROY, 0, 0, 0);
	assert_false(latency__is_aligned(latency));
	expect_tasks("");
}

/* ---- only what CPUs ran while threads waited for them ---- */

static void occupant(int64_t time, uint16_t cpu, uint32_t tid, const char *name, bool before)
{
	item(time, tid, KERNEL_OCCUPANT,
	     (struct kernel_item){
		     .cpu = cpu, .before = before, .name = { name, (uint32_t)strlen(name) } });
}

static void expect_reasons(const char *want)
{
	struct latency_goroutine g;
	struct trace_string name;
	FILE *f = capture();

	assert_int_equal(latency__unpack(record_store__get(done, 0), &g), 0);
	for (uint32_t i = 0; i < g.stats.reasons.n; i++) {
		if (latency_reason__part(g.stats.reasons.at[i].kind) != PART_KERNEL_RUNNABLE)
			continue;
		name = latency__reason(latency, g.stats.reasons.at[i].kind);
		fprintf(f, "%.*s=%" PRId64 " ", (int)name.len, name.data, g.stats.reasons.at[i].ns);
	}
	expect_captured(want);
	latency_stats__deinit(&g.stats);
}

/* Goroutine 5 runs on thread 7 and CPU 0. */
static void running(void)
{
	threads.waits = true;
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	core(100, 8, 1);
	start_new(5, 7, 110);
}

/* Make gets the CPU first, but cc has it for longer; then it is idle. */
TEST(occupants_while_preempted)
{
	running();
	item(200, 7, KERNEL_OFF,
	     (struct kernel_item){ .why = GT_OFF_PREEMPTED, .other = 99, .name = { "make", 4 } });
	occupant(203, 0, 98, "cc", false);
	occupant(210, 1, 97, "elsewhere", false);
	occupant(221, 0, 0, "", false);
	core(230, 7, 0);
	event(240, EV_GO_DESTROY, 0, 0, 0);
	assert_false(latency__is_aligned(latency));
	expect_tasks("make=3 cc=18 (idle)=9 ");
	expect_reasons("CPU held by make=3 CPU held by cc=18 preempted=9 ");
}

/* What had CPU 1 when the thread was woken is found then; the other item of its thread is none of its end. */
TEST(occupants_when_woken)
{
	running();
	core(110, 8, 1);
	item(120, 8, KERNEL_OFF,
	     (struct kernel_item){
		     .cpu = 1, .why = GT_OFF_SLEEPING, .other = 96, .name = { "ld", 2 } });
	off(210, 7, GT_OFF_SLEEPING);
	wake(220, 7);
	occupant(222, 1, 97, "cc", true);
	wake(223, 7);
	occupant(224, 1, 95, "as", false);
	item(230, 7, KERNEL_ON, (struct kernel_item){ .cpu = 1, .other = 95 });
	event(240, EV_GO_DESTROY, 0, 0, 0);
	expect_tasks("cc=4 as=6 ");
	expect_reasons("CPU held by cc=4 CPU held by as=6 ");
}

/* It waits for CPU 2, then for CPU 3, and gets CPU 0: the kernel did not report the last move. */
TEST(occupants_when_moved)
{
	running();
	off(210, 7, GT_OFF_SLEEPING);
	wake(220, 7);
	occupant(220, 2, 97, "cc", true);
	item(225, 7, KERNEL_MOVED, (struct kernel_item){ .cpu = 3, .other = 2 });
	occupant(225, 3, 96, "ld", true);
	occupant(228, 3, KERNEL_NO_THREAD, "", false);
	core(230, 7, 0);
	event(240, EV_GO_DESTROY, 0, 0, 0);
	expect_tasks("cc=5 ld=3 (unknown)=2 ");
	expect_reasons("CPU held by cc=5 CPU held by ld=3 woken=2 ");
}

/* It still waits at the end: which CPU it gets is not known. */
TEST(occupants_at_the_end)
{
	running();
	off(210, 7, GT_OFF_SLEEPING);
	occupant(212, 0, 97, "cc", true);
	wake(220, 7);
	on(8, TRACE_NO_G);
	event(230, EV_PROCS_CHANGE, 2, 0, 0);
	expect_tasks("(unknown)=10 ");
	expect_reasons("woken=10 ");
}

/* More changes than are kept, by more tasks than are distinguished. */
TEST(limits)
{
	struct latency_goroutine g;
	char name[32];
	int64_t sum = 0;

	preempted();
	for (uint32_t i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "task %u", i % 1000);
		ran(201 + i, 0, 1000 + i, name);
	}
	core(30000, 7, 0);
	event(30001, EV_GO_DESTROY, 0, 0, 0);
	assert_int_equal(latency__finish(latency, &error), 0);
	assert_int_equal(latency__unpack(record_store__get(done, 0), &g), 0);
	assert_in_range(g.stats.tasks.n, 100, 128);
	for (uint32_t i = 0; i < g.stats.tasks.n; i++)
		sum += g.stats.tasks.at[i].ns;
	assert_int_equal(sum, 29800);
	latency_stats__deinit(&g.stats);
}
