/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The limit on a program's memory: --max-memory.
 *
 * A compressed or crafted trace can need far more memory than its size. The kernel refuses what goes
 * beyond the limit (RLIMIT_DATA), which all code sees as -ENOMEM; the message then names the limit.
 */
#ifndef LIB_MEMORY_LIMIT_H
#define LIB_MEMORY_LIMIT_H

#include <stdbool.h>

#include "lib/error.h"

/*
 * Limits this process to 512 MiB and 64 times the sizes of the files that the command line names, but
 * at most half of the memory that there is; that alone when no file is named, as of a pipe.
 */
void memory_limit__default(int argc, char **argv);
/* SIZE of --max-memory. False: it is none. */
bool memory_limit__set(const char *size);
/* If `err` is of -ENOMEM and there is a limit, says so of `name`, which may be NULL. */
void memory_limit__explain(struct error *err, const char *name);

#endif
