// SPDX-License-Identifier: GPL-2.0
/* Tests of target/modules/libraries.c on files that this process maps. */
#include <sys/mman.h>
#include <sys/stat.h>

#include "unit/test.h"
#include "target/modules/libraries.h"

#include "unit/programs.h"
#include "unit/scratch.h"

static struct go_libraries l;
static struct process self;

static int set_up(void **state)
{
	return process__open(&self, getpid(), NULL);
}

static int tear_down(void **state)
{
	libraries__deinit(&l);
	process__deinit(&self);
	return 0;
}

FIXTURE(set_up, tear_down)

/* Maps a page, executable, as the loader does. */
static void *map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	assert_true(code != MAP_FAILED);
	close(fd);
	return code;
}

static void again(void)
{
	tear_down(NULL);
	set_up(NULL);
}

static void expect_others(const char *want)
{
	char text[256];

	assert_string_equal(libraries__format(&l, 0, text, sizeof(text)), want);
}

static void maps_go_code(const char *path)
{
	char *real = realpath(path, NULL);
	struct stat want, got;
	void *code;

	assert_false(libraries__choose(&l, &self, NULL));
	assert_non_null(strstr(self.exe, "test_libraries"));
	code = map(path);
	assert_int_equal(mprotect(code, 4096, PROT_READ), 0);
	again();
	assert_false(libraries__choose(&l, &self, NULL)); /* it can't be run */
	assert_int_equal(mprotect(code, 4096, PROT_READ | PROT_EXEC), 0);
	assert_false(libraries__choose(&l, &self, "another"));
	expect_others(real);
	libraries__read(&l, &self, NULL);
	assert_int_equal(l.nothers, 1); /* each once */
	again();
	assert_false(libraries__choose(&l, &self, real + 1));
	again();
	libraries__read(&l, &self, NULL);
	expect_others(real);
	again();
	assert_true(libraries__choose(&l, &self, basename(real)));
	expect_others("");
	again();
	assert_true(libraries__choose(&l, &self, NULL));
	assert_string_equal(self.exe, real);
	assert_int_equal(stat(path, &want), 0);
	assert_int_equal(fstat(self.exe_fd, &got), 0);
	assert_true(want.st_dev == got.st_dev && want.st_ino == got.st_ino);
	assert_int_equal(stat(self.attach_path, &got), 0);
	assert_int_equal(want.st_ino, got.st_ino);
	libraries__deinit(&l);
	libraries__read(&l, &self, NULL); /* not the recorded one */
	expect_others("");
	assert_true(l.nexamined > 1);
	munmap(code, 4096);
	free(real);
	again();
}

TEST(each_program)
{
	for_each_program(maps_go_code);
}

/* A Go program in the scratch folder, of which other tests make links. */
static const char *go_file(void)
{
	struct programs p = programs__find();
	char command[512];

	if (!p.n)
		skip();
	snprintf(command, sizeof(command), "cp '%s' '%s'", p.path[0], scratch("go.so"));
	assert_int_equal(system(command), 0);
	programs__free(&p);
	return scratch("go.so");
}

/* As a program does that reads the file. */
TEST(mapped_elsewhere)
{
	const char *path = go_file();
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096);

	assert_true(code != MAP_FAILED);
	libraries__read(&l, &self, NULL);
	expect_others("");
	assert_ptr_equal(mmap(code, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0),
			 code);
	libraries__read(&l, &self, NULL); /* now it is loaded */
	expect_others(path);
	munmap(code, 4096);
	close(fd);
}

/* The runtime is that of the program which maps its plugin. */
TEST(plugin)
{
	const char *path = go_file();
	void *code = map(path);
	struct go_module plugin = { .path = (char *)path };
	struct go_modules plugins = { .module = { &plugin }, .n = 1 };

	libraries__read(&l, &self, &plugins);
	expect_others("");
	again();
	plugin.path = (char *)"/another";
	libraries__read(&l, &self, &plugins);
	expect_others(path);
	munmap(code, 4096);
}

/* Only links of /proc/PID/map_files lead to it, which privileges are required for. */
TEST(deleted_and_replaced)
{
	char path[256], *want = NULL;
	void *code;

	snprintf(path, sizeof(path), "%s", go_file());
	code = map(path);
	assert_int_equal(unlink(path), 0);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	if (geteuid())
		skip();
	assert_true(asprintf(&want, "%s (deleted)", path) > 0);
	libraries__read(&l, &self, NULL);
	expect_others(want);
	again();
	assert_false(libraries__choose(&l, &self, "go"));
	again();
	assert_true(libraries__choose(&l, &self, path));
	again();
	assert_true(libraries__choose(&l, &self, "go.so"));
	assert_string_equal(self.exe, want);
	munmap(code, 4096);
	free(want);
}

TEST(control_characters)
{
	char path[256], *want = NULL;
	void *code;

	snprintf(path, sizeof(path), "%s", scratch("\x1b[31m r-xp 1\t.so"));
	assert_int_equal(rename(go_file(), path), 0);
	code = map(path);
	libraries__read(&l, &self, NULL);
	expect_others(path);
	munmap(code, 4096);

	again();
	assert_int_equal(rename(path, scratch("a\n.so")), 0);
	code = map(scratch("a\n.so"));
	libraries__read(&l, &self, NULL); /* its name is not in maps, only an escaped one */
	assert_true(asprintf(&want, "%s", scratch("a\\012.so")) > 0);
	expect_others(geteuid() ? "" : want);
	munmap(code, 4096);
	free(want);
}

/* Names of one file; what the process maps later is not examined once there were too many. */
TEST(too_many)
{
	const int files = LIBRARIES_EXAMINED + 100;
	char path[256], name[32], text[1024], *more;
	void **code = calloc(files, sizeof(*code));

	snprintf(path, sizeof(path), "%s", go_file());
	for (int i = 0; i < files; i++) {
		snprintf(name, sizeof(name), "lib%04d.so", i);
		assert_int_equal(link(path, scratch(name)), 0);
		code[i] = map(scratch(name));
	}
	libraries__read(&l, &self, NULL);
	assert_int_equal(l.nexamined, LIBRARIES_EXAMINED);
	assert_in_range(l.nothers, LIBRARIES_EXAMINED - 20, LIBRARIES_EXAMINED);
	more = strrchr(libraries__format(&l, 0, text, sizeof(text)), ',');
	assert_non_null(more);
	snprintf(name, sizeof(name), ", %zu more", l.nothers - LIBRARIES_MAX);
	assert_string_equal(more, name);
	assert_string_equal(libraries__format(&l, l.nothers - 1, text, sizeof(text)), "1 more");
	libraries__format(&l, 0, text, 40);
	assert_int_equal(strlen(text), 39);
	libraries__read(&l, &self, NULL);
	assert_int_equal(l.nexamined, LIBRARIES_EXAMINED);
	for (int i = 0; i < files; i++)
		munmap(code[i], 4096);
	free(code);
}
