/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of `gotrace waits`: waits.c reads the trace, waits_print.c prints the waits as
 * text, waits_json.c as JSON.
 */
#ifndef GOTRACE_WAITS_H
#define GOTRACE_WAITS_H

#include "analysis/waits.h"

struct longest_waits {
	const struct waits *waits;  /* for texts and stacks */
	const struct wait *at;	    /* the longest first */
	struct wait_causes *causes; /* of each */
	size_t n;
	const struct path_history *history;
	bool kernel;	    /* the trace has kernel events */
	int64_t trace;	    /* start of the trace */
	int64_t start, end; /* of the analysed time; all three: trace time, ns */
};

extern const char *const wait_names[WAIT_KINDS]; /* values of --kind */

/* What ended the wait: "goroutine", "netpoll", "timer", "scheduler"; NULL: it is its own end. */
const char *wait__end(const struct longest_waits *l, const struct wait *wait);

/* Print to stdout. */
void waits__print(const struct longest_waits *l);
void waits__print_json(const struct longest_waits *l);

#endif
