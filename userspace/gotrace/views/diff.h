/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of `gotrace diff`: diff.c reads the traces, diff_print.c prints the comparison.
 */
#ifndef GOTRACE_DIFF_H
#define GOTRACE_DIFF_H

#include "diff/compare.h"

/* A recording. */
struct diff_side {
	const char *name; /* of the file */
	struct measure *measure;
	bool has_kernel;
};

struct diff_report {
	struct diff_side a, b;
	struct naming *naming;
	size_t slices;
	struct diff_opts opts;
	struct diff diff;
};

/* Print to stdout. `top`: rows per group, besides the findings. */
void diff__print_table(const struct diff_report *r, size_t top);
void diff__print_json(const struct diff_report *r);

#endif
