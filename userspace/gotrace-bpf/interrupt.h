/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signals and a deadline while a program is analysed.
 *
 * The recorder's loop reads SIGINT, SIGTERM and SIGHUP from a descriptor, so `record` blocks them.
 * An analysis can take long, or wait for a file system that does not answer, and no loop runs yet:
 * between these two calls, which the verbs put around each analysis, a thread waits for the
 * signals and ends the process. Nothing is attached by then, and no file is open for writing.
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdbool.h>
#include <sys/types.h>

struct interrupt {
	pid_t held; /* a command that is held and must not run unrecorded: killed; 0: none */
	int status; /* of the exit */
	bool quiet; /* without a message */
};

/* For verbs that block no signals it is the deadline alone that counts. */
void interrupt__allow(const struct interrupt *how);
void interrupt__forbid(void);

#endif
