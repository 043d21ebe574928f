/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Starts a command and holds it at each exec until the caller has analysed the program.
 *
 * The command may be a script, env, nice, sudo or 'sh -c' that finally executes the Go program in
 * the same process. Therefore the child is seized by ptrace before it executes the command, and
 * stops at each exec before the program's first instruction. Once the recorder has attached its
 * probes, it detaches; if it dies, the kernel does so, and the command continues. Upstream:
 * gotrace-bpf/recording.c. Downstream: capture/recorder.c, which releases the program.
 */
#ifndef CAPTURE_LAUNCH_H
#define CAPTURE_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "lib/error.h"

/* The signal setup with which this process was started; the command gets it back. */
struct launch_signals {
	sigset_t mask;
	struct sigaction sigint, sigterm, sigpipe, sigxfsz, sigchld;
};

struct launch {
	const char *name; /* of the command; borrowed */
	pid_t pid;
	int go_fd;	    /* a write starts the command; closing it, or our end, ends the child */
	int result_fd;	    /* the child's errno if exec fails; end of file if it succeeds */
	unsigned int execs; /* so far; 1: the command itself */
	bool held;	    /* in the stop of its exec: nothing of the program has run yet */
	bool quiet;	    /* no message while waiting for a Go program */
	bool reaped;
	int status;	/* of waitpid(), once reaped */
	int exec_error; /* errno if the command could not be executed; else 0 */
};

/*
 * Forks a child that will execute argv[0], found by PATH, and seizes it. The calling thread is its
 * tracer.
 */
int launch__fork(struct launch *ret, char *const argv[], const struct launch_signals *signals,
		 struct error *error);
/*
 * Runs the child until its next exec, where it is held: 0. Meanwhile signals that are sent to this
 * process alone are forwarded. -ECHILD: it ended (no text, unless the command could not be
 * executed); -ENOEXEC: the command cannot be executed on this machine (no text); or another
 * negative errno and the reason.
 */
int launch__next_exec(struct launch *l, struct error *error);
/* Detaches from a held child, which continues. Only for the thread that seized it. */
int launch__release(struct launch *l, struct error *error);
/* Kills a held child, which has executed no instruction of its program. */
void launch__kill(struct launch *l);
/* Waits for its end, and forwards signals meanwhile. */
void launch__wait(struct launch *l);
/*
 * The exit status of a reaped child, as in a shell: its own, 128 plus the number of the signal, 127
 * (no such program) or 126 (it cannot be executed).
 */
int launch__exit_status(const struct launch *l);

#endif
