/* SPDX-License-Identifier: GPL-2.0 */
/*
 * record --follow: records a process, its descendants, and all programs that they execute, each Go
 * program to a file of its own.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include "lib/error.h"
#include "recording.h"

/*
 * Returns when the first process and its descendants have ended, after SIGINT or SIGTERM, or after
 * the duration. `first` is the recording that the command line describes. Returns the exit status,
 * and the reason if it is not 0 and has not been reported.
 */
int follow__run(const struct recording *first, struct error *error);

#endif
