/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recording in short files: each begins where the one before ends, at the boundary of a
 * generation, and is a trace of its own.
 *
 * Upstream: writer/writer.c, which passes each generation, and capture/sink.c, between two of them.
 * Downstream: finisher.c, which completes the files.
 */
#ifndef FLIGHT_ROTATE_H
#define FLIGHT_ROTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "flight/file_name.h"
#include "lib/error.h"

#define ROTATE_KEEP_DEFAULT (4ull << 30)
#define ROTATE_KEEP_MIN	    (1ull << 20)
#define ROTATE_MIN_NS	    1000000000ull /* the length of a generation */

struct rotate;
struct writer;

struct rotate_opts {
	const char *dir;      /* borrowed, as the next one; NULL: one file */
	uint64_t every_ns;    /* the least length of a file */
	uint64_t keep;	      /* limit of the directory, bytes */
	unsigned int version; /* of the trace format */
	/* number of recorders that use the directory, which may change; NULL: 1; borrowed */
	const unsigned int *sharers;
	struct file_target target;
};

/* Opens the directory. 0, or a negative errno and the reason. */
int rotate__open(struct rotate **ret, const struct rotate_opts *opts, struct error *error);
/* See trace_file__in_folder_of_other(). */
bool rotate__in_folder_of_other(const struct rotate *r);

/*
 * Begins the first file, at t0 (CLOCK_MONOTONIC, ns; `wall_ns` by CLOCK_REALTIME). The writer, whose
 * generations are taken from now on, is borrowed. Returns a negative errno, whose reason is kept for
 * rotate__end(), or 0. Also after rotate__pause(), with another writer.
 */
int rotate__start(struct rotate *r, struct writer *w, uint64_t t0, uint64_t wall_ns);
/*
 * To be called between two generations, the next of which begins at `time`: 1 if a new file begins
 * there. A file ends early once it takes an eighth of the limit, divided by the number of
 * recorders, and where a generation could not be written, which is reported: then a new file begins
 * as soon as one can.
 */
int rotate__next(struct rotate *r, uint64_t time);
/* Whether the disk is too slow: as many files as possible are being completed. */
bool rotate__is_full(const struct rotate *r);
/*
 * Completes the file, whose window ends at `time`, in the background, before the writer is destroyed.
 * No effect without a writer.
 */
void rotate__pause(struct rotate *r, uint64_t time);
/*
 * Completes the last file, whose window ends at `time`, and waits for all others. Returns `err`, or a
 * failure if anything could not be written, with the reason.
 */
int rotate__end(struct rotate *r, int err, uint64_t time, struct error *error);
void rotate__destroy(struct rotate *r); /* NULL allowed */

#endif
