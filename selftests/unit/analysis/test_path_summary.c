// SPDX-License-Identifier: GPL-2.0
/*
 * The summary of a path by cause: segments that are printed alike are added up, others are not.
 */
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
static void threads_without_goroutines(void **state)
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
static void threads_of_processes(void **state)
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
static void threads_of_goroutines(void **state)
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
static void holder_of_proc_or_cpu(void **state)
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

static void reasons_of_sleep(void **state)
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
static void time_of_threads(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_without_goroutines),
		cmocka_unit_test(threads_of_processes),
		cmocka_unit_test(threads_of_goroutines),
		cmocka_unit_test(holder_of_proc_or_cpu),
		cmocka_unit_test(reasons_of_sleep),
		cmocka_unit_test(time_of_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
