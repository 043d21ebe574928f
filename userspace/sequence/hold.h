/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Holds back records that do not fit the model yet, because a causally earlier record of another
 * thread is to come. Upstream: sequencer.c. Downstream: state.c.
 *
 * Later records of the same thread queue behind its first held one. A record that has waited for 1
 * ms of stream time is forced, with a repair: clocks of CPUs differ by nanoseconds, so the record
 * that it waits for was lost. But what a silent thread has not reported yet stalls the stream:
 * ahead.h.
 *
 * A process with inline probes can invent threads and records: how many are held is bounded, and so is
 * what each record costs: 16 of the waiting threads on average, once there are many.
 */
#ifndef SEQUENCE_HOLD_H
#define SEQUENCE_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/record.h"

struct sequencer;
struct thread;

struct held {
	struct held *next;    /* of its thread */
	uint64_t deadline;    /* stream time at which it is forced */
	struct gt_record rec; /* followed by its payload */
	unsigned char payload[GT_PAYLOAD_MAX];
};

struct hold {
	struct thread *threads, *last; /* with held records, ordered by the time of the oldest */
	size_t n, records;	       /* of these threads, and of theirs */
	size_t skipped, unchecked; /* records since all threads were looked at, by two functions */
	struct held *free;
	/* while a derived record is applied ahead of time (ahead.h): */
	const struct gt_record *waiting; /* the one that waits for it; else NULL */
	uint64_t sent;			 /* when the hit was that reported it */
	bool has_run; /* the goroutine is started again before the thread reports that it left */
};

/* Appends a copy to the thread's held records. Without memory sets s->error. */
void hold__add(struct sequencer *s, struct thread *t, const struct gt_record *rec);
/* Applies what fits by now, and forces what is overdue at `now` (UINT64_MAX: everything). */
void hold__retry(struct sequencer *s, uint64_t now);
/* Calls hold__retry() after a record; if many threads wait, only after several records. */
void hold__step(struct sequencer *s, uint64_t now);
/* Whether a held record waits for a thread that is silent: the stream must not advance. */
bool hold__stalls(struct sequencer *s);
void hold__free_list(struct held *h);

#endif
