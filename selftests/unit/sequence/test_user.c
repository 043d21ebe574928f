// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of annotations: tasks, regions and logs, and their texts; no loss of a record leads to
 * events that readers reject. Under test: sequence/state_user.c and texts.c.
 */
#include <malloc.h>

#include "unit/test.h"
#include "sequence/sequencer_impl.h"
#include "sequence/texts.h"
#include "unit/machine.h"

enum { OUTER = 100, INNER = 101, LOST = 102 };

RECORD(task_begin, , uint64_t id, uint64_t parent, uint64_t type)
{
	machine_give(tid, GT_TASK_BEGIN, G(1), 0, &(struct gt_task){ id, parent, type });
}

RECORD(task_end, , uint64_t id)
{
	machine_give(tid, GT_TASK_END, G(1), 0, &(struct gt_value){ id });
}

RECORD(region, , unsigned int g, uint64_t task, uint64_t name, bool ends)
{
	machine_give(tid, GT_REGION, G(g), 0, &(struct gt_region){ task, name, ends });
}

RECORD(func_call, , uint64_t depth, unsigned int func, bool ends)
{
	machine_give(tid, GT_FUNC_CALL, G(1), 0,
		     &(struct gt_func_call){ depth, GT_TEXT_GIVEN(func), ends });
}

RECORD(log_line, , uint64_t task, uint64_t category, uint64_t message)
{
	machine_give(tid, GT_LOG, G(1), 0, &(struct gt_log){ task, category, message });
}

/* With the texts of the regions. */
static void annotating(void)
{
	running(25, "go1.26.8", 3);
	say(OUTER, "outer");
	say(INNER, "inner");
}

TEST(whole)
{
	annotating();
	task_begin(1, 7, 0, OUTER);
	task_begin(1, 8, 7, INNER);
	region(1, 1, 7, OUTER, false);
	region(1, 1, 0, INNER, false);
	say(GT_TEXT_ONCE | 5, "hello");
	log_line(1, 8, OUTER, GT_TEXT_ONCE | 5);
	log_line(1, 0, GT_TEXT_EMPTY, GT_TEXT_EMPTY);
	region(1, 1, 0, INNER, true);
	region(1, 1, 7, OUTER, true);
	task_end(1, 8);
	task_end(1, 7);
	expect("m1 UserTaskBegin 7 0 \"outer\" -\n"
	       "m1 UserTaskBegin 8 7 \"inner\" -\n"
	       "m1 UserRegionBegin 7 \"outer\" -\n"
	       "m1 UserRegionBegin 0 \"inner\" -\n"
	       "m1 UserLog 8 \"outer\" \"hello\" -\n"
	       "m1 UserLog 0 \"\" \"\" -\n"
	       "m1 UserRegionEnd 0 \"inner\" -\n"
	       "m1 UserRegionEnd 7 \"outer\" -\n"
	       "m1 UserTaskEnd 8 -\n"
	       "m1 UserTaskEnd 7 -\n");
	assert_int_equal(stats()->text_misses, 0);
	expect_no_repair();
}

/* Regions and tasks open when the window began are not ended, because they are unknown. */
TEST(open_before)
{
	annotating();
	region(1, 1, 3, INNER, true);
	task_end(1, 3);
	region(1, 1, 0, OUTER, false);
	region(1, 1, 0, OUTER, true);
	region(1, 1, 0, OUTER, true);
	expect("m1 UserTaskEnd 3 -\n"
	       "m1 UserRegionBegin 0 \"outer\" -\n"
	       "m1 UserRegionEnd 0 \"outer\" -\n");
	expect_no_repair();
}

