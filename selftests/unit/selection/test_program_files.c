// SPDX-License-Identifier: GPL-2.0
/*
 * What is known about programs: by file, not by name; how long a program that fails repeatedly
 * waits; the table has a constant size.
 */
#include <sys/stat.h>

#include "unit/test.h"
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

FIXTURE(set_up, tear_down)

TEST(by_file)
{
	struct program_file a = { 1, 2, 3, 4 }, b = { 1, 2, 3, 5 };
	struct program_entry *e = program_files__get(files, &a);

	assert_memory_equal(&e->file, &a, sizeof(a));
	assert_false(e->not_go || e->reported || e->failures || e->retry);
	e->not_go = true;
	assert_true(program_files__get(files, &a)->not_go);
	assert_false(program_files__get(files, &b)->not_go); /* it was changed since */
}

TEST(own_program)
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

TEST(delays)
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
TEST(many)
{
	unsigned int known = 0;

	for (uint64_t i = 0; i < 100000; i++)
		program_files__get(files, &(struct program_file){ .ino = i })->not_go = true;
	for (uint64_t i = 0; i < 100000; i++)
		known += program_files__get(files, &(struct program_file){ .ino = i })->not_go;
	assert_true(known <= 1024);
}
