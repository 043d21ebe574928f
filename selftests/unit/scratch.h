/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A directory for the files of a test program, which is removed when the program exits, and output
 * in memory.
 */
#ifndef UNIT_SCRATCH_H
#define UNIT_SCRATCH_H

#include "unit/test.h"

static pid_t scratch_owner; /* not a child of it */
static char scratch_path[64];

static void scratch_remove(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", scratch_path);
	if (getpid() == scratch_owner && system(command))
		fprintf(stderr, "cannot remove %s\n", scratch_path);
}

static inline const char *scratch_dir(void)
{
	if (!scratch_path[0]) {
		strcpy(scratch_path, "/tmp/gotrace-unit-XXXXXX");
		assert_non_null(mkdtemp(scratch_path));
		scratch_owner = getpid();
		atexit(scratch_remove);
	}
	return scratch_path;
}

/* The path of a file there; it lasts for three more calls. */
static inline const char *scratch(const char *name)
{
	static char path[4][256];
	static unsigned int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", scratch_dir(), name);
	return p;
}

static char *captured_text;
static size_t captured_len;
static FILE *captured;

/* A stream whose text expect_captured() compares. */
static inline FILE *capture(void)
{
	captured = open_memstream(&captured_text, &captured_len);
	assert_non_null(captured);
	return captured;
}

static inline void expect_captured(const char *want)
{
	assert_int_equal(fclose(captured), 0);
	assert_string_equal(captured_text, want);
	free(captured_text);
}

#endif
