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

#include "blackbox.h"
#include "blackbox_list.h"
#include "command.h"
#include "lib/log.h"

struct telling {
	const struct record_args *args;
	const struct blackbox_stats *stats;
	bool called_off;
};

/* The parent waits for a byte; without it the daemon's own exit status is the parent's. */
static int wait_for_daemon(int fd, pid_t pid, struct error *err)
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
		return WEXITSTATUS(status); /* it has said why */
	error__set(err, -ECHILD, "cannot record: process %d, which was to do it, %s%s", pid,
		   WIFSIGNALED(status) ? "was ended by a signal: " : "ended",
		   WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "");
	return EXIT_FAILED;
}

/* A descriptor of ours that is 0, 1 or 2 would be lost in leave_terminal(). */
static int occupy_standard(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	return fd < 0 ? -1 : close(fd);
}

bool blackbox__fork(struct record_args *args, int *ret_status, struct error *err)
{
	int fd[2];
	pid_t pid;

	*ret_status = EXIT_FAILED;
	if (occupy_standard()) {
		error__set(err, -errno, "/dev/null: %s", strerror(errno));
		return true;
	}
	if (pipe2(fd, O_CLOEXEC)) {
		error__set(err, -errno, "pipe: %s", strerror(errno));
		return true;
	}
	pid = fork();
	if (pid < 0) {
		error__set(err, -errno, "fork: %s", strerror(errno));
		return true;
	}
	if (pid) {
		close(fd[1]);
		*ret_status = wait_for_daemon(fd[0], pid, err);
		return true;
	}
	close(fd[0]);
	setsid();
	args->ready_fd = fd[1];
	return false;
}

/* By ^C, say: who waits for the byte holds the pipe's other end. */
static bool parent_is_gone(int ready_fd)
{
	struct pollfd fd = { .fd = ready_fd };

	return poll(&fd, 1, 0) > 0 && fd.revents & POLLERR;
}

/*
 * From now on nobody hears it, and it holds no terminal and no folder. False: nobody waits for it
 * any more.
 */
static bool leave_terminal(int ready_fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), i;
	bool told;

	log__to_syslog();
	for (i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	if (null > 2)
		close(null);
	if (chdir("/"))
		log__debug("chdir: %s", strerror(errno));
	told = write(ready_fd, "", 1) == 1;
	close(ready_fd);
	return told;
}

static int began(void *ctx)
{
	struct telling *t = ctx;
	const struct record_args *a = t->args;

	t->called_off = a->ready_fd && parent_is_gone(a->ready_fd);
	if (t->called_off)
		return -ECANCELED;
	log__msg("recording process %d into black box %s (%llu MiB), by process %d; it ends by "
		 "`kill %d`",
		 a->pid, a->blackbox, (unsigned long long)t->stats->memory >> 20, getpid(),
		 getpid());
	t->called_off = a->ready_fd && !leave_terminal(a->ready_fd);
	return t->called_off ? -ECANCELED : 0;
}

static void tell_end(const struct record_args *a, const struct blackbox_stats *stats)
{
	char left[48] = "", span[24];

	if (a->timeout_ns)
		snprintf(left, sizeof(left), ", for %s at most",
			 blackbox__span(a->timeout_ns, span, sizeof(span)));
	log__msg("%s after %.3f s and %llu checkpoints; black box %s stays%s: "
		 "`gotrace-bpf recover %s -o FILE` writes the trace",
		 stats->exited	 ? "the process ended" :
		 stats->replaced ? "the process executed another program" :
				   "recording ended",
		 (double)(stats->t1 - stats->t0) / 1e9, (unsigned long long)stats->checkpoints,
		 a->blackbox, left, a->blackbox);
}

int blackbox__run(const struct record_args *a, const struct recorder_opts *recorder,
		  struct error *err)
{
	struct blackbox_stats stats = {};
	struct telling telling = { .args = a, .stats = &stats };
	struct blackbox_opts opts = {
		.recorder = recorder,
		.name = a->blackbox,
		.timeout = (uint32_t)((a->timeout_ns + 999999999) / 1000000000),
		.began = began,
		.ctx = &telling,
	};
	int code = blackbox__record(&opts, &stats, err);

	if (telling.called_off) { /* and there is nobody who wants to know */
		err->text[0] = '\0';
		return 0;
	}
	if (!code)
		tell_end(a, &stats);
	return code;
}
