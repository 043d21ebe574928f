/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A command that we start ourselves, held at each exec until somebody has looked at the program.
 *
 * What is to be recorded need not be the command itself: a script, env, nice, sudo or `sh -c` set
 * something up and exec the Go program in the same process. So the child is seized by ptrace
 * before it execs, and stops at each exec before the program's first instruction. Once the
 * recorder has attached its probes there, ptrace is given up; when the recorder dies, the kernel
 * does that, and the command goes on by itself. Before it: gotrace-bpf/record.c; after it:
 * capture/recorder.c, which lets the program go.
 */
#ifndef CAPTURE_LAUNCH_H
#define CAPTURE_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"

/* As this process was started with them; the command gets them back. */
struct launch_signals {
	sigset_t mask;
	struct sigaction sigint, sigterm, sigpipe, sigxfsz, sigchld;
};

struct launch {
	const char *name; /* of the command; borrowed */
	pid_t pid;
	int go_fd;	    /* writing to it lets the child exec; closing it, or our end, ends it */
	int result_fd;	    /* the child's errno if exec fails; end of file when it succeeds */
	unsigned int execs; /* so far; 1: the command itself */
	bool held;	    /* in the stop of its exec: nothing of the program has run yet */
	bool quiet;	    /* says nothing while it waits for a program that is to be recorded */
	bool reaped;
	int status;	/* once reaped: as waitpid gives it */
	int exec_error; /* errno for which the command could not be executed; 0: it was */
};

/* Forks a child that will exec argv[0], found by PATH, and seizes it: one thread's, this one's. */
int launch__fork(struct launch *ret, char *const argv[], const struct launch_signals *signals,
		 struct error *err);
/*
 * Lets it run until its next exec, where it is held: 0. Signals that are sent to us alone are
 * passed on meanwhile. -ECHILD: it ended (no text, unless the command could not be executed);
 * -ENOEXEC: the command is nothing that can be executed here (no text); another negative errno and
 * the reason.
 */
int launch__next_exec(struct launch *l, struct error *err);
/* Lets a held one go, for good; from the thread that seized it. */
int launch__release(struct launch *l, struct error *err);
/* Ends a held one, which has run nothing of its program. */
void launch__kill(struct launch *l);
/* Waits for its end, and may be stopped by ^C again. */
void launch__wait(struct launch *l);
/*
 * Of a reaped one, as a shell has it: its own, 128 and the signal's number, 127 (no such program),
 * 126 (one that cannot be executed).
 */
int launch__exit_status(const struct launch *l);

#endif
