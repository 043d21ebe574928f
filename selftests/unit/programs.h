/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Go programs for tests of target analysis: those of GT_TEST_PROGRAMS (paths separated by colons);
 * or, if it is not set, build/targets/GO/selftrace of each release in TARGET_GOS, which the
 * Makefile builds; or, if that is not set, all that exist, even outdated ones.
 *
 * Without any program a test that needs one is skipped, or fails if GT_REQUIRE_PROGRAMS=1.
 */
#ifndef UNIT_PROGRAMS_H
#define UNIT_PROGRAMS_H

#include <fcntl.h>
#include <glob.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "unit/test.h"

#define PROGRAMS_MAX 32

struct programs {
	char *path[PROGRAMS_MAX];
	size_t n;
};

static inline struct programs programs__find(void)
{
	const char *list = getenv("GT_TEST_PROGRAMS"), *gos = getenv("TARGET_GOS");
	char *copy = list ? strdup(list) : NULL, *rest = copy, *path, *names = NULL;
	struct programs p = { .n = 0 };
	glob_t found;

	while (copy && (path = strsep(&rest, ":")) && p.n < PROGRAMS_MAX) {
		if (path[0])
			p.path[p.n++] = strdup(path);
	}
	free(copy);
	if (!list && gos)
		rest = names = strdup(gos);
	while (names && (path = strsep(&rest, " ")) && p.n < PROGRAMS_MAX) {
		if (path[0] && asprintf(&p.path[p.n], "build/targets/%s/selftrace", path) > 0)
			p.n++;
	}
	free(names);
	if (!list && !gos && !glob("build/targets/go*/selftrace", 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc && p.n < PROGRAMS_MAX; i++)
			p.path[p.n++] = strdup(found.gl_pathv[i]);
		globfree(&found);
	}
	return p;
}

static inline void programs__free(struct programs *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->path[i]);
}

/* Calls `body` for each program; skips or fails the test when there is none. */
static inline void for_each_program(void (*body)(const char *path))
{
	struct programs p = programs__find();
	const char *must = getenv("GT_REQUIRE_PROGRAMS");

	if (!p.n && must && !strcmp(must, "1"))
		fail_msg("no Go programs: GT_TEST_PROGRAMS is not set, build/targets is empty");
	if (!p.n)
		skip();
	for (size_t i = 0; i < p.n; i++) {
		print_message("# %s\n", p.path[i]);
		body(p.path[i]);
	}
	programs__free(&p);
}

/* A copy in memory that a test may corrupt; the caller closes it. */
static inline int program__copy(const char *path)
{
	int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("program", MFD_CLOEXEC);
	char buf[1 << 16];
	ssize_t n;

	assert_true(from >= 0 && to >= 0);
	while ((n = read(from, buf, sizeof(buf))) > 0)
		assert_int_equal(write(to, buf, (size_t)n), n);
	assert_int_equal(n, 0);
	close(from);
	return to;
}

/* A file in memory with these bytes. */
static inline int file__of(const void *bytes, size_t len)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	return fd;
}

/* xorshift64: the same corruption in every run. */
static inline uint64_t rng__next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
