/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a trace contains about its recording: the traced program, its Go release, the recorder,
 * and the wall-clock time of its start.
 *
 * Upstream: the private data (format/private_read.h) in the first generation of a trace of
 * gotrace-bpf, or the clock of its first sync (Go 1.25 and newer). Downstream: the page of a trace
 * (report/), profiles (gotrace/views/), tables (sql/) and the metadata of uploads (ship/).
 */
#ifndef FORMAT_ABOUT_H
#define FORMAT_ABOUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/event.h"
#include "format/private_read.h"
#include "lib/json.h"

#define ABOUT_TEXT_MAX 255 /* bytes; a longer text is cut and ends with "..." */

/* {}: nothing is known. The texts are untrusted; an empty one is unknown. */
struct about {
	char program[PATH_MAX]; /* first word of the command line; a longer one is left out */
	char command[ABOUT_TEXT_MAX + 1];    /* with the arguments, separated by spaces */
	char build_id[ABOUT_TEXT_MAX + 1];   /* of the program, hexadecimal */
	char go_version[ABOUT_TEXT_MAX + 1]; /* of the program: "go1.26.8" */
	char tool[ABOUT_TEXT_MAX + 1];	     /* the recorder: "gotrace-bpf 0.1" */
	bool has_ticks, has_wall;
	struct private_ticks ticks; /* clocks of the recorder when the generation began */
	int64_t wall; /* CLOCK_REALTIME of the first sync, ns; about__read() does not set it */
};

/* Reads the dictionary of the first generation. What is corrupt is unknown. 0 or -ENOMEM. */
int about__read(struct about *a, const struct dictionary *dictionary);
/* The same, and the wall-clock time. `sync`: the first event. 0 or -ENOMEM. */
int about__sync(struct about *a, const struct trace_event *sync);
/* Writes the members "program", "go_version" and "start_wall", RFC 3339 in UTC; null: unknown. */
void about__print(const struct about *a, struct json *j);

#endif
