// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of target/process/cache.c and cache_folder.c: stored analyses are read back unchanged;
 * truncated or damaged entries, and those of other programs or users, are not.
 */

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "unit/scratch.h"
#include "target/infer/buildinfo.h"
#include "target/process/cache.h"
#include "target/process/cache_impl.h"
#include "unit/machine.h"
#include "unit/programs.h"

static char home[64], folder[96];

struct program {
	struct elf_image *elf;
	struct go_buildinfo info;
	struct layout layout;
	struct site_list sites;
};

static void open_image(struct program *p, int fd)
{
	assert_int_equal(elf_image__open(&p->elf, fd, "program", NULL), 0);
	assert_int_equal(buildinfo__read(p->elf, &p->info, NULL), 0);
	close(fd);
}

/* Analysed and kept; takes over `fd`. */
static void analyse(struct program *p, int fd)
{
	struct error err = { "" };
	struct pclntab *pt;

	*p = (struct program){ 0 };
	open_image(p, fd);
	assert_int_equal(pclntab__open(&pt, p->elf, &p->info.version, NULL), 0);
	if (layout__read(p->elf, pt, &p->info.version, NULL, &p->layout, &err) ||
	    site_list__find(&p->sites, p->elf, pt, &p->layout, &err))
		fail_msg("%s", err.text);
	pclntab__destroy(pt);
	cache__store(p->elf, &p->layout, &p->sites);
}

static void open_program(struct program *p, const char *path)
{
	analyse(p, open(path, O_RDONLY | O_CLOEXEC));
}

static void close_program(struct program *p)
{
	site_list__deinit(&p->sites);
	elf_image__destroy(p->elf);
}

static bool is_kept(const struct elf_image *elf, const struct go_version *version)
{
	struct site_list sites = { 0 };
	struct layout layout;
	bool kept = cache__load(elf, version, &layout, &sites);

	site_list__deinit(&sites);
	return kept;
}

/* The name of the folder's one entry. */
static void find_entry(char *ret, size_t size)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	int n = 0;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		if (e->d_name[0] != '.') {
			snprintf(ret, size, "%s/%s", folder, e->d_name);
			n++;
		}
	}
	closedir(dir);
	assert_int_equal(n, 1);
}

static void empty(void)
{
	char command[160];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
}

static void same_site(const struct site *a, const struct site *b)
{
	assert_int_equal(a->probe, b->probe);
	assert_int_equal(a->cookie, b->cookie);
	assert_int_equal(a->addr, b->addr);
	assert_int_equal(a->offset, b->offset);
	assert_int_equal(a->func_offset, b->func_offset);
	assert_int_equal(a->cost, b->cost);
	assert_string_equal(a->func, b->func);
	assert_string_equal(a->text, b->text);
	assert_string_equal(a->why, b->why);
}

static void round_trip(const char *path)
{
	struct site_list sites;
	struct layout layout;
	struct program p;

	empty();
	open_program(&p, path);
	assert_true(cache__load(p.elf, &p.info.version, &layout, &sites));
	assert_memory_equal(&layout, &p.layout, sizeof(layout));
	assert_int_equal(sites.n, p.sites.n);
	for (size_t i = 0; i < sites.n; i++)
		same_site(&sites.site[i], &p.sites.site[i]);
	assert_memory_equal(sites.has, p.sites.has, sizeof(sites.has));
	assert_int_equal(sites.nmissing, 0);
	site_list__deinit(&sites);
	close_program(&p);
}

TEST(comes_back)
{
	for_each_program(round_trip);
}

