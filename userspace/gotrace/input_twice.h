/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Traces that a command reads twice, such as `gotrace stat`, and `gotrace events --function`, which
 * must know the names of goroutines first. A pipe is copied to an unnamed file.
 */
#ifndef INPUT_TWICE_H
#define INPUT_TWICE_H

#include <sys/types.h>

#include "lib/error.h"

/*
 * Determine the path for each pass; *ret_start is the offset of stdin. 0 or a negative errno with
 * the reason.
 */
int input_twice__begin(const char *path, const char **ret, off_t *ret_start, struct error *error);
/* To be called between the passes, with the results. */
void input_twice__again(const char *path, off_t start);

#endif
