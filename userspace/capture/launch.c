// SPDX-License-Identifier: GPL-2.0
/*
 * A command that we start ourselves: see launch.h.
 *
 * While it is seized each of its stops must be answered, or the command would hang: a signal is
 * handed on, a group stop (^Z) is left to SIGCONT, new threads go on. Threads are seized as well,
 * since any of them may exec, and the kernel tells it only of a seized one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/launch.h"
#include "lib/log.h"

#define PATIENCE 1 /* s: then it is told what is waited for */

/* As a shell finds it, but for a file that is neither a program nor a script with #!. */
static void execute(char *const argv[])
{
	const char *path = getenv("PATH"), *end;
	bool denied = false;
	char file[4096];

	if (strchr(argv[0], '/')) {
		execv(argv[0], argv);
		return;
	}
	for (path = path ? path : "/usr/local/bin:/usr/bin:/bin"; *path;
	     path = *end ? end + 1 : end) {
		end = path + strcspn(path, ":");
		snprintf(file, sizeof(file), "%.*s/%s", end > path ? (int)(end - path) : 1,
			 end > path ? path : ".", argv[0]);
		execv(file, argv);
		denied |= errno == EACCES;
		if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			return;
	}
	errno = denied ? EACCES : ENOENT;
}

static _Noreturn void child(int go, int result, char *const argv[],
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
	sigaction(SIGCHLD, &signals->sigchld, NULL);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
	execute(argv);
	code = errno;
	if (write(result, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

static int cannot_start(const char *name, int code, struct error *err)
{
	return error__set(err, -code, "cannot start %s: %s", name, strerror(code));
}

static int seize(struct launch *l, struct error *err)
{
	int code;

	if (!ptrace(PTRACE_SEIZE, l->pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE))
		return 0;
	code = errno;
	close(l->go_fd);
	close(l->result_fd);
	waitpid(l->pid, NULL, 0);
	l->pid = 0;
	return error__set(err, -code,
			  "cannot hold %s at its start: ptrace: %s (a seccomp filter, or yama's "
			  "ptrace_scope of 3); start it by itself and use -p PID",
			  l->name, strerror(code));
}

int launch__fork(struct launch *ret, char *const argv[], const struct launch_signals *signals,
		 struct error *err)
{
	int go[2], result[2], code;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return cannot_start(argv[0], errno, err);
	if (pipe2(result, O_CLOEXEC)) {
		code = errno;
		close(go[0]);
		close(go[1]);
		return cannot_start(argv[0], code, err);
	}
	pid = fork();
	code = errno;
	if (!pid) {
		close(go[1]);
		close(result[0]);
		child(go[0], result[1], argv, signals);
	}
	close(go[0]);
	close(result[1]);
	*ret = (struct launch){
		.name = argv[0],
		.pid = pid,
		.go_fd = go[1],
		.result_fd = result[0],
	};
	if (pid > 0)
		return seize(ret, err);
	close(go[1]);
	close(result[0]);
	ret->pid = 0;
	return cannot_start(argv[0], code, err);
}

/* A thread of the command; a process can be seized by being made in the way that threads are. */
static bool is_thread(const struct launch *l, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", l->pid, tid);
	return !access(path, F_OK);
}

/* Answers a stop that is no exec. A thread may be gone by now: nothing to be done about it. */
static void answer(struct launch *l, pid_t tid, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	if (tid != l->pid && !is_thread(l, tid)) {
		ptrace(PTRACE_DETACH, tid, 0, event ? 0 : sig);
		return;
	}
	if (event == PTRACE_EVENT_STOP && sig != SIGTRAP)
		ptrace(PTRACE_LISTEN, tid, 0, 0);
	else
		ptrace(PTRACE_CONT, tid, 0, event ? 0 : sig);
}

/* It ended: by itself, or because the command could not be executed. */
static int ended(struct launch *l, struct error *err)
{
	int failure = 0;

	l->reaped = true;
	if (read(l->result_fd, &failure, sizeof(failure)) == sizeof(failure) && failure != ENOEXEC)
		error__set(err, -ECHILD, "%s: %s", l->name,
			   failure == ENOENT ? "no such program" :
			   failure == EACCES ? "not an executable program" :
					       strerror(failure));
	l->exec_error = failure;
	close(l->go_fd);
	close(l->result_fd);
	return failure == ENOEXEC ? -ENOEXEC : -ECHILD;
}

/* What comes from the terminal reaches the command by itself; what was sent to us alone does not. */
static void wait_a_little(struct launch *l)
{
	siginfo_t info;
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sig = sigtimedwait(&set, &info, &(struct timespec){ .tv_sec = PATIENCE });
	if (sig > 0 && sig != SIGCHLD && info.si_code == SI_USER && info.si_pid)
		kill(l->pid, sig);
}

static int go_on(struct launch *l, struct error *err)
{
	if (l->held) {
		l->held = false;
		if (!ptrace(PTRACE_CONT, l->pid, 0, 0) || errno == ESRCH)
			return 0;
		return error__set(err, -errno, "ptrace: %s", strerror(errno));
	}
	if (l->execs || write(l->go_fd, "", 1) == 1)
		return 0;
	return error__set(err, -ESRCH, "the command ended before it was started");
}

int launch__next_exec(struct launch *l, struct error *err)
{
	struct timespec begin, now;
	int status, code = go_on(l, err);
	bool told = false;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (!code) {
		pid = waitpid(-1, &status, __WALL | WNOHANG);
		if (pid == l->pid && WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXEC) {
			l->held = true;
			l->execs++;
			return 0;
		}
		if (pid == l->pid && !WIFSTOPPED(status)) {
			l->status = status;
			return ended(l, err);
		}
		if (pid > 0) {
			if (WIFSTOPPED(status))
				answer(l, pid, status);
			continue;
		}
		if (pid < 0 && errno == ECHILD)
			return ended(l, err);
		wait_a_little(l);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (!told && !l->quiet && l->execs && now.tv_sec > begin.tv_sec + PATIENCE)
			log__msg("process %d has executed no Go program so far: waiting", l->pid);
		told |= now.tv_sec > begin.tv_sec + PATIENCE;
	}
	return code;
}

int launch__release(struct launch *l, struct error *err)
{
	l->held = false;
	if (!ptrace(PTRACE_DETACH, l->pid, 0, 0))
		return 0;
	return error__set(err, -errno, "process %d ended before it was recorded", l->pid);
}

void launch__kill(struct launch *l)
{
	kill(l->pid, SIGKILL);
	l->held = false;
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
		if (sig > 0 && info.si_code == SI_USER && info.si_pid)
			kill(l->pid, sig);
	}
	l->reaped = true;
}

int launch__exit_status(const struct launch *l)
{
	if (l->exec_error)
		return l->exec_error == ENOENT ? 127 : 126;
	return WIFSIGNALED(l->status) ? 128 + WTERMSIG(l->status) : WEXITSTATUS(l->status);
}
