// SPDX-License-Identifier: GPL-2.0
/*
 * The intervals of each kind: which events begin and end them, which have no known begin, and the
 * window. check/waits.sh compares those of recorded traces.
 */
#include "unit/tracker_fixture.h"
#include "analysis/intervals.h"

enum { NONE, CHAN, SELECT, SWEEP, MARK, STRINGS };
static const char *const strings[STRINGS] = { "", "chan receive", "select", "GC sweep termination",
					      "GC mark termination" };
enum { FUTEX = 202, READ = 0, NAMELESS = 9999 };

static struct kernel_threads threads;
static struct intervals *iv;

static void begin(enum interval_kind kind, const char *name)
{
	add_strings(strings, STRINGS);
	threads = (struct kernel_threads){};
	iv = intervals__create(&(struct intervals_opts){ .kind = kind, .name = name });
	assert_non_null(iv);
	on_g = TRACE_NO_G;
}

static void event(int64_t time, unsigned int type, uint64_t a, uint64_t b, uint64_t c)
{
	struct trace_event ev = made_event(time, type, a, b, c);

	ev.old = GO_STATE_UNDETERMINED;
	assert_int_equal(intervals__event(iv, &ev), 0);
}

static void item(int64_t time, uint8_t kind, uint32_t number, uint64_t duration, bool in_loss)
{
	struct kernel_item k = { .kind = kind, .tid = 7, .number = number };

	intervals__item(iv, &(struct interval_item){ &k, time, duration, in_loss, &threads });
}

/* Expects COUNT SUM MIN MAX UNCOUNTED, and ends the test. */
static void expect(const char *want, bool of_kernel)
{
	const struct interval_counts *c;
	char got[128];
	bool kernel;

	c = intervals__counts(iv, &kernel);
	snprintf(got, sizeof(got), "%" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64,
		 c->lengths.count, c->lengths.sum, c->lengths.min, c->lengths.max, c->uncounted);
	assert_string_equal(got, want);
	assert_int_equal(kernel, of_kernel);
	intervals__destroy(iv);
	kernel_threads__deinit(&threads);
	dictionary__deinit(&dictionary);
}

/* Goroutine 5: runnable 10 and 40, blocked 30 and 50, in a call for 7. 6: was blocked before. */
static void lives(void)
{
	event(100, EV_SYNC, 0, 0, 0);
	event(101, EV_GO_STATUS, 6, 8, 4);
	event(110, EV_GO_CREATE, 5, 0, 0);
	event(120, EV_GO_START, 5, 1, 0);
	on_g = 5;
	event(200, EV_GO_BLOCK, CHAN, 0, 0);
	on_g = 8;
	event(230, EV_GO_UNBLOCK, 5, 2, 0);
	event(270, EV_GO_START, 5, 3, 0);
	on_g = 5;
	event(300, EV_GO_SYSCALL_BEGIN, 4, 0, 0);
	event(307, EV_GO_SYSCALL_END, 0, 0, 0);
	event(310, EV_GO_BLOCK, SELECT, 0, 0);
	on_g = 8;
	event(360, EV_GO_UNBLOCK, 5, 5, 0);
	event(365, EV_GO_UNBLOCK, 6, 1, 0);
}

/* What is open at the end: a GC cycle, a pause, a goroutine that is blocked; by name. */
TEST(open_intervals)
{
	begin(INTERVAL_GC, NULL);
	event(100, EV_SYNC, 0, 0, 0);
	assert_int_equal(intervals__open(iv, INTERVAL_GC), 0);
	event(105, EV_GC_ACTIVE, 3, 0, 0);
	assert_int_equal(intervals__open(iv, INTERVAL_GC), 1);
	event(110, EV_GC_END, 4, 0, 0);
	assert_int_equal(intervals__open(iv, INTERVAL_GC), 0);
	event(120, EV_GC_BEGIN, 5, 0, 0);
	assert_int_equal(intervals__open(iv, INTERVAL_GC), 1);
	expect("0 0 0 0 1", false);
	begin(INTERVAL_BLOCK, "chan receive");
	event(100, EV_SYNC, 0, 0, 0);
	event(110, EV_GO_CREATE, 5, 0, 0);
	event(110, EV_GO_CREATE, 6, 0, 0);
	for (uint64_t g = 5; g < 7; g++) {
		on_g = TRACE_NO_G;
		event(120, EV_GO_START, g, 1, 0);
		on_g = g;
		event(130, EV_GO_BLOCK, g == 5 ? CHAN : SELECT, 0, 0);
	}
	assert_int_equal(intervals__open(iv, INTERVAL_BLOCK), 1);
	expect("0 0 0 0 0", false);
}

