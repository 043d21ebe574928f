// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf record --blackbox and flight --blackbox: see blackbox.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/privilege.h"
#include "flight/folder.h"
#include "lib/log.h"
#include "writer/output_owner.h"
#include "blackbox.h"
#include "blackbox_image.h"
#include "blackbox_list.h"
#include "command.h"

struct start {
	const struct record_args *args;
	const struct blackbox_stats *stats;
	struct sink_opts sink; /* of snapshots */
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
	log__msg("recording process %d to flight recorder buffer %s (%llu MiB)%s%s; the recorder "
		 "is process %d, and 'kill %d' ends the recording",
		 a->pid, a->blackbox, (unsigned long long)t->stats->memory >> 20,
		 a->flight.dir ? ", snapshots to " : "", a->flight.dir ? a->flight.dir : "",
		 getpid(), getpid());
	t->cancelled = a->ready_fd && !leave_terminal(a->ready_fd);
	return t->cancelled ? -ECANCELED : 0;
}

static const char *why_ended(const struct blackbox_stats *stats)
{
	return stats->exited   ? "the process ended" :
	       stats->replaced ? "the process executed another program" :
				 "recording ended";
}

static void report_end(const struct record_args *a, const struct blackbox_stats *stats)
{
	char left[48] = "", span[24];

	if (a->timeout_ns)
		snprintf(left, sizeof(left), " for up to %s",
			 blackbox__span(a->timeout_ns, span, sizeof(span)));
	log__msg("%s after %.3f s and %llu checkpoints; flight recorder buffer %s is kept%s: "
		 "'gotrace-bpf recover %s -o FILE' writes the trace",
		 why_ended(stats), (double)(stats->t1 - stats->t0) / 1e9,
		 (unsigned long long)stats->checkpoints, a->blackbox, left, a->blackbox);
}

/* ---- the verb flight ---- */

static bool save(void *ctx, struct kmod *kmod, const struct symbolizer *symbolizer,
		 const struct flight_cause *cause)
{
	const struct start *t = ctx;

	return blackbox_image__save(kmod, symbolizer, &t->sink, cause);
}

/* The directory is opened now, with all privileges, and its files are created in it later. */
static int open_flight(struct start *t, const struct recorder_opts *recorder,
		       struct blackbox_opts *opts, struct error *error)
{
	struct flight_opts *flight = &t->sink.flight;
	int err;

	t->sink = recorder->sink;
	err = folder__open(&flight->folder, flight->dir, flight->keep, error);
	if (err)
		return err;
	if (folder__is_of_other(flight->folder))
		opts->privilege = PRIVILEGE_FOLDER | (output_owner__is_set() ? PRIVILEGE_OWNER : 0);
	opts->bytes_max = flight->max_bytes;
	opts->flight = (struct blackbox_flight_opts){ flight->tail_ns, save };
	return 0;
}

static int end_flight(const struct start *t, struct error *error)
{
	const struct blackbox_stats *stats = t->stats;

	if (stats->released)
		log__msg("%s after %.3f s, %llu checkpoints and %llu snapshots", why_ended(stats),
			 (double)(stats->t1 - stats->t0) / 1e9,
			 (unsigned long long)stats->checkpoints,
			 (unsigned long long)stats->snapshots);
	else
		report_end(t->args, stats);
	return stats->failed_snapshots ?
		       error__set(error, -EIO, "%llu of %llu snapshots could not be written to %s",
				  (unsigned long long)stats->failed_snapshots,
				  (unsigned long long)(stats->failed_snapshots + stats->snapshots),
				  t->sink.flight.dir) :
		       0;
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
	int err = a->flight.dir ? open_flight(&start, recorder, &opts, error) : 0;

	if (!err)
		err = blackbox__record(&opts, &stats, error);
	folder__close(start.sink.flight.folder);
	if (start.cancelled) { /* there is no one to report the error to */
		error->text[0] = '\0';
		return 0;
	}
	if (!err && a->flight.dir)
		return end_flight(&start, error);
	if (!err)
		report_end(a, &stats);
	return err;
}
