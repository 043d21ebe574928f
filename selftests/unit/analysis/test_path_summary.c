// SPDX-License-Identifier: GPL-2.0
/*
 * The summary of a path by cause: segments that are printed alike are added up, others are not.
 */
#include "unit/test.h"
#include "unit/path_fixture.h"

static struct path_segment segment(uint8_t kind, uint8_t cause, int64_t from, int64_t to)
{
	struct path_segment seg = {
		.from = from,
		.to = to,
		.kind = kind,
		.cause = cause,
		.thread = PATH_NONE,
		.call = KERNEL_NO_CALL,
		.by = PATH_NONE,
	};

	for (unsigned int i = 0; i < PATH_HOLDERS; i++)
		seg.holders[i] = PATH_NONE;
	return seg;
}

/* The two segments, of 10 and 5 ns, are `n` causes. */
static void expect_causes(struct path_segment *segments, size_t n)
{
	const struct path p = { .segments = segments, .n = 2, .to = 15 };
	struct path_cause_total *all;
	size_t have;

	assert_int_equal(path__summary(&p, &all, &have), 0);
	assert_int_equal(have, n);
	assert_int_equal(all[0].ns, n == 1 ? 15 : 10);
	assert_int_equal(all[0].count, n == 1 ? 2 : 1);
	assert_int_equal(all[n - 1].ns, n == 1 ? 15 : 5);
	free(all);
}

/* Threads of the program that run no goroutine are named by their IDs. */
TEST(threads_without_goroutines)
{
	struct path_segment s[] = {
		segment(PATH_KERNEL_RUNNABLE, PATH_CAUSE_THREAD, 0, 10),
		segment(PATH_KERNEL_RUNNABLE, PATH_CAUSE_THREAD, 10, 15),
	};

	s[0].other = s[1].other = 7;
	expect_causes(s, 1);
	s[1].other = 8;
	expect_causes(s, 2);
}

/* Of another process the thread is printed only if the process is unknown. */
TEST(threads_of_processes)
{
	struct path_segment s[] = {
		segment(PATH_SYSCALL_BLOCKED, PATH_CAUSE_PROCESS, 0, 10),
		segment(PATH_SYSCALL_BLOCKED, PATH_CAUSE_PROCESS, 10, 15),
	};

	s[0].other = 7;
	s[1].other = 8;
	expect_causes(s, 2);
	s[0].other_pid = s[1].other_pid = 6;
	expect_causes(s, 1);
	s[1].other_pid = 5;
	expect_causes(s, 2);
}

/* A goroutine is the same cause on whichever thread it runs. */
TEST(threads_of_goroutines)
{
	struct path_segment s[] = {
		segment(PATH_KERNEL_RUNNABLE, PATH_CAUSE_GOROUTINE, 0, 10),
		segment(PATH_KERNEL_RUNNABLE, PATH_CAUSE_GOROUTINE, 10, 15),
	};

	s[0].by = s[1].by = 3;
	s[0].other = 7;
	s[1].other = 8;
	s[1].thread = 1;
	expect_causes(s, 1);
	s[1].by = 4;
	expect_causes(s, 2);
}

/* The goroutine had the P, or it had the CPU that the P's thread waited for. */
TEST(holder_of_proc_or_cpu)
{
	struct path_segment s[] = {
		segment(PATH_GO_RUNNABLE, PATH_CAUSE_GOROUTINE, 0, 10),
		segment(PATH_GO_RUNNABLE, PATH_CAUSE_GOROUTINE, 10, 15),
	};

	s[0].by = s[1].by = 3;
	s[0].other = 7;
	expect_causes(s, 2);
	s[1].other = 8;
	expect_causes(s, 1);
}

