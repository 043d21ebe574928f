/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A raw file, of a disk or of memory, into a trace: what `sequence` and `recover` share.
 */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include "capture/rawfile.h"
#include "capture/sink.h"
#include "lib/error.h"

/*
 * What their argp parsers do with these options. Returns what argp expects, ARGP_ERR_UNKNOWN of another
 * key.
 */
int sequence__option(struct sink_opts *opts, int key, char *text);
enum { SEQUENCE_TICK = 1024, SEQUENCE_FORMAT };
#define SEQUENCE_OPTIONS                                                                               \
	{ "output", 'o', "FILE", 0, "the trace (- is stdout)", 0 },                                    \
		{ "tick", SEQUENCE_TICK, "1ns|64ns", 0, "the trace's unit of time (default 1ns)", 0 }, \
		{ "format-version", SEQUENCE_FORMAT, "1.22|1.23|1.25|1.26", 0, "default 1.25", 0 }

/* Of the options path, raw_path, version and tick_ns count. `name`: of the raw file, for messages. */
int sequence__replay(const struct sink_opts *opts, struct replay *r, const char *name,
		     struct error *err);

#endif
