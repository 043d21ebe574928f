/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Several rings into one stream, ordered by time.
 *
 * A ring is almost ordered: a record's time is stamped after its slot was reserved, so two CPUs of
 * one ring may swap neighbours. Each ring is kept sorted while it is filled; merge__next() takes
 * the earliest head of all, up to the watermark (capture/drain.c says when a time is safe).
 * Before it: capture/drain.c. After it: sequence/state.c.
 */
#ifndef SEQUENCE_MERGE_H
#define SEQUENCE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/record.h"

struct merge;

struct merge *merge__create(void); /* NULL: no memory */
void merge__destroy(struct merge *m);

/* The queues' bytes: a watermark that is held back must not let them grow for ever. */
#define MERGE_BYTES_MAX (48u << 20)
/* From now on they may have so many, if that is more: what comes is known to be bounded. */
void merge__may_hold(struct merge *m, uint64_t bytes);

/* Copies a record of a checked size into its ring's queue. 0, -ENOMEM, -ENOBUFS (full). */
int merge__put(struct merge *m, unsigned int ring, const struct gt_record *rec, size_t size);

/* Notes the sequence number of a record that doesn't go through the merge. */
void merge__count(struct merge *m, unsigned int ring, const struct gt_record *rec);

/*
 * The earliest record stamped at or before `watermark`, or NULL. Valid until the next call of
 * merge__put() or merge__trim().
 */
const struct gt_record *merge__next(struct merge *m, uint64_t watermark);

/* Gives back the memory of records already taken; call it once a watermark. */
void merge__trim(struct merge *m);

/* Numbers of one ring that never came, between two that did. */
struct merge_gap {
	uint64_t count;
	uint64_t from, to; /* the stamps of the records on its two sides */
};

/*
 * The next gap that lies before `watermark` for sure (numbers are given a little out of order), once
 * each; false: none. UINT64_MAX: all that there are.
 */
bool merge__gap(struct merge *m, uint64_t watermark, struct merge_gap *ret);

/* Ring sequence numbers that never came: exact once the rings are empty. */
uint64_t merge__holes(const struct merge *m);
size_t merge__memory(const struct merge *m);

#endif
