/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events and kernel events of a trace, merged by time.
 *
 * Upstream: reader/reader.c (events), format/kernel.h (items from the private data of each
 * generation). Downstream: the commands that use both: gotrace events --kernel, latency, path,
 * histogram. A trace without kernel events yields its events only.
 */
#ifndef READER_TIMELINE_H
#define READER_TIMELINE_H

#include "format/kernel.h"
#include "reader/gaps.h"
#include "reader/reader.h"
#include "reader/request_times.h"

struct timeline;

#define TIMELINE_TICK                                                                              \
	64 /* ns, in our own traces: an event's time may be too early by less than this */

/*
 * CLOCK_MONOTONIC minus the trace's clock; 0 for our own traces, whose times are truncated to
 * ticks.
 */
static inline int64_t timeline__mono_offset(const struct trace_clock *clock)
{
	int64_t offset = clock->known ? (int64_t)(clock->mono - (uint64_t)clock->time) : 0;

	return offset >= 0 && offset < TIMELINE_TICK ? 0 : offset;
}

/* An event or an item, valid until the next call. At equal times the item comes first. */
struct timeline_step {
	const struct trace_event *event;
	const struct kernel_item *item;
	/* Why timeline__threads() changed since the last step, other than by the item: */
	bool table; /* the event is the sync of a generation with a table of threads */
	bool loss;  /* a loss began or ended: what threads did before its end is unknown */
};

/* The reader is borrowed. Returns 0 or -ENOMEM. */
int timeline__create(struct timeline **ret, struct reader *r);
void timeline__destroy(struct timeline *t); /* NULL is allowed */
/*
 * Returns 1, 0 at the end, or a negative errno with a message. With its EV_SYNC the thread table of
 * a generation replaces timeline__threads(). Except in the first generation and after a loss, it
 * equals the state after the items so far, without ended threads.
 */
int timeline__next(struct timeline *t, struct timeline_step *ret, struct error *error);
/*
 * After timeline__next() has returned 0 for a pushed generation: the items that come after its last
 * event, which are otherwise delivered before the next generation. Returns as it does.
 */
int timeline__next_rest(struct timeline *t, struct timeline_step *ret, struct error *error);
/* State of the threads after the items so far, including the present one. */
const struct kernel_threads *timeline__threads(const struct timeline *t);
/*
 * The goroutine that a thread runs, or is in a system call for, at the present item; TRACE_NO_G:
 * none. reader__order() must not be used instead, since the reader may be one event ahead.
 */
uint64_t timeline__goroutine(const struct timeline *t, uint32_t tid);
/*
 * At an item: ns of the system call or page fault that ends with it, or that its thread was
 * runnable before it got the CPU. UINT64_MAX: none of these, or unknown.
 */
uint64_t timeline__duration(const struct timeline *t);
bool timeline__has_kernel(const struct timeline *t); /* any item or thread so far */
/* Whether kernel events were lost in the current generation. */
bool timeline__lossy(const struct timeline *t);
/* The system calls that were left out of the generations so far; its min_ns is the highest, 0: none. */
const struct private_short *timeline__short(const struct timeline *t);
/* When the requests of the present generation arrived. Valid until the next EV_SYNC. */
const struct request_times *timeline__requests(const struct timeline *t);
/* CLOCK_MONOTONIC of an event's time; the same in our own traces. */
uint64_t timeline__mono(const struct timeline *t, int64_t event_time);
int64_t timeline__time(const struct timeline *t, uint64_t mono); /* the inverse */
/*
 * At an item: time of the event that comes next, in the trace's clock; an item at the end of a
 * generation may be later. INT64_MAX: no event follows.
 */
int64_t timeline__until(const struct timeline *t);
/*
 * For a part of a trace, whose last event is not its end: until what follows that event in the whole
 * trace, kernel events happen. They keep their own times: timeline__until() is INT64_MAX there.
 */
void timeline__keep_late_items(struct timeline *t);
/* Whether kernel events of this moment may be missing: the state of threads is uncertain. */
bool timeline__in_loss(const struct timeline *t);
/* At a step with `loss`: when the loss began, in the trace's clock; of several the first one. */
int64_t timeline__lost_from(const struct timeline *t);
/*
 * At an event: when the latest loss of Go's events ended that has begun, in the trace's clock;
 * INT64_MIN: there was none. State changes before it may be missing, or be those that the recorder
 * inserted to keep the trace valid.
 */
int64_t timeline__go_lost_to(const struct timeline *t);
/* When that loss began. */
int64_t timeline__go_lost_from(const struct timeline *t);
/* The losses of Go's events so far, and those of the current generation. */
const struct gaps *timeline__gaps(const struct timeline *t);

#endif