/* A lost end is inserted by the next outer end; the end of a lost begin has no effect. */
TEST(lost_ends_and_begins)
{
	annotating();
	region(1, 1, 0, OUTER, false);
	region(1, 1, 0, INNER, false);
	region(1, 1, 0, OUTER, true);
	expect("m1 UserRegionBegin 0 \"outer\" -\n"
	       "m1 UserRegionBegin 0 \"inner\" -\n"
	       "m1 UserRegionEnd 0 \"inner\" -\n"
	       "m1 UserRegionEnd 0 \"outer\" -\n");
	assert_int_equal(stats()->repairs, 1);
	region(1, 1, 0, OUTER, false);
	region(1, 1, 4, OUTER, true); /* of another task */
	region(1, 1, 0, INNER, true);
	region(1, 1, 0, OUTER, true);
	expect("m1 UserRegionBegin 0 \"outer\" -\n"
	       "m1 UserRegionEnd 0 \"outer\" -\n");
}

/* Regions belong to a goroutine, on any thread, and end with it. */
TEST(regions_of_goroutines)
{
	annotating();
	region(1, 1, 0, OUTER, false);
	park(1, 1, 0);
	execute(1, 2);
	region(1, 2, 0, OUTER, true); /* of another goroutine */
	region(1, 2, 0, INNER, false);
	destroy(1, 2);
	ready(1, 1);
	p_start(2, 1);
	execute(2, 1);
	region(2, 1, 0, OUTER, true);
	expect("m1 UserRegionBegin 0 \"outer\" -\n"
	       "m1 GoBlock \"unspecified\" -\n"
	       "m1 GoStart g2 #1\n"
	       "m1 UserRegionBegin 0 \"inner\" -\n"
	       "m1 GoDestroy\n"
	       "m1 GoUnblock g1 #2 -\n"
	       "m2 ProcStart p1 #1\n"
	       "m2 GoStart g1 #3\n"
	       "m2 UserRegionEnd 0 \"outer\" -\n");
	expect_no_repair();
}

TEST(deep_regions)
{
	unsigned int i;

	annotating();
	for (i = 0; i < 1500; i++)
		region(1, 1, i, OUTER, false);
	flush();
	assert_int_equal(stats()->dropped, 1500 - 1024);
	forget();
	while (i-- > 1022)
		region(1, 1, i, OUTER, true);
	expect("m1 UserRegionEnd 1023 \"outer\" -\n"
	       "m1 UserRegionEnd 1022 \"outer\" -\n");
	assert_int_equal(stats()->repairs, 0);
}

/* A task whose id the trace contains cannot begin: neither again nor late. */
TEST(task_ids)
{
	annotating();
	task_begin(1, 7, 0, OUTER);
	task_begin(1, 7, 0, OUTER);
	task_end(1, 7);
	task_begin(1, 7, 0, OUTER);
	task_begin(1, 9, 0, OUTER);
	task_begin(1, 8, 0, OUTER); /* two goroutines at once: slightly out of order */
	task_begin(1, 6, 4, OUTER);
	task_begin(1, 4, 0, OUTER); /* named as a parent */
	task_begin(1, 3u << 20, 0, OUTER);
	task_begin(1, 10, 0, OUTER); /* far behind: unknown */
	task_begin(1, 1ull << 60, 0, OUTER);
	task_begin(1, (3u << 20) + 1, 0, OUTER);
	expect("m1 UserTaskBegin 7 0 \"outer\" -\n"
	       "m1 UserTaskEnd 7 -\n"
	       "m1 UserTaskBegin 9 0 \"outer\" -\n"
	       "m1 UserTaskBegin 8 0 \"outer\" -\n"
	       "m1 UserTaskBegin 6 4 \"outer\" -\n"
	       "m1 UserTaskBegin 3145728 0 \"outer\" -\n"
	       "m1 UserTaskBegin 3145729 0 \"outer\" -\n");
	assert_int_equal(stats()->dropped, 5);
}

/* A begin after any record that names the task is late; 0 is no task id. */
TEST(tasks_named_before_their_begin)
{
	annotating();
	log_line(1, 5, OUTER, GT_TEXT_EMPTY);
	region(1, 1, 6, OUTER, false);
	task_end(1, 7);
	log_line(1, 0, OUTER, GT_TEXT_EMPTY);
	flush_and_forget();
	task_begin(1, 5, 0, OUTER);
	task_begin(1, 6, 0, OUTER);
	task_begin(1, 7, 0, OUTER);
	expect("");
	assert_int_equal(stats()->dropped, 3);
	task_begin(1, 8, 0, OUTER);
	expect("m1 UserTaskBegin 8 0 \"outer\" -\n");
}

