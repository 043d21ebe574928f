// SPDX-License-Identifier: GPL-2.0
/*
 * Rewritten v1 traces: which events are inserted and which are omitted.
 */
#include "unit/test.h"
#include "rewrite/rewrite.h"

#include "unit/rewrite_fixture.h"

FIXTURE(NULL, stop)
static struct rewrite *v1;
static struct dictionary v1_words;
static const char *v1_path;

static void v1_start(void)
{
	static const struct trace_sync sync = { .n = 1 };
	struct trace_event ev = {
		.type = EV_SYNC, .time = -1, .dictionary = &v1_words, .sync = &sync
	};

	v1_path = scratch("v1");
	ok(trace_file__open(&x.file, v1_path, FILE_ANY));
	dictionary__init(&v1_words);
	ok(dictionary__add_string(&v1_words, 1, "why", 3));
	ok(rewrite__create(&v1, x.file, &(struct rewrite_opts){ 22, true, INT64_MIN }));
	ok(rewrite__event(v1, &ev));
}

/* Reads the output's events. */
static void v1_end(struct seen_list *ret)
{
	ok(rewrite__end(v1));
	stats = *rewrite__stats(v1);
	ok(trace_file__commit(x.file));
	rewrite__destroy(v1);
	dictionary__deinit(&v1_words);
	stop(NULL);
	read_all(v1_path, ret);
}

static void v1_put(int64_t time, enum ev type, uint64_t m, uint64_t p, uint64_t g, uint64_t a,
		   uint64_t b, uint64_t c)
{
	struct trace_event ev = { .type = type,
				  .time = time,
				  .raw = time,
				  .m = m,
				  .p = p,
				  .g = g,
				  .arg = { a, b, c },
				  .dictionary = &v1_words };

	ok(rewrite__event(v1, &ev));
}

static void assert_kinds(const struct seen_list *list, const enum ev *want, size_t n)
{
	for (size_t i = 0; i < n && i < list->n; i++)
		if (list->at[i].type != want[i])
			fail_msg("event %zu is %s, not %s", i, spec__event(list->at[i].type)->name,
				 spec__event(want[i])->name);
	assert_int_equal(list->n, n);
}

#define KINDS(list, ...)                                                                           \
	assert_kinds(list, (const enum ev[]){ __VA_ARGS__ },                                       \
		     sizeof((const enum ev[]){ __VA_ARGS__ }) / sizeof(enum ev))

/* The start of a v1 trace, and a system call in which the P is lost without an event. */
TEST(v1_system_calls)
{
	static struct seen_list list;

	v1_start();
	v1_put(0, EV_GO_STATUS, NONE, 0, 3, 3, NONE, GO_SYSCALL);
	v1_put(1, EV_GO_STATUS, NONE, 0, 4, 4, NONE, GO_WAITING);
	v1_put(2, EV_PROC_STATUS, 0, 0, NONE, 0, PROC_RUNNING, 0);
	v1_put(3, EV_GO_STATUS, 0, 0, 1, 1, NONE, GO_RUNNING);
	v1_put(10, EV_GO_SYSCALL_BEGIN, 0, 0, 1, 0, 0, 0);
	v1_put(20, EV_GO_SYSCALL_END_BLOCKED, NONE, 1000003, 1, 0, 0, 0);
	v1_put(25, EV_GO_SYSCALL_END_BLOCKED, NONE, 1000003, 3, 0, 0, 0);
	v1_put(30, EV_GO_START, 0, 0, 1, 1, 0, 0);
	v1_put(40, EV_GO_BLOCK, 0, 0, 1, 1, 0, 0);
	v1_end(&list);
	KINDS(&list, EV_GO_STATUS, EV_GO_STATUS, EV_PROC_STATUS, EV_GO_STATUS, EV_GO_SYSCALL_BEGIN,
	      EV_PROC_STOP, EV_GO_SYSCALL_END_BLOCKED, EV_GO_SYSCALL_END_BLOCKED, EV_PROC_START,
	      EV_GO_START, EV_GO_BLOCK);
	assert_int_equal(stats.inserted, 2);
	assert_int_equal(stats.left_out, 0);
	/* Inserted events come just before, and times change only by the shift. */
	assert_int_equal(list.at[6].time, 22);
	assert_int_equal(list.at[5].time, 21);
	assert_int_equal(list.at[10].time, 42);
	assert_true(list.at[7].m != list.at[6].m);
}

