// SPDX-License-Identifier: GPL-2.0
/* Messages: what a terminal could take for a command does not reach it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/log.h"

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

static void hostile_names(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
