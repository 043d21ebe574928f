// SPDX-License-Identifier: GPL-2.0
/*
 * What is known about programs: by file, not by name; how long a program that fails repeatedly
 * waits; the table has a constant size.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "selection/program_files.h"

#define MS 1000000ull

static struct program_files *files;

static int set_up(void **state)
{
	files = program_files__create();
	return files ? 0 : -1;
}

static int tear_down(void **state)
{
	program_files__destroy(files);
	return 0;
}

static void by_file(void **state)
{
	struct program_file a = { 1, 2, 3, 4 }, b = { 1, 2, 3, 5 };
	struct program_entry *e = program_files__get(files, &a);

	assert_memory_equal(&e->file, &a, sizeof(a));
	assert_false(e->not_go || e->reported || e->failures || e->retry);
	e->not_go = true;
	assert_true(program_files__get(files, &a)->not_go);
	assert_false(program_files__get(files, &b)->not_go); /* it was changed since */
}

static void own_program(void **state)
{
	struct program_file file;
	struct stat st;

	assert_int_equal(stat("/proc/self/exe", &st), 0);
	assert_true(program_file__of_process(getpid(), &file));
	assert_int_equal(file.dev, st.st_dev);
	assert_int_equal(file.ino, st.st_ino);
	assert_int_equal(file.size, st.st_size);
	assert_int_equal(file.modified,
			 (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec);
	assert_false(program_file__of_process(0x7fffffff, &file));
}

static void delays(void **state)
{
	static const uint64_t delay[] = {
		0, 0, 100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000
	};
	struct program_entry *e = program_files__get(files, &(struct program_file){ 9 });

	for (size_t i = 0; i < sizeof(delay) / sizeof(*delay); i++) {
		program_entry__failed(e, 5000 * MS);
		assert_int_equal(e->retry, delay[i] ? (5000 + delay[i]) * MS : 0);
	}
	program_entry__recorded(e);
	program_entry__failed(e, 6000 * MS);
	assert_int_equal(e->retry, 0);
}

/* Another user can execute any number of files. */
static void many(void **state)
{
	unsigned int known = 0;

	for (uint64_t i = 0; i < 100000; i++)
		program_files__get(files, &(struct program_file){ .ino = i })->not_go = true;
	for (uint64_t i = 0; i < 100000; i++)
		known += program_files__get(files, &(struct program_file){ .ino = i })->not_go;
	assert_true(known <= 1024);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = { TEST(by_file), TEST(own_program), TEST(delays),
					    TEST(many) };

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
