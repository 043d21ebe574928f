// SPDX-License-Identifier: GPL-2.0
/*
 * The line that shows how much of a file was read: what it shows, when, and when not. The clock, and
 * whether there is a terminal, are this file's; the waiting is real.
 */
#include "unit/test.h"
#include "unit/child.h"

#include "lib/clock.h"
#include "lib/log.h"
#include "lib/progress.h"

#define MIB (1ull << 20)

static bool terminal;
static _Atomic uint64_t now;

int isatty(int fd)
{
	return terminal;
}

uint64_t clock__now(void)
{
	return now;
}

/* Waits for the line; what it shows is checked when the process has ended. */
static void wait_for_line(void)
{
	char text[4096];

	for (int i = 0; i < 2000; i++) {
		if (pread(STDERR_FILENO, text, sizeof(text), 0) > 0)
			return;
		usleep(10000);
	}
}

/* The first line is due at once: the process has worked for longer than a second. */
static void begin_late(const char *name, uint64_t size)
{
	terminal = true;
	now = 1000000000;
	progress__enable();
	progress__begin("before", 1);
	now = 3000000000;
	progress__begin(name, size);
}

static void read_some(const void *ctx)
{
	begin_late("/dir/some\x1b.trace", 200 * MIB);
	now = 5000000000;
	progress__read(50 * MIB, 50 * MIB);
	wait_for_line();
}

static void read_the_rest(const void *ctx)
{
	begin_late("x.trace", 200 * MIB);
	progress__read(200 * MIB, 200 * MIB);
	wait_for_line();
	progress__end();
	progress__end();
}

/* From the middle of a file: the rate is that of what was read. */
static void read_the_middle(const void *ctx)
{
	begin_late("a-name-that-is-longer-than-its-column", 1000 * MIB);
	now = 13000000000;
	progress__read(600 * MIB, 20 * MIB);
	wait_for_line();
}

static void nothing(const void *ctx)
{
	const char *why = ctx;

	terminal = strcmp(why, "no terminal");
	now = 1000000000;
	if (strcmp(why, "not enabled"))
		progress__enable();
	if (!strcmp(why, "forbidden"))
		progress__forbid();
	progress__begin("before", 1);
	now = 3000000000;
	progress__begin("x.trace", strcmp(why, "a pipe") ? 200 * MIB : 0);
	progress__read(50 * MIB, 50 * MIB);
	progress__begin("none", 0);
	usleep(1300000);
}

static void no_line(const char *why)
{
	struct ran ran = in_child(nothing, why);

	if (strstr(ran.err, "x.trace"))
		fail_msg("%s: %s", why, ran.err);
}

/* The line that was shown last, which was cleared. */
static void last_line(void (*fn)(const void *ctx), const char *want)
{
	struct ran ran = in_child(fn, NULL);
	char tail[256];
	size_t len = (size_t)snprintf(tail, sizeof(tail), "\r\033[K%s\r\033[K", want);

	assert_true(strlen(ran.err) >= len);
	assert_string_equal(ran.err + strlen(ran.err) - len, tail);
}

TEST(shown)
{
	last_line(read_some, "some?.trace: 25% of 200.0 MiB, 25.0 MiB/s, 6s left");
	last_line(read_the_rest, "x.trace: 200.0 MiB read, processing");
	last_line(read_the_middle,
		  "a-name-that-is-longer-than-its: 60% of 1000.0 MiB, 2.0 MiB/s, 3m20s left");
}

TEST(not_shown)
{
	no_line("no terminal");
	no_line("not enabled");
	no_line("forbidden");
	no_line("a pipe");
}
