/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the metadata of an object reports about a trace: its program, the recorder, and the clock.
 *
 * Upstream: the private data in the first generation of the trace (format/about.h). Downstream:
 * transfer.c.
 */
#ifndef SHIP_FACTS_H
#define SHIP_FACTS_H

#include "ship/host_clock.h"

#define FACTS_TEXT_SIZE 128 /* all metadata of an object may take 2 KiB */

/* Letters, digits and punctuation only, as values of headers; empty: unknown. */
struct facts {
	char program[FACTS_TEXT_SIZE]; /* as its command line names it */
	char build_id[FACTS_TEXT_SIZE];
	char go_version[FACTS_TEXT_SIZE];
	char recorder[FACTS_TEXT_SIZE]; /* "gotrace-bpf_0.1" */
	struct host_clock clock;
};

/*
 * Of a trace in an open file, which was changed last at `mtime_ns`. Nothing but the clock is known
 * about a file that is not a valid trace, or whose first generation takes too much memory or time.
 */
void facts__read(struct facts *ret, int fd, uint64_t mtime_ns);

#endif
