// SPDX-License-Identifier: GPL-2.0
/*
 * The longest waits: which are waits, of whom, what ended them, what cuts them, and their causes.
 * check/waits.sh compares those of recorded traces.
 */
#include "unit/scratch.h"
#include "unit/path_fixture.h"

static void begin_waits(uint32_t longest, bool runtime)
{
	const struct waits_opts opts = { .kind = { true, true, true, true },
					 .runtime = runtime,
					 .longest = longest };

	begin();
	waits = waits__create(&opts);
	assert_non_null(waits);
}

static void put_text(FILE *f, const char *before, struct trace_string s)
{
	if (s.len)
		fprintf(f, "%s%.*s", before, (int)s.len, s.data);
}

static void put_wait(FILE *f, const struct wait *w)
{
	static const char *const kinds[WAIT_KINDS] = { "block", "sched", "syscall", "runqueue" };
	struct trace_string frame;

	fprintf(f, "%" PRId64 "-%" PRId64 " %s g%" PRIu64, w->from, w->to, kinds[w->kind],
		w->goroutine);
	put_text(f, " ", waits__text(waits, w->function));
	put_text(f, ": ", waits__text(waits, w->reason));
	if (w->began_before)
		fputs(" before", f);
	if (w->lost)
		fputs(" lost", f);
	if (w->goes_on)
		fputs(" on", f);
	if (w->by != TRACE_NO_G)
		fprintf(f, " by=g%" PRIu64, w->by);
	put_text(f, " ", waits__text(waits, w->by_function));
	for (size_t i = 0; waits__frame(waits, w->stack, i, &frame); i++)
		put_text(f, i ? "<" : " at ", frame);
	fputc('\n', f);
}

/* One line per wait. */
static void expect_waits(int64_t to, const char *want)
{
	const struct wait *all;
	size_t n;
	FILE *f = capture();

	assert_int_equal(waits__finish(waits, to, &history, &all, &n), 0);
	for (size_t i = 0; i < n; i++)
		put_wait(f, &all[i]);
	expect_captured(want);
}

/* g1 waits for g2, which is named later; g3 waits until the end. */
static void some_waits(void)
{
	all_run(3);
	block(10, 1, CHAN);
	unblock(30, 1, 2);
	start(35, 1);
	block(40, 3, SLEEP);
	unblock(47, 3, 0);
	start(50, 3);
	block(60, 2, CHAN);
	unblock(61, 2, 1);
	start(62, 2);
	block(70, 3, NETWORK);
}

TEST(longest_first)
{
	begin_waits(10, false);
	some_waits();
	expect_waits(100, "70-100 block g3 main.holder: network on at chan receive<main.holder\n"
			  "10-30 block g1 main.main: chan receive by=g2 main.worker at chan "
			  "receive<main.main\n"
			  "40-47 block g3 main.holder: sleep at chan receive<main.holder\n"
			  "30-35 sched g1 main.main at chan receive<main.main\n"
			  "47-50 sched g3 main.holder at chan receive<main.holder\n"
			  "60-61 block g2 main.worker: chan receive by=g1 main.main at chan "
			  "receive<main.worker\n"
			  "61-62 sched g2 main.worker at chan receive<main.worker\n");
	begin_waits(1, false);
	some_waits();
	expect_waits(71, "10-30 block g1 main.main: chan receive by=g2 main.worker at chan "
			 "receive<main.main\n");
}

/* Cut at both ends of the window. Of 70 exactly there is nothing left. */
TEST(windows)
{
	begin_waits(3, false);
	waits__set_begin(waits, 25);
	some_waits();
	expect_waits(70, "40-47 block g3 main.holder: sleep at chan receive<main.holder\n"
			 "25-30 block g1 main.main: chan receive before by=g2 main.worker at chan "
			 "receive<main.main\n"
			 "30-35 sched g1 main.main at chan receive<main.main\n");
}

/*
 * A goroutine whose start function never becomes known counts as the runtime's, as in `gotrace
 * goroutines`.
 */
TEST(before_the_trace)
{
	for (int runtime = 0; runtime < 2; runtime++) {
		begin_waits(3, runtime);
		all_run(1);
		on(0, 0);
		event(5, EV_GO_STATUS, 7, 8, GO_WAITING);
		event(6, EV_GO_STATUS, 8, 9, GO_WAITING);
		unblock(40, 7, 1);
		expect_waits(50, runtime ? "0-50 block g8 before on\n"
					   "0-40 block g7 before by=g1\n"
					   "40-50 sched g7 on\n" :
					   "");
	}
}

