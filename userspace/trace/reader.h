/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads a trace of any version, event by event, in the order that Go's own reader delivers.
 *
 * Before it in an event's way: lib/input.c (bytes), trace/decode.c (a generation), trace/order.c
 * (what may come next); v1 traces: trace/v1.c and v1_convert.c. After it: the commands. It accepts
 * what golang.org/x/exp/trace accepts and refuses what that refuses (headers 1.5 to 1.10, which
 * that does not know, are read as Go 1.21 did).
 */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include "lib/error.h"
#include "lib/input.h"
#include "trace/event.h"

struct reader;
struct order;

struct reader_opts {
	/*
	 * A broken or cut tail ends the trace instead of failing it; reader__left_out() says what
	 * was left out. A first generation that is no good is an error all the same.
	 */
	bool lenient;
	/*
	 * An event of a type that our table does not have, but the trace's own (trace/describe.h)
	 * has, is passed over and counted instead of breaking the trace.
	 */
	bool described;
	/* v1 headers 1.5 and 1.6: the traced program, to symbolize PCs with; NULL: no names. */
	const char *binary;
};

/*
 * Reads the header. Takes the input over, on failure as well. 0 or a negative errno with the
 * reason: -EPROTONOSUPPORT (no trace, or an unknown version).
 */
int reader__open(struct reader **ret, struct input *in, const struct reader_opts *opts,
		 struct error *err);
void reader__destroy(struct reader *r);

/*
 * The next event: 1; 0 at the end; a negative errno when the trace is broken (-EBADMSG) or reading
 * fails, with place and reason (`err` is not NULL): byte offset, generation, batch and event.
 */
int reader__next(struct reader *r, struct trace_event *ret, struct error *err);

unsigned int reader__version(const struct reader *r); /* 5 … 26, of Go 1.5 … 1.26; 0: "gotrace" */
const char *reader__left_out(const struct reader *r); /* why lenient reading ended early; NULL */

/* How many events of a type were passed over so far, and what the trace says of the type. */
struct described_event;
uint64_t reader__passed_over(const struct reader *r, uint8_t type,
			     const struct described_event **ret);

/* The scheduler's state after the last event; NULL: a v1 trace. */
const struct order *reader__order(const struct reader *r);

/*
 * Where a generation begins, and what a reader that starts there needs to know: what an index
 * (trace/index.c) keeps. Known after the EV_SYNC of a generation was delivered and before the next
 * event is; reader__order() is then the state that the generation starts from. False: it is not.
 */
struct reader_place {
	uint64_t offset;     /* of the generation's first batch */
	uint64_t generation; /* its number */
	int64_t last_time;   /* of the event delivered before the sync; 0: none */
	unsigned int syncs;  /* delivered before it */
};
bool reader__place(const struct reader *r, struct reader_place *ret);

/*
 * Goes on from there: a reader just opened on a seekable input; `state` is what
 * reader__order() was then, and becomes the reader's (it is left empty). The sync is delivered again.
 * 0 or a negative errno with the reason (v1 traces and pipes cannot).
 */
int reader__resume(struct reader *r, const struct reader_place *place, struct order *state,
		   struct error *err);

#endif
