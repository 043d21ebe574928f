// SPDX-License-Identifier: GPL-2.0
/* Durations of tasks and regions by name: what begins or ends outside the trace, names. */
#include "unit/tracker_fixture.h"
#include "analysis/annotations.h"

enum { NONE, REQUEST, PART, STEP, STRINGS, FREE };

static struct annotations *annotations;

static void begin(enum annotation_kind kind)
{
	dictionary__init(&dictionary);
	add_string(REQUEST, "request");
	add_string(PART, "part");
	add_string(STEP, "step");
	annotations = annotations__create(kind);
	assert_non_null(annotations);
	on_m = on_g = 1;
}

static void end(void)
{
	annotations__destroy(annotations);
	dictionary__deinit(&dictionary);
}

static void event(int64_t time, unsigned int type, uint64_t a, uint64_t b, uint64_t c)
{
	struct trace_event ev = made_event(time, type, a, b, c);

	assert_int_equal(annotations__event(annotations, &ev), 0);
}

static void task(int64_t from, int64_t to, uint64_t id, uint64_t name)
{
	event(from, EV_USER_TASK_BEGIN, id, TRACE_NO_TASK, name);
	event(to, EV_USER_TASK_END, id, 0, 0);
}

/* Expects one line per name, and ends the test. */
static void expect(const char *want)
{
	const struct annotation_name **list;
	char text[1000] = "", line[200];
	struct trace_string name;
	size_t n;

	assert_int_equal(annotations__finish(annotations), 0);
	list = annotations__sorted(annotations, LENGTHS_TOTAL, &n);
	assert_non_null(list);
	for (size_t i = 0; i < n; i++) {
		name = annotations__name(annotations, list[i]->name);
		snprintf(line, sizeof(line), "%.*s: %d, %d to %d, %d; %d unfinished, %d unbegun\n",
			 (int)name.len, name.data, (int)list[i]->lengths.count,
			 (int)list[i]->lengths.min, (int)list[i]->lengths.max,
			 (int)list[i]->lengths.sum, (int)list[i]->unfinished,
			 (int)list[i]->unbegun);
		strncat(text, line, sizeof(text) - strlen(text) - 1);
	}
	free(list);
	assert_string_equal(text, want);
	end();
}

TEST(tasks)
{
	begin(ANNOTATION_TASKS);
	event(10, EV_USER_TASK_BEGIN, 1, TRACE_NO_TASK, REQUEST);
	event(20, EV_USER_TASK_BEGIN, 2, 1, PART);
	event(21, EV_USER_REGION_BEGIN, 2, STEP, 0);
	on_g = 2;
	event(30, EV_USER_TASK_END, 2, 0, 0); /* on another goroutine */
	task(40, 47, 3, PART);
	event(60, EV_USER_TASK_END, 1, 0, 0);
	assert_int_equal(annotations__unbegun(annotations), 0);
	expect("request: 1, 50 to 50, 50; 0 unfinished, 0 unbegun\n"
	       "part: 2, 7 to 10, 17; 0 unfinished, 0 unbegun\n");
}

TEST(tasks_outside_the_trace)
{
	begin(ANNOTATION_TASKS);
	event(10, EV_USER_TASK_END, 1, 0, 0);
	event(11, EV_USER_TASK_BEGIN, 2, TRACE_NO_TASK, PART);
	event(12, EV_USER_TASK_BEGIN, 3, TRACE_NO_TASK, PART);
	event(15, EV_USER_TASK_END, 3, 0, 0);
	event(16, EV_USER_TASK_END, 3, 0, 0); /* again, as a deferred call may */
	event(17, EV_USER_TASK_END, 1, 0, 0);
	event(18, EV_USER_TASK_END, 4, 0, 0);
	assert_int_equal(annotations__unbegun(annotations), 2);
	expect("part: 1, 3 to 3, 3; 1 unfinished, 0 unbegun\n");
}

