/* SPDX-License-Identifier: GPL-2.0 */
/* How a process that is confined by a filter of system calls has ended: for the tests of such filters. */
#ifndef UNIT_CONFINED_H
#define UNIT_CONFINED_H

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "unit/test.h"

static inline void exits_with(int status, int expected)
{
	if (!WIFEXITED(status) || WEXITSTATUS(status) != expected)
		fail_msg("wait status %#x, expected exit status %d", status, expected);
}

static inline void killed(int status)
{
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
		fail_msg("wait status %#x, expected SIGSYS", status);
}

/* In the process. Exit status: the number of the first call that did not fail with EPERM; 0: all did. */
#define DENIED(n, call)                                                                            \
	do {                                                                                       \
		errno = 0;                                                                         \
		if ((long)(call) != -1 || errno != EPERM)                                          \
			return n;                                                                  \
	} while (0)

#endif
