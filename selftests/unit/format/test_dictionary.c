// SPDX-License-Identifier: GPL-2.0
/*
 * String and stack tables of a generation: dense and sparse ids, and frames with undefined strings.
 */
#include "unit/test.h"
#include "format/dictionary.h"

static struct dictionary d;

static int setup(void **state)
{
	dictionary__init(&d);
	return 0;
}

static void teardown(void)
{
	dictionary__deinit(&d);
}

FIXTURE(setup, teardown)

static int add(uint64_t id, const char *text)
{
	return dictionary__add_string(&d, id, text, strlen(text));
}

static void assert_string(uint64_t id, const char *want)
{
	struct trace_string s;

	assert_true(dictionary__has_string(&d, id));
	assert_true(dictionary__string(&d, id, &s));
	assert_int_equal(s.len, strlen(want));
	assert_memory_equal(s.data, want, s.len);
}

TEST(ids_of_any_size)
{
	static const uint64_t ids[] = { 1, 2, 1023, 1030, 1031, 100000, UINT64_MAX, 3 };
	struct trace_string s;
	char text[8];

	for (size_t i = 0; i < 8; i++) {
		snprintf(text, sizeof(text), "%zu", i);
		assert_int_equal(add(ids[i], text), 0);
		assert_int_equal(add(ids[i], "again"), -EEXIST);
	}
	for (size_t i = 0; i < 8; i++) {
		snprintf(text, sizeof(text), "%zu", i);
		assert_string(ids[i], text);
	}
	assert_int_equal(dictionary__nstrings(&d), 8);
	assert_false(dictionary__has_string(&d, 4));
	assert_false(dictionary__string(&d, 1022, &s));
	assert_false(dictionary__string(&d, UINT64_MAX - 1, &s));
	assert_int_equal(add(0, "none"), -EEXIST);
	assert_string(0, "");
}

/* The array of ids is at most 1024 longer than twice the number of entries. */
TEST(sparse_ids_need_little_memory)
{
	assert_int_equal(add(1024, "far"), 0);
	assert_int_equal(d.string_ids.sparse.n, 1);
	assert_int_equal(d.string_ids.cap, 0);
	assert_int_equal(add(1025, "near"), 0); /* it has one entry now: 1026 is the first far id */
	assert_int_equal(d.string_ids.sparse.n, 1);
	assert_in_range(d.string_ids.cap, 1026, 10000);
	assert_int_equal(add(UINT64_MAX, "far"), 0);
	assert_int_equal(d.string_ids.sparse.n, 2);
	assert_string(1024, "far");
	assert_string(1025, "near");
}

TEST(clear_removes_all_entries)
{
	const struct trace_frame frame = { .pc = 1, .func = 1, .file = 1, .line = 5 };
	const struct trace_frame other = { .pc = 1, .line = 6 };

	for (int round = 0; round < 3; round++) {
		assert_int_equal(add(1, "one"), 0);
		assert_int_equal(add(900, "dense"), 0);
		assert_int_equal(add(1ull << 40, "sparse"), 0);
		assert_int_equal(dictionary__add_stack(&d, 3, &frame, 1), 0);
		assert_int_equal(d.string_ids.top, 901);
		dictionary__clear(&d);
		assert_int_equal(d.string_ids.top, 0); /* nothing to clear the second time */
		assert_int_equal(dictionary__nstrings(&d), 0);
		assert_false(dictionary__has_string(&d, 1) || dictionary__has_string(&d, 900) ||
			     dictionary__has_string(&d, 1ull << 40));
		assert_false(dictionary__has_stack(&d, 3));
		assert_int_equal(dictionary__frames(&d, 3), 0);
	}
	assert_int_equal(dictionary__add_stack(&d, 7, &other, 1), 0);
	assert_int_equal(dictionary__frame(&d, 7, 0)->line, 6);
}

