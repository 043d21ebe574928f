// SPDX-License-Identifier: GPL-2.0
/* The parts of goroutines' time where it is rare, and the names that outlive their generation. */
#include "unit/test.h"
#include "analysis/latency_impl.h"
#include "analysis/naming.h"
#include "unit/latency_fixture.h"

/* What a core does for other programs says nothing of ours, not even how late it is. */
TEST(other_programs)
{
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 109);
	item(150, 99, KERNEL_CPU, (struct kernel_item){ .cpu = 1 });
	event(140, EV_GO_BLOCK, CHAN, 0, 0);
	item(160, 99, KERNEL_CPU, (struct kernel_item){ .cpu = 1 });
	event(145, EV_SYNC, 0, 0, 0);
	item(170, 99, KERNEL_CPU, (struct kernel_item){ .cpu = 1 });
	expect("5 main.worker oncpu=30 gorun=1 goblock=5 total=36 goblock[chan receive]=5\n");
}

/* The one that lost its thread to another takes it back with its next event. */
TEST(a_thread_taken_back)
{
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 109);
	start_new(6, 7, 119);
	on(7, 5);
	event(130, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	call(130, 7, READ);
	off(140, 7, GT_OFF_SLEEPING);
	event(150, EV_SYNC, 0, 0, 0);
	expect("5 main.worker oncpu=30 gorun=1 sysblock=10 total=41 oncall=10 unknown=10"
	       " sysblock[read]=10\n"
	       "6 main.worker oncpu=30 gorun=1 total=31 unknown=20\n");
}

/* It was woken before it slept: that is why it waits for a core, whatever it left its own for. */
TEST(woken_before_the_sleep)
{
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 109);
	wake(120, 7);
	off(125, 7, GT_OFF_SLEEPING);
	core(130, 7, 0);
	event(140, EV_SYNC, 0, 0, 0);
	expect("5 main.worker oncpu=25 gorun=1 kernrun=5 total=31 waits=1 longest=5"
	       " kernrun[woken]=5\n");
}

/* A thread that wakes another one has a CPU, which no event need have shown. */
TEST(a_waker_has_a_cpu)
{
	begin();
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 109);
	off(120, 7, GT_OFF_PREEMPTED);
	item(130, 8, KERNEL_WAKING, (struct kernel_item){ .other = 7, .cpu = 1 });
	item(131, 8, KERNEL_WAKING,
	     (struct kernel_item){ .other = 7, .cpu = 2, .interrupt = true });
	event(140, EV_SYNC, 0, 0, 0);
	expect("5 main.worker oncpu=20 gorun=1 kernrun=10 total=31 moved=1 waits=1 longest=10"
	       " kernrun[preempted]=10\n");
}

/* The kernel did not report that the thread got a core again: when its wait ended is not known. */
TEST(a_switch_not_reported)
{
	begin();
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 109);
	off(120, 7, GT_OFF_PREEMPTED);
	event(130, EV_GO_BLOCK, CHAN, 0, 0);
	start_new(6, 7, 139);
	event(150, EV_GO_DESTROY, 0, 0, 0);
	event(160, EV_SYNC, 0, 0, 0);
	expect("5 main.worker oncpu=10 gorun=1 kernrun=10 goblock=30 total=51"
	       " kernrun[preempted]=10 goblock[chan receive]=30\n"
	       "6 main.worker gorun=1 kernrun=10 total=11 kernrun[preempted]=10\n");
}

