/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The first bytes of a trace: is it one, and of which version?
 *
 * For trace/reader.c, before anything else is read; the input stays at its first byte.
 */
#ifndef TRACE_HEADER_H
#define TRACE_HEADER_H

#include <stdbool.h>

#include "lib/error.h"
#include "lib/input.h"

#define TRACE_HEADER_LEN 16 /* "go 1.22 trace" and NULs */

/*
 * *ret_version: 5 … 26, as in the header, or 0 for the older "gotrace" and a NUL. 0 or a negative
 * errno with the reason: -EPROTONOSUPPORT (no trace, or of an unknown version).
 */
int header__read(struct input *in, unsigned int *ret_version, struct error *err);
/* Whether a file with these first bytes is a trace, of whatever version. */
bool header__is_one(const void *data, size_t len);
bool header__is_v1(unsigned int version); /* Go 1.5 to 1.21, and "gotrace" */

#endif
