// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshots of a flight recorder buffer: see blackbox_flight.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blackbox/blackbox_flight.h"
#include "lib/log.h"

#define CHECK_NS 20000000ull /* between two checks of the child */

bool blackbox_flight__request(struct blackbox_flight *f, const char *kind, const char *text,
			      uint64_t now)
{
	if (f->has_request) {
		f->ignored++;
		log__debug("no snapshot of %s: the previous one is not complete", text);
		return false;
	}
	f->has_request = true;
	f->request = (struct flight_cause){ .kind = kind, .time = now };
	snprintf(f->request.text, sizeof(f->request.text), "%s", text);
	return true;
}

/*
 * 'gotrace-bpf snapshot' recognizes a flight recorder by its blocked signal, so the child must not
 * block that.
 */
static _Noreturn void run(struct blackbox_flight *f, pid_t parent)
{
	sigset_t request;
	bool saved;

	signal(SIGUSR1, SIG_IGN);
	sigemptyset(&request);
	sigaddset(&request, SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &request, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	saved = f->save(f->ctx, &f->request);
	fflush(NULL);
	_exit(!saved);
}

static void note_end(struct blackbox_flight *f, bool failed)
{
	f->written += !failed;
	f->failed += failed;
	f->last_failed = failed;
	f->child = 0;
}

static void start(struct blackbox_flight *f)
{
	pid_t parent = getpid(), child;

	if (f->ignored)
		log__msg(
			"%llu requests for a snapshot were ignored before this one: only one is kept at a time",
			(unsigned long long)f->ignored);
	f->ignored = 0;
	child = fork();
	if (!child)
		run(f, parent);
	f->has_request = false;
	if (child > 0) {
		f->child = child;
		return;
	}
	log__msg("no snapshot of %s: fork: %s", f->request.text, strerror(errno));
	note_end(f, true);
}

static void report_death(int status)
{
	if (WIFSIGNALED(status))
		log__msg("the process that wrote a snapshot was terminated by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
}

static void reap(struct blackbox_flight *f, int flags)
{
	pid_t pid;
	int status = 0;

	if (!f->child)
		return;
	do {
		pid = waitpid(f->child, &status, flags);
	} while (pid < 0 && errno == EINTR);
	if (!pid)
		return;
	report_death(status);
	note_end(f, pid < 0 || status);
}

uint64_t blackbox_flight__step(struct blackbox_flight *f, uint64_t now)
{
	uint64_t due = f->has_request ? f->request.time + f->tail_ns : UINT64_MAX;

	reap(f, WNOHANG);
	if (f->child)
		return now + CHECK_NS;
	if (now < due)
		return due;
	start(f);
	return now + CHECK_NS;
}

bool blackbox_flight__end(struct blackbox_flight *f)
{
	reap(f, 0);
	if (f->has_request) {
		start(f);
		reap(f, 0);
	}
	return !f->last_failed;
}
