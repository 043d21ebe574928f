/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory limit of a program: --max-memory.
 *
 * A compressed or crafted trace can need far more memory than its size. The kernel enforces the
 * limit (RLIMIT_DATA); allocations beyond it fail with -ENOMEM, and the message names the limit.
 */
#ifndef LIB_MEMORY_LIMIT_H
#define LIB_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"

/*
 * Limit this process to 512 MiB plus 64 times the total size of the files on the command line, but
 * at most to half of the memory; to that half if no file is named, as for a pipe.
 */
void memory_limit__default(int argc, char **argv);
/* The SIZE of --max-memory. False: invalid. */
bool memory_limit__set(const char *size);
bool memory_limit__is_set(void);    /* by the function above */
uint64_t memory_limit__bytes(void); /* 0: there is none */
/* If `error` is -ENOMEM and there is a limit, replace its text, for `name`, which may be NULL. */
void memory_limit__explain(struct error *error, const char *name);

#endif
