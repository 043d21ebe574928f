/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Known and unknown time: in a gap, records of Go's events are missing. Each of them may be of any
 * goroutine and P, since a thread may be on any CPU. So the state of each is known up to a gap, and
 * from its next record after the gap on. A resynchronization of the recorder ends this earlier, as
 * it corrects the state of all.
 *
 * The gaps are in the private data of each generation: records 23 (gaps) and 5 (corrections), and
 * records 2 (losses) of earlier recorders, which wrote no gaps, and of pauses. A gap that begins near
 * the end of a generation may be in the next one. What began before it is unknown in spite of that,
 * as all times are computed when they end.
 */
#ifndef READER_GAPS_H
#define READER_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_event;

/* In the clock of the trace, ns. */
struct gap {
	int64_t from, to;
	int64_t until; /* all that has no record after the gap is known again; INT64_MAX: never */
};

/* An event of a goroutine was written at `to`, but belongs to `from`. */
struct late_event {
	uint64_t g;
	int64_t from, to;
};

struct gaps {
	struct gap *at; /* disjoint, by time, of this and earlier generations */
	size_t n, cap;
	struct late_event *late; /* of this generation, by goroutine and time */
	size_t nlate, late_cap;
	bool listed; /* the trace has records of gaps, and its losses only have their counts */
	bool any;    /* there were gaps; false if all has been known */
};

void gaps__deinit(struct gaps *g);
/* The sync event of a generation: adds its gaps. 0 or -ENOMEM. */
int gaps__begin_generation(struct gaps *g, const struct trace_event *sync);

/*
 * When the record of an event was made that shows the state of a goroutine at `time`: earlier, if the
 * event is late.
 */
int64_t gaps__record(const struct gaps *g, uint64_t goroutine, int64_t time);

/* Time of one goroutine, P or thread. */
struct stretch {
	int64_t from, to;
	bool lost;
};

/*
 * The next stretch of [*from, to) that is known as a whole or lost as a whole, for one whose last
 * record was at `record`; `goroutine`: its id, or TRACE_NO_G. Advances *from to its end. False: there
 * are no more.
 */
bool gaps__next(const struct gaps *g, uint64_t goroutine, int64_t record, int64_t *from, int64_t to,
		struct stretch *ret);
/* The last gap that has begun at `time`, and the first one that ends after it. NULL: there is none. */
const struct gap *gaps__latest(const struct gaps *g, int64_t time);
const struct gap *gaps__first(const struct gaps *g, int64_t time);
/* How much of [from, to) is lost. */
int64_t gaps__lost(const struct gaps *g, uint64_t goroutine, int64_t record, int64_t from,
		   int64_t to);

#endif
