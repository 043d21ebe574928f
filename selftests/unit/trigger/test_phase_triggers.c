// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers stw, gc, goroutines, heap and runqueue, and what each condition needs.
 */
#include "unit/test.h"
#include "target/probe/site.h"
#include "trigger/needs.h"
#include "unit/trigger/trigger_fixture.h"

TEST(pauses)
{
	uint32_t why;

	watch("stw:5ms", NULL, NULL);
	why = intern__cstring(made.intern, "GOMAXPROCS");
	event(1, 1, 7, EV_STW_BEGIN, why);
	expect_none(5);
	expect_cause(6, 6, "stw:5ms: stop-the-world pause (GOMAXPROCS) for 5.0 ms");
	event(9, 1, 7, EV_STW_END, 0);
	event(10, 1, 7, EV_STW_BEGIN, why);
	event(14, 1, 7, EV_STW_END, 0);
	expect_none(30);
	event(31, 1, 7, EV_STW_BEGIN, why);
	watched.go_losses++;
	expect_none(40);
}

TEST(collections)
{
	watch("gc:5ms", NULL, NULL);
	event(1, 1, 7, EV_STW_BEGIN, 0);
	event(2, 1, 7, EV_GC_BEGIN, 1);
	event(8, 2, 8, EV_GC_END, 2);
	expect_cause(9, 7, "gc:5ms: garbage collection for 5.0 ms");
	event(20, 2, 8, EV_GC_ACTIVE, 3); /* begun before */
	event(29, 2, 8, EV_GC_END, 4);
	expect_none(30);
}

/* The number after each event, and the cause that is expected. */
static void number_of_goroutines(size_t n, bool created, const char *text)
{
	watched.goroutines = n + !created;
	made.causes = 0;
	event(1, 1, 7, created ? EV_GO_CREATE : EV_GO_DESTROY, 9);
	assert_int_equal(made.causes, text != NULL);
	if (text)
		assert_string_equal(made.cause.text, text);
}

TEST(goroutines)
{
	watch("goroutines:100", NULL, NULL);
	watched.stats.at_start = 99;
	number_of_goroutines(100, true, "goroutines:100: 100 goroutines");
	number_of_goroutines(101, true, NULL);
	number_of_goroutines(90, false, NULL);
	number_of_goroutines(100, true, NULL);
	number_of_goroutines(89, false, NULL);
	number_of_goroutines(99, true, NULL);
	number_of_goroutines(130, true, "goroutines:100: 130 goroutines");
	unwatch();
	watch("goroutines:100", NULL, NULL);
	watched.stats.at_start = 100;
	number_of_goroutines(101, true, NULL);
}

TEST(heap)
{
	watch("heap:1K", "heap:2K", NULL);
	event(1, 1, 7, EV_HEAP_ALLOC, 1023);
	event(2, 1, 7, EV_HEAP_GOAL, 5000);
	expect_none(2);
	event(3, 1, 7, EV_HEAP_ALLOC, 1024);
	expect_cause(3, 3, "heap:1K: 1024 bytes of heap");
	event(4, 1, 7, EV_HEAP_ALLOC, 3000);
	expect_cause(4, 4, "heap:2K: 3000 bytes of heap");
	event(5, 1, 7, EV_HEAP_ALLOC, 1000);
	event(6, 1, 7, EV_HEAP_ALLOC, 1500);
	expect_none(7);
	event(8, 1, 7, EV_HEAP_ALLOC, 900);
	event(9, 1, 7, EV_HEAP_ALLOC, 1024);
	expect_cause(9, 9, "heap:1K: 1024 bytes of heap");
}

static void item(uint64_t ms, enum kernel_kind kind, enum kernel_run run, uint64_t since)
{
	struct kernel_item it = { .time = ms * MS, .tid = 3, .kind = (uint8_t)kind };

	watched.thread =
		(struct kernel_thread){ .tid = 3, .run = (uint8_t)run, .since = since * MS };
	made.watch.kernel(made.watch.ctx, &it);
}

