// SPDX-License-Identifier: GPL-2.0
/* Tests of target/process/cache_folder.c: location, access by others, limits of entries. */

#include <dirent.h>

#include "unit/test.h"
#include "target/process/cache.h"
#include "target/process/cache_impl.h"
#include "unit/programs.h"

#include "unit/elf_made.h"

#define UID_NOBODY 65534

static char home[64];

static size_t entries(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	size_t n = 0;

	while (dir && (e = readdir(dir)))
		n += e->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

static unsigned int mode_of(const char *format, const char *of)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), format, of);
	return stat(path, &st) ? 0 : st.st_mode & 07777;
}

static bool is_kept(const char *name)
{
	size_t len = 0;
	unsigned char *data = cache_folder__read(name, &len);

	free(data);
	return data != NULL;
}

static int setup(void **state)
{
	snprintf(home, sizeof(home), "/tmp/gotrace-folder.XXXXXX");
	if (!mkdtemp(home) || chdir(home))
		return -1;
	umask(022);
	return setenv("XDG_CACHE_HOME", home, 1);
}

static int teardown(void **state)
{
	char command[128];

	if (seteuid(0))
		errno = 0; /* accessible only to this user at first */
	snprintf(command, sizeof(command), "rm -rf %s", home);
	return chdir("/") || system(command);
}

GROUP(setup, teardown)

/* Below $XDG_CACHE_HOME; a user's own is $HOME/.cache. Relative paths do not count. */
TEST(by_environment)
{
	char path[128];

	cache_folder__write("a", "x", 1);
	assert_true(is_kept("a"));
	assert_int_equal(mode_of("%s/gotrace-bpf", home), 0700);
	assert_int_equal(mode_of("%s/gotrace-bpf/a", home), 0600);
	if (!geteuid() && (chown(home, UID_NOBODY, UID_NOBODY) || seteuid(UID_NOBODY)))
		skip();
	snprintf(path, sizeof(path), "%s/user", home);
	assert_int_equal(mkdir(path, 0700), 0);
	setenv("HOME", path, 1);
	setenv("XDG_CACHE_HOME", "relative", 1);
	cache_folder__write("b", "x", 1);
	assert_true(is_kept("b"));
	assert_int_equal(mode_of("%s/user/.cache", home), 0700);
	assert_int_equal(mode_of("%s/user/.cache/gotrace-bpf/b", home), 0600);
	assert_int_equal(access("relative", F_OK), -1);
	unsetenv("XDG_CACHE_HOME");
	assert_true(is_kept("b"));
	assert_int_equal(mkdir("other", 0700), 0);
	setenv("HOME", "other", 1);
	assert_false(is_kept("b"));
	cache_folder__write("b", "x", 1);
	assert_int_equal(entries("other"), 0);
	unsetenv("HOME");
	cache_folder__write("b", "x", 1);
	assert_false(is_kept("b"));
	setenv("XDG_CACHE_HOME", home, 1);
	if (!getuid()) {
		assert_false(is_kept("a")); /* another user's */
		assert_int_equal(seteuid(0), 0);
		assert_int_equal(chown(home, 0, 0), 0);
	}
	assert_true(is_kept("a"));
}

/* The folder above is other programs', too: root's may be read by all. */
TEST(the_folder_above)
{
	char above[128];

	snprintf(above, sizeof(above), "%s/above", home);
	setenv("XDG_CACHE_HOME", above, 1);
	assert_false(is_kept("a"));
	assert_int_equal(access(above, F_OK), -1); /* to read makes no folder */
	cache_folder__write("a", "x", 1);
	assert_int_equal(mode_of("%s", above), geteuid() ? 0700 : 0755);
	assert_true(is_kept("a"));
	setenv("XDG_CACHE_HOME", home, 1);
}

TEST(sizes)
{
	static unsigned char data[CACHE_ENTRY_MAX + 1];
	unsigned char *got;
	size_t len;

	cache_folder__write("large", data, CACHE_ENTRY_MAX);
	got = cache_folder__read("large", &len);
	assert_non_null(got);
	assert_int_equal(len, CACHE_ENTRY_MAX);
	free(got);
	cache_folder__write("larger", data, CACHE_ENTRY_MAX + 1);
	assert_false(is_kept("larger"));
	cache_folder__write("large", "x", 1); /* replaced */
	got = cache_folder__read("large", &len);
	assert_non_null(got);
	assert_int_equal(len, 1);
	free(got);
}

