// SPDX-License-Identifier: GPL-2.0
/*
 * Interned strings and stacks: equal ids for equal data, limits of the format, large numbers.
 */
#include "unit/test.h"
#include "format/spec.h"
#include "writer/intern.h"

static struct intern *in;

static void setup(void)
{
	in = intern__create();
	assert_non_null(in);
}

static void teardown(void)
{
	intern__destroy(in);
}

FIXTURE(setup, teardown)

TEST(same_string_same_id)
{
	size_t len = 0;

	assert_int_equal(intern__cstring(in, "select"), 1);
	assert_int_equal(intern__cstring(in, "sleep"), 2);
	assert_int_equal(intern__string(in, "selection", 6), 1);
	assert_int_equal(intern__string(in, "a\0b", 3), 3);
	assert_int_equal(intern__string(in, "a\0c", 3), 4);
	assert_int_equal(intern__strings(in), 4);
	assert_memory_equal(intern__string_at(in, 1, &len), "select", 6);
	assert_int_equal(len, 6);
}

TEST(empty_string_is_id_0)
{
	struct intern_frame f = { .pc = 1 };
	size_t n = 7;

	assert_int_equal(intern__cstring(in, ""), 0);
	assert_int_equal(intern__string(in, NULL, 0), 0);
	assert_int_equal(intern__stack(in, &f, 0), 0);
	assert_int_equal(intern__strings(in) + intern__stacks(in), 0);
	assert_null(intern__string_at(in, 0, &n));
	assert_null(intern__string_at(in, 1, &n));
	assert_null(intern__stack_at(in, 0, &n));
	assert_null(intern__stack_at(in, 1, &n));
	assert_int_equal(n, 7);
}

static size_t stored_length(struct intern *in, const char *s, size_t len)
{
	size_t ret = 0;

	intern__string_at(in, intern__string(in, s, len), &ret);
	return ret;
}

TEST(long_strings_are_truncated)
{
	char s[3000];

	memset(s, 'x', sizeof(s));
	assert_int_equal(stored_length(in, s, 1023), 1023);
	assert_int_equal(stored_length(in, s, 1024), 1024);
	assert_int_equal(stored_length(in, s, 1025), 1024);
	assert_int_equal(stored_length(in, s, 3000), 1024);
	assert_int_equal(intern__strings(in), 2);
	memcpy(s + 1023, "\xc3\xa4", 2); /* a letter of two bytes across the limit */
	assert_int_equal(stored_length(in, s, 2000), 1023);
	memcpy(s + 1021, "\xf0\x9f\x98\x80", 4); /* one of four */
	assert_int_equal(stored_length(in, s, 2000), 1021);
	memcpy(s + 1022, "\xc3\xa4", 2); /* one that just fits */
	s[1024] = 'x';
	assert_int_equal(stored_length(in, s, 2000), 1024);
	s[1024] = (char)0xa4; /* after it */
	assert_int_equal(stored_length(in, s, 1024), 1024);
	memset(s, 0x80, sizeof(s)); /* not UTF-8 */
	assert_int_equal(stored_length(in, s, 2000), 1024);
}

TEST(same_stack_same_id)
{
	struct intern_frame f[2] = { { 0x10, 1, 2, 3, 0 }, { 0x20, 4, 5, 6, 0 } };
	const struct intern_frame *back;
	size_t n = 0;

	assert_int_equal(intern__stack(in, f, 2), 1);
	assert_int_equal(intern__stack(in, f, 1), 2);
	f[1].pad = 99;
	assert_int_equal(intern__stack(in, f, 2), 1);
	f[1].line = 7;
	assert_int_equal(intern__stack(in, f, 2), 3);
	back = intern__stack_at(in, 3, &n);
	assert_int_equal(n, 2);
	assert_int_equal(back[0].pc, 0x10);
	assert_int_equal(back[1].line, 7);
}

TEST(deep_stacks_are_truncated)
{
	struct intern_frame f[200];
	size_t n = 0;
	int i;

	for (i = 0; i < 200; i++)
		f[i] = (struct intern_frame){ .pc = i };
	assert_int_equal(intern__stack(in, f, 200), intern__stack(in, f, 128));
	assert_int_equal(intern__stack_at(in, 1, &n)[127].pc, 127);
	assert_int_equal(n, TRACE_STACK_MAX);
}

/* Strings of any length and stacks, one after the other: each is aligned for a frame. */
TEST(data_is_aligned)
{
	struct intern_frame f = {};
	char s[600] = "";
	size_t n = 0;

	for (uint32_t i = 1; i < sizeof(s); i++) {
		s[i - 1] = 'a';
		f.pc = i;
		assert_int_equal(intern__string(in, s, i), i);
		assert_int_equal(intern__stack(in, &f, 1), i);
		assert_int_equal((uintptr_t)intern__string_at(in, i, &n) % 8, 0);
		assert_int_equal(n, i);
		assert_int_equal((uintptr_t)intern__stack_at(in, i, &n) % _Alignof(typeof(f)), 0);
		assert_int_equal(n, 1);
	}
	assert_memory_equal(intern__string_at(in, 100, &n), s, 100);
}

