/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Giving up privileges as soon as nothing needs them any more.
 */
#ifndef CAPTURE_PRIVILEGE_H
#define CAPTURE_PRIVILEGE_H

#include <stdbool.h>

/* What may be kept, a bit each: the manual's section PRIVILEGES has the same list. */
#define PRIVILEGE_READ	  (1u << 0) /* the target's memory, after any loss again: CAP_SYS_PTRACE */
/* files that a target has mapped: CAP_CHECKPOINT_RESTORE, CAP_DAC_READ_SEARCH */
#define PRIVILEGE_MODULES (1u << 1)
/* signals for a command that may be another user's by now: CAP_KILL */
#define PRIVILEGE_COMMAND (1u << 2)
/* a rename in a folder of another user: CAP_DAC_OVERRIDE, CAP_FOWNER */
#define PRIVILEGE_FOLDER  (1u << 3)

/*
 * Drops every capability that `keep` does not need, empties the bounding, inheritable and ambient
 * sets, and sets no_new_privs. For the calling thread and those that it creates later; can be
 * called again with less. Never fails the recording.
 */
void privilege__drop(unsigned int keep);

/* Whether a capability, by its number (linux/capability.h), is in effect. */
bool privilege__has(int cap);

#endif