/* An id that is used again: what became of the first goroutine's wait is unknown. */
TEST(reused)
{
	begin_waits(5, true);
	all_run(1);
	event(10, EV_GO_CREATE, 5, WORKER, 0);
	event(50, EV_GO_CREATE, 5, HOLDER, 0);
	on(2, 0);
	event(57, EV_GO_START, 5, 1, 0);
	on(2, 5);
	event(60, EV_GO_DESTROY, 0, 0, 0);
	expect_waits(90, "50-57 sched g5 main.holder at chan receive<main.holder\n");
}

TEST(lost_events)
{
	begin_waits(5, true);
	all_run(2);
	block(10, 1, CHAN);
	waits__lose_before(waits, 20);
	unblock(30, 1, 2);
	start(31, 1);
	expect_waits(40, "10-30 block g1 main.main: chan receive lost by=g2 at chan "
			 "receive<main.main\n"
			 "30-31 sched g1 main.main at chan receive<main.main\n");
}

/* More than the heap holds, in any order: the longest, and of equal ones the earliest, are kept. */
TEST(many)
{
	const struct wait *all;
	int64_t time = 10;
	size_t n;

	begin_waits(100, true);
	all_run(1);
	for (int64_t i = 0; i < 5000; i++) {
		block(time, 1, CHAN);
		unblock(time + 1 + i * 7919 % 5000 / 2, 1, 0);
		time += 2 + i * 7919 % 5000 / 2;
		start(time, 1);
		time++;
	}
	assert_int_equal(waits__finish(waits, time, &history, &all, &n), 0);
	assert_int_equal(n, 100);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(all[i].to - all[i].from, 2500 - (int64_t)i / 2);
		assert_true(i % 2 == 0 || all[i - 1].from < all[i].from);
	}
}

/* The causes of g1's wait: g2 ran, and was runnable while g3 had its P. */
TEST(causes)
{
	uint64_t budget = 1000, before = budget;
	const struct wait *all;
	struct wait_causes c;
	size_t n;

	begin_waits(2, true);
	all_run(3);
	block(10, 1, CHAN);
	block(20, 2, CHAN);
	unblock(21, 2, 3);
	start(29, 2);
	unblock(60, 1, 2);
	assert_int_equal(waits__finish(waits, 60, &history, &all, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(wait__causes(&history, &all[0], &budget, &c), 0);
	assert_true(c.known && budget < before);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.at[0].ns, 41);
	assert_int_equal(c.at[0].like.kind, PATH_RUNNING);
	assert_int_equal(path_goroutine(&history, c.at[0].like.goroutine)->id, 2);
	assert_int_equal(c.at[1].ns, 8);
	assert_int_equal(c.at[1].like.kind, PATH_GO_RUNNABLE);
	assert_int_equal(c.at[2].ns, 1);
	assert_int_equal(c.holders[0], PATH_NONE); /* it was not runnable itself */
	assert_int_equal(wait__causes(&history, &all[1], &budget, &c), 0);
	assert_int_equal(all[1].kind, WAIT_SCHED);
	assert_int_equal(path_goroutine(&history, c.holders[0])->id, 3);
	budget = 2;
	assert_int_equal(wait__causes(&history, &all[0], &budget, &c), 0);
	assert_false(c.known);
	assert_int_equal(budget, 0);
}

/* It goes on after the window, though not in the history: nothing is pending in the causes. */
TEST(cut_causes)
{
	uint64_t budget = 1000;
	const struct wait *all;
	struct wait_causes c;
	size_t n;

	begin_waits(1, true);
	all_run(1);
	block(10, 1, CHAN);
	assert_int_equal(waits__finish(waits, 60, &history, &all, &n), 0);
	assert_int_equal(wait__causes(&history, &all[0], &budget, &c), 0);
	assert_true(all[0].goes_on && c.n == 1);
	assert_int_equal(c.at[0].like.cause, PATH_CAUSE_NONE);
}

static void on_cpu(int64_t time, uint64_t tid, uint64_t duration, uint64_t g)
{
	struct kernel_item k = { .kind = KERNEL_ON, .tid = (uint32_t)tid };

	core(time, k.tid, 0);
	assert_int_equal(waits__item(waits, &k, time, duration, g), 0);
}

/* Of threads that run a goroutine; those that wait at the end, too. */
TEST(run_queue)
{
	begin_waits(5, true);
	waits__set_begin(waits, 15);
	all_run(2);
	off(10, 1, GT_OFF_PREEMPTED, STRESS, 0);
	on_cpu(40, 1, 30, 1);
	on_cpu(45, 9, 44, TRACE_NO_G);
	on_cpu(46, 8, 44, 77); /* a goroutine that the trace does not have */
	on_cpu(47, 2, UINT64_MAX, 2);
	off(50, 1, GT_OFF_PREEMPTED, STRESS, 0);
	off(52, 2, GT_OFF_SLEEPING, STRESS, 0);
	expect_waits(60, "15-40 runqueue g1 before\n50-60 runqueue g1 on\n");
}
