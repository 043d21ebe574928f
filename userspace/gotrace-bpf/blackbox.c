// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf record --blackbox: see blackbox.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/log.h"
#include "blackbox.h"
#include "blackbox_list.h"
#include "command.h"

struct start {
	const struct record_args *args;
	const struct blackbox_stats *stats;
	bool cancelled;
};

/* Waits for the byte that reports the start. Without it the exit status of the daemon is ours. */
static int wait_for_daemon(int fd, pid_t pid, struct error *error)
{
	int status;
	char byte;
	ssize_t n;

	do {
		n = read(fd, &byte, 1);
	} while (n < 0 && errno == EINTR);
	close(fd);
	if (n == 1)
		return EXIT_DONE;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILED;
	if (WIFEXITED(status) && WEXITSTATUS(status))
		return WEXITSTATUS(status); /* it has reported the reason */
	error__set(error, -ECHILD, "cannot record: background process %d %s%s", pid,
		   WIFSIGNALED(status) ? "was terminated by a signal: " : "ended",
		   WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "");
	return EXIT_FAILED;
}

/* Opens descriptors 0, 1 and 2 if they are closed: leave_terminal() replaces them. */
static int occupy_standard(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	return fd < 0 ? -1 : close(fd);
}

bool blackbox__fork(struct record_args *args, int *ret_status, struct error *error)
{
	int fd[2];
	pid_t pid;

	*ret_status = EXIT_FAILED;
	if (occupy_standard()) {
		error__set(error, -errno, "/dev/null: %s", strerror(errno));
		return true;
	}
	if (pipe2(fd, O_CLOEXEC)) {
		error__set(error, -errno, "pipe: %s", strerror(errno));
		return true;
	}
	pid = fork();
	if (pid < 0) {
		error__set(error, -errno, "fork: %s", strerror(errno));
		return true;
	}
	if (pid) {
		close(fd[1]);
		*ret_status = wait_for_daemon(fd[0], pid, error);
		return true;
	}
	close(fd[0]);
	setsid();
	args->ready_fd = fd[1];
	return false;
}

/* The parent holds the other end of the pipe while it waits. It may have been ended by ^C. */
static bool parent_is_gone(int ready_fd)
{
	struct pollfd fd = { .fd = ready_fd };

	return poll(&fd, 1, 0) > 0 && fd.revents & POLLERR;
}

/*
 * Sends further messages to syslog, and gives up the terminal and the working directory. False: the
 * parent no longer waits.
 */
static bool leave_terminal(int ready_fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), i;
	bool received;

	log__to_syslog();
	for (i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	if (null > 2)
		close(null);
	if (chdir("/"))
		log__debug("chdir: %s", strerror(errno));
	received = write(ready_fd, "", 1) == 1;
	close(ready_fd);
	return received;
}

static int on_started(void *ctx)
{
	struct start *t = ctx;
	const struct record_args *a = t->args;

	t->cancelled = a->ready_fd && parent_is_gone(a->ready_fd);
	if (t->cancelled)
		return -ECANCELED;
	log__msg("recording process %d to flight recorder buffer %s (%llu MiB); the recorder is "
		 "process %d, and 'kill %d' ends the recording",
		 a->pid, a->blackbox, (unsigned long long)t->stats->memory >> 20, getpid(),
		 getpid());
	t->cancelled = a->ready_fd && !leave_terminal(a->ready_fd);
	return t->cancelled ? -ECANCELED : 0;
}

static void report_end(const struct record_args *a, const struct blackbox_stats *stats)
{
	char left[48] = "", span[24];

	if (a->timeout_ns)
		snprintf(left, sizeof(left), " for up to %s",
			 blackbox__span(a->timeout_ns, span, sizeof(span)));
	log__msg("%s after %.3f s and %llu checkpoints; flight recorder buffer %s is kept%s: "
		 "'gotrace-bpf recover %s -o FILE' writes the trace",
		 stats->exited	 ? "the process ended" :
		 stats->replaced ? "the process executed another program" :
				   "recording ended",
		 (double)(stats->t1 - stats->t0) / 1e9, (unsigned long long)stats->checkpoints,
		 a->blackbox, left, a->blackbox);
}

int blackbox__run(const struct record_args *a, const struct recorder_opts *recorder,
		  struct error *error)
{
	struct blackbox_stats stats = {};
	struct start start = { .args = a, .stats = &stats };
	struct blackbox_opts opts = {
		.recorder = recorder,
		.name = a->blackbox,
		.timeout = (uint32_t)((a->timeout_ns + 999999999) / 1000000000),
		.on_started = on_started,
		.ctx = &start,
	};
	int err = blackbox__record(&opts, &stats, error);

	if (start.cancelled) { /* there is no one to report the error to */
		error->text[0] = '\0';
		return 0;
	}
	if (!err)
		report_end(a, &stats);
	return err;
}