TEST(scheduling)
{
	begin(INTERVAL_SCHED, NULL);
	lives();
	expect("2 50 10 40 0", false); /* those that are still runnable have no length yet */
}

/* Events were lost until 115, within the first wait. */
TEST(lost_events)
{
	begin(INTERVAL_SCHED, NULL);
	event(100, EV_SYNC, 0, 0, 0);
	event(110, EV_GO_CREATE, 5, 0, 0);
	intervals__lose_before(iv, 115);
	event(120, EV_GO_START, 5, 1, 0);
	event(130, EV_GO_CREATE, 6, 0, 0);
	event(137, EV_GO_START, 6, 1, 0);
	expect("1 7 7 7 1", false);
}

TEST(blocked)
{
	begin(INTERVAL_BLOCK, NULL);
	lives();
	expect("2 80 30 50 1", false);
	begin(INTERVAL_BLOCK, "select");
	lives();
	expect("1 50 50 50 0", false);
	begin(INTERVAL_BLOCK, "selec");
	lives();
	expect("0 0 0 0 0", false);
	begin(INTERVAL_BLOCK, "sleep");
	lives();
	expect("0 0 0 0 0", false);
}

/* What ends at the begin of the window belongs to it, what ends at its end does not. */
TEST(windows)
{
	begin(INTERVAL_BLOCK, NULL);
	intervals__set_window(iv, 230, 360);
	lives();
	expect("1 30 30 30 0", false);
	begin(INTERVAL_BLOCK, NULL);
	intervals__set_window(iv, 231, 366);
	lives();
	expect("1 50 50 50 1", false);
	begin(INTERVAL_BLOCK, NULL);
	intervals__set_window(iv, 231, 365);
	lives();
	expect("1 50 50 50 0", false);
}

/* An id that is used again is another goroutine. */
TEST(reused)
{
	begin(INTERVAL_SCHED, NULL);
	event(100, EV_SYNC, 0, 0, 0);
	event(110, EV_GO_CREATE, 5, 0, 0);
	event(150, EV_GO_CREATE, 5, 0, 0);
	event(157, EV_GO_START, 5, 1, 0);
	on_g = 5;
	event(160, EV_GO_DESTROY, 0, 0, 0);
	event(200, EV_GO_START, 5, 1, 0); /* of no goroutine */
	expect("1 7 7 7 0", false);
}

TEST(calls_of_go)
{
	begin(INTERVAL_SYSCALL, NULL);
	lives();
	expect("1 7 7 7 0", false);
	begin(INTERVAL_SYSCALL, "futex");
	lives();
	expect("0 0 0 0 0", true);
}

TEST(calls_of_the_kernel)
{
	begin(INTERVAL_SYSCALL, NULL);
	item(50, KERNEL_SYS_EXIT, FUTEX, UINT64_MAX, false);
	lives();
	item(310, KERNEL_SYS_ENTER, READ, UINT64_MAX, false);
	item(320, KERNEL_SYS_EXIT, READ, 10, false);
	item(330, KERNEL_SYS_EXIT, FUTEX, 20, true); /* some of it may be lost */
	item(340, KERNEL_SYS_EXIT, NAMELESS, 0, false);
	item(341, KERNEL_SYS_EXIT, READ, (uint64_t)INT64_MAX + 1, false);
	item(350, KERNEL_ON, 0, 33, false);
	expect("2 10 0 10 3", true);
}

TEST(calls_by_name)
{
	begin(INTERVAL_SYSCALL, "futex");
	item(320, KERNEL_SYS_EXIT, READ, 10, false);
	item(330, KERNEL_SYS_EXIT, FUTEX, 20, false);
	expect("1 20 20 20 0", true);
	begin(INTERVAL_SYSCALL, "9999");
	item(320, KERNEL_SYS_EXIT, READ, 10, false);
	item(330, KERNEL_SYS_EXIT, NAMELESS, 30, false);
	expect("1 30 30 30 0", true);
}

