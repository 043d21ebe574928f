/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Holds back records that do not fit the model yet, because a causally earlier record of another
 * thread is to come. Upstream: sequencer.c. Downstream: state.c.
 *
 * Later records of the same thread queue behind its first held one. A record that has waited for 1
 * ms of stream time is forced, with a repair: clocks of CPUs differ by nanoseconds, so the record
 * that it waits for was lost. But a derived record (derived.h) comes with the next hit of its
 * thread, which may have lost its CPU meanwhile: it is waited for until that thread sends another
 * record, as long as no records were lost. So much may be held then that later records of other
 * threads would fit by chance: those about an object of which an earlier record is held wait, too.
 */
#ifndef SEQUENCE_HOLD_H
#define SEQUENCE_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/record.h"
#include "lib/map.h"

struct sequencer;
struct thread;

struct held {
	struct held *next; /* of its thread */
	/* about the same object: the next one, the one before, and in the first one: the last */
	struct held *same, *same_before, *same_last;
	uint64_t deadline;    /* stream time at which it is forced */
	struct gt_record rec; /* followed by its payload */
	unsigned char payload[GT_PAYLOAD_MAX];
};

struct hold {
	struct thread *threads; /* with held records, ordered by the time of the oldest */
	struct held *free;
	size_t n;	      /* held records */
	struct map by_object; /* the first one about each object: struct held */
};

/* Whether the record must wait for a held one about the same goroutine or P. */
bool hold__is_overtaking(const struct sequencer *s, const struct thread *t,
			 const struct gt_record *rec);
/* Appends a copy to the thread's held records. Without memory sets s->error. */
void hold__add(struct sequencer *s, struct thread *t, const struct gt_record *rec);
/* Applies what fits by now, and forces what is overdue at `now` (UINT64_MAX: everything). */
void hold__retry(struct sequencer *s, uint64_t now);
/* The earliest held record of this kind and object; NULL: none. */
const struct gt_record *hold__first(const struct sequencer *s, unsigned int kind, uint64_t object);
void hold__free_list(struct held *h);
void hold__deinit(struct sequencer *s); /* without the records of threads */

#endif
