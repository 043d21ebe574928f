/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that we start ourselves: forked, held until the probes are attached, then exec'ed.
 */
#ifndef CAPTURE_LAUNCH_H
#define CAPTURE_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"

struct launch {
	pid_t pid;
	int go_fd;     /* closing or writing it lets the child go */
	int result_fd; /* the child's errno if exec fails; end of file when it succeeds */
	bool released, reaped;
	int status; /* as waitpid gives it */
};

/*
 * Forks a child that waits. `path` is what it will exec, with `argv`; it gets the signal mask and
 * the dispositions of SIGINT and SIGTERM that this process was started with.
 */
struct launch_signals {
	sigset_t mask;
	struct sigaction sigint, sigterm, sigpipe, sigxfsz;
};

int launch__fork(struct launch *ret, const char *path, char *const argv[],
		 const struct launch_signals *signals, struct error *err);
/* Lets it exec and waits until it has: 0, or the reason why it could not. */
int launch__exec(struct launch *l, struct error *err);
/* Waits for its end, and may be stopped by ^C again; one that never got to exec is ended. */
void launch__wait(struct launch *l);

/* Finds a program as a shell does; NULL: none. To be freed. */
char *launch__find(const char *name);

#endif
