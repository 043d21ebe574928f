// SPDX-License-Identifier: GPL-2.0
/*
 * Recordings in child processes: see recorders.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/auxvec.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/tracker.h"
#include "lib/log.h"
#include "lib/printable.h"
#include "recorders.h"

#define GONE_CHILD 100 /* exit status of a child whose parent ended before it started */

int recorders__init(struct recorders *r, recorders_fn ended, void *ctx, bool snapshots,
		    struct error *error)
{
	size_t size = sizeof(*r->family) + RECORDERS_MAX * sizeof(*r->report);
	sigset_t signals;
	char *shared;

	*r = (struct recorders){ .ended = ended, .ctx = ctx, .sigfd = -1 };
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	if (snapshots)
		sigaddset(&signals, SIGUSR1);
	r->sigfd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->sigfd < 0)
		return error__set(error, -errno, "signalfd: %s", strerror(errno));
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return error__set(error, -ENOMEM, "out of memory");
	r->report = (struct recording_report *)shared;
	r->family = (struct recording_family *)(r->report + RECORDERS_MAX);
	return 0;
}

void recorders__deinit(struct recorders *r)
{
	if (r->report)
		munmap(r->report, sizeof(*r->family) + RECORDERS_MAX * sizeof(*r->report));
	if (r->sigfd >= 0)
		close(r->sigfd);
}

static _Noreturn void run(struct recorders *set, struct recording *r, int go)
{
	struct error error = {};
	enum recording_end end;
	int status;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (read(go, &byte, 1) != 1)
		_exit(GONE_CHILD);
	close(go);
	close(set->sigfd);
	tracker__destroy(set->tracker);
	if (set->forked)
		set->forked(set->ctx);
	end = recording__run(r, &status, &error);
	if (!r->pid) {
		r->family->status = status;
		r->family->failed = end == RECORDING_FAILED;
	}
	if (r->reason_in_report)
		snprintf(r->report->reason, sizeof(r->report->reason), "%s", error.text);
	else if (end == RECORDING_FAILED && error.text[0] && r->pid)
		log__msg("process %d: %s", r->pid, error.text);
	else if (end == RECORDING_FAILED && error.text[0])
		log__msg("%s", error.text);
	fflush(NULL);
	_exit(end);
}

struct recorder_slot *recorders__free_slot(struct recorders *r)
{
	for (unsigned int i = 0; i < RECORDERS_MAX; i++)
		if (!r->slot[i].recorder)
			return &r->slot[i];
	return NULL;
}

int recorders__start(struct recorders *r, struct recorder_slot *slot, struct recording *recording,
		     const char *name, struct error *error)
{
	int go[2], err;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return error__set(error, -errno, "pipe: %s", strerror(errno));
	recording->family = r->family;
	recording->report = &r->report[slot - r->slot];
	memset(recording->report, 0, sizeof(*recording->report));
	pid = fork();
	err = errno;
	if (!pid) {
		close(go[1]);
		run(r, recording, go[0]);
	}
	close(go[0]);
	if (pid > 0) {
		*slot = (struct recorder_slot){ .recorder = pid,
						.program.pid = recording->pid,
						.started = recording->started };
		__atomic_add_fetch(&r->family->running, 1, __ATOMIC_RELAXED);
		snprintf(slot->program.name, sizeof(slot->program.name), "%s", name);
		err = recording->pid || recording->args->pid ?
			      0 :
			      tracker__add_launcher(r->tracker, pid);
		if (!err && write(go[1], "", 1) != 1)
			err = -errno;
	} else {
		err = error__set(error, -err, "fork: %s", strerror(err));
	}
	close(go[1]);
	return err;
}

static void end(struct recorders *r, struct recorder_slot *slot, int status)
{
	/* Other recorders can write to it. */
	struct recording_report report = r->report[slot - r->slot];
	const struct recorder_stats *stats = &report.stats;

	printable__clean(report.reason, sizeof(report.reason));
	__atomic_sub_fetch(&r->family->running, 1, __ATOMIC_RELAXED);
	if (status != RECORDING_NOTHING && stats->t0) {
		r->recorded++;
		r->events += stats->writer.events;
		r->bytes += stats->writer.bytes;
		r->lost += stats->sequencer.lost;
	}
	r->ended(r->ctx, slot, &report, status);
	slot->recorder = 0;
}

unsigned int recorders__reap(struct recorders *r)
{
	unsigned int i, left = 0;
	int status;

	for (i = 0; i < RECORDERS_MAX; i++) {
		if (!r->slot[i].recorder)
			continue;
		if (waitpid(r->slot[i].recorder, &status, WNOHANG) != r->slot[i].recorder) {
			left++;
			continue;
		}
		end(r, &r->slot[i], WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	}
	return left;
}

void recorders__report(const struct recorders *r)
{
	if (r->recorded > 1)
		log__msg("recorded %u programs: %llu events, %llu bytes, %llu lost", r->recorded,
			 r->events, r->bytes, r->lost);
}

void recorders__signal(const struct recorders *r, int sig)
{
	for (unsigned int i = 0; i < RECORDERS_MAX; i++)
		if (r->slot[i].recorder)
			kill(r->slot[i].recorder, sig);
}

bool recorders__take_signals(const struct recorders *r)
{
	struct signalfd_siginfo info;
	bool ends = false;

	while (read(r->sigfd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		ends |= info.ssi_signo != SIGUSR1;
		if (info.ssi_code != SI_KERNEL)
			recorders__signal(r, (int)info.ssi_signo);
	}
	return ends;
}

uint64_t recorders__program_mark(int pid)
{
	uint64_t word[128] = {}, mark = 0;
	bool is_whole = false;
	char path[64];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	size = read(fd, word, sizeof(word));
	close(fd);
	for (ssize_t i = 0; i < size / 8; i++) {
		mark = (mark ^ word[i]) * 0x9e3779b97f4a7c15ull;
		is_whole |= i % 2 == 0 &&
			    word[i] == AT_EXECFN; /* among the last that the kernel writes */
	}
	return is_whole ? mark : 0;
}