#define WAITED "runqueue:5ms: thread 3 waited for a CPU for 5.0 ms"

TEST(runqueue)
{
	watch("runqueue:5ms", NULL, NULL);
	item(1, KERNEL_WAKING, KERNEL_RUNNABLE, 1);
	item(4, KERNEL_NAMED, KERNEL_RUNNABLE, 1);
	expect_cause(6, 6, WAITED);
	expect_none(7);
	item(8, KERNEL_ON, KERNEL_RUNNING, 8);
	item(10, KERNEL_OFF, KERNEL_RUNNABLE, 10);
	item(14, KERNEL_ON, KERNEL_RUNNING, 14);
	item(15, KERNEL_OFF, KERNEL_THROTTLED, 15);
	expect_none(30);
	item(31, KERNEL_ON, KERNEL_RUNNING, 31);
	item(32, KERNEL_OFF, KERNEL_RUNNABLE, 32);
	item(40, KERNEL_ON, KERNEL_RUNNING, 40);
	expect_cause(41, 37, WAITED);
	item(42, KERNEL_OFF, KERNEL_RUNNABLE, 42);
	watched.losses++;
	expect_none(50);
	item(50, KERNEL_NAMED, KERNEL_RUNNABLE, 0); /* since before the recording */
	expect_none(60);
	item(61, KERNEL_WAKING, KERNEL_RUNNABLE, 61);
	item(62, KERNEL_ENDED, KERNEL_GONE, 62);
	expect_none(80);
}

/* The thread wakes another one: it has a CPU, which no event need have shown. */
TEST(runqueue_waker)
{
	struct kernel_item wakes = { .time = 4 * MS, .tid = 9, .kind = KERNEL_WAKING, .other = 3 };

	watch("runqueue:5ms", NULL, NULL);
	item(1, KERNEL_WAKING, KERNEL_RUNNABLE, 1);
	watched.thread.run = KERNEL_RUNNING;
	made.watch.kernel(made.watch.ctx, &wakes);
	expect_none(30);
}

static int checked(const char *text, uint32_t sets, char **ret)
{
	static struct error error;
	struct condition c;
	int err;

	error = (struct error){};
	assert_int_equal(condition__parse(text, &c, &error), 0);
	err = condition__check(&c, sets, &error);
	*ret = error.text;
	return err;
}

TEST(needs)
{
	static const char *const any[] = { "runnable:1ms", "blocked:1ms:sync", "goroutines:10" };
	uint32_t all = SITE_SETS_DEFAULT;
	char *why;

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(checked(any[i], SITE_SET(SCHED), &why), 0);
	assert_int_equal(checked("syscall:1ms:read", all, &why), 0);
	assert_int_equal(checked("syscall:1ms:reed", all, &why), -EINVAL);
	assert_string_equal(why, "invalid trigger 'syscall:1ms:reed': unknown system call 'reed'");
	assert_int_equal(checked("blocked:1ms:synk", all, &why), -EINVAL);
	assert_non_null(strstr(why, "invalid trigger 'blocked:1ms:synk': REASON must be one of: "));
	assert_non_null(strstr(why, ", sync, "));
	assert_string_equal(why + strlen(why) - strlen(", synctest"), ", synctest");
	assert_int_equal(checked("syscall:1ms", SITE_SET(SYSCALL), &why), 0);
	assert_int_equal(checked("syscall:1ms:read", SITE_SET(SYSCALL), &why), -EINVAL);
	assert_string_equal(why, "trigger 'syscall:1ms:read' requires set kernel in --events");
	assert_int_equal(checked("runqueue:1ms", all & ~SITE_SET(KERNEL), &why), -EINVAL);
	assert_int_equal(checked("heap:1M", all & ~SITE_SET(HEAP), &why), -EINVAL);
	assert_int_equal(checked("gc:1ms", all & ~SITE_SET(GC), &why), -EINVAL);
	assert_int_equal(checked("stw:1ms", all & ~SITE_SET(GC), &why), -EINVAL);
}
