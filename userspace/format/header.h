/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The first bytes of a trace: whether a file is a trace, and its version.
 *
 * Used by reader/reader.c before anything else is read. The input stays at its first byte.
 */
#ifndef FORMAT_HEADER_H
#define FORMAT_HEADER_H

#include <stdbool.h>

#include "lib/error.h"
#include "lib/input.h"

#define TRACE_HEADER_LEN 16 /* "go 1.22 trace" and NULs */

/*
 * Stores the version of the header, 5 to 26, or 0 for the older "gotrace" and a NUL. Returns 0 or a
 * negative errno with a message: -EPROTONOSUPPORT (not a trace, or an unknown version).
 */
int header__read(struct input *in, unsigned int *ret_version, struct error *error);
/* The header of a version; and NN of "go 1.NN trace" and three NULs, -1: it is none. */
void header__make(unsigned int version, char ret[static TRACE_HEADER_LEN]);
int header__version(const void *data, size_t len);
/* Whether a file that begins with these bytes is a trace, of any version. */
bool header__is_one(const void *data, size_t len);
bool header__is_v1(unsigned int version); /* Go 1.5 to 1.21, and "gotrace" */

#endif
