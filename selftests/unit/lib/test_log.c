// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: what a terminal could take for a command does not reach it, and where they go. syslog, and whether
 * there is a terminal, are this file's.
 */
#include <fcntl.h>
#include <syslog.h>

#include "unit/test.h"
#include "unit/child.h"

#include "lib/log.h"

static bool terminal;

int isatty(int fd)
{
	return terminal;
}

void openlog(const char *name, int options, int facility)
{
	printf("%s %d %d\n", name, options == LOG_PID, facility == LOG_DAEMON);
}

void syslog(int priority, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("%d ", priority == LOG_NOTICE);
	vprintf(fmt, ap);
	va_end(ap);
}

/* A fortified build calls syslog() by this name. */
void __syslog_chk(int priority, int flag, const char *fmt, ...);
void __syslog_chk(int priority, int flag, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("%d ", priority == LOG_NOTICE);
	vprintf(fmt, ap);
	va_end(ap);
}

/* What a message of this text puts on stderr, without the program's name in front. */
static const char *said(const char *text)
{
	static char line[2048];
	int pipe_fd[2], stderr_fd = dup(STDERR_FILENO);
	ssize_t n;

	assert_int_equal(pipe(pipe_fd), 0);
	dup2(pipe_fd[1], STDERR_FILENO);
	log__msg("%s", text);
	dup2(stderr_fd, STDERR_FILENO);
	close(stderr_fd);
	close(pipe_fd[1]);
	n = read(pipe_fd[0], line, sizeof(line) - 1);
	close(pipe_fd[0]);
	assert_true(n > 0);
	line[n] = '\0';
	return line + strlen(program_invocation_short_name) + 2;
}

TEST(hostile_names)
{
	assert_string_equal(said("plain, \xc2\xb5s, \xe2\x82\xac"),
			    "plain, \xc2\xb5s, \xe2\x82\xac\n");
	assert_string_equal(said("a\x1b[2Jb\rc\nd\x7f\te"), "a?[2Jb?c?d??e\n");
	assert_string_equal(said("C1: \xc2\x9b"
				 "2J"),
			    "C1: ?2J\n");
	assert_string_equal(said("raw: \x9b"
				 "2J\xff"),
			    "raw: ?2J?\n");
	assert_string_equal(said("order: \xe2\x80\xae"
				 "txt"),
			    "order: ?txt\n");
	assert_string_equal(said("cut: \xe2\x82"), "cut: ??\n");
}

static void debug_some(const void *ctx)
{
	program_invocation_short_name = (char *)"tool";
	log__debug("%s", "unheard");
	log__set_verbose(true);
	log__debug("%s %d", "heard", 1);
	printf("%d", log__verbose());
	log__set_verbose(false);
	log__debug("unheard");
	printf("%d", log__verbose());
}

TEST(debugging)
{
	struct ran ran = in_child(debug_some, NULL);

	assert_string_equal(ran.err, "tool: heard 1\n");
	assert_string_equal(ran.out, "10");
}

static void show_progress(const void *ctx)
{
	terminal = ctx;
	program_invocation_short_name = (char *)"tool";
	log__progress_end();
	log__progress("%d of %d", 1, 2);
	log__progress("2 of 2");
	log__msg("a message");
	log__msg("another");
	log__progress("3 of 2");
	log__progress_end();
	log__progress_end();
}

/* A message takes the place of the line, which is not cleared twice. */
TEST(progress)
{
	assert_string_equal(in_child(show_progress, "").err,
			    "\r\033[K1 of 2\r\033[K2 of 2\r\033[Ktool: a message\ntool: another\n"
			    "\r\033[K3 of 2\r\033[K");
	assert_string_equal(in_child(show_progress, NULL).err, "tool: a message\ntool: another\n");
}

static void show_long(const void *ctx)
{
	terminal = true;
	setenv("TERM", ctx, 1);
	log__progress("%0100d", 1);
}

/* A pipe has no size: 80 columns. */
TEST(long_progress)
{
	char want[128];

	snprintf(want, sizeof(want), "\r\033[K%079d", 0);
	assert_string_equal(in_child(show_long, "xterm").err, want);
	assert_string_equal(in_child(show_long, "dumb").err, "");
}

static void say_to_syslog(const void *ctx)
{
	program_invocation_short_name = (char *)"tool";
	log__to_syslog();
	log__msg("%s", "100%s\x1b");
}

TEST(to_syslog)
{
	struct ran ran = in_child(say_to_syslog, NULL);

	assert_string_equal(ran.out, "tool 1 1\n1 100%s?");
	assert_string_equal(ran.err, "");
}

/* Nothing reads the pipe: messages return, at once after the first, and are counted. */
TEST(unread)
{
	char filler[4096] = "", line[2048];
	int pipe_fd[2], stderr_fd = dup(STDERR_FILENO);
	ssize_t n;

	assert_int_equal(pipe2(pipe_fd, O_NONBLOCK), 0);
	while (write(pipe_fd[1], filler, sizeof(filler)) > 0)
		;
	fcntl(pipe_fd[1], F_SETFL, 0);
	dup2(pipe_fd[1], STDERR_FILENO);
	log__limit_wait(1);
	for (int i = 0; i < 3; i++)
		log__msg("not read %d", i);
	while (read(pipe_fd[0], filler, sizeof(filler)) == sizeof(filler))
		;
	log__msg("read");
	log__msg("read, too");
	log__limit_wait(-1);
	dup2(stderr_fd, STDERR_FILENO);
	close(stderr_fd);
	close(pipe_fd[1]);
	n = read(pipe_fd[0], line, sizeof(line) - 1);
	close(pipe_fd[0]);
	assert_true(n > 0);
	line[n] = '\0';
	assert_non_null(strstr(line, ": 3 messages are missing here: nothing read them\n"));
	assert_non_null(strstr(line, ": read\n"));
	assert_non_null(strstr(line, ": read, too\n"));
	assert_null(strstr(line, "not read"));
}