TEST(run_queue)
{
	begin(INTERVAL_RUNQUEUE, NULL);
	intervals__set_window(iv, 10, 20);
	item(9, KERNEL_ON, 0, 1, false);
	item(10, KERNEL_ON, 0, 2, false);
	item(11, KERNEL_OFF, 0, UINT64_MAX, false);
	item(12, KERNEL_ON, 0, UINT64_MAX, false); /* it was on the CPU already */
	item(13, KERNEL_ON, 0, 4, true);
	item(14, KERNEL_SYS_EXIT, READ, 8, false);
	item(19, KERNEL_ON, 0, 16, false);
	item(20, KERNEL_ON, 0, 32, false);
	expect("2 18 2 16 1", true);
}

TEST(gc)
{
	begin(INTERVAL_GC, NULL);
	event(100, EV_SYNC, 0, 0, 0);
	event(101, EV_GC_ACTIVE, 1, 0, 0);
	event(200, EV_SYNC, 0, 0, 0);
	event(201, EV_GC_ACTIVE, 2, 0, 0);
	event(210, EV_GC_END, 3, 0, 0);
	event(220, EV_GC_BEGIN, 4, 0, 0);
	event(300, EV_SYNC, 0, 0, 0);
	event(301, EV_GC_ACTIVE, 5, 0, 0); /* the same cycle goes on */
	on_g = 9;
	event(320, EV_GC_END, 6, 0, 0); /* by another goroutine */
	event(330, EV_GC_BEGIN, 7, 0, 0);
	event(335, EV_STW_BEGIN, MARK, 0, 0);
	event(336, EV_STW_END, MARK, 0, 0);
	event(337, EV_GC_MARK_ASSIST_BEGIN, 0, 0, 0);
	event(338, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	event(340, EV_GC_END, 8, 0, 0);
	expect("2 110 10 100 1", false);
}

static void pauses_happen(void)
{
	event(100, EV_SYNC, 0, 0, 0);
	on_g = 5;
	event(110, EV_STW_END, NONE, 0, 0); /* it began before the trace */
	event(120, EV_STW_BEGIN, SWEEP, 0, 0);
	event(123, EV_STW_END, SWEEP, 0, 0);
	event(130, EV_STW_BEGIN, MARK, 0, 0);
	event(140, EV_STW_END, MARK, 0, 0);
	event(150, EV_STW_BEGIN, MARK, 0, 0);
	event(156, EV_GC_BEGIN, 4, 0, 0);
	event(157, EV_GC_END, 5, 0, 0);
	on_g = 6;
	event(160, EV_STW_END, MARK, 0, 0); /* another goroutine's */
	on_g = 5;
	event(170, EV_STW_END, SWEEP, 0, 0); /* another pause */
	event(180, EV_STW_END, MARK, 0, 0);
}

TEST(pauses)
{
	begin(INTERVAL_STW, NULL);
	pauses_happen();
	expect("3 43 3 30 3", false);
	begin(INTERVAL_STW, "GC sweep termination");
	pauses_happen();
	expect("1 3 3 3 1", false);
}

/* Times of a hostile trace. */
TEST(overflow)
{
	begin(INTERVAL_SCHED, NULL);
	event(INT64_MIN, EV_SYNC, 0, 0, 0);
	event(INT64_MIN + 1, EV_GO_CREATE, 5, 0, 0);
	event(INT64_MAX - 1, EV_GO_START, 5, 1, 0);
	expect("1 9223372036854775807 9223372036854775807 9223372036854775807 0", false);
}

/* Of two goroutines, and of their threads. */
TEST(of_one_goroutine)
{
	struct selection select = { .have_goroutine = true, .goroutine = 2 };

	begin(INTERVAL_RUNQUEUE, NULL);
	intervals__destroy(iv);
	iv = intervals__create(
		&(struct intervals_opts){ .kind = INTERVAL_RUNQUEUE, .select = &select });
	for (uint64_t g = 1; g <= 3; g++) {
		struct kernel_item k = { .kind = KERNEL_ON, .tid = 7 };

		intervals__item(iv, &(struct interval_item){ .item = &k,
							     .time = 10,
							     .duration = 5 * g,
							     .threads = &threads,
							     .goroutine = g });
	}
	expect("1 10 10 10 0", true);
}
