/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signals and a time limit during the analysis of a program.
 *
 * The recorder's loop reads SIGINT, SIGTERM and SIGHUP from a descriptor, so 'record' blocks them.
 * The analysis can take long, or wait for a file system that does not respond, and the loop does
 * not run yet. Between these two calls, which the verbs put around each analysis, a thread waits
 * for the signals and ends the process. At that point nothing is attached, and no file is open for
 * writing.
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdbool.h>
#include <sys/types.h>

struct interrupt {
	pid_t held; /* a held command to be killed, which must not run unrecorded; 0: none */
	int status; /* exit status */
	bool quiet; /* no message */
};

/* For verbs that do not block the signals, only the time limit applies. */
void interrupt__allow(const struct interrupt *how);
void interrupt__forbid(void);

#endif
