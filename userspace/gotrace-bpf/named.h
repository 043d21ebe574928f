/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the process that -p NAME refers to, for the verbs of gotrace-bpf.
 */
#ifndef NAMED_H
#define NAMED_H

#include <sys/types.h>

/*
 * The PID of the only process of that name: its comm, or the file name of its program. If there is
 * none, or several, exits with EXIT_FAILED and a message that suggests a similar name, or lists
 * them.
 */
pid_t named__find(const char *name);

#endif