TEST(window)
{
	begin(ANNOTATION_TASKS);
	annotations__set_window(annotations, 20, 30);
	event(5, EV_USER_TASK_END, 9, 0, 0);
	task(10, 19, 1, PART);
	task(11, 20, 2, PART); /* with all of its duration */
	task(22, 29, 3, PART);
	event(24, EV_USER_TASK_END, 9, 0, 0); /* again */
	event(25, EV_USER_TASK_END, 10, 0, 0);
	event(26, EV_USER_TASK_BEGIN, 5, TRACE_NO_TASK, STEP);
	assert_int_equal(annotations__unbegun(annotations), 1);
	expect("part: 2, 7 to 9, 16; 0 unfinished, 0 unbegun\n"
	       "step: 0, 0 to 0, 0; 1 unfinished, 0 unbegun\n");
}

/* Nothing happens in the window, but a task is open. */
TEST(quiet_window)
{
	begin(ANNOTATION_TASKS);
	annotations__set_window(annotations, 20, 30);
	event(5, EV_USER_TASK_BEGIN, 9, TRACE_NO_TASK, PART);
	task(6, 7, 8, STEP);
	expect("part: 0, 0 to 0, 0; 1 unfinished, 0 unbegun\n");
}

TEST(regions)
{
	begin(ANNOTATION_REGIONS);
	event(5, EV_USER_REGION_END, 0, STEP, 0); /* began before the trace */
	event(10, EV_USER_REGION_BEGIN, 1, REQUEST, 0);
	event(12, EV_USER_REGION_BEGIN, 1, PART, 0);
	on_g = 2; /* regions belong to a goroutine */
	event(13, EV_USER_REGION_BEGIN, 0, PART, 0);
	on_g = 1;
	event(15, EV_USER_REGION_END, 1, PART, 0);
	event(16, EV_USER_REGION_BEGIN, 0, PART, 0);
	event(18, EV_USER_REGION_END, 0, PART, 0);
	event(30, EV_USER_REGION_END, 1, REQUEST, 0);
	on_g = 2;
	event(33, EV_USER_REGION_END, 0, PART, 0);
	expect("part: 3, 2 to 20, 25; 0 unfinished, 0 unbegun\n"
	       "request: 1, 20 to 20, 20; 0 unfinished, 0 unbegun\n"
	       "step: 0, 0 to 0, 0; 0 unfinished, 1 unbegun\n");
}

/* A goroutine ends within two regions, which end with it, and its ID is used again. */
TEST(regions_left_open)
{
	begin(ANNOTATION_REGIONS);
	event(10, EV_USER_REGION_BEGIN, 1, REQUEST, 0);
	event(12, EV_USER_REGION_BEGIN, 1, PART, 0);
	event(20, EV_GO_DESTROY, 0, 0, 0);
	event(30, EV_USER_REGION_BEGIN, 1, STEP, 0);
	event(31, EV_USER_REGION_END, 1, STEP, 0);
	event(32, EV_USER_REGION_BEGIN, 1, PART, 0);
	expect("request: 1, 10 to 10, 10; 0 unfinished, 0 unbegun\n"
	       "part: 1, 8 to 8, 8; 1 unfinished, 0 unbegun\n"
	       "step: 1, 1 to 1, 1; 0 unfinished, 0 unbegun\n");
}

/* All names after the first NAME_TABLE_MAX are one; those that are known keep theirs. */
TEST(many_names)
{
	const struct annotation_name **list;
	char text[32];
	size_t n;

	begin(ANNOTATION_TASKS);
	for (uint64_t i = 0; i < 1500; i++) {
		snprintf(text, sizeof(text), "task %d", (int)i);
		add_string(FREE + i, text);
		task(10, 11, i + 1, FREE + i);
	}
	task(20, 30, 7, FREE + 999);
	task(20, 30, 8, FREE + 1000);
	list = annotations__sorted(annotations, LENGTHS_TOTAL, &n);
	assert_int_equal(n, 1001);
	assert_int_equal(annotations__name(annotations, list[0]->name).len, 5);
	assert_memory_equal(annotations__name(annotations, list[0]->name).data, "other", 5);
	assert_int_equal(list[0]->lengths.count, 501);
	assert_memory_equal(annotations__name(annotations, list[1]->name).data, "task 999", 8);
	assert_int_equal(list[1]->lengths.count, 2);
	free(list);
	end();
}

