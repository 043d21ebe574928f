/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a function in a child process, because it ends or changes its process, and returns its
 * output and exit status. Include it after cmocka.h.
 */
#ifndef UNIT_CHILD_H
#define UNIT_CHILD_H

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "unit/test.h"

struct ran {
	int status; /* exit status; -1: ended by a signal */
	char out[4096], err[4096];
};

static inline void ran__read(int fd, char *to, size_t size)
{
	ssize_t n = pread(fd, to, size - 1, 0);

	assert_true(n >= 0);
	to[n] = '\0';
	close(fd);
}

/* A function that returns has exit status 0. */
static inline struct ran in_child(void (*fn)(const void *ctx), const void *ctx)
{
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC), status;
	struct ran ran = {};
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		fn(ctx);
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	ran__read(out, ran.out, sizeof(ran.out));
	ran__read(err, ran.err, sizeof(ran.err));
	return ran;
}

#endif