TEST(reasons_of_sleep)
{
	struct path_segment s[] = {
		segment(PATH_SYSCALL_BLOCKED, PATH_CAUSE_INTERRUPT, 0, 10),
		segment(PATH_SYSCALL_BLOCKED, PATH_CAUSE_INTERRUPT, 10, 15),
	};

	s[0].why = GT_OFF_SLEEPING;
	s[1].why = GT_OFF_DISK;
	expect_causes(s, 2);
	s[0].why = GT_OFF_DISK;
	expect_causes(s, 1);
}

/* The path may continue in threads that run no goroutine. */
TEST(time_of_threads)
{
	struct path_segment s[] = {
		segment(PATH_ON_CPU, PATH_CAUSE_NONE, 0, 10),
		segment(PATH_ON_CPU, PATH_CAUSE_NONE, 10, 15),
	};

	s[0].thread = 1;
	s[1].thread = 2;
	expect_causes(s, 1); /* of goroutine 0 */
	s[0].goroutine = s[1].goroutine = PATH_NONE;
	expect_causes(s, 2);
	s[1].thread = 1;
	expect_causes(s, 1);
}

/* ---- sums of several paths ---- */

/* Goroutines 1 and 2 have the start function main.worker, 3 and 4 have none. */
static void begin_goroutines(void)
{
	uint32_t name;

	begin();
	for (uint64_t id = 1; id <= 4; id++)
		assert_int_equal(path_table__get(&history, &history.goroutines, id), id - 1);
	name = intern__cstring(history.texts, "main.worker");
	path_goroutine(&history, 0)->name = path_goroutine(&history, 1)->name = name;
}

static struct path_segment on_cpu(uint32_t goroutine, int64_t from, int64_t to)
{
	struct path_segment seg = segment(PATH_ON_CPU, PATH_CAUSE_NONE, from, to);

	seg.goroutine = goroutine;
	return seg;
}

static void add_path(struct path_sums *s, uint32_t goroutine, struct path_segment *segments,
		     size_t n)
{
	const struct path p = { .segments = segments, .n = n, .to = segments[n - 1].to };

	assert_int_equal(path_sums__add(s, &p, goroutine), 0);
}

static void expect_sum(const struct path_sum *sum, uint64_t ns, uint64_t count, uint64_t paths,
		       bool own)
{
	assert_int_equal(sum->ns, ns);
	assert_int_equal(sum->count, count);
	assert_int_equal(sum->paths, paths);
	assert_int_equal(sum->own, own);
}

/* The time of others with the same function is not that of the goroutine itself. */
TEST(own_time)
{
	struct path_segment s[] = { on_cpu(0, 0, 10), on_cpu(1, 10, 13), on_cpu(0, 13, 20) };
	struct path_sums sums;

	begin_goroutines();
	path_sums__init(&sums, &history);
	add_path(&sums, 0, s, 3);
	add_path(&sums, 1, s, 3);
	path_sums__finish(&sums);
	assert_int_equal(sums.n, 2);
	assert_int_equal(sums.ns, 40);
	assert_int_equal(sums.paths, 2);
	expect_sum(&sums.at[0], 20, 3, 2, false); /* 3 in the path of 0, 17 in the other */
	expect_sum(&sums.at[1], 20, 3, 2, true);
	path_sums__deinit(&sums);
}

/* Those without a known function are not one. */
TEST(unknown_functions)
{
	struct path_segment s[] = { on_cpu(2, 0, 10), on_cpu(3, 10, 13), on_cpu(2, 13, 20),
				    on_cpu(1, 20, 21) };
	struct path_sums sums;

	begin_goroutines();
	path_sums__init(&sums, &history);
	add_path(&sums, 0, s, 4);
	path_sums__finish(&sums);
	assert_int_equal(sums.n, 3);
	expect_sum(&sums.at[0], 17, 2, 1, false);
	expect_sum(&sums.at[1], 3, 1, 1, false);
	expect_sum(&sums.at[2], 1, 1, 1, false);
	path_sums__deinit(&sums);
}

