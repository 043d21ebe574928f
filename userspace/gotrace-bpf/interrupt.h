/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SIGINT, SIGTERM and SIGHUP while a program is analysed.
 *
 * The recorder's loop reads these signals from a descriptor, so `record` blocks them. An analysis can
 * take long, and no loop runs yet: between these two calls, which recording.c puts around each
 * analysis, a signal ends the process at once. Nothing is attached by then, and no file is open
 * for writing.
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

void interrupt__allow(const struct interrupt *how);
void interrupt__forbid(void);

#endif