/* Labels and mark assists of goroutines that the trace never introduced. */
TEST(unknown_goroutines)
{
	event(100, EV_SYNC, 0, 0, 0);
	start_new(5, 7, 109);
	on(8, 99);
	event(115, EV_GO_LABEL, DEDICATED, 0, 0);
	event(116, EV_GC_MARK_ASSIST_BEGIN, 0, 0, 0);
	event(117, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	event(118, EV_GO_STOP, CHAN, 0, 0);
	event(120, EV_SYNC, 0, 0, 0);
	expect("5 main.worker oncpu=10 gorun=1 total=11 unknown=10\n");
}

/* An assist that is repeated goes on; one that is active first has gone on since the generation. */
TEST(assists_told_again)
{
	event(100, EV_SYNC, 0, 0, 0);
	on(7, 5);
	event(110, EV_GO_STATUS, 5, 7, GO_RUNNING);
	event(110, EV_GC_MARK_ASSIST_ACTIVE, 5, 0, 0);
	event(120, EV_GC_MARK_ASSIST_ACTIVE, 5, 0, 0);
	event(130, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	event(140, EV_SYNC, 0, 0, 0);
	event(150, EV_GC_MARK_ASSIST_BEGIN, 1, 0, 0);
	event(160, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	event(170, EV_GC_MARK_ASSIST_ACTIVE, 5, 0, 0); /* it was known before this generation */
	event(180, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	expect("5  oncpu=80 total=80 assist=50 unknown=80\n");
}

/* A label is one of the collector's by its first letters; there must be something behind them. */
TEST(labels)
{
	static const char *const texts[] = { "GC (", "GC (x", "gc (dedicated)", "", "GC" };
	struct latency_worker w;

	for (size_t i = 0; i < 5; i++)
		assert_int_equal(
			dictionary__add_string(&dictionary, 100 + i, texts[i], strlen(texts[i])),
			0);
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 109);
	for (size_t i = 0; i < 5; i++)
		event(110 + 10 * (int64_t)i, EV_GO_LABEL, 100 + i, 0, 0);
	event(160, EV_GO_DESTROY, 0, 0, 0);
	assert_true(latency__worker(latency, 0, &w));
	assert_int_equal(w.label.len, 5);
	assert_memory_equal(w.label.data, "GC (x", 5);
	assert_true(w.wall == 10 && w.oncpu == 10);
	assert_false(latency__worker(latency, 1, &w));
	expect("5 main.worker oncpu=50 gorun=1 total=51\n");
}

/* Its parts do not begin before the window, and who ends where it begins is not in it. */
TEST(the_first_of_a_window)
{
	begin_in(110, INT64_MAX);
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 100);
	event(110, EV_GO_DESTROY, 0, 0, 0);
	start_new(6, 7, 104);
	event(111, EV_GO_DESTROY, 0, 0, 0);
	expect("6 main.worker oncpu=1 total=1\n");
}

TEST(a_window_that_is_set)
{
	latency__set_window(latency, 115, 130);
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 110);
	event(140, EV_SYNC, 0, 0, 0);
	expect("5 main.worker oncpu=15 total=15\n");
}

/* Each share of the delays has the middle of the class in which it is reached, never above the longest. */
TEST(shares_of_delays)
{
	static const int64_t lengths[] = { 0, 31, 32, 33, 34, 1000, 1023, 1024 };
	static const int64_t middles[] = { 0, 31, 33, 33, 35, 1008, 1008, 1024 };
	struct latency_stats s = {}, sum = {};

	assert_int_equal(latency_stats__delay(&s, 0.5), 0);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct latency_stats one = {};

		assert_int_equal(latency_stats__count_delay(&one, lengths[i]), 0);
		assert_int_equal(one.longest, lengths[i]);
		one.longest = 2000;
		assert_int_equal(latency_stats__delay(&one, 1), i == 7 ? 1056 : middles[i]);
		one.longest = lengths[i];
		assert_int_equal(latency_stats__delay(&one, 0.5),
				 middles[i] < lengths[i] ? middles[i] : lengths[i]);
		assert_int_equal(latency_stats__add(&sum, &one), 0);
		latency_stats__deinit(&one);
	}
	assert_int_equal(latency_stats__delays(&sum), 8);
	assert_int_equal(sum.longest, 1024);
	assert_int_equal(latency_stats__delay(&sum, 0.125), 0);
	assert_int_equal(latency_stats__delay(&sum, 0.126), 31);
	assert_int_equal(latency_stats__delay(&sum, 0.5), 33);
	assert_int_equal(latency_stats__delay(&sum, 1), 1024);
	latency_stats__deinit(&sum);
}

TEST(sums)
{
	struct latency_stats sum = { .longest = 9 }, one = { .total = 1,
							     .syscall_oncpu = 2,
							     .gc_assist = 3,
							     .unknown = 4,
							     .migrations = 5,
							     .longest = 6 };

	for (int i = 0; i < 2; i++)
		assert_int_equal(latency_stats__add(&sum, &one), 0);
	assert_true(sum.total == 2 && sum.syscall_oncpu == 4 && sum.gc_assist == 6);
	assert_true(sum.unknown == 8 && sum.migrations == 10 && sum.longest == 9);
}