static void flip(int fd, off_t at)
{
	unsigned char byte;

	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

/* The same file, with another instruction at one site or before it in its function. */
static void other_code(const char *path)
{
	int fd = program__copy(path), other = dup(fd);
	struct program p;

	empty();
	analyse(&p, fd);
	assert_true(is_kept(p.elf, &p.info.version));
	for (size_t i = 0; i < p.sites.n; i++) {
		const struct site *s = &p.sites.site[i];
		off_t at = (off_t)(s->offset - (i % 2 ? s->func_offset : 0));

		flip(other, at);
		assert_false(is_kept(p.elf, &p.info.version));
		flip(other, at);
	}
	assert_true(is_kept(p.elf, &p.info.version));
	close(other);
	close_program(&p);
}

TEST(other_code_is_refused)
{
	for_each_program(other_code);
}

/* A copy has the same build ids; its analysis is independent of the original's. */
static void copies(const char *path)
{
	struct program p, q = { 0 };
	struct timespec times[2];
	int fd;

	empty();
	open_program(&p, path);
	open_image(&q, program__copy(path));
	assert_string_equal(elf_image__go_build_id(q.elf), elf_image__go_build_id(p.elf));
	assert_false(is_kept(q.elf, &q.info.version));
	elf_image__destroy(q.elf);
	close_program(&p);

	/* An analysis is invalid after the file changed, even if its time is reset. */
	fd = program__copy(path);
	analyse(&p, dup(fd));
	times[0] = times[1] = elf_image__stat(p.elf)->st_mtim;
	usleep(20000); /* the clock of ctime ticks each 1 to 10 ms */
	assert_int_equal(futimens(fd, times), 0);
	assert_int_equal(elf_image__open(&q.elf, fd, "program", NULL), 0);
	assert_true(is_kept(p.elf, &p.info.version));
	assert_false(is_kept(q.elf, &p.info.version));
	elf_image__destroy(q.elf);
	close(fd);
	close_program(&p);
}

TEST(copies_are_others)
{
	for_each_program(copies);
}

/* A program in which something is missing is analysed each time. */
static void incomplete(const char *path)
{
	struct site_missing missing = { .why = "", .reason = "" };
	struct program p;

	empty();
	open_program(&p, path);
	empty();
	p.sites.missing = &missing;
	p.sites.nmissing = 1;
	cache__store(p.elf, &p.layout, &p.sites);
	assert_false(is_kept(p.elf, &p.info.version));
	p.sites.missing = NULL;
	p.sites.nmissing = 0;
	cache__store(p.elf, &p.layout, &p.sites);
	assert_true(is_kept(p.elf, &p.info.version));
	close_program(&p);
}

TEST(what_lacks_something_is_not_kept)
{
	for_each_program(incomplete);
}

static void write_entry(const char *name, const void *data, size_t len)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

#define SUM_AT (sizeof("gotrace-bpf cache") + 32)

/* As an attacker who knows the format: with a valid checksum. */
static void write_forged(const char *name, unsigned char *data, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = SUM_AT + 8; i < len; i++)
		h = (h ^ data[i]) * 0x100000001b3ull;
	if (len >= SUM_AT + 8)
		memcpy(data + SUM_AT, &h, 8);
	write_entry(name, data, len);
}

/* Every site that comes out of a damaged entry lies in the code that it was compared with. */
static void is_harmless(const struct program *p)
{
	struct site_list sites = { 0 };
	struct layout layout;

	if (!cache__load(p->elf, &p->info.version, &layout, &sites))
		return;
	for (size_t i = 0; i < sites.n; i++) {
		assert_int_equal(sites.site[i].offset,
				 elf_image__offset(p->elf, sites.site[i].addr));
		assert_true(strlen(sites.site[i].why) < CACHE_ENTRY_MAX);
	}
	site_list__deinit(&sites);
}

static void damaged(const char *path)
{
	static unsigned char data[CACHE_ENTRY_MAX], copy[CACHE_ENTRY_MAX];
	uint64_t rng = 5;
	struct program p;
	char name[400];
	size_t len;
	FILE *f;

	empty();
	open_program(&p, path);
	find_entry(name, sizeof(name));
	f = fopen(name, "r");
	len = fread(data, 1, sizeof(data), f);
	fclose(f);
	assert_true(is_kept(p.elf, &p.info.version));
	for (size_t cut = 0; cut < len; cut += 1 + cut / 16) {
		write_entry(name, data, cut);
		assert_false(is_kept(p.elf, &p.info.version));
		memcpy(copy, data, cut);
		write_forged(name, copy, cut);
		assert_false(is_kept(p.elf, &p.info.version));
	}
	for (int i = 0; i < 3000; i++) {
		memcpy(copy, data, len);
		copy[SUM_AT + 8 + rng__next(&rng) % (len - SUM_AT - 8)] ^= 1 << i % 8;
		write_forged(name, copy, len);
		is_harmless(&p);
	}
	for (size_t i = 0; i < SUM_AT + 8; i++) {
		memcpy(copy, data, len);
		copy[i] ^= 4;
		write_entry(name, copy, len);
		assert_false(is_kept(p.elf, &p.info.version));
	}
	close_program(&p);
}

TEST(damage_is_refused)
{
	for_each_program(damaged);
}

/* ---- the folder ---- */

static bool is_there(const char *name)
{
	size_t len;
	unsigned char *data = cache_folder__read(name, &len);

	free(data);
	return data != NULL;
}