/* Task ids are below 2^48, and one that is 2^20 behind the latest is not remembered. */
TEST(task_id_limits)
{
	const uint64_t last = 1ull << 48;

	annotating();
	task_begin(1, last, 0, OUTER);
	task_begin(1, last + 1, 0, OUTER);
	task_begin(1, last - (1u << 20) + 1, 0, OUTER);
	task_begin(1, last - (1u << 20), 0, OUTER);
	expect("m1 UserTaskBegin 281474976710656 0 \"outer\" -\n"
	       "m1 UserTaskBegin 281474975662081 0 \"outer\" -\n");
	assert_int_equal(stats()->dropped, 2);
}

/* A record that names a task is held for its begin on another thread; not for ever. */
TEST(task_named_early)
{
	annotating();
	task_begin(1, 7, 0, OUTER);
	p_start(2, 1);
	execute(2, 2);
	region(2, 2, 8, INNER, false);
	task_begin(1, 8, 0, OUTER);
	expect("m1 UserTaskBegin 7 0 \"outer\" -\n"
	       "m2 ProcStart p1 #1\n"
	       "m2 GoStart g2 #1\n"
	       "m1 UserTaskBegin 8 0 \"outer\" -\n"
	       "m2 UserRegionBegin 8 \"inner\" -\n");
	expect_no_repair();
	region(2, 2, 10, INNER, false);
	expect("");
	m.now += 5000000;
	expect("m2 UserRegionBegin 10 \"inner\" -\n");
	log_line(1, 7, INNER, GT_TEXT_EMPTY);
	expect("m1 UserLog 7 \"inner\" \"\" -\n");
	expect_no_repair();
}

TEST(texts_missing)
{
	annotating();
	region(1, 1, 0, LOST, false);
	say(LOST, "late");
	region(1, 1, 0, LOST, true); /* named as in its begin */
	say(GT_TEXT_UNREAD, "no text has this number");
	region(1, 1, 0, GT_TEXT_UNREAD, false);
	region(1, 1, 0, GT_TEXT_UNREAD, true);
	say(GT_TEXT_ONCE | 5, "once");
	log_line(1, 0, OUTER, GT_TEXT_ONCE | 5);
	log_line(1, 0, OUTER, GT_TEXT_ONCE | 5);
	expect("m1 UserRegionBegin 0 \"late\" -\n" /* a text may arrive at any time before */
	       "m1 UserRegionEnd 0 \"late\" -\n"
	       "m1 UserRegionBegin 0 \"(text not recorded)\" -\n"
	       "m1 UserRegionEnd 0 \"(text not recorded)\" -\n"
	       "m1 UserLog 0 \"outer\" \"once\" -\n"
	       "m1 UserLog 0 \"outer\" \"(text not recorded)\" -\n");
	assert_int_equal(stats()->text_misses, 2);
	region(1, 1, 0, 555, false);
	flush();
	say(555, "too late");
	region(1, 1, 0, 555, true);
	expect("m1 UserRegionBegin 0 \"(text not recorded)\" -\n"
	       "m1 UserRegionEnd 0 \"(text not recorded)\" -\n");
}

