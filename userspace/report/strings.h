/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of strings of a report: the member "strings" of its data, to which the other members
 * refer by index.
 *
 * Shared by report/lanes.c and the tables of a report, so that a name is in the page once. Strings
 * come from the trace, which may contain any number of them: beyond STRINGS_BYTES_MAX, each new one
 * gets the index of the string "(too many strings)".
 */
#ifndef REPORT_STRINGS_H
#define REPORT_STRINGS_H

#include "lib/json.h"
#include "writer/intern.h"

#define STRINGS_BYTES_MAX (8u << 20)

struct report_strings {
	struct intern *in;
	size_t bytes;
	uint32_t other; /* index of the string for all further ones */
};

int report_strings__init(struct report_strings *s); /* 0 or -ENOMEM */
void report_strings__deinit(struct report_strings *s);

/* Finds or adds a string, which is copied. Index 0 is the empty string. 0 or -ENOMEM. */
int report_strings__get(struct report_strings *s, struct trace_string text, uint32_t *ret);

bool report_strings__full(const struct report_strings *s); /* strings were left out */

/* Writes the array `name` of all strings, by index. */
void report_strings__print(const struct report_strings *s, struct json *j, const char *name);

#endif
