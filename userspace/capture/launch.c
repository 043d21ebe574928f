// SPDX-License-Identifier: GPL-2.0
/*
 * A program that we start ourselves: see launch.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/launch.h"

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

char *launch__find(const char *name)
{
	const char *path = getenv("PATH"), *end;
	char *found = NULL;

	if (strchr(name, '/'))
		return is_program(name) ? realpath(name, NULL) : NULL;
	for (path = path ? path : "/usr/local/bin:/usr/bin:/bin"; *path;
	     path = *end ? end + 1 : end) {
		end = path + strcspn(path, ":");
		if (asprintf(&found, "%.*s/%s", end > path ? (int)(end - path) : 1,
			     end > path ? path : ".", name) < 0)
			return NULL;
		if (is_program(found)) {
			char *real = realpath(found, NULL);

			free(found);
			return real;
		}
		free(found);
	}
	return NULL;
}

static _Noreturn void child(int go, int result, const char *path, char *const argv[],
			    const struct launch_signals *signals)
{
	char byte;
	int code;

	if (read(go, &byte, 1) != 1) /* end of file: the recorder gave up, or was killed */
		_exit(127);
	sigaction(SIGINT, &signals->sigint, NULL);
	sigaction(SIGTERM, &signals->sigterm, NULL);
	sigaction(SIGPIPE, &signals->sigpipe, NULL);
	sigaction(SIGXFSZ, &signals->sigxfsz, NULL);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
	execv(path, argv);
	code = errno;
	if (write(result, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

int launch__fork(struct launch *ret, const char *path, char *const argv[],
		 const struct launch_signals *signals, struct error *err)
{
	int go[2], result[2];
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return error__set(err, -errno, "cannot start %s: %s", path, strerror(errno));
	if (pipe2(result, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return error__set(err, -errno, "cannot start %s: %s", path, strerror(errno));
	}
	pid = fork();
	if (!pid) {
		close(go[1]);
		close(result[0]);
		child(go[0], result[1], path, argv, signals);
	}
	close(go[0]);
	close(result[1]);
	*ret = (struct launch){ .pid = pid, .go_fd = go[1], .result_fd = result[0] };
	if (pid > 0)
		return 0;
	close(go[1]);
	close(result[0]);
	return error__set(err, -errno, "cannot start %s: %s", path, strerror(errno));
}

int launch__exec(struct launch *l, struct error *err)
{
	int failure = 0;
	ssize_t n;

	l->released = true;
	if (write(l->go_fd, "", 1) != 1)
		return error__set(err, -ESRCH, "the command ended before it was started");
	do
		n = read(l->result_fd, &failure, sizeof(failure));
	while (n < 0 && errno == EINTR);
	if (n == sizeof(failure))
		return error__set(err, -failure, "cannot execute the command: %s",
				  strerror(failure));
	return 0;
}

void launch__wait(struct launch *l)
{
	siginfo_t info;
	sigset_t stops;
	int sig;

	if (l->reaped || l->pid <= 0)
		return;
	close(l->go_fd); /* one that still waits for it exits */
	close(l->result_fd);
	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGHUP);
	/* They are blocked still. What comes from the terminal reaches the program by itself. */
	while (waitpid(l->pid, &l->status, WNOHANG) == 0) {
		sig = sigtimedwait(&stops, &info, &(struct timespec){ .tv_nsec = 50000000 });
		if (sig > 0 && info.si_code == SI_USER)
			kill(l->pid, sig);
	}
	l->reaped = true;
}
