// SPDX-License-Identifier: GPL-2.0
/*
 * The child of guarded.h: sets limits, makes one call, sends one message through a pipe, exits.
 *
 * Nothing of the child outlives the call: it is killed if the parent dies, writes no core file and
 * does not run the parent's exit handlers. It inherits the parent's file descriptors, and uses
 * only those that `fn` reads.
 */
#include "lib/guarded.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

struct head {
	int code;
	struct error err;
};

static void limit(int what, uint64_t value)
{
	struct rlimit r = { value, value };

	setrlimit(what, &r);
}

static void be_limited(const struct guarded_limits *limits)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP,	 SIGSEGV, SIGBUS,
				       SIGFPE, SIGILL,	SIGABRT, SIGXCPU };
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, 0); /* open files stay open, but no others can be opened */
	limit(RLIMIT_CPU, limits->cpu_seconds);
#ifndef SANITIZED /* the shadow memory of sanitizers takes terabytes of address space */
	limit(RLIMIT_AS, limits->memory);
#endif
}

static bool write_all(int fd, const void *data, size_t size)
{
	const char *p = data;

	while (size) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= (size_t)n;
	}
	return true;
}

static void child(guarded_fn fn, void *ctx, const struct guarded_limits *limits, size_t size,
		  int fd)
{
	struct head head = { 0 };
	void *result;

	be_limited(limits);
	result = calloc(1, size);
	head.code = result ? fn(ctx, result, &head.err) : -ENOMEM;
	_exit(!write_all(fd, &head, sizeof(head)) || (!head.code && !write_all(fd, result, size)));
}

static int64_t now_ms(void)
{
	return (int64_t)(clock__now() / 1000000);
}

/* Returns how many bytes were read before the pipe ended or the deadline passed. */
static size_t read_until(int fd, void *buf, size_t size, int64_t deadline)
{
	size_t done = 0;

	while (done < size) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = deadline - now_ms();
		ssize_t n = left > 0 ? poll(&p, 1, (int)left) : 0;

		if (n == 0)
			break;
		if (n > 0)
			n = read(fd, (char *)buf + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/* Kill the child if it still runs, and report how it ended otherwise. */
static int reap(pid_t pid, bool late, const struct guarded_limits *limits, struct error *error)
{
	int status = 0;
	pid_t r;

	if (late)
		kill(pid, SIGKILL);
	do
		r = waitpid(pid, &status, 0);
	while (r < 0 && errno == EINTR);
	if (late)
		return error__set(error, -ENOTRECOVERABLE, "did not end within %u s",
				  limits->seconds);
	if (r == pid && WIFSIGNALED(status) &&
	    (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
		return error__set(error, -ENOTRECOVERABLE,
				  "took more than %u s of CPU time, or "
				  "was killed",
				  limits->cpu_seconds);
	if (r == pid && WIFSIGNALED(status))
		return error__set(error, -ENOTRECOVERABLE, "crashed (%s)",
				  strsignal(WTERMSIG(status)));
	return error__set(error, -ENOTRECOVERABLE, "ended without a result");
}

static int receive(int fd, pid_t pid, const struct guarded_limits *limits, void *ret_result,
		   size_t size, struct error *error)
{
	int64_t deadline = now_ms() + (int64_t)limits->seconds * 1000;
	struct head head;
	void *result = malloc(size);
	bool whole;

	whole = result && read_until(fd, &head, sizeof(head), deadline) == sizeof(head) &&
		(head.code || read_until(fd, result, size, deadline) == size);
	if (!whole) {
		free(result);
		return reap(pid, !result || now_ms() >= deadline, limits, error);
	}
	reap(pid, false, limits, NULL);
	head.err.text[sizeof(head.err.text) - 1] = 0;
	if (!head.code)
		memcpy(ret_result, result, size);
	else if (head.err.text[0])
		error__set(error, head.code, "%s", head.err.text);
	free(result);
	return head.code;
}

int guarded__run(guarded_fn fn, void *ctx, const struct guarded_limits *limits, void *ret_result,
		 size_t size, struct error *error)
{
	int fds[2], err;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return error__set(error, -errno, "cannot create a pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0)
		child(fn, ctx, limits, size, fds[1]);
	err = -errno;
	close(fds[1]);
	if (pid < 0)
		error__set(error, err, "cannot create a process: %s", strerror(-err));
	else
		err = receive(fds[0], pid, limits, ret_result, size, error);
	close(fds[0]);
	return err;
}