/* In a flight recorder buffer each name has its own number: equal ones are one name. */
TEST(names_sent_each_time)
{
	annotating();
	say(GT_TEXT_ONCE | 1, "kind");
	task_begin(1, 7, 0, GT_TEXT_ONCE | 1);
	say(GT_TEXT_ONCE | 2, "a");
	region(1, 1, 7, GT_TEXT_ONCE | 2, false);
	say(GT_TEXT_ONCE | 3, "b");
	region(1, 1, 7, GT_TEXT_ONCE | 3, false);
	say(GT_TEXT_ONCE | 4, "kind");
	say(GT_TEXT_ONCE | 5, "message");
	log_line(1, 7, GT_TEXT_ONCE | 4, GT_TEXT_ONCE | 5);
	say(GT_TEXT_ONCE | 6, "a"); /* the end of b was lost */
	region(1, 1, 7, GT_TEXT_ONCE | 6, true);
	log_line(1, 7, GT_TEXT_ONCE | 7, GT_TEXT_ONCE | 8);
	expect("m1 UserTaskBegin 7 0 \"kind\" -\n"
	       "m1 UserRegionBegin 7 \"a\" -\n"
	       "m1 UserRegionBegin 7 \"b\" -\n"
	       "m1 UserLog 7 \"kind\" \"message\" -\n"
	       "m1 UserRegionEnd 7 \"b\" -\n"
	       "m1 UserRegionEnd 7 \"a\" -\n"
	       "m1 UserLog 7 \"(text not recorded)\" \"(text not recorded)\" -\n");
	assert_int_equal(stats()->text_misses, 2);
	assert_int_equal(stats()->repairs, 1);
}

/* A text kept for one generation only would be missing in the next. */
TEST(names_over_generations)
{
	const uint64_t second = 1000000000;
	uint64_t number = GT_TEXT_ONCE;
	int i;

	annotating();
	say(++number, "outside");
	region(1, 1, 0, number, false);
	for (i = 0; i < 10; i++) {
		say(++number, i % 2 ? "odd" : "even");
		region(1, 1, 0, number, false);
		flush();
		m.now += second + second / 2;
		say(++number, i % 2 ? "odd" : "even");
		forget();
		region(1, 1, 0, number, true);
		flush();
		assert_non_null(strstr(m.writer.text, "open "));
		assert_non_null(strstr(m.writer.text, i % 2 ? "m1 UserRegionEnd 0 \"odd\" -\n" :
							      "m1 UserRegionEnd 0 \"even\" -\n"));
	}
	forget();
	say(++number, "outside");
	region(1, 1, 0, number, true);
	expect("m1 UserRegionEnd 0 \"outside\" -\n");
	expect_no_repair();
}

/* Cut within a character: that is removed, if it is UTF-8. */
TEST(texts_cut)
{
	static const struct {
		const char *bytes;
		size_t len, left;
	} cases[] = {
		{ "abc", 3, 3 },
		{ "ab\xc3", 3, 2 },
		{ "ab\xc3\xa4", 4, 4 },
		{ "ab\xe2\x82", 4, 2 },
		{ "ab\xe2\x82\xac", 5, 5 },
		{ "a\xf0\x9f\x98", 4, 1 },
		{ "a\xf0\x9f\x98\x80", 5, 5 },
		{ "\xa4\xa4\xa4\xa4", 4, 4 },
		{ "\xa4", 1, 1 },
		{ "\xf0", 1, 0 },
	};
	char want[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {

		annotating();
		text(GT_TEXT_ONCE | 1, cases[i].bytes, cases[i].len, true);
		log_line(1, 0, OUTER, GT_TEXT_ONCE | 1);
		snprintf(want, sizeof(want), "m1 UserLog 0 \"outer\" \"%.*s\" -\n",
			 (int)cases[i].left, cases[i].bytes);
		expect(want);
		expect_no_repair();
	}
}

TEST(broken_texts)
{
	struct {
		struct gt_record rec;
		struct gt_text text;
		char bytes[2048];
	} r = { .rec = { .time = machine_t0, .tid = 1, .kind = GT_TEXT, .object = 9 } };
	static const struct {
		uint32_t len;
		size_t size;
	} bad[] = { { 5, 0 }, { 5, 5 }, { 5, 16 }, { 1025, 1032 }, { UINT32_MAX, 8 }, { 0, 8 } };

	annotating();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		r.text.len = bad[i].len;
		assert_int_equal(sequencer__record(m.seq, 0, &r.rec,
						   sizeof(r.rec) + sizeof(r.text) + bad[i].size),
				 -EBADMSG);
	}
	assert_int_equal(sequencer__record(m.seq, 0, &r.rec, sizeof(r.rec) + 4), -EBADMSG);
	assert_int_equal(stats()->bad_records, sizeof(bad) / sizeof(*bad) + 1);
}

