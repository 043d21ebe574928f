// SPDX-License-Identifier: GPL-2.0
/*
 * Which intervals are in a profile, with which stack and labels, and what cuts them.
 * check/profile.sh compares profiles of real traces with those of Go's tool.
 */
#include "unit/test.h"
#include "format/encode.h"
#include "format/private.h"
#include "unit/profile_fixture.h"

/* Goroutine 5 of main.worker, and what it does; its creation is at 100, its first run at 110. */
static void created(void)
{
	event(90, EV_SYNC, 0, 0, 0, 0);
	on_m = 1;
	event(100, EV_GO_CREATE, GO_STATE_NOT_EXIST, 5, WORKER, MAIN);
	event(110, EV_GO_START, GO_STATE_RUNNABLE, 5, 1, 0);
	on_g = 5;
}

static void calls(int64_t time, uint64_t stack)
{
	event(time, EV_GO_SYSCALL_BEGIN, GO_STATE_RUNNING, 2, stack, 0);
	event(time + 6, EV_GO_SYSCALL_END, GO_STATE_SYSCALL, 0, 0, 0);
}

static void blocks(int64_t time, uint64_t reason, uint64_t stack)
{
	event(time, EV_GO_BLOCK, GO_STATE_RUNNING, reason, stack, 0);
	on_g = TRACE_NO_G;
	event(time + 10, EV_GO_UNBLOCK, GO_STATE_WAITING, 5, 2, LEAF);
	event(time + 13, EV_GO_START, GO_STATE_RUNNABLE, 5, 3, 0);
	on_g = 5;
}

static void life(void)
{
	created();
	calls(120, READ);
	blocks(130, CHAN, READ);
	calls(150, READ);
	blocks(160, NETWORK, LEAF);
	calls(180, LEAF);
}

TEST(kinds)
{
	begin(PROFILE_SYSCALL);
	life();
	expect("2 12 main.read<main.worker\n1 6 leaf<main.worker\n");
	begin(PROFILE_SYNC);
	life();
	expect("1 10 main.read<main.worker\n");
	begin(PROFILE_NET);
	life();
	expect("1 10 leaf<main.worker\n");
	/* The wait before the first run does not count. */
	begin(PROFILE_SCHED);
	life();
	expect("2 6 leaf<main.worker\n");
}

/* What has not ended does not count; what began before the trace does. */
TEST(both_ends)
{
	begin(PROFILE_SYSCALL);
	event(90, EV_SYNC, 0, 0, 0, 0);
	event(100, EV_GO_STATUS, GO_STATE_UNDETERMINED, 8, 4, 3); /* in a system call */
	created();
	calls(120, READ);
	event(200, EV_GO_SYSCALL_BEGIN, GO_STATE_RUNNING, 2, READ, 0);
	expect("1 6 main.read<main.worker\n");
}

/* It ends a system call, but never runs. */
TEST(never_runs)
{
	begin(PROFILE_SYSCALL);
	event(90, EV_SYNC, 0, 0, 0, 0);
	on_m = 4;
	on_g = 8;
	event(100, EV_GO_STATUS_STACK, GO_STATE_UNDETERMINED, 8, 4, 3);
	event(130, EV_GO_SYSCALL_END_BLOCKED, GO_STATE_SYSCALL, 0, 0, 0);
	expect("1 30\n");
	/* If it runs later, the call lies before its first run. */
	begin(PROFILE_SYSCALL);
	event(90, EV_SYNC, 0, 0, 0, 0);
	on_m = 4;
	on_g = 8;
	event(100, EV_GO_STATUS_STACK, GO_STATE_UNDETERMINED, 8, 4, 3);
	event(130, EV_GO_SYSCALL_END_BLOCKED, GO_STATE_SYSCALL, 0, 0, 0);
	event(140, EV_GO_START, GO_STATE_RUNNABLE, 8, 1, 0);
	expect("");
}

/* Each ns from the creation to the end of the trace, in one state. */
TEST(all_time)
{
	begin(PROFILE_WALL);
	created();
	calls(120, READ);
	blocks(130, CHAN, READ);
	event(150, EV_SYNC, 0, 0, 0, 0);
	expect("1 10 [runnable]<main.worker<main.worker\n"
	       "3 21 [running]<main.worker\n"
	       "1 6 [system call]<main.read<main.worker\n"
	       "1 10 [waiting: chan receive]<main.read<main.worker\n"
	       "1 3 [runnable]<main.read<main.worker\n");
}

