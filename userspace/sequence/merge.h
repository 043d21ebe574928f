/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Merges the per-CPU rings into one stream, ordered by time.
 *
 * A ring is almost ordered: the time is taken after the slot was reserved, so neighbours of two
 * CPUs may be swapped. Each ring's queue is kept sorted while it is filled; merge__next() returns
 * the earliest head of all queues, up to the watermark. Upstream: sequencer.c; capture/drain.c
 * determines watermarks. Downstream: state.c.
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

/* Memory limit of the queues, for when the watermark does not advance. */
#define MERGE_BYTES_MAX (48u << 20)
/* Raises the limit to `bytes` if it is lower: for input that is known to be bounded. */
void merge__may_hold(struct merge *m, uint64_t bytes);

/* Copies a record of a checked size into its ring's queue. 0, -ENOMEM, -ENOBUFS (limit reached). */
int merge__put(struct merge *m, unsigned int ring, const struct gt_record *rec, size_t size);

/* The same for a part of a record, whose number merge__count() notes. */
int merge__add(struct merge *m, unsigned int ring, const struct gt_record *rec, size_t size);
/*
 * The time of the thread's latest record in the ring's queue if it is after `time`, or `time`. Kernel
 * events count: what a thread does is not before it got its CPU.
 */
uint64_t merge__time_after(const struct merge *m, unsigned int ring, uint32_t tid, uint64_t time);

/*
 * Since when nothing has come from some ring of the probes, at most `time`: a lost record that no gap
 * shows is later than the latest one in its ring.
 */
uint64_t merge__quiet_since(const struct merge *m, uint64_t time);

/* Notes the sequence number of a record that bypasses the merge. */
void merge__count(struct merge *m, unsigned int ring, const struct gt_record *rec);

/*
 * The earliest record with a time up to `watermark`, or NULL. Valid until the next call of
 * merge__put() or merge__trim().
 */
const struct gt_record *merge__next(struct merge *m, uint64_t watermark);

/* Returns all records again that merge__next() has returned since the last merge__trim(). */
void merge__rewind(struct merge *m);

/*
 * The thread's earliest hit of those queued up to `watermark`; NULL: none. Valid as above. *left is
 * decreased by the records looked at; at 0 the search ends without a result.
 */
struct gt_record *merge__ahead(struct merge *m, uint32_t tid, uint64_t watermark, uint64_t *left);
/* merge__next() will not return the record. */
void merge__take(struct gt_record *rec);
/* Whether a record of this kind and object is queued with a time before `time`. */
bool merge__has(const struct merge *m, unsigned int kind, uint64_t object, uint64_t time);
/* The earliest queued record of this object with a time before `time`, or NULL. Valid as above. */
const struct gt_record *merge__first_of(const struct merge *m, uint64_t object, uint64_t time);
/* Whether the queued records take more than half of the memory limit. */
bool merge__is_crowded(const struct merge *m);

/* Frees the memory of records already returned. Call once per watermark. */
void merge__trim(struct merge *m);

/* Missing sequence numbers of one ring, between two that arrived. */
struct merge_gap {
	uint64_t count;
	uint64_t from, to; /* times of the records on both sides */
};

/*
 * The next gap that certainly lies before `watermark` (numbers may arrive slightly out of order),
 * each once; false: none. UINT64_MAX: all gaps.
 */
bool merge__gap(struct merge *m, uint64_t watermark, struct merge_gap *ret);

/* Number of missing ring sequence numbers; exact once the rings are empty. */
uint64_t merge__holes(const struct merge *m);
size_t merge__memory(const struct merge *m);

#endif