/* Messages whose record never arrives are limited. */
TEST(memory_is_bounded)
{
	char bytes[GT_TEXT_MAX];

	annotating();
	memset(bytes, 'x', sizeof(bytes));
	for (unsigned int i = 0; i < 100000; i++)
		text(GT_TEXT_ONCE | i, bytes, sizeof(bytes), false);
	log_line(1, 0, OUTER, GT_TEXT_ONCE | 1);
	log_line(1, 0, OUTER, GT_TEXT_ONCE | 99999); /* of 100 MB, 32 MiB are kept */
	flush();
	assert_int_equal(stats()->text_misses, 1);
	forget();
	m.now += 3000000000; /* too long for any record to be held */
	region(1, 1, 0, OUTER, false);
	flush_and_forget();
	text(GT_TEXT_ONCE | 200000, bytes, 8, false);
	log_line(1, 0, OUTER, GT_TEXT_ONCE | 200000);
	expect("m1 UserLog 0 \"outer\" \"xxxxxxxx\" -\n");
	assert_int_equal(stats()->text_misses, 1);
}

/* Each name is found, however many there were before, and only recent ones take memory. */
TEST(names_without_end)
{
	char bytes[GT_TEXT_MAX], want[128];
	size_t strings = 0, before = 0;

	annotating();
	say(2, "the first");
	region(1, 1, 0, 2, false);
	flush();
	memset(bytes, 'x', sizeof(bytes));
	for (unsigned int i = 0; i < 200000; i++) {
		snprintf(bytes, sizeof(bytes), "name %u", i);
		text(1000 + i, bytes, 500, false);
		m.now += 50000; /* 20,000 a second */
		log_line(1, 0, 1000 + i, GT_TEXT_EMPTY);
		flush();
		snprintf(want, sizeof(want), "UserLog 0 \"name %u", i);
		assert_non_null(strstr(m.writer.text, want));
		forget();
		if (i == 100000) {
			strings = intern__memory(m.intern);
			before = mallinfo2().uordblks;
		}
	}
	assert_int_equal(stats()->text_misses, 0);
	assert_true(intern__memory(m.intern) < strings + (4u << 20));
	assert_true(mallinfo2().uordblks < before + (8u << 20));
	region(1, 1, 0, 2, true); /* it was held all the time */
	flush();
	assert_non_null(strstr(m.writer.text, "m1 UserRegionEnd 0 \"the first\" -\n"));
	expect_no_repair();
}

/* Regions without an end: they and their names take at most 32 MiB, others are not written. */
TEST(regions_without_end)
{
	char bytes[GT_TEXT_MAX];

	running(25, "go1.26.8", 3);
	memset(bytes, 'x', sizeof(bytes));
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(bytes, sizeof(bytes), "name %u", i);
		text(1000 + i, bytes, sizeof(bytes), false);
		region(1, 1, 0, 1000 + i, false);
		flush_and_forget();
	}
	assert_int_equal(stats()->dropped, 0);
	assert_in_range(m.seq->user.open_bytes, 1000 * GT_TEXT_MAX, 1200 * GT_TEXT_MAX);
	m.seq->user.open_bytes += 33u << 20; /* of other goroutines */
	say(3000, "one more");
	region(1, 1, 0, 3000, false);
	region(1, 1, 0, 3000, true);
	expect("");
	assert_int_equal(stats()->dropped, 2);
	m.seq->user.open_bytes -= 33u << 20;
	region(1, 1, 0, 1999, true);
	flush();
	assert_non_null(strstr(m.writer.text, "m1 UserRegionEnd 0 \"name 999"));
	m.writer.len = 0;
	destroy(1, 1); /* frees its regions */
	flush();
	assert_int_equal(m.seq->user.open_bytes, 0);
}