/* All memory of stacks is freed with them, to the byte. */
TEST(stack_memory_is_freed)
{
	size_t before = intern__memory(in);
	struct intern_frame f = {};

	for (f.pc = 1; f.pc * sizeof(f) <= INTERN_STACKS_KEPT; f.pc++)
		assert_int_equal(intern__stack(in, &f, 1), f.pc);
	intern__end_generation(in);
	assert_int_equal(intern__epoch(in), 0);
	assert_int_equal(intern__stack(in, &f, 1), f.pc);
	assert_int_equal(intern__new_stack_bytes(in), sizeof(f));
	assert_true(intern__memory(in) > before + INTERN_STACKS_KEPT);
	intern__end_generation(in);
	assert_int_equal(intern__epoch(in), 1);
	assert_int_equal(intern__memory(in), before);
}

TEST(a_hundred_thousand_strings)
{
	const char *first;
	char s[32];
	size_t len = 0;
	int i;

	intern__cstring(in, "number 0");
	first = intern__string_at(in, 1, &len);
	for (i = 0; i < 100000; i++) {
		snprintf(s, sizeof(s), "number %d", i);
		assert_int_equal(intern__cstring(in, s), i + 1);
	}
	for (i = 99999; i >= 0; i--) {
		snprintf(s, sizeof(s), "number %d", i);
		assert_int_equal(intern__cstring(in, s), i + 1);
		assert_memory_equal(intern__string_at(in, i + 1, &len), s, strlen(s));
		assert_int_equal(len, strlen(s));
	}
	assert_ptr_equal(intern__string_at(in, 1, &len), first);
	assert_int_equal(intern__strings(in), 100000);
	assert_in_range(intern__memory(in), 100000 * 20, 100000 * 64);
}

/* Transient strings: their ids are reused, and no other string changes. */
TEST(passing_strings)
{
	uint32_t first, second, other, id;
	size_t len = 0, memory;

	assert_int_equal(intern__transient(in, "", 0), 0);
	first = intern__transient(in, "same", 4);
	other = intern__string(in, "same", 4);
	second = intern__transient(in, "same", 4);
	assert_true(first && second && other && first != second && first != other &&
		    second != other);
	assert_memory_equal(intern__string_at(in, second, &len), "same", 4);
	assert_int_equal(len, 4);
	assert_int_equal(intern__transient_bytes(in), 8);
	intern__end_generation(in);
	assert_int_equal(intern__transient_bytes(in), 0);
	assert_null(intern__string_at(in, first, &len));
	assert_int_equal(intern__string(in, "same", 4), other);

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 5000; i++) {
			id = intern__transient(in, "something else", 14);
			assert_in_range(id, 1, 10000);
			assert_memory_equal(intern__string_at(in, id, &len), "something else", 14);
			if (!round && i % 7 == 0) /* the table grows with both in it */
				assert_true(intern__string(in, (char *)&i, sizeof(i)));
		}
		intern__end_generation(in);
		if (!round)
			memory = intern__memory(in);
		assert_int_equal(intern__memory(in), memory);
	}
	for (int i = 0; i < 5000; i += 7) {
		id = intern__string(in, (char *)&i, sizeof(i));
		assert_memory_equal(intern__string_at(in, id, &len), &i, sizeof(i));
	}
	assert_int_equal(intern__string(in, "same", 4), other);
	assert_int_equal(intern__strings(in), 1 + 5000 + 715);
}

/* Any number of stacks: memory holds those of a generation and INTERN_STACKS_KEPT earlier bytes. */
TEST(stack_memory_is_bounded)
{
	struct intern_frame frame[TRACE_STACK_MAX] = {};
	uint32_t string = intern__cstring(in, "stays"), epoch = 0, ends = 0, id;
	size_t n;

	for (uint32_t i = 0; i < 200000; i++) {
		frame[0].pc = i;
		id = intern__stack(in, frame, TRACE_STACK_MAX);
		assert_int_equal(intern__stack_at(in, id, &n)->pc, i);
		assert_int_equal(n, TRACE_STACK_MAX);
		if (i % 1000)
			continue;
		assert_true(intern__new_stack_bytes(in) >= sizeof(frame));
		intern__end_generation(in);
		assert_int_equal(intern__new_stack_bytes(in), 0);
		ends += intern__epoch(in) != epoch;
		epoch = intern__epoch(in);
		assert_true(intern__memory(in) < INTERN_STACKS_KEPT + (4u << 20));
	}
	assert_in_range(ends, 10, 190);
	assert_int_equal(intern__cstring(in, "stays"), string);
}

/* Few stacks are kept, with their ids. */
TEST(few_stacks_are_kept)
{
	struct intern_frame f = { .pc = 7 };
	uint32_t id = intern__stack(in, &f, 1);

	for (int i = 0; i < 10; i++)
		intern__end_generation(in);
	assert_int_equal(intern__epoch(in), 0);
	assert_int_equal(intern__generation(in), 10);
	assert_int_equal(intern__stack(in, &f, 1), id);
}
