/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completes the files of a continuous recording in a thread: a disk may take seconds to sync a file,
 * while the rings of the probes hold about one second of records.
 *
 * Upstream: rotate.c. Downstream: writer/output_file.c (sync, rename), folder.c (index, limit). The
 * thread is created with the first file, so that it has no more privileges than its caller.
 */
#ifndef FLIGHT_FINISHER_H
#define FLIGHT_FINISHER_H

#include <stdbool.h>
#include <stdint.h>

#include "flight/folder.h"
#include "lib/error.h"

struct finisher;
struct trace_file;
struct window_copy;

/* Borrows the folder until finisher__destroy(). NULL: no memory. */
struct finisher *finisher__create(struct folder *folder);

/* Whether it has as many files to complete as it takes: finisher__take() would fail. */
bool finisher__is_full(struct finisher *f);
/* Whether a file is not complete yet. */
bool finisher__is_busy(struct finisher *f);

/* A file that is to be completed, or a window that is to be written to one. */
struct finisher_job {
	struct trace_file *file;
	struct window_copy *copy;  /* NULL: `file` is written already */
	unsigned int version;	   /* of the copy, whose file is created by the next ones */
	struct file_target target; /* its program is borrowed */
	char kind[32], cause[224]; /* of the snapshot; reported when the file is complete */
	struct folder_file about;  /* without the size; without the name, for a copy */
};

/*
 * Takes file or copy over, completes the file and adds it to the index, with its size. 0 or a
 * negative errno; on failure they are still the caller's.
 */
int finisher__take(struct finisher *f, const struct finisher_job *job);
/*
 * Waits until all files are complete. Returns the first failure: 0, or a negative errno and the reason.
 * It was reported, and the file was removed; other files are completed.
 */
int finisher__wait(struct finisher *f, struct error *error);
uint64_t finisher__failures(const struct finisher *f); /* how many, after finisher__wait() */
void finisher__destroy(struct finisher *f);	       /* after finisher__wait(); NULL allowed */

#endif