/* A P moves to another thread, and a goroutine with it, without an event. */
TEST(v1_moved_p_and_goroutine)
{
	static struct seen_list list;

	v1_start();
	v1_put(1, EV_PROC_STATUS, 1, 0, NONE, 0, PROC_RUNNING, 0);
	v1_put(2, EV_GO_START, 1, 0, 5, 5, 0, 0);
	v1_put(10, EV_PROC_START, 2, 0, NONE, 0, 0, 0);
	v1_put(20, EV_GO_CREATE, 2, 0, 5, 6, 0, 0);
	v1_put(25, EV_GO_UNBLOCK, 2, 0, NONE, 8, 0, 0);
	v1_put(30, EV_PROC_STOP, 2, 0, NONE, 0, 0, 0);
	v1_put(40, EV_GO_UNBLOCK, NONE, 1000001, NONE, 7, 0, 0);
	v1_end(&list);
	KINDS(&list, EV_PROC_STATUS, EV_GO_STATUS, EV_GO_START, EV_GO_STOP, EV_PROC_STOP,
	      EV_PROC_START, EV_GO_START, EV_GO_CREATE, EV_GO_STATUS, EV_GO_UNBLOCK, EV_PROC_STOP,
	      EV_GO_STATUS, EV_GO_UNBLOCK);
	assert_int_equal(list.at[6].m, 2);
	assert_int_equal(list.at[9].m, NONE); /* not by the goroutine that runs there */
	assert_int_equal(list.at[12].m, NONE);
	assert_int_equal(stats.left_out, 0);
}

/* Events without a legal place are omitted, with their other end. */
TEST(v1_illegal_events_are_omitted)
{
	static struct seen_list list;

	v1_start();
	v1_put(1, EV_PROC_STATUS, 1, 0, NONE, 0, PROC_RUNNING, 0);
	v1_put(2, EV_STW_BEGIN, 1, 0, NONE, 1, 0, 0);
	v1_put(3, EV_STW_END, 1, 0, NONE, 1, 0, 0);
	v1_put(4, EV_GC_END, NONE, 1000004, NONE, 0, 0, 0);
	v1_put(5, EV_GO_START, 1, 0, 5, 5, 0, 0);
	v1_put(6, EV_USER_REGION_BEGIN, 1, 0, 5, 0, 1, 0);
	v1_put(7, EV_USER_REGION_END, 1, 0, 5, 9, 1, 0);
	v1_put(8, EV_USER_REGION_END, 1, 0, 5, 0, 1, 0);
	v1_put(9, EV_GC_MARK_ASSIST_END, 1, 0, 5, 0, 0, 0);
	v1_put(10, EV_GC_BEGIN, NONE, 1000004, NONE, 0, 0, 0);
	v1_end(&list);
	KINDS(&list, EV_PROC_STATUS, EV_GO_STATUS, EV_GO_START, EV_USER_REGION_BEGIN,
	      EV_USER_REGION_END, EV_GC_BEGIN);
	assert_int_equal(list.at[5].g, 5);
	assert_int_equal(stats.left_out, 5);
}

/* An event that needs any thread with user code gets one, whatever its id. */
TEST(v1_events_on_any_thread)
{
	static struct seen_list list;

	for (uint64_t m = 0; m < 200; m++) {
		v1_start();
		v1_put(1, EV_PROC_STATUS, m, 0, NONE, 0, PROC_RUNNING, 0);
		v1_put(2, EV_GO_START, m, 0, 5, 5, 0, 0);
		v1_put(3, EV_GC_BEGIN, NONE, 1000004, NONE, 0, 0, 0);
		v1_end(&list);
		KINDS(&list, EV_PROC_STATUS, EV_GO_STATUS, EV_GO_START, EV_GC_BEGIN);
		assert_int_equal(list.at[3].m, m);
		assert_int_equal(stats.left_out, 0);
	}
}

/* Of several threads, the one with the lowest id is used. */
TEST(v1_lowest_thread_is_used)
{
	static struct seen_list list;

	v1_start();
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t m = (i + 1) % 3 + 7;

		v1_put((int64_t)i, EV_PROC_STATUS, m, i, NONE, i, PROC_RUNNING, 0);
		v1_put((int64_t)i, EV_GO_START, m, i, i + 1, i + 1, 0, 0);
	}
	v1_put(3, EV_GC_BEGIN, NONE, 1000004, NONE, 0, 0, 0);
	v1_end(&list);
	assert_int_equal(list.at[list.n - 1].type, EV_GC_BEGIN);
	assert_int_equal(list.at[list.n - 1].m, 7);
}

/* Any v1 events in any order yield a valid trace. */
TEST(v1_random_events_yield_valid_traces)
{
	static const uint64_t ps[] = { 0, 1, 2, 1000003, NONE }, ms[] = { 0, 1, 2, NONE };
	static struct seen_list list;
	uint64_t n = 12345, v[8];

	for (int round = 0; round < 400; round++) {
		v1_start();
		for (int i = 0; i < 40; i++) {
			for (int j = 0; j < 8; j++) {
				n = n * 6364136223846793005 + 1442695040888963407;
				v[j] = n >> 33;
			}
			v1_put(i * 3, v[7] % 40 ? EV_PROCS_CHANGE + v[0] % 36 : EV_CPU_SAMPLE,
			       ms[v[1] % 4], ps[v[2] % 5], v[3] % 5 ? v[3] % 5 : NONE, v[4] % 5,
			       v[5] % 2, v[6] % 5);
		}
		v1_end(&list);
		assert_int_equal(list.n, stats.events + stats.inserted);
	}
}