/* A generation has 16 MiB, including texts of its own, which are then freed. */
TEST(generations_end_by_texts)
{
	char bytes[GT_TEXT_MAX];
	size_t most;

	annotating();
	memset(bytes, 'x', sizeof(bytes));
	most = intern__memory(m.intern) + (18u << 20);
	for (unsigned int i = 0; i < 40000; i++) {
		text(GT_TEXT_ONCE | i, bytes, sizeof(bytes), false);
		log_line(1, 0, OUTER, GT_TEXT_ONCE | i);
		flush();
		m.writer.len = 0;
		assert_true(intern__memory(m.intern) < most);
		assert_true(intern__transient_bytes(m.intern) <= (16u << 20) + GT_TEXT_MAX);
	}
	assert_int_equal(stats()->text_misses, 0);
	assert_true(intern__strings(m.intern) < 20000);
	expect_no_repair();
}

static void calling(void)
{
	annotating();
	say(GT_TEXT_GIVEN(0), "f");
	say(GT_TEXT_GIVEN(1), "g");
}

/* Recursion, with a region of the program in between. */
TEST(calls_nest)
{
	calling();
	func_call(1, 100, 0, false);
	region(1, 1, 0, INNER, false);
	func_call(1, 200, 1, false);
	func_call(1, 300, 1, false);
	func_call(1, 300, 1, true);
	func_call(1, 200, 1, true);
	region(1, 1, 0, INNER, true);
	func_call(1, 100, 0, true);
	expect("m1 UserRegionBegin 0 \"f\" -\n"
	       "m1 UserRegionBegin 0 \"inner\" -\n"
	       "m1 UserRegionBegin 0 \"g\" -\n"
	       "m1 UserRegionBegin 0 \"g\" -\n"
	       "m1 UserRegionEnd 0 \"g\" -\n"
	       "m1 UserRegionEnd 0 \"g\" -\n"
	       "m1 UserRegionEnd 0 \"inner\" -\n"
	       "m1 UserRegionEnd 0 \"f\" -\n");
	assert_int_equal(stats()->text_misses, 0);
	expect_no_repair();
}

/* A panic has unwound the frames of g when f returns, or calls g again. */
TEST(calls_unwound)
{
	calling();
	func_call(1, 100, 0, false);
	func_call(1, 200, 1, false);
	func_call(1, 300, 1, false);
	func_call(1, 200, 1, false);
	func_call(1, 100, 0, true);
	expect("m1 UserRegionBegin 0 \"f\" -\n"
	       "m1 UserRegionBegin 0 \"g\" -\n"
	       "m1 UserRegionBegin 0 \"g\" -\n"
	       "m1 UserRegionEnd 0 \"g\" -\n"
	       "m1 UserRegionEnd 0 \"g\" -\n"
	       "m1 UserRegionBegin 0 \"g\" -\n"
	       "m1 UserRegionEnd 0 \"g\" -\n"
	       "m1 UserRegionEnd 0 \"f\" -\n");
	expect_no_repair();
}

/* Exits of calls that began before the window, and depths that no stack has, are dropped. */
TEST(calls_unknown)
{
	calling();
	func_call(1, 300, 1, true);
	func_call(1, 100, 0, false);
	func_call(1, 200, 1, true);
	func_call(1, 0, 1, false);
	func_call(1, UINT64_MAX, 1, false);
	func_call(1, 100, 0, true);
	func_call(1, 50, 1, true);
	expect("m1 UserRegionBegin 0 \"f\" -\n"
	       "m1 UserRegionEnd 0 \"f\" -\n");
	assert_int_equal(stats()->dropped, 2);
}

/* Calls in each other beyond the limit are counted and not written; the others end. */
TEST(calls_too_deep)
{
	calling();
	for (uint64_t i = 1; i <= 3000; i++)
		func_call(1, i * 16, 0, false);
	for (uint64_t i = 3000; i; i--)
		func_call(1, i * 16, 0, true);
	flush();
	assert_int_equal(stats()->dropped, 3000 - 1024);
}
