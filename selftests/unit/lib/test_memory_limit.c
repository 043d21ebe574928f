// SPDX-License-Identifier: GPL-2.0
/*
 * The limit on memory: what it is for the files of a command line and the machine, and what is said when it
 * was reached. The machine's sizes and the process's limit are this file's.
 */
#include <sys/resource.h>

#include "unit/test.h"
#include "lib/memory_limit.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

static struct {
	uint64_t memory;   /* of the machine */
	const char *group; /* memory.max of the container; NULL: there is none */
	struct rlimit data;
	int get_error, set_error;
} t;

/* ---- what memory_limit.c calls ---- */

long sysconf(int name)
{
	return name == _SC_PAGESIZE ? 4096 : (long)(t.memory / 4096);
}

FILE *fopen(const char *path, const char *mode)
{
	assert_string_equal(path, "/sys/fs/cgroup/memory.max");
	return t.group ? fmemopen((void *)t.group, strlen(t.group), "r") : NULL;
}

int getrlimit(__rlimit_resource_t what, struct rlimit *ret)
{
	assert_int_equal(what, RLIMIT_DATA);
	*ret = t.data;
	return t.get_error;
}

int setrlimit(__rlimit_resource_t what, const struct rlimit *limit)
{
	assert_int_equal(what, RLIMIT_DATA);
	if (!t.set_error)
		t.data = *limit;
	return t.set_error;
}

/* ---- */

static char small[] = "/tmp/test_memory_limit.XXXXXX", large[] = "/tmp/test_memory_limit.XXXXXX";

static void create(char *path, off_t size)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
}

static void create_files(void)
{
	create(small, MIB);
	create(large, 1ll << 40);
}

static int remove_files(void **state)
{
	return unlink(small) || unlink(large);
}

GROUP(create_files, remove_files)

static int set_up(void **state)
{
	memset(&t, 0, sizeof(t));
	t.memory = 16 * GIB;
	t.data = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	return 0;
}

FIXTURE(set_up, NULL)

static void assert_default(char *a, char *b, uint64_t limit)
{
	char *argv[] = { "tool", a, b, NULL };

	t.data.rlim_cur = 0;
	memory_limit__default(b ? 3 : a ? 2 : 1, argv);
	assert_int_equal(t.data.rlim_cur, limit);
}

/* Runs first: a limit cannot be removed again. */
TEST(no_limit)
{
	struct error err = {};

	error__set(&err, -ENOMEM, "out of memory");
	memory_limit__explain(&err, NULL);
	assert_string_equal(err.text, "out of memory");
	t.set_error = -1;
	assert_true(memory_limit__set("128M"));
	memory_limit__explain(&err, NULL);
	assert_string_equal(err.text, "out of memory");
	t.set_error = 0;
	t.get_error = -1;
	assert_true(memory_limit__set("128M"));
	assert_true(t.data.rlim_cur == RLIM_INFINITY);
}

TEST(by_size_of_files)
{
	char option[64], dashed[64];

	snprintf(option, sizeof(option), "--input=%s", small);
	snprintf(dashed, sizeof(dashed), "x=%s", small);
	assert_default(small, NULL, (512 + 64) * MIB);
	assert_default(small, small, (512 + 2 * 64) * MIB);
	assert_default(option, "--quiet", (512 + 64) * MIB);
	assert_default("no such file", small, (512 + 64) * MIB);
	assert_default("/tmp", small, (512 + 64) * MIB);
	assert_default(dashed, NULL, 8 * GIB); /* no option: no file has that name */
	assert_default(NULL, NULL, 8 * GIB);
	assert_default("/tmp", NULL, 8 * GIB);
	assert_default(large, NULL, 8 * GIB);
}

TEST(by_stdin)
{
	int kept = dup(STDIN_FILENO), pipes[2];

	assert_non_null(freopen(small, "r", stdin));
	assert_default("-", NULL, (512 + 64) * MIB);
	assert_int_equal(pipe(pipes), 0);
	dup2(pipes[0], STDIN_FILENO);
	assert_default("-", NULL, 8 * GIB);
	close(pipes[0]);
	close(pipes[1]);
	dup2(kept, STDIN_FILENO);
	close(kept);
}

TEST(by_machine)
{
	t.memory = 2 * (512 + 64) * MIB;
	assert_default(small, NULL, (512 + 64) * MIB);
	t.memory -= 4096;
	assert_default(small, NULL, (512 + 64) * MIB - 2048);
	t.memory = 16 * GIB;
	t.group = "1073741824\n";
	assert_default(small, NULL, GIB / 2);
	t.group = "max\n";
	assert_default(NULL, NULL, 8 * GIB);
	t.group = "999999999999999\n";
	assert_default(NULL, NULL, 8 * GIB);
	t.data.rlim_max = GIB; /* the process may not have more */
	assert_default(NULL, NULL, GIB);
	assert_int_equal(t.data.rlim_max, GIB);
}

TEST(by_option)
{
	assert_true(memory_limit__set("16M"));
	assert_int_equal(t.data.rlim_cur, 16 * MIB);
	assert_true(memory_limit__set("3G"));
	assert_int_equal(t.data.rlim_cur, 3 * GIB);
	assert_false(memory_limit__set("15M"));
	assert_false(memory_limit__set("many"));
	assert_int_equal(t.data.rlim_cur, 3 * GIB);
}

TEST(what_is_said)
{
	struct error err = {};

	error__set(&err, -ENOMEM, "out of memory");
	assert_true(memory_limit__set("64M"));
	memory_limit__explain(&err, "a.trace");
	assert_string_equal(err.text, "a.trace: memory limit of 64M exceeded; raise it with "
				      "--max-memory");
	memory_limit__explain(&err, NULL);
	assert_string_equal(err.text, "memory limit of 64M exceeded; raise it with --max-memory");
	t.set_error = t.get_error = -1;
	assert_true(memory_limit__set("128M")); /* not set: the one before holds */
	memory_limit__explain(&err, NULL);
	assert_string_equal(err.text, "memory limit of 64M exceeded; raise it with --max-memory");
	err = (struct error){};
	error__set(&err, -EIO, "another");
	memory_limit__explain(&err, NULL);
	assert_string_equal(err.text, "another");
}
