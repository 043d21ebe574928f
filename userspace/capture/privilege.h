/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Giving up privileges as soon as nothing needs them any more.
 */
#ifndef CAPTURE_PRIVILEGE_H
#define CAPTURE_PRIVILEGE_H

#include <stdbool.h>

/*
 * Drops every capability but those to write files for others (a root user's output directory) and
 * CAP_SYS_PTRACE, which snapshots need, after any loss as well. Never fails the recording.
 */
void privilege__drop(void);

/* Whether a capability, by its number (linux/capability.h), is in effect. */
bool privilege__has(int cap);

#endif