/* The path's own goroutine as the cause of another's wait is not just any with its function. */
TEST(caused_by_itself)
{
	struct path_segment s[] = { on_cpu(2, 0, 10), on_cpu(2, 10, 13) };
	struct path_sums sums;

	begin_goroutines();
	s[0].kind = s[1].kind = PATH_GO_RUNNABLE;
	s[0].cause = s[1].cause = PATH_CAUSE_GOROUTINE;
	s[0].by = 0;
	s[1].by = 1;
	path_sums__init(&sums, &history);
	add_path(&sums, 0, s, 2);
	path_sums__finish(&sums);
	assert_int_equal(sums.n, 2);
	assert_true(sums.at[0].by_own && !sums.at[1].by_own);
	path_sums__deinit(&sums);
	path_sums__init(&sums, &history);
	add_path(&sums, 3, s, 2);
	path_sums__finish(&sums);
	assert_int_equal(sums.n, 1);
	expect_sum(&sums.at[0], 13, 2, 1, false);
	path_sums__deinit(&sums);
}

/* More than are kept before equal ones are added up. */
TEST(many_paths)
{
	struct path_segment s[] = { on_cpu(0, 0, 10), on_cpu(2, 10, 13), on_cpu(3, 13, 15) };
	struct path_sums sums;

	begin_goroutines();
	path_sums__init(&sums, &history);
	for (unsigned int i = 0; i < 20000; i++)
		add_path(&sums, i % 2, s, 3);
	assert_true(sums.cap < 30000);
	path_sums__finish(&sums);
	assert_int_equal(sums.n, 4);
	expect_sum(&sums.at[0], 100000, 10000, 10000, sums.at[0].own);
	expect_sum(&sums.at[1], 100000, 10000, 10000, !sums.at[0].own);
	expect_sum(&sums.at[2], 60000, 20000, 20000, false);
	expect_sum(&sums.at[3], 40000, 20000, 20000, false);
	path_sums__deinit(&sums);
}

/* Each call has all of its time, whatever the causes are, and the longest comes first. */
TEST(calls)
{
	struct path_segment s[] = {
		segment(PATH_ON_CPU, PATH_CAUSE_NONE, 0, 10),
		segment(PATH_SYSCALL_BLOCKED, PATH_CAUSE_PROCESS, 10, 15),
		segment(PATH_KERNEL_RUNNABLE, PATH_CAUSE_THREAD, 15, 19),
		segment(PATH_SYSCALL_BLOCKED, PATH_CAUSE_INTERRUPT, 19, 22),
		segment(PATH_ON_CPU, PATH_CAUSE_NONE, 22, 24),
		segment(PATH_SYSCALL_BLOCKED, PATH_CAUSE_INTERRUPT, 24, 31),
	};
	struct path_call_sum *calls;
	struct path_sums sums;
	size_t n;

	for (unsigned int i = 0; i < sizeof(s) / sizeof(*s); i++)
		s[i].goroutine = 0;
	for (unsigned int i = 1; i < 5; i++)
		s[i].call = 74;
	s[5].call = 0;
	begin_goroutines();
	path_sums__init(&sums, &history);
	add_path(&sums, 0, s, 6);
	add_path(&sums, 1, s, 6);
	path_sums__finish(&sums);
	assert_int_equal(path_sums__calls(&sums, &calls, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(calls[0].call, 74);
	assert_int_equal(calls[0].ns, 2 * 14);
	assert_int_equal(calls[0].kinds[PATH_SYSCALL_BLOCKED], 2 * 8);
	assert_int_equal(calls[0].kinds[PATH_KERNEL_RUNNABLE], 2 * 4);
	assert_int_equal(calls[0].kinds[PATH_ON_CPU], 2 * 2);
	assert_int_equal(calls[1].call, 0);
	assert_int_equal(calls[1].ns, 2 * 7);
	free(calls);
	path_sums__deinit(&sums);
}
