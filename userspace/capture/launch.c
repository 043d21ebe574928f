// SPDX-License-Identifier: GPL-2.0
/*
 * Starting a command: see launch.h.
 *
 * While it is seized, each of its stops must be answered, or the command would hang: a signal is
 * delivered, a group stop (^Z) lasts until SIGCONT, and new threads continue. Threads are seized as
 * well, because any of them may call exec, which the kernel reports only for seized threads.
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
#include "lib/clock.h"
#include "lib/log.h"

#define PATIENCE 1	  /* s; then a message shows what is awaited */
#define POLL_NS	 50000000 /* pause between looks for its end */

/*
 * Searches PATH like a shell, but does not run files that are neither a program nor begin with #!.
 */
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
	int err;

	if (read(go, &byte, 1) != 1) /* end of file: the recorder failed, or was killed */
		_exit(127);
	sigaction(SIGINT, &signals->sigint, NULL);
	sigaction(SIGTERM, &signals->sigterm, NULL);
	sigaction(SIGPIPE, &signals->sigpipe, NULL);
	sigaction(SIGXFSZ, &signals->sigxfsz, NULL);
	sigaction(SIGCHLD, &signals->sigchld, NULL);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
	execute(argv);
	err = errno;
	if (write(result, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

static int cannot_start(const char *name, int err, struct error *error)
{
	return error__set(error, -err, "cannot start %s: %s", name, strerror(err));
}

static int seize(struct launch *l, struct error *error)
{
	int err;

	if (!ptrace(PTRACE_SEIZE, l->pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE))
		return 0;
	err = errno;
	close(l->go_fd);
	close(l->result_fd);
	waitpid(l->pid, NULL, 0);
	l->pid = 0;
	return error__set(error, -err,
			  "cannot stop %s at its start: ptrace: %s (a seccomp filter, or yama's "
			  "ptrace_scope is 3); start it separately and use -p PID",
			  l->name, strerror(err));
}

int launch__fork(struct launch *ret, char *const argv[], const struct launch_signals *signals,
		 struct error *error)
{
	int go[2], result[2], err;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return cannot_start(argv[0], errno, error);
	if (pipe2(result, O_CLOEXEC)) {
		err = errno;
		close(go[0]);
		close(go[1]);
		return cannot_start(argv[0], err, error);
	}
	pid = fork();
	err = errno;
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
		return seize(ret, error);
	close(go[1]);
	close(result[0]);
	ret->pid = 0;
	return cannot_start(argv[0], err, error);
}

/*
 * PTRACE_O_TRACECLONE also seizes processes that clone() creates with a signal other than SIGCHLD.
 */
static bool is_thread(const struct launch *l, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", l->pid, tid);
	return !access(path, F_OK);
}

/* Answers a stop other than an exec. Errors are ignored: the thread may have ended. */
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

/* The child ended, by itself or because the command could not be executed. */
static int ended(struct launch *l, struct error *error)
{
	int failure = 0;

	l->reaped = true;
	if (read(l->result_fd, &failure, sizeof(failure)) == sizeof(failure) && failure != ENOEXEC)
		error__set(error, -ECHILD, "%s: %s", l->name,
			   failure == ENOENT ? "no such program" :
			   failure == EACCES ? "not an executable program" :
					       strerror(failure));
	l->exec_error = failure;
	close(l->go_fd);
	close(l->result_fd);
	return failure == ENOEXEC ? -ENOEXEC : -ECHILD;
}

/*
 * Waits for a signal. Those of the terminal reach the command, too; those sent to us alone are
 * forwarded.
 */
static void wait_for_signal(struct launch *l, struct timespec patience)
{
	siginfo_t info;
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sig = sigtimedwait(&set, &info, &patience);
	if (sig > 0 && sig != SIGCHLD && info.si_code == SI_USER && info.si_pid)
		kill(l->pid, sig);
}

static int resume(struct launch *l, struct error *error)
{
	if (l->held) {
		l->held = false;
		if (!ptrace(PTRACE_CONT, l->pid, 0, 0) || errno == ESRCH)
			return 0;
		return error__set(error, -errno, "ptrace: %s", strerror(errno));
	}
	if (l->execs || write(l->go_fd, "", 1) == 1)
		return 0;
	return error__set(error, -ESRCH, "the process ended before it executed the program");
}

int launch__next_exec(struct launch *l, struct error *error)
{
	uint64_t late = clock__now() + PATIENCE * 1000000000ull;
	int status, err = resume(l, error);
	bool reported = false;
	pid_t pid;

	while (!err) {
		pid = waitpid(-1, &status, __WALL | WNOHANG);
		if (pid == l->pid && WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXEC) {
			l->held = true;
			l->execs++;
			return 0;
		}
		if (pid == l->pid && !WIFSTOPPED(status)) {
			l->status = status;
			return ended(l, error);
		}
		if (pid > 0) {
			if (WIFSTOPPED(status))
				answer(l, pid, status);
			continue;
		}
		if (pid < 0 && errno == ECHILD)
			return ended(l, error);
		wait_for_signal(l, (struct timespec){ .tv_sec = PATIENCE });
		if (reported || clock__now() < late)
			continue;
		if (!l->quiet && l->execs)
			log__msg("process %d has not executed a Go program yet: waiting", l->pid);
		reported = true;
	}
	return err;
}

int launch__release(struct launch *l, struct error *error)
{
	l->held = false;
	if (!ptrace(PTRACE_DETACH, l->pid, 0, 0))
		return 0;
	return error__set(error, -errno, "process %d ended before it was recorded", l->pid);
}

void launch__kill(struct launch *l)
{
	kill(l->pid, SIGKILL);
	l->held = false;
}

void launch__wait(struct launch *l)
{
	if (l->reaped || l->pid <= 0)
		return;
	close(l->go_fd); /* a child that still waits for it exits */
	close(l->result_fd);
	/* The signals are still blocked. */
	while (waitpid(l->pid, &l->status, WNOHANG) == 0)
		wait_for_signal(l, (struct timespec){ .tv_nsec = POLL_NS });
	l->reaped = true;
}

int launch__exit_status(const struct launch *l)
{
	if (l->exec_error)
		return l->exec_error == ENOENT ? 127 : 126;
	return WIFSIGNALED(l->status) ? 128 + WTERMSIG(l->status) : WEXITSTATUS(l->status);
}
