/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the generations of a trace on several CPUs.
 *
 * Upstream: reader/reader.c, for each generation, and reader/order_guess.h for its state at the start.
 * Downstream: gotrace check. What the caller learns of a generation must be independent of the
 * generations before it, so that results can be added up.
 */
#ifndef READER_PARALLEL_H
#define READER_PARALLEL_H

#include <stddef.h>

#include "reader/reader.h"

struct parallel_ops {
	size_t size; /* of a result, which begins as zeros */
	/*
	 * Reads all events that the reader returns. Returns its last return value. Runs in several
	 * threads at once, each with its own result and reader.
	 */
	int (*read)(void *result, struct reader *r, struct error *error);
	/* The number of events that the reader has returned, of all kinds. */
	uint64_t (*events)(const void *result);
	/*
	 * Adds the result of the part of the trace that follows; `end` is the time of its last event.
	 * Times in the result can be too early: they are made to increase only within a part.
	 */
	void (*add)(void *total, const void *result, int64_t end);
};

/*
 * Reads the rest of the trace, `jobs` generations at once, into *total, as ops->read(total, r) would.
 * Events, errors and the state of the reader afterwards are the same. To be called on a reader from
 * which nothing has been read. With 1 job, for traces without generations, for input that is not
 * seekable, and with opts.described it reads in the calling thread only.
 *
 * Memory: batches of 1 + 5/8 (jobs - 1) of the largest generations, and tables of `jobs` generations.
 */
int parallel__read(struct reader *r, unsigned int jobs, const struct parallel_ops *ops, void *total,
		   struct error *error);

#endif
