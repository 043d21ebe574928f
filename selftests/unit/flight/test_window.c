// SPDX-License-Identifier: GPL-2.0
/*
 * The window of a flight recorder: its two limits, where it may begin, and copies of it.
 */
#include "unit/test.h"
#include "flight/window.h"
#include "unit/trace_bytes.h"
#include "writer/output_file.h"

#define SECOND 1000000000ull

static void append(struct window *w, char letter, size_t bytes)
{
	char half[2][5000];
	struct iovec iov[2] = { { half[0], bytes / 2 }, { half[1], bytes - bytes / 2 } };

	memset(half, letter, sizeof(half));
	assert_int_equal(window__append(w, iov, 2), 0);
}

/* Generation i lasts from second i to i + 1. */
static void add(struct window *w, unsigned int i, size_t bytes, bool is_first)
{
	append(w, (char)('a' + i), bytes);
	assert_int_equal(window__describe(w, i * SECOND, (i + 1) * SECOND, 10 + i, is_first), 0);
}

static void contains(const struct window *w, unsigned int from, unsigned int to, size_t bytes)
{
	struct window_part sums = window__sums(w);
	uint64_t events = 0;

	for (unsigned int i = from; i < to; i++)
		events += 10 + i;
	assert_int_equal(sums.from, from * SECOND);
	assert_int_equal(sums.to, to * SECOND);
	assert_int_equal(sums.events, events);
	assert_int_equal(sums.bytes, bytes);
}

TEST(limit_of_age)
{
	struct window *w = window__create(1 << 20, 3 * SECOND);

	for (unsigned int i = 0; i < 10; i++) {
		add(w, i, 100, true);
		contains(w, i < 3 ? 0 : i - 3, i + 1, i < 3 ? 100 * (i + 1) : 400);
	}
	window__destroy(w);
}

TEST(limit_of_bytes)
{
	struct window *w = window__create(1000, 100 * SECOND);

	for (unsigned int i = 0; i < 10; i++)
		add(w, i, 300, true);
	contains(w, 7, 10, 900);
	add(w, 10, 1000, true);
	contains(w, 10, 11, 1000);
	add(w, 11, 1001, true); /* alone more than the limit */
	assert_int_equal(window__sums(w).bytes, 0);
	assert_null(window__copy(w));
	add(w, 12, 10, true);
	contains(w, 12, 13, 10);
	window__destroy(w);
}

/* A trace can begin with every fourth generation: the others go together with the one before. */
TEST(limits_of_groups)
{
	struct window *w = window__create(1000, 2 * SECOND);

	for (unsigned int i = 0; i < 4; i++)
		add(w, i, 100, i == 0);
	assert_int_equal(window__sums(w).bytes,
			 0); /* the first is too old, and nothing can begin */
	add(w, 4, 100, true);
	add(w, 5, 100, false);
	add(w, 6, 100, false);
	contains(w, 4, 7, 300);
	add(w, 7, 100, true);
	contains(w, 7, 8, 100);
	add(w, 8, 950, false);
	assert_int_equal(window__sums(w).bytes, 0);
	add(w, 9, 10, false); /* nothing can begin here either */
	assert_int_equal(window__sums(w).bytes, 0);
	window__destroy(w);
}

TEST(nothing_appended)
{
	struct window *w = window__create(1000, SECOND);

	assert_int_equal(window__describe(w, 1, 2, 3, true), 0);
	assert_int_equal(window__sums(w).bytes, 0);
	append(w, 'x', 10);
	window__destroy(w);
}

/* What the user needs to know if nothing can be kept. */
TEST(too_large)
{
	struct window *w = window__create(30, 100 * SECOND);

	add(w, 0, 20, true);
	add(w, 1, 20, true);
	assert_int_equal(window__too_large(w), 0);
	add(w, 2, 31, true);
	assert_int_equal(window__sums(w).bytes, 0);
	assert_int_equal(window__too_large(w), 31);
	add(w, 3, 10, true);
	contains(w, 3, 4, 10);
	assert_int_equal(window__too_large(w), 31);
	window__destroy(w);
}

/* A copy is what the window was, also after the window has removed that. */
TEST(copies)
{
	struct window *w = window__create(30, 100 * SECOND);
	struct window_copy *c;
	struct trace_file *f;
	const char *path = scratch("copy");
	struct bytes b;

	add(w, 0, 10, true);
	add(w, 1, 20, true);
	c = window__copy(w);
	assert_non_null(c);
	add(w, 2, 30, true);
	contains(w, 2, 3, 30);
	window__destroy(w);
	assert_int_equal(trace_file__open(&f, path, FILE_ANY), 0);
	assert_int_equal(window_copy__write(c, f, 25), 0);
	window_copy__destroy(c);
	assert_int_equal(trace_file__commit(f), 0);
	trace_file__destroy(f);
	b = bytes__read(path);
	assert_int_equal(b.len, 16 + 30);
	assert_memory_equal(b.data, "go 1.25 trace\0\0\0aaaaaaaaaabbbbbbbbbbbbbbbbbbbb", b.len);
	free(b.data);
}
