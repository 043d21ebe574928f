/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a trace contains about its recording: the command line and the Go release of the
 * traced program, and the wall-clock time of its start.
 *
 * Upstream: the first sync of a trace, with its clock (Go 1.25 and newer) or the private data of
 * gotrace-bpf. Downstream: report/lanes.c, for the head of the page.
 */
#ifndef REPORT_ABOUT_H
#define REPORT_ABOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/event.h"
#include "lib/json.h"

#define ABOUT_TEXT_MAX 255 /* bytes; a longer text is cut and ends with "..." */

/* {}: nothing is known. */
struct about {
	/* Of the program; empty: unknown. */
	char command[ABOUT_TEXT_MAX + 1], go_version[ABOUT_TEXT_MAX + 1];
	bool has_wall;
	int64_t wall; /* CLOCK_REALTIME of the first sync, ns */
};

/* `sync`: the first event. Its strings are untrusted: what is corrupt is unknown. 0 or -ENOMEM. */
int about__sync(struct about *a, const struct trace_event *sync);
/* Writes the members "program", "go_version" and "start_wall", RFC 3339 in UTC; null: unknown. */
void about__print(const struct about *a, struct json *j);

#endif
