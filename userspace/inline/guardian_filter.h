/* SPDX-License-Identifier: GPL-2.0 */
/* What the guardian can still do, should its target take it over. */
#ifndef INLINE_GUARDIAN_FILTER_H
#define INLINE_GUARDIAN_FILTER_H

/*
 * From here on, the process opens only files of /proc (proc__directory()), for reading, has no capability but those that this
 * requires, and is killed if it executes a program, traces a process, or opens another file. 0 or a
 * negative errno.
 */
int guardian__confine(int proc);

#endif
