/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events and the kernel's items of a trace in one order of time.
 *
 * Before it: trace/reader.c (events) and trace/kernel.h (items, out of each generation's private
 * data). After it: the commands that look at both: gotrace events --kernel, latency, path. A trace
 * without a kernel's side is just its events.
 */
#ifndef TRACE_TIMELINE_H
#define TRACE_TIMELINE_H

#include "trace/kernel.h"
#include "trace/reader.h"

struct timeline;

#define TIMELINE_TICK 64 /* ns: of traces of ours, by which an event's time may be too early */

/* What CLOCK_MONOTONIC is ahead of a trace's clock, which of ours is the same, but cut to ticks. */
static inline int64_t timeline__ahead(const struct trace_clock *clock)
{
	int64_t ahead = clock->known ? (int64_t)(clock->mono - (uint64_t)clock->time) : 0;

	return ahead >= 0 && ahead < TIMELINE_TICK ? 0 : ahead;
}

/* One of the two, valid until the next call. An event and an item of the same time: the item comes first. */
struct timeline_step {
	const struct trace_event *event;
	const struct kernel_item *item;
};

/* The reader is borrowed. 0 or -ENOMEM. */
int timeline__create(struct timeline **ret, struct reader *r);
void timeline__destroy(struct timeline *t); /* may be NULL */
/*
 * 1, 0 at the end, or a negative errno with the reason. A generation's table of threads becomes
 * timeline__threads() with its EV_SYNC: it is what the items before it have left, but in the first
 * generation, and after a loss. Those that had ended are left out then.
 */
int timeline__next(struct timeline *t, struct timeline_step *ret, struct error *err);
/* As the items so far, this one included, have left them. */
const struct kernel_threads *timeline__threads(const struct timeline *t);
/*
 * Of an item: the goroutine that its thread, or any other, runs or is in a system call for just then;
 * TRACE_NO_G: none. The reader itself may be an event ahead: its order is not to be asked.
 */
uint64_t timeline__goroutine(const struct timeline *t, uint32_t tid);
/*
 * Of an item: ns that a system call or a page fault took that ends with it, or that a thread could go on
 * before it got the core. UINT64_MAX: it is none of these, or that is not known.
 */
uint64_t timeline__took(const struct timeline *t);
bool timeline__has_kernel(const struct timeline *t); /* any item or thread so far */
/* Records of the kernel's side were lost in the generation that was begun last. */
bool timeline__lossy(const struct timeline *t);
/* What an event's time is on CLOCK_MONOTONIC: of our traces the same. */
uint64_t timeline__mono(const struct timeline *t, int64_t event_time);
int64_t timeline__time(const struct timeline *t, uint64_t mono); /* the other way */
/*
 * Of an item: when the event comes that it stands before, by the trace's time; an item of the end of a
 * generation may be later than that. INT64_MAX: none comes.
 */
int64_t timeline__until(const struct timeline *t);
/* Records of just now may be missing: what threads do is a guess. */
bool timeline__in_loss(const struct timeline *t);
/*
 * Changes whenever a loss begins or ends: what threads did before the end of the last one is not known any
 * more.
 */
uint64_t timeline__losses(const struct timeline *t);
/* So many generations had a table of threads so far. With as many, and as many losses, only items
   have changed threads. */
uint64_t timeline__tables(const struct timeline *t);

#endif
