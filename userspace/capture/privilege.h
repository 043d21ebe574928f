/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Giving up privileges as soon as nothing needs them any more.
 */
#ifndef CAPTURE_PRIVILEGE_H
#define CAPTURE_PRIVILEGE_H

#include <stdbool.h>

/*
 * Drops every capability but those to write files for others (a root user's output directory) and,
 * with `read_target`, CAP_SYS_PTRACE for the snapshots. Never fails the recording.
 */
void privilege__drop(bool read_target);

/* Whether a capability, by its number (linux/capability.h), is in effect. */
bool privilege__has(int cap);

#endif
