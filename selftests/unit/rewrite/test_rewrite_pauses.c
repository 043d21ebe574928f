// SPDX-License-Identifier: GPL-2.0
/*
 * Rewrites a trace in which one goroutine has many stop-the-world pauses open, which no program
 * does: the one that an end closes is that of the reader's rules.
 */
#include "unit/test.h"
#include "rewrite/rewrite.h"

#include "unit/rewrite_fixture.h"

/* 'A': a mark assist begins; other letters: a pause of this kind begins; '.': a pause ends. */
static const char *write_pauses(const char *steps)
{
	const char *path = scratch("example");
	uint64_t time = 110;

	start_at(path, 25, 1);
	ok(writer__open(x.w, 100, 0));
	ok(writer__proc_status(x.w, 1, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 1, 1, GO_RUNNING, 0));
	for (; *steps; steps++, time += 10) {
		if (*steps == 'A')
			put(1, time, EV_GC_MARK_ASSIST_BEGIN, 0, 0, 0);
		else if (*steps == '.')
			put(1, time, EV_STW_END, 0, 0, 0);
		else
			put(1, time, EV_STW_BEGIN, text((const char[]){ *steps, 0 }), 0, 0);
	}
	ok(writer__close(x.w));
	ok(trace_file__commit(x.file));
	stop(NULL);
	return path;
}

TEST(every_pause_is_kept)
{
	/* In the last one the mark assist moves, so that the second end closes "b". */
	static const char *const traces[] = { "abcdefgh........", "Aabcde.....", "abc.d.e.f...",
					      "abcA.def..b." };
	static struct seen_list a, b;

	for (size_t i = 0; i < sizeof(traces) / sizeof(*traces); i++) {
		const char *path = write_pauses(traces[i]);

		read_all(path, &a);
		read_all(part(path, 25, INT64_MIN, 0), &b);
		assert_int_equal(stats.left_out, 0);
		assert_int_equal(a.n, b.n);
		assert_memory_equal(a.at, b.at, a.n * sizeof(*a.at));
	}
}

/* Of a part, the ends of pauses that began before it are left out, however many there are. */
TEST(ends_without_begin_are_omitted)
{
	static struct seen_list cut;
	unsigned int ends = 0;

	read_all(part(write_pauses("abcdefA....gh...."), 25, 185, 0), &cut);
	for (size_t i = 0; i < cut.n; i++)
		ends += cut.at[i].type == EV_STW_END;
	assert_int_equal(ends, 2);
	assert_int_equal(stats.left_out, 0);
}
