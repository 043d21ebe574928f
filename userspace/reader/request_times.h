/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When the requests of a generation arrived, and when their answers were written: what its private
 * data contain about requests beside their tasks.
 *
 * Upstream: sequence/state_request.c, by PRIVATE_REQUESTS. Downstream: analysis/requests.c, through
 * reader/timeline.h. Memory is proportional to the entries of one generation.
 */
#ifndef READER_REQUEST_TIMES_H
#define READER_REQUEST_TIMES_H

#include "format/dictionary.h"
#include "format/private.h"

struct request_times {
	struct private_request *arrival; /* by time: all but those of answers */
	size_t narrivals;
	struct private_request *answer; /* by task, one of each: the last one */
	size_t nanswers;
	size_t arrivals_cap, answers_cap;
	uint32_t generations; /* that were read so far */
};

/* Replaces the times by those of another generation. 0 or -ENOMEM. */
int request_times__read(struct request_times *t, const struct dictionary *dictionary);
void request_times__deinit(struct request_times *t);
/* When the last write of the answer to the task's request ended, CLOCK_MONOTONIC; 0: unknown. */
uint64_t request_times__answer(const struct request_times *t, uint64_t task);

#endif