/* Other types of files are neither read nor replaced, and no temporary file is left. */
TEST(no_files)
{
	char folder[128], path[160];
	size_t before;

	snprintf(folder, sizeof(folder), "%s/gotrace-bpf", home);
	before = entries(folder);
	snprintf(path, sizeof(path), "%s/folder", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(is_kept("folder"));
	cache_folder__write("folder", "x", 1);
	assert_false(is_kept("folder"));
	assert_int_equal(entries(folder), before + 1);
	assert_int_equal(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/pipe", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(is_kept("pipe")); /* does not wait for a writer */
	assert_int_equal(unlink(path), 0);
}

/* Of one second's files the oldest goes by its nanoseconds. Folders do not count. */
TEST(the_oldest_of_a_second)
{
	char folder[128], name[16];

	snprintf(folder, sizeof(folder), "%s/second/gotrace-bpf", home);
	folder[strlen(folder) - strlen("/gotrace-bpf")] = 0;
	setenv("XDG_CACHE_HOME", folder, 1);
	strcat(folder, "/gotrace-bpf");
	for (int i = 0; i < CACHE_ENTRIES; i++) {
		struct timespec t = { 1000, i == 30 ? 4 : i == 31 ? 5 : 1000 - i };
		struct timespec times[2] = { t, t };
		char path[256];

		snprintf(name, sizeof(name), "%d", i);
		cache_folder__write(name, "x", 1);
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
		if (!i) {
			snprintf(path, sizeof(path), "%s/sub", folder);
			assert_int_equal(mkdir(path, 0700), 0);
		}
	}
	assert_int_equal(entries(folder), CACHE_ENTRIES + 1);
	cache_folder__write("new", "x", 1);
	assert_int_equal(entries(folder), CACHE_ENTRIES + 1);
	assert_false(is_kept("30"));
	assert_true(is_kept("31") && is_kept("new"));
	setenv("XDG_CACHE_HOME", home, 1);
}

/* ---- entries of a made-up program ---- */

#define CODE_SIZE (300 << 10)

/* Keeps `n` sites of one function, at `func_offset` from its start: do they come back? */
static bool sites_come_back(size_t n, uint32_t func_offset)
{
	static unsigned char code[CODE_SIZE];
	const struct made_section sec = { .name = ".text", .data = code, .len = sizeof(code) };
	struct site_list sites = { .site = calloc(n, sizeof(struct site)), .n = n }, got = { 0 };
	struct go_version version;
	struct layout layout, back;
	struct elf_image *elf;
	int fd = elf_made(&sec, 1);
	bool same;

	assert_int_equal(elf_image__open(&elf, fd, "made", NULL), 0);
	assert_true(go_version__parse("go1.25.3", &version));
	memset(&layout, 0, sizeof(layout));
	assert_int_equal(layout__for_version(&version, &layout, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		struct site *s = &sites.site[i];

		*s = (struct site){ .addr = MADE_FIRST + func_offset,
				    .func_offset = func_offset,
				    .cookie = i,
				    .why = "why",
				    .cost = SITE_STEPPED };
		s->offset = s->addr - MADE_ADDR;
		strcpy(s->func, "f");
		strcpy(s->text, "nop");
	}
	cache__store(elf, &layout, &sites);
	same = cache__load(elf, &version, &back, &got);
	if (same) {
		assert_int_equal(got.n, n);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(got.site[i].cookie, i);
			assert_int_equal(got.site[i].func_offset, func_offset);
			assert_int_equal(got.site[i].cost, SITE_STEPPED);
			assert_string_equal(got.site[i].why, "why");
		}
		site_list__deinit(&got);
	}
	free(sites.site);
	elf_image__destroy(elf);
	close(fd);
	return same;
}

TEST(limits_of_an_entry)
{
	assert_true(sites_come_back(1, 0));
	assert_true(sites_come_back(128, 64));
	assert_false(sites_come_back(129, 64));
	assert_false(sites_come_back(0, 0));
	/* the code up to the last instruction's end has 256 KiB at most */
	assert_true(sites_come_back(1, (256 << 10) - 15));
	assert_false(sites_come_back(1, (256 << 10) - 14));
}
