// SPDX-License-Identifier: GPL-2.0
/*
 * Runs `gotrace-bpf record -p PID -o -` for gotrace top: see top.h.
 *
 * The recorder is a process of its own, so that the reader of the trace needs no privileges. It
 * receives SIGTERM when this process ends, for any reason, and detaches.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "top.h"

#define RECORDER "gotrace-bpf"

/* The one in the folder of this program, such as build/; or else the one on PATH. */
static void find_recorder(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - sizeof(RECORDER));
	char *end;

	path[n < 0 ? 0 : n] = '\0';
	end = strrchr(path, '/');
	if (end)
		strcpy(end + 1, RECORDER);
	if (!end || access(path, X_OK))
		strcpy(path, RECORDER);
}

/* Limits and signals as those of a program that a shell starts. */
static void restore_defaults(void)
{
	struct rlimit r;
	sigset_t none;

	if (!getrlimit(RLIMIT_DATA, &r)) { /* lib/memory_limit.h */
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_DATA, &r);
	}
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void child(char *const argv[], int out, int messages, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAILED);
	restore_defaults();
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	if (messages >= 0)
		dup2(messages, STDERR_FILENO);
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "gotrace: cannot start %s: %s\n", argv[0], strerror(errno));
	_exit(EXIT_FAILED);
}

static void close_pipe(const int fd[2])
{
	for (int i = 0; i < 2; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

int top_recorder__start(struct top_recorder *ret, const char *process, const char *requests,
			bool quiet, struct error *error)
{
	char path[PATH_MAX];
	char *argv[] = { path,
			 "record",
			 "-p",
			 (char *)process,
			 "-o",
			 "-",
			 requests ? "--requests" : NULL,
			 (char *)requests,
			 NULL };
	int trace[2] = { -1, -1 }, messages[2] = { -1, -1 };
	pid_t parent = getpid(), pid = -1;

	find_recorder(path);
	if (!pipe2(trace, O_CLOEXEC) && (!quiet || !pipe2(messages, O_CLOEXEC)))
		pid = fork();
	if (!pid)
		child(argv, trace[1], messages[1], parent);
	if (pid < 0) {
		close_pipe(trace);
		close_pipe(messages);
		return error__set(error, -errno, "cannot start %s: %s", path, strerror(errno));
	}
	dup2(trace[0], STDIN_FILENO);
	close_pipe(trace);
	if (quiet) {
		close(messages[1]);
		fcntl(messages[0], F_SETFL, O_NONBLOCK);
	}
	*ret = (struct top_recorder){ .pid = pid, .messages = messages[0] };
	return 0;
}

void top_recorder__stop(struct top_recorder *r)
{
	r->stopped = true;
	if (r->pid)
		kill(r->pid, SIGTERM);
}

int top_recorder__wait(struct top_recorder *r, struct error *error)
{
	char rest[4096];
	bool wanted = r->stopped;
	int status = 0;

	if (!r->pid)
		return 0;
	top_recorder__stop(r); /* reading may have failed before it ended */
	while (read(STDIN_FILENO, rest, sizeof(rest)) > 0)
		; /* it could not end while a write waits */
	while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		;
	r->pid = 0;
	if (wanted || (WIFEXITED(status) && !WEXITSTATUS(status)))
		return 0;
	return error__set(error, -ECHILD, "%s has failed", RECORDER);
}