TEST(only_ours_counts)
{
	char path[400], other[400];

	empty();
	cache_folder__write("a", "bytes", 5);
	assert_true(is_there("a"));
	snprintf(path, sizeof(path), "%s/a", folder);
	assert_int_equal(chmod(path, 0644), 0);
	assert_false(is_there("a"));
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_false(is_there("a"));
	cache_folder__write("b", "bytes", 5);
	assert_int_equal(chmod(folder, 0700), 0);
	assert_true(is_there("a"));
	assert_false(is_there("b"));
	if (!geteuid()) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_false(is_there("a"));
		assert_int_equal(chown(path, 0, 0), 0);
		assert_int_equal(chown(folder, 65534, 65534), 0);
		assert_false(is_there("a"));
		assert_int_equal(chown(folder, 0, 0), 0);
		assert_true(is_there("a"));
	}
	/* A link to a file that would do, and one in the folder's place. */
	snprintf(other, sizeof(other), "%s/c", folder);
	assert_int_equal(symlink(path, other), 0);
	assert_false(is_there("c"));
	snprintf(other, sizeof(other), "%s/moved", home);
	assert_int_equal(rename(folder, other), 0);
	assert_int_equal(symlink(other, folder), 0);
	assert_false(is_there("a"));
	cache_folder__write("d", "bytes", 5);
	assert_int_equal(unlink(folder), 0);
	assert_int_equal(rename(other, folder), 0);
	assert_true(is_there("a"));
	assert_false(is_there("d"));
}

/* A link in the new file's place is replaced, not written through. */
TEST(links_are_not_followed)
{
	char path[400], victim[400];
	struct stat st;

	empty();
	cache_folder__write("a", "bytes", 5);
	snprintf(victim, sizeof(victim), "%s/victim", home);
	write_entry(victim, "precious", 8);
	snprintf(path, sizeof(path), "%s/b", folder);
	assert_int_equal(symlink(victim, path), 0);
	snprintf(path, sizeof(path), "%s/partial-%d", folder, getpid());
	assert_int_equal(symlink(victim, path), 0);
	cache_folder__write("b", "other bytes", 11);
	assert_true(is_there("b"));
	assert_int_equal(stat(victim, &st), 0);
	assert_int_equal(st.st_size, 8);
}

TEST(the_oldest_goes)
{
	char name[32], path[400];

	empty();
	for (int i = 0; i < CACHE_ENTRIES + 10; i++) {
		struct timespec times[2] = { { .tv_sec = 1000 + i }, { .tv_sec = 1000 + i } };

		snprintf(name, sizeof(name), "%d", i);
		cache_folder__write(name, "bytes", 5);
		snprintf(path, sizeof(path), "%s/%d", folder, i);
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
		if (i == 20)
			assert_true(is_there("3")); /* used: it is not among the oldest now */
	}
	assert_false(is_there("0"));
	assert_true(is_there("3"));
	assert_false(is_there("10"));
	assert_true(is_there("11"));
	assert_true(is_there("73"));
}

static int setup(void **state)
{
	snprintf(home, sizeof(home), "%s", scratch_dir());
	snprintf(folder, sizeof(folder), "%s/gotrace-bpf", home);
	return setenv("XDG_CACHE_HOME", home, 1);
}

GROUP(setup, NULL)

/* A path that is too long is not truncated: then nothing is cached. */
TEST(a_long_path)
{
	char path[4096], cut[128];
	size_t len = strlen(home);

	snprintf(cut, sizeof(cut), "%s/gotrace-bp", home);
	memset(path, '/', sizeof(path));
	memcpy(path, home, len);
	path[4096 - sizeof("/gotrace-bpf") + 1] = 0;
	setenv("XDG_CACHE_HOME", path, 1);
	cache_folder__write("long", "x", 1);
	assert_int_equal(access(cut, F_OK), -1);
	setenv("XDG_CACHE_HOME", home, 1);
}

/* What could not be written whole is not there. */
TEST(a_full_disk)
{
	struct rlimit all, little;
	unsigned char *data;
	size_t len;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &all);
	little = all;
	little.rlim_cur = 4;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	cache_folder__write("full", "01234567", 8);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
	assert_null(cache_folder__read("full", &len));
	cache_folder__write("full", "01234567", 8);
	data = cache_folder__read("full", &len);
	assert_non_null(data);
	assert_int_equal(len, 8);
	assert_memory_equal(data, "01234567", 8);
	free(data);
}
