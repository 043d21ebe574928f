/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing the trace of a raw file, on disk or in memory: shared by `replay` and `recover`.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include "capture/sink.h"
#include "lib/error.h"
#include "rawfile/rawfile.h"
#include "command.h"
#include "min_duration.h"

/* Handles REPLAY_OPTIONS for an argp parser: 0, or ARGP_ERR_UNKNOWN for any other key. */
int replay__option(struct sink_opts *opts, int key, char *text);
enum { REPLAY_TICK = 1024, REPLAY_FORMAT, REPLAY_MIN_DURATION };
#define REPLAY_OPTIONS                                                                             \
	{ "output", 'o', "FILE", 0, "trace file; - is stdout", 0 },                                \
		{ "tick", REPLAY_TICK, "1ns|64ns", 0, "time unit (default: 1ns)", 0 },             \
		{ "format-version", REPLAY_FORMAT, TRACE_VERSION_CHOICE, 0, FORMAT_HELP, 0 },      \
		{ "min-duration", REPLAY_MIN_DURATION, "KIND:TIME", 0, MIN_DURATION_HELP, 0 }

/*
 * Writes the trace of `r` to opts->path, in the format of opts->version (0: by the release of the
 * program) and opts->tick_ns, without
 * calls shorter than opts->min_call_ns; or with a cause, as a snapshot into the directory of
 * opts->flight. The other options are ignored. `name` is that of the raw file, for messages. 0, or a
 * negative errno and the reason.
 */
int replay__write_trace(const struct sink_opts *opts, struct replay *r, const char *name,
			const struct flight_cause *cause, struct error *error);

#endif
