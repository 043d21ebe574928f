/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads a trace of any version and returns its events in the order of Go's own reader.
 *
 * Upstream: lib/input.c (bytes), reader/decode.c (generations), reader/order.c (order); for v1
 * traces v1/v1.c and v1/v1_convert.c. Downstream: the commands. It accepts and rejects the same
 * traces as golang.org/x/exp/trace, and in addition accepts headers 1.5 to 1.10 as Go 1.21 did.
 */
#ifndef READER_H
#define READER_H

#include "format/event.h"
#include "lib/error.h"
#include "lib/input.h"

struct reader;
struct order;

struct reader_opts {
	/*
	 * A truncated or corrupt tail ends the trace without an error; reader__left_out() returns
	 * the reason. An error in the first generation is returned nevertheless.
	 */
	bool lenient;
	/*
	 * Events that only the trace's own table (format/describe.h) contains are skipped and
	 * counted instead of making the trace invalid.
	 */
	bool described;
	/*
	 * Deliver what Go's reader delivers: without the clocks and stacks that only the private data
	 * of headers before 1.25 contains. For comparisons with that reader.
	 */
	bool as_go;
	/* v1 headers 1.5 and 1.6: executable of the target, to symbolize PCs; NULL: no names. */
	const char *binary;
};

/*
 * Reads the header. Takes ownership of the input, even on failure. Returns 0 or a negative errno
 * with a message: -EPROTONOSUPPORT (not a trace, or an unknown version).
 */
int reader__open(struct reader **ret, struct input *in, const struct reader_opts *opts,
		 struct error *error);
void reader__destroy(struct reader *r);

/*
 * Returns 1 with the next event; 0 at the end; or a negative errno: -EBADMSG if the trace is
 * invalid, or an error of reading. The message (`error` is not NULL) contains byte offset,
 * generation, batch and event.
 */
int reader__next(struct reader *r, struct trace_event *ret, struct error *error);

unsigned int reader__version(const struct reader *r); /* 5 to 26 for Go 1.5 to 1.26; 0: "gotrace" */
/* Why lenient reading ended early; else NULL. */
const char *reader__left_out(const struct reader *r);

/* Number of events of a type skipped so far, and the trace's description of the type. */
struct described_event;
uint64_t reader__skipped(const struct reader *r, uint8_t type, const struct described_event **ret);

/* State of the scheduler after the last event; NULL for a v1 trace. */
const struct order *reader__order(const struct reader *r);

/*
 * Start of a generation, and what a reader needs to resume there; an index stores it
 * (reader/index.c). reader__place() returns it between the EV_SYNC of a generation and the next
 * event, while reader__order() is the initial state of the generation; otherwise it returns false.
 */
struct reader_place {
	uint64_t offset;     /* of the first batch */
	uint64_t generation; /* number of the generation */
	int64_t last_time;   /* of the event before the sync; 0: none */
	unsigned int syncs;  /* number delivered before it */
};
bool reader__place(const struct reader *r, struct reader_place *ret);

/*
 * Resumes at `place`; call it on a reader just opened on a seekable input. Moves `state`, which
 * reader__order() returned there, into the reader. The sync is delivered again. Returns 0 or a
 * negative errno with a message (v1 traces and pipes cannot resume).
 */
int reader__resume(struct reader *r, const struct reader_place *place, struct order *state,
		   struct error *error);

#endif
