// SPDX-License-Identifier: GPL-2.0
/*
 * Steps of a command that takes long, on a terminal: from half a second on, each on one line, which is
 * cleared at the end. The clock, and whether there is a terminal, are this file's.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>

#include "unit/test.h"
#include "lib/log.h"
#include "lib/steps.h"

static bool terminal;
static long behind_ns; /* of this clock */
static int fd[2], kept;

int isatty(int fd)
{
	return terminal;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	long code = syscall(SYS_clock_gettime, clock, ret);

	ret->tv_nsec -= behind_ns;
	if (ret->tv_nsec < 0) {
		ret->tv_nsec += 1000000000;
		ret->tv_sec--;
	}
	return (int)code;
}

static int set_up(void **state)
{
	terminal = true;
	behind_ns = 0;
	kept = dup(STDERR_FILENO);
	if (pipe2(fd, O_NONBLOCK | O_CLOEXEC))
		return -1;
	dup2(fd[1], STDERR_FILENO);
	return 0;
}

static int tear_down(void **state)
{
	steps__end();
	dup2(kept, STDERR_FILENO);
	close(kept);
	close(fd[0]);
	close(fd[1]);
	return 0;
}

FIXTURE(set_up, tear_down)

/* What comes to stderr next, within some seconds. */
static void expect(const char *want)
{
	struct pollfd p = { .fd = fd[0], .events = POLLIN };
	char text[256];
	ssize_t n;

	assert_int_equal(poll(&p, 1, 20000), 1);
	n = read(fd[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = '\0';
	assert_string_equal(text, want);
}

static void expect_nothing(void)
{
	char byte;

	assert_int_equal(read(fd[0], &byte, 1), -1);
}

TEST(shown_when_it_takes_long)
{
	behind_ns = 480000000;
	steps__begin();
	steps__say("analysing %s", "ser\x1bver");
	expect("\r\033[Kanalysing ser?ver ...");
	steps__say("%080d", 1);
	expect("\r\033[K00000000000000000000000000000000000000000000000000000000000000000000000"
	       " ...");
	steps__say("attaching");
	expect("\r\033[Kattaching ...");
	steps__end();
	expect("\r\033[K");
	steps__end();
	steps__say("after the end");
	expect_nothing();
}

/* What is there after the time that is given is shown, and not what came before. */
TEST(begun_again)
{
	behind_ns = 480000000;
	steps__begin();
	steps__say("one");
	expect("\r\033[Kone ...");
	steps__begin();
	expect("\r\033[K");
	steps__say("two");
	expect("\r\033[Ktwo ...");
}

TEST(not_shown)
{
	steps__say("before the begin");
	steps__begin();
	steps__say("short");
	steps__end();
	expect_nothing();
	behind_ns = 500000000;
	terminal = false;
	steps__begin();
	steps__say("no terminal");
	steps__end();
	expect_nothing();
}
