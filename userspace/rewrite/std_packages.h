/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a package belongs to Go's standard library, by its path. A program's own packages may have
 * paths without a dot, too, so that the list must be exact.
 *
 * Used by rewrite/anonymize.c.
 */
#ifndef REWRITE_STD_PACKAGES_H
#define REWRITE_STD_PACKAGES_H

#include <stdbool.h>

#include "format/dictionary.h"

/* "net/http", "internal/poll", "crypto/internal/fips140"; not "main" */
bool std_package__is(struct trace_string path);

#endif
