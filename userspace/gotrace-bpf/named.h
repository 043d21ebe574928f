/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The process that -p NAME means.
 */
#ifndef NAMED_H
#define NAMED_H

#include <sys/types.h>

/*
 * The PID of the one process of that name: its comm, or the file name of its program. Ends this
 * process with EXIT_FAILED and a message if there is none (a similar name is suggested), or if there
 * are several (they are listed).
 */
pid_t named__find(const char *name);

#endif
