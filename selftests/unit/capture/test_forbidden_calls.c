// SPDX-License-Identifier: GPL-2.0
/* Which system calls a recorder can make after privilege__forbid_calls(): in a child process. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "unit/test.h"
#include "capture/privilege.h"

static int denied(long result)
{
	return result < 0 && errno == EPERM;
}

static void *deny_in_thread(void *pipe)
{
	char byte;
	static char *const argv[] = { "true", NULL };

	if (read(*(int *)pipe, &byte, 1) != 1)
		return NULL;
	execv("/bin/true", argv);
	return (void *)(intptr_t)(errno == EPERM);
}

/* A bit for each that is as it should be. */
static int try_calls(void)
{
	static char *const argv[] = { "true", NULL };
	char byte = 0;
	struct iovec here = { &byte, 1 };
	pthread_t thread;
	void *thread_denied = NULL;
	int fd[2], right = 0;

	if (pipe(fd) || pthread_create(&thread, NULL, deny_in_thread, &fd[0]) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 0;
	privilege__forbid_calls(PRIVILEGE_READ);
	execv("/bin/true", argv);
	right |= (errno == EPERM) << 0;
	right |= denied(ptrace(PTRACE_TRACEME, 0, NULL, NULL)) << 1;
	right |= denied(process_vm_writev(getpid(), &here, 1, &here, 1, 0)) << 2;
	right |= denied(socket(AF_INET, SOCK_STREAM, 0)) << 3;
	right |= denied(unshare(CLONE_FS)) << 4;
	right |= (process_vm_readv(getpid(), &here, 1, &here, 1, 0) == 1) << 5;
	right |= (socket(AF_UNIX, SOCK_SEQPACKET, 0) >= 0) << 6;
	/* a thread from before */
	if (write(fd[1], "", 1) == 1 && !pthread_join(thread, &thread_denied))
		right |= (thread_denied != NULL) << 7;
	return right;
}

/* For a command and for inline probes ptrace() remains, and nothing else. */
static int try_ptrace(unsigned int keep)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 0;
	privilege__forbid_calls(keep);
	return denied(socket(AF_INET, SOCK_STREAM, 0)) && !ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(only_what_it_needs)
{
	pid_t pid = fork();

	if (!pid)
		_exit(try_calls());
	assert_int_equal(status_of(pid), 0xff);
}

TEST(ptrace_if_it_is_needed)
{
	static const unsigned int keep[] = { PRIVILEGE_COMMAND, PRIVILEGE_INLINE };

	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(try_ptrace(PRIVILEGE_READ | keep[i]));
		assert_int_equal(status_of(pid), 1);
	}
}
