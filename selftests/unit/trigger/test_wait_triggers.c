// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers runnable, blocked and syscall: each wait is evaluated once and in time, regardless of what
 * ends in between, and only waits that count are.
 */
#include "unit/test.h"
#include "unit/trigger/trigger_fixture.h"

#define RUNNABLE_7 "runnable:5ms: goroutine 7 runnable for 5.0 ms"

TEST(once_per_wait)
{
	watch("runnable:5ms", NULL, NULL);
	event(1, 1, 0, EV_GO_CREATE, 7);
	expect_none(5);
	expect_cause(6, 6, RUNNABLE_7);
	expect_none(20);
	event(30, 1, 0, EV_GO_START, 7);
	expect_none(31);
	event(32, 1, 7, EV_GO_STOP, 0);
	event(41, 1, 0, EV_GO_START, 7);
	assert_int_equal(made.causes, 0); /* not before it is known that nothing was lost */
	expect_cause(42, 37, RUNNABLE_7);
	event(43, 1, 7, EV_GO_STOP, 0);
	event(47, 1, 0, EV_GO_START, 7);
	expect_none(60);
}

TEST(two_limits)
{
	watch("runnable:5ms", "runnable:10ms", NULL);
	event(1, 1, 0, EV_GO_UNBLOCK, 7);
	event(3, 1, 0, EV_GO_UNBLOCK, 8);
	expect_cause(6, 6, RUNNABLE_7);
	expect_cause(9, 8, "runnable:5ms: goroutine 8 runnable for 5.0 ms");
	event(10, 1, 0, EV_GO_START, 7);
	expect_cause(13, 13, "runnable:10ms: goroutine 8 runnable for 10.0 ms");
}

TEST(ends_in_between)
{
	watch("runnable:5ms", NULL, NULL);
	for (uint64_t g = 1; g <= 4; g++)
		event(1, 1, 0, EV_GO_CREATE, g);
	event(2, 1, 0, EV_GO_START, 1); /* the first that is not evaluated */
	event(2, 1, 0, EV_GO_START, 3);
	event(3, 1, 1, EV_GO_DESTROY, 0);
	event(4, 1, 0, EV_GO_CREATE, 5); /* in the memory of 1 */
	expect_cause(6, 6, "runnable:5ms: goroutine 2 runnable for 5.0 ms"); /* and 4 */
	event(7, 1, 0, EV_GO_START, 2);
	event(7, 1, 0, EV_GO_START, 4);
	expect_cause(9, 9, "runnable:5ms: goroutine 5 runnable for 5.0 ms");
	event(9, 1, 2, EV_GO_SWITCH_DESTROY, 5);
	expect_none(100);
}

TEST(reasons)
{
	watch("blocked:5ms", "blocked:5ms:network", NULL);
	watched.start_function = "main.f";
	block(1, 7, "sleep");
	block(1, 8, "network");
	block(2, 9, "chan send");
	expect_cause(6, 6,
		     "blocked:5ms:network: goroutine 8 (main.f) blocked on network for 5.0 ms");
	expect_cause(7, 7, "blocked:5ms: goroutine 9 (main.f) blocked on chan send for 5.0 ms");
	event(8, 1, 0, EV_GO_UNBLOCK, 9);
	watched.is_runtime = true;
	block(10, 7, "sync");
	block(11, 8, "network");
	expect_cause(20, 16,
		     "blocked:5ms:network: goroutine 8 (main.f) blocked on network for 5.0 ms");
}

static void call(uint64_t ms, uint32_t tid, uint32_t number)
{
	struct kernel_item item = {
		.time = ms * MS, .tid = tid, .kind = KERNEL_SYS_ENTER, .number = number
	};

	made.watch.kernel(made.watch.ctx, &item);
}

TEST(system_calls)
{
	watch("syscall:5ms:read", NULL, NULL);
	call(1, 3, 0); /* not of a goroutine */
	event(2, 3, 7, EV_GO_SYSCALL_BEGIN, 1);
	call(2, 3, 1); /* write */
	call(3, 3, 0); /* by C code */
	event(8, 3, 7, EV_GO_SYSCALL_END, 0);
	expect_none(20);
	event(20, 3, 7, EV_GO_SYSCALL_BEGIN, 1);
	call(20, 3, 0);
	expect_cause(25, 25, "syscall:5ms:read: goroutine 7 in system call read for 5.0 ms");
	call(26, 4, 0);
	event(26, 3, 7, EV_GO_SYSCALL_END_BLOCKED, 1);
	call(27, 3, 0); /* the thread goes on without it */
	expect_none(40);
}