TEST(cpu_samples)
{
	begin_with(
		&(struct profile_opts){ .kind = PROFILE_CPU, .sample_ns = 100, .by_thread = true });
	profile__set_window(profile, 120, 130);
	created();
	event(119, EV_CPU_SAMPLE, 0, READ, 0, 0);
	event(120, EV_CPU_SAMPLE, 0, READ, 0, 0);
	on_g = TRACE_NO_G;
	event(129, EV_CPU_SAMPLE, 0, READ, 0, 0);
	event(129, EV_CPU_SAMPLE, 0, 0, 0, 0);
	event(130, EV_CPU_SAMPLE, 0, READ, 0, 0);
	expect("2 200 main.read<main.worker m1\n1 100 m1\n");
}

/* A generation begins, with this rate of samples; 0: it has none. */
static void generation(int64_t time, uint64_t period_ns)
{
	static uint64_t id = 1000;
	uint8_t record[64], *p = record;

	memcpy(p, PRIVATE_PREFIX, PRIVATE_PREFIX_LEN);
	p = leb__put(p + PRIVATE_PREFIX_LEN, PRIVATE_CPU_SAMPLES);
	p = leb__put(leb__put(p, 0), 0);
	p = leb__put(leb__put(leb__put(p, period_ns), 0), 0);
	if (period_ns)
		assert_int_equal(dictionary__add_string(&dictionary, id++, (char *)record,
							(size_t)(p - record)),
				 0);
	event(time, EV_SYNC, 0, 0, 0, 0);
}

TEST(rate_of_the_trace)
{
	begin(PROFILE_CPU);
	generation(100, 1000);
	event(119, EV_CPU_SAMPLE, 0, READ, 0, 0);
	event(120, EV_CPU_SAMPLE, 0, READ, 0, 0);
	assert_int_equal(profile__sample_ns(profile), 1000);
	generation(200, 3000);
	event(219, EV_CPU_SAMPLE, 0, READ, 0, 0);
	assert_int_equal(profile__sample_ns(profile), 0); /* they differ */
	assert_false(profile__samples(profile)->counted);
	expect("3 5000 main.read<main.worker\n");
}

/* Times of some samples and counts of others could not be added. */
TEST(rate_unknown)
{
	begin(PROFILE_CPU);
	generation(100, 0);
	event(119, EV_CPU_SAMPLE, 0, READ, 0, 0);
	event(120, EV_CPU_SAMPLE, 0, READ, 0, 0);
	generation(200, 3000);
	event(219, EV_CPU_SAMPLE, 0, LEAF, 0, 0);
	assert_int_equal(profile__finish(profile), 0);
	assert_true(profile__samples(profile)->counted);
	expect("2 2 main.read<main.worker\n1 1 leaf<main.worker\n");
	begin_with(&(struct profile_opts){ .kind = PROFILE_CPU, .sample_ns = 100 });
	generation(100, 0);
	event(119, EV_CPU_SAMPLE, 0, READ, 0, 0);
	assert_int_equal(profile__sample_ns(profile), 100);
	assert_false(profile__samples(profile)->counted);
	expect("1 100 main.read<main.worker\n");
}

static void item(int64_t time, uint8_t kind, uint8_t why, uint64_t delay)
{
	const struct kernel_item item = { .tid = 1, .kind = kind, .why = why };
	static const struct kernel_threads none;
	const struct profile_item i = { &item, time, delay, 5, &none };

	assert_int_equal(profile__item(profile, &i), 0);
}

TEST(off_cpu)
{
	begin(PROFILE_OFFCPU);
	created();
	item(111, KERNEL_OFF, GT_OFF_PREEMPTED, 0);
	item(115, KERNEL_ON, 0, 4);
	event(120, EV_GO_SYSCALL_BEGIN, GO_STATE_RUNNING, 2, READ, 0);
	item(121, KERNEL_OFF, GT_OFF_SLEEPING, 0);
	item(141, KERNEL_ON, 0, 5);
	item(142, KERNEL_OFF, GT_OFF_SLEEPING, 0);
	item(143, KERNEL_OFF, GT_OFF_DISK, 0); /* that it got a CPU is missing */
	item(145, KERNEL_ON, 0, UINT64_MAX);
	item(150, KERNEL_OFF, GT_OFF_SLEEPING, 0);
	profile__lose_threads(profile);
	item(155, KERNEL_ON, 0, 1);
	item(160, KERNEL_OFF, GT_OFF_SLEEPING, 0);
	item(161, KERNEL_SYS_EXIT, 0, 0); /* the same */
	item(165, KERNEL_ON, 0, 1);
	expect("1 4 [waiting for a CPU]<main.worker\n"
	       "1 15 [sleeping]<main.read<main.worker\n"
	       "1 5 [waiting for a CPU]<main.read<main.worker\n"
	       "1 2 [disk]<main.read<main.worker\n");
}

