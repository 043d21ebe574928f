/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sequences of numbers in the data of a report: LEB128 bytes, in base64.
 *
 * Used by the files of report/ for spans, arrows, points and nodes of profiles, which the page
 * decodes into typed arrays.
 */
#ifndef REPORT_VARINTS_H
#define REPORT_VARINTS_H

#include <stdint.h>

#include "lib/json.h"
#include "lib/outbuf.h"

/* {} is an empty one. The first error is kept until varints__print(). */
struct varints {
	struct outbuf bytes;
	int err;
};

void varints__add(struct varints *v, uint64_t number);
/* Writes all as the string `name`, and frees them: leaves {}. 0 or -ENOMEM. */
int varints__print(struct varints *v, struct json *j, const char *name);

#endif