/* ---- names ---- */

static void assert_kind(struct naming *n, const struct semantics *m, const char *want, size_t len)
{
	struct trace_string got;
	uint32_t kind = 0;

	assert_int_equal(naming__kind(n, m, &kind), 0);
	got = naming__kind_at(n, kind);
	assert_int_equal(got.len, len);
	assert_memory_equal(got.data, want, len);
}

TEST(names_of_kinds)
{
	char name[TRACE_STRING_MAX + 16], want[TRACE_STRING_MAX] = "stop-the-world (";
	struct semantics m = { .before = "", .after = "", .name = { "sleep", 5 } };
	struct naming n;

	assert_int_equal(naming__init(&n), 0);
	assert_kind(&n, &m, "sleep", 5);
	m.before = "stop-the-world (";
	m.after = ")";
	assert_kind(&n, &m, "stop-the-world (sleep)", 22);
	m.name = (struct trace_string){};
	assert_kind(&n, &m, "stop-the-world ()", 17);
	memset(name, 'n', sizeof(name)); /* as long as it may be: cut at its end */
	memset(want + 16, 'n', sizeof(want) - 16);
	m.name = (struct trace_string){ name, TRACE_STRING_MAX };
	assert_kind(&n, &m, want, sizeof(want));
	m.name.len =
		TRACE_STRING_MAX + 15; /* of no trace: longer ones have nothing put around them */
	assert_kind(&n, &m, want, sizeof(want));
	m.name.len++;
	assert_kind(&n, &m, name, TRACE_STRING_MAX);
	naming__deinit(&n);
}

/* So many kinds have names of their own; the rest share one. */
TEST(many_kinds)
{
	struct naming n;
	uint32_t kind;
	char text[16];

	assert_int_equal(naming__init(&n), 0);
	assert_int_equal(naming__text_kind(&n, "", 0, &kind), 0);
	assert_int_equal(kind, KIND_EMPTY);
	assert_int_equal(naming__text_kind(&n, "forever", 7, &kind), 0);
	assert_int_equal(kind, KIND_FOREVER);
	for (uint32_t i = KIND_FOREVER + 1; i <= KINDS_MAX + 2; i++) {
		snprintf(text, sizeof(text), "%u", i);
		assert_int_equal(naming__text_kind(&n, text, strlen(text), &kind), 0);
		assert_int_equal(kind, i <= KINDS_MAX ? i : KIND_THE_REST);
	}
	assert_memory_equal(naming__kind_at(&n, KINDS_MAX).data, "255", 3);
	assert_int_equal(naming__kind_at(&n, KIND_THE_REST).len, 12);
	assert_memory_equal(naming__kind_at(&n, KIND_THE_REST).data, "(all others)", 12);
	assert_int_equal(naming__kind_at(&n, KIND_EMPTY).len, 0);
	naming__deinit(&n);
}

/* Of the outermost frame; a stack without frames or names has none. */
TEST(start_functions)
{
	const struct trace_frame nameless = { .pc = 0x900, .func = 900 };
	struct trace_event ev = { .dictionary = &dictionary };
	uint64_t pc = 1;
	uint32_t name = 77;
	struct naming n;

	assert_int_equal(naming__init(&n), 0);
	assert_int_equal(dictionary__add_stack(&dictionary, 9, &nameless, 1), 0);
	assert_int_equal(naming__start_function(n.names, &ev, 0, &pc, &name), 0);
	assert_int_equal(naming__start_function(n.names, &ev, 1000, &pc, &name), 0);
	assert_true(pc == 1 && name == 77);
	assert_int_equal(naming__start_function(n.names, &ev, 9, &pc, &name), 0);
	assert_true(pc == 0x900 && name == 77);
	assert_int_equal(naming__start_function(n.names, &ev, WORKER, &pc, &name), 0);
	assert_int_equal(pc, 0x100 * WORKER);
	assert_int_equal(naming__name_at(&n, name).len, strlen(strings[WORKER]));
	assert_memory_equal(naming__name_at(&n, name).data, strings[WORKER],
			    strlen(strings[WORKER]));
	naming__deinit(&n);
}