/* Of nested regions each has the stack of its own begin; what does not end does not count. */
TEST(regions)
{
	begin_with(&(struct profile_opts){ .kind = PROFILE_REGION, .by_task = true });
	created();
	event(115, EV_USER_REGION_END, 0, 1, NETWORK, LEAF); /* its begin is not in the trace */
	event(120, EV_USER_REGION_BEGIN, 0, 1, CHAN, READ);
	event(125, EV_USER_REGION_BEGIN, 0, 2, NETWORK, LEAF);
	event(130, EV_USER_REGION_END, 0, 2, NETWORK, LEAF);
	event(150, EV_USER_REGION_END, 0, 1, CHAN, LEAF);
	event(160, EV_USER_REGION_BEGIN, 0, 1, CHAN, READ);
	expect("1 5 [region: network]<leaf<main.worker t2\n"
	       "1 30 [region: chan receive]<main.read<main.worker t1\n");
}

TEST(regions_that_end_with_their_goroutine)
{
	begin(PROFILE_REGION);
	created();
	event(120, EV_USER_REGION_BEGIN, 0, 1, CHAN, READ);
	event(125, EV_USER_REGION_BEGIN, 0, 1, NETWORK, LEAF);
	event(150, EV_GO_DESTROY, 0, 0, 0, 0);
	expect("1 25 [region: network]<leaf<main.worker\n"
	       "1 30 [region: chan receive]<main.read<main.worker\n");
}

TEST(tasks)
{
	begin_with(&(struct profile_opts){ .kind = PROFILE_TASK, .by_goroutine = true });
	created();
	event(120, EV_USER_TASK_BEGIN, 0, 1, 0, CHAN);
	event(125, EV_USER_TASK_BEGIN, 0, 2, 1, CHAN);
	event(126, EV_USER_TASK_END, 0, 7, 0, 0);
	event(150, EV_USER_TASK_END, 0, 1, 0, 0);
	expect("1 30 [task: chan receive]<main.worker g5\n");
}

TEST(windows)
{
	begin(PROFILE_SYSCALL);
	profile__set_window(profile, 124, 184);
	life();
	expect("2 8 main.read<main.worker\n1 4 leaf<main.worker\n");
	begin(PROFILE_SYSCALL);
	profile__set_window(profile, 126, 150);
	life();
	expect("");
}

/* A goroutine gets its name after its first system call. */
static void named_late(void)
{
	event(90, EV_SYNC, 0, 0, 0, 0);
	on_m = 7;
	on_g = 8;
	event(100, EV_GO_STATUS, GO_STATE_UNDETERMINED, 8, 7, 2);
	calls(110, 0);
	blocks(120, CHAN, MAIN);
}

TEST(labels)
{
	begin_with(&(struct profile_opts){ .kind = PROFILE_SYSCALL, .by_function = true });
	named_late();
	expect("1 6 of main.main\n");
	begin_with(&(struct profile_opts){
		.kind = PROFILE_SYSCALL, .by_goroutine = true, .by_thread = true });
	life();
	expect("2 12 main.read<main.worker g5 m1\n1 6 leaf<main.worker g5 m1\n");
	begin_with(&(struct profile_opts){ .kind = PROFILE_SCHED, .by_function = true });
	life();
	expect("2 6 leaf<main.worker of main.worker\n");
}

TEST(filters)
{
	struct selection select = {};
	const struct profile_opts opts = { .kind = PROFILE_SYSCALL, .select = &select };

	selection__option(&select, SELECT_GOROUTINE, "6");
	begin_with(&opts);
	life();
	expect("");
	select.have_goroutine = false;
	selection__option(&select, SELECT_FUNCTION, "worker$");
	begin_with(&opts);
	life();
	expect("2 12 main.read<main.worker\n1 6 leaf<main.worker\n");
	selection__deinit(&select);
	selection__option(&select, SELECT_FUNCTION, "^main.main$");
	begin_with(&opts);
	life();
	expect("");
	selection__deinit(&select);
}

/* Equal stacks of two generations are one, whatever their ids. */
TEST(generations)
{
	begin(PROFILE_SYSCALL);
	created();
	calls(120, READ);
	event(130, EV_SYNC, 0, 0, 0, 0);
	calls(140, READ);
	expect("2 12 main.read<main.worker\n");
}
