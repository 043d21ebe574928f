/* SPDX-License-Identifier: GPL-2.0 */
/*
 * record --follow: a process, all that it starts, and all that these execute, each Go program in
 * a file of its own.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include "lib/error.h"
#include "recording.h"

/*
 * Until the first process and all below it have ended, or SIGINT, SIGTERM or the duration. `first`
 * is what the command line names. Returns the exit status, with the reason if it is not 0 and was
 * not told yet.
 */
int follow__run(const struct recording *first, struct error *err);

#endif
