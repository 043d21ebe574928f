/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of `gotrace histogram`: histogram.c reads the trace, histogram_print.c prints
 * the result.
 */
#ifndef GOTRACE_HISTOGRAM_H
#define GOTRACE_HISTOGRAM_H

#include "analysis/intervals.h"

struct histogram {
	struct intervals_opts of;
	const struct interval_counts *counts;
	uint64_t unfinished; /* unless `kernel` */
	bool kernel;	     /* the durations are those of kernel events */
	int64_t start, end;  /* of the analysed time: trace time, ns */
};

extern const char *const interval_names[INTERVAL_KINDS]; /* values of --of */

/* Print to stdout. */
void histogram__print_table(const struct histogram *h);
void histogram__print_json(const struct histogram *h);

#endif