/* The first frame of a PC is used for all stacks. */
TEST(starts_name_defined_stacks)
{
	struct trace_frame frame = { .pc = 1 };
	struct dictionary d;

	dictionary__init(&d);
	assert_int_equal(dictionary__add_stack(&d, 7, &frame, 1), 0);
	assert_int_equal(dictionary__add_stack(&d, 8, &frame, 1), 0);
	assert_int_equal(dictionary__start(&d, 1), 0);
	assert_int_equal(dictionary__add_start(&d, 1, 9), 0); /* undefined */
	assert_int_equal(dictionary__add_start(&d, 1, 0), 0);
	assert_int_equal(dictionary__start(&d, 1), 0);
	assert_int_equal(dictionary__add_start(&d, 1, 7), 0);
	assert_int_equal(dictionary__add_start(&d, 1, 8), 0); /* a second one */
	assert_int_equal(dictionary__start(&d, 1), 7);
	assert_int_equal(dictionary__start(&d, 2), 0);
	dictionary__clear(&d);
	assert_int_equal(dictionary__start(&d, 1), 0);
	dictionary__deinit(&d);
}

TEST(first_frame_of_a_pc_is_used)
{
	const struct trace_frame one[] = { { .pc = 10, .line = 1 }, { .pc = 20, .line = 2 } };
	const struct trace_frame two[] = { { .pc = 20, .line = 9 }, { .pc = 30, .line = 3 } };

	assert_int_equal(dictionary__add_stack(&d, 5, one, 2), 0);
	assert_int_equal(dictionary__add_stack(&d, 6, NULL, 0), 0);
	assert_int_equal(dictionary__add_stack(&d, 100000, two, 2), 0);
	assert_int_equal(dictionary__add_stack(&d, 5, two, 2), -EEXIST);
	assert_int_equal(dictionary__add_stack(&d, 0, two, 2), -EEXIST);
	assert_int_equal(dictionary__frames(&d, 5), 2);
	assert_int_equal(dictionary__frame(&d, 5, 0)->pc, 10);
	assert_int_equal(dictionary__frame(&d, 5, 1)->pc, 20);
	assert_true(dictionary__has_stack(&d, 0) && dictionary__has_stack(&d, 6));
	assert_false(dictionary__has_stack(&d, 7));
	assert_int_equal(dictionary__frames(&d, 0), 0);
	assert_int_equal(dictionary__frames(&d, 6), 0);
	assert_int_equal(dictionary__frames(&d, 7), 0);
	assert_int_equal(dictionary__frames(&d, 100000), 2);
	assert_int_equal(dictionary__frame(&d, 100000, 0)->line, 2);
	assert_int_equal(dictionary__frame(&d, 100000, 1)->line, 3);
}

/* A frame with an undefined function or file; of several, the one with the lowest PC. */
TEST(frames_with_undefined_strings)
{
	struct trace_frame f[3] = { { .pc = 30, .func = 1, .file = 2 } };

	assert_int_equal(add(1, "function"), 0);
	assert_int_equal(add(2, "file"), 0);
	assert_int_equal(dictionary__add_stack(&d, 1, f, 1), 0);
	assert_null(dictionary__bad_frame(&d));
	f[0] = (struct trace_frame){ .pc = 40, .func = 1, .file = 9 };
	assert_int_equal(dictionary__add_stack(&d, 2, f, 1), 0);
	assert_int_equal(dictionary__bad_frame(&d)->pc, 40);
	f[0] = (struct trace_frame){ .pc = 50, .func = 9, .file = 9 };
	f[1] = (struct trace_frame){ .pc = 20, .func = 9, .file = 2 };
	f[2] = (struct trace_frame){ .pc = 10 };
	assert_int_equal(dictionary__add_stack(&d, 3, f, 3), 0);
	assert_int_equal(dictionary__bad_frame(&d)->pc, 20);
	for (f[0].pc = 1; f[0].pc < 100; f[0].pc++) { /* anywhere in the map */
		dictionary__clear(&d);
		assert_int_equal(dictionary__add_stack(&d, 1, f, 1), 0);
		assert_int_equal(dictionary__bad_frame(&d)->pc, f[0].pc);
	}
}