/* A name may be empty, and equal a name of the table. */
TEST(odd_names)
{
	begin(ANNOTATION_TASKS);
	add_string(FREE, "other");
	add_string(FREE + 1, "");
	task(10, 15, 1, FREE);
	task(20, 22, 2, FREE + 1);
	task(30, 31, 3, NONE);
	expect("other: 1, 5 to 5, 5; 0 unfinished, 0 unbegun\n"
	       ": 2, 1 to 2, 3; 0 unfinished, 0 unbegun\n");
}

static void filter(struct selection *select, const struct map *goroutines)
{
	const struct annotation_filter filter = { select, goroutines };

	begin(ANNOTATION_TASKS);
	annotations__set_filter(annotations, &filter);
	task(10, 15, 1, REQUEST);
	on_g = 2;
	event(20, EV_USER_TASK_BEGIN, 2, TRACE_NO_TASK, REQUEST);
	on_g = 1; /* which does not matter at the end */
	event(27, EV_USER_TASK_END, 2, 0, 0);
	task(30, 31, 3, PART);
	event(40, EV_USER_TASK_END, 9, 0, 0);
}

/* By the goroutine that created the task, by start function, by name; unknown ones are left out. */
TEST(filters)
{
	struct selection one = { .have_goroutine = true, .goroutine = 2 }, named = {},
			 of_function = { .function.text = "x" };
	struct map goroutines = {};

	filter(&one, NULL);
	assert_int_equal(annotations__unbegun(annotations), 0);
	expect("request: 1, 7 to 7, 7; 0 unfinished, 0 unbegun\n");
	filter(&of_function, NULL);
	expect("");
	assert_int_equal(map__put(&goroutines, 1, &one), 0);
	filter(&of_function, &goroutines);
	assert_int_equal(annotations__unbegun(annotations), 0);
	expect("request: 1, 5 to 5, 5; 0 unfinished, 0 unbegun\n"
	       "part: 1, 1 to 1, 1; 0 unfinished, 0 unbegun\n");
	map__deinit(&goroutines);
	assert_int_equal(selection__option(&named, SELECT_NAME, "^r.*t$"), 0);
	filter(&named, NULL);
	assert_int_equal(annotations__unbegun(annotations), 0);
	assert_int_equal(annotations__left_out(annotations), 2);
	expect("request: 2, 5 to 7, 12; 0 unfinished, 0 unbegun\n");
	selection__deinit(&named);
	filter(&(struct selection){}, NULL);
	assert_int_equal(annotations__unbegun(annotations), 1);
	end();
}

/* The first name by each key; equal ones in the order of the names. */
TEST(keys)
{
	static const char *const want[LENGTHS_KEYS] = {
		[LENGTHS_TOTAL] = "part", [LENGTHS_COUNT] = "request", [LENGTHS_P50] = "part",
		[LENGTHS_P90] = "step",	  [LENGTHS_P99] = "step",      [LENGTHS_MAX] = "step",
	};
	const struct annotation_name **list;
	struct trace_string name;
	size_t n;

	begin(ANNOTATION_TASKS);
	for (int i = 0; i < 4; i++) {
		task(10, 11, 1, REQUEST);
		task(10, 16, 1, PART);
	}
	for (int i = 0; i < 3; i++)
		task(10, i == 2 ? 30 : 11, 1, STEP);
	for (unsigned int key = 0; key < LENGTHS_KEYS; key++) {
		list = annotations__sorted(annotations, key, &n);
		assert_int_equal(n, 3);
		name = annotations__name(annotations, list[0]->name);
		assert_int_equal(name.len, strlen(want[key]));
		assert_memory_equal(name.data, want[key], name.len);
		free(list);
	}
	end();
}
