/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flame graphs of a report: the stacks of a profile as a tree.
 *
 * Upstream: profile/samples.h. Downstream: the page, by docs/report.md. Stacks that take less than
 * 1/FLAMES_PARTS of the whole, and those beyond FLAMES_STACKS, are one node, so that any trace's tree
 * has a bounded size.
 */
#ifndef REPORT_FLAMES_H
#define REPORT_FLAMES_H

#include "lib/json.h"
#include "profile/samples.h"
#include "report/strings.h"

#define FLAMES_STACKS 5000u
#define FLAMES_PARTS  20000

/*
 * Writes an element of the array "profiles", whose values are ns, or counts if their time is unknown;
 * nothing if there are no samples. `kind` is its title. 0 or -ENOMEM.
 */
int flames__print(const struct samples *s, const char *kind, struct report_strings *strings,
		  struct json *j);

#endif