TEST(any_system_call)
{
	watch("syscall:5ms", NULL, NULL);
	event(20, 3, 7, EV_GO_SYSCALL_BEGIN, 1);
	watched.left_call = 24 * MS; /* its event comes later */
	expect_none(26);
	event(24, 3, 7, EV_GO_SYSCALL_END, 0);
	watched.left_call = 0;
	event(30, 3, 7, EV_GO_SYSCALL_BEGIN, 1);
	watched.left_call = 35 * MS;
	expect_cause(36, 35, "syscall:5ms: goroutine 7 in a system call for 5.0 ms");
	watched.left_call = 0;
	event(35, 3, 7, EV_GO_SYSCALL_END, 0);
	watched.start_function = "os/signal.loop";
	event(40, 3, 7, EV_GO_SYSCALL_BEGIN, 1);
	expect_none(60);
}

TEST(losses)
{
	uint64_t *doubts[] = { &watched.go_losses, &watched.stats.repairs,
			       &watched.stats.corrected };

	watch("runnable:5ms", NULL, NULL);
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t t = 100 * i;

		event(t + 1, 1, 0, EV_GO_CREATE, 7);
		event(t + 2, 1, 0, EV_GO_CREATE, 8);
		event(t + 8, 1, 0, EV_GO_START, 8);
		(*doubts[i])++;
		expect_none(t + 20);
		event(t + 21, 1, 0, EV_GO_START, 7);
		event(t + 22, 1, 7, EV_GO_STOP, 0);
		expect_cause(t + 30, t + 27, RUNNABLE_7);
	}
}

#define GS 40

/* What the triggers should report, computed by a scan of all goroutines. */
static struct {
	uint64_t since[GS], due[10000]; /* 0: does not wait; evaluated at the next watermark */
	bool evaluated[GS];
	size_t n;
} model;

static void model_time(uint64_t g, uint64_t time)
{
	if (!model.since[g] || model.evaluated[g] || model.since[g] + 5 > time)
		return;
	model.evaluated[g] = true;
	model.due[model.n++] = model.since[g] + 5;
}

static void model_watermark(uint64_t time)
{
	bool found = false;

	for (uint64_t g = 0; g < GS; g++)
		model_time(g, time);
	watermark(time);
	assert_int_equal(made.causes, model.n > 0);
	for (size_t i = 0; i < model.n; i++)
		found |= model.due[i] * MS == made.cause.time;
	assert_true(found || !model.n);
	made.causes = model.n = 0;
}

TEST(as_the_model)
{
	watch("runnable:5ms", NULL, NULL);
	srand(1);
	memset(&model, 0, sizeof(model));
	for (uint64_t time = 1; time < 20000; time += (uint64_t)rand() % 2) {
		uint64_t g = (uint64_t)rand() % GS;

		model_time(g, time);
		if (model.since[g] && rand() % 50 == 0)
			event(time, 1, g + 1, EV_GO_DESTROY, 0);
		else if (model.since[g])
			event(time, 1, 0, EV_GO_START, g + 1);
		else
			event(time, 1, g + 1, EV_GO_STOP, 0);
		model.since[g] = model.since[g] ? 0 : time;
		model.evaluated[g] = false;
		if (rand() % 10 == 0)
			model_watermark(time);
	}
}

/* Would take hours if an event or a watermark looked at each. */
TEST(million)
{
	const uint64_t n = 1000000;

	watch("blocked:5ms", "blocked:1s", "runnable:1ms");
	for (uint64_t g = 1; g <= n; g++)
		block(1, g, "network");
	for (uint64_t i = 0; i < n; i++)
		watermark(2 + i / 1000);
	for (uint64_t g = n; g; g--)
		event(2000, 1, 0, EV_GO_UNBLOCK, g);
	for (uint64_t g = 1; g <= n; g++)
		event(2000, 1, 0, EV_GO_START, g);
	expect_none(3000);
}
