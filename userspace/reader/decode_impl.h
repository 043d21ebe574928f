/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of the decoder: decode.c (batches and generations), decode_tables.c (string,
 * stack and sample tables, clocks). align/write.c uses it to copy batches.
 */
#ifndef READER_DECODE_IMPL_H
#define READER_DECODE_IMPL_H

#include "lib/buf.h"
#include "reader/decode.h"

struct batch {
	uint64_t gen, m, time;
	uint64_t offset, head; /* position in the trace; length of the batch header */
	struct buf data;
	uint8_t experiment;
	bool end_of_generation;
	bool ended; /* the batch ended where a number was expected */
};

struct decoder {
	struct input *in;
	unsigned int version;
	uint64_t batch; /* number of the present batch in its generation */
	bool ended, as_go;
	int pending; /* error to return after a valid generation */
	struct error reason;
};

/*
 * Sets an error with the present position in the batch. `event` counts from 1; 0: not in an event.
 * Returns -EBADMSG.
 */
__attribute__((format(printf, 5, 6))) int batch__broken(struct error *error,
							const struct decoder *d,
							const struct batch *b, uint64_t event,
							const char *fmt, ...);

/*
 * Parses the next batch, which stays in the window of the input until it is consumed. Returns 1, 0
 * at the end of the trace, or a negative errno.
 */
int batch__peek(struct decoder *d, struct batch *b, struct error *error);
void batch__consume(struct decoder *d, const struct batch *b);

#define BATCH_TRACE_ENDS 1 /* like Go's reader: end of the trace, the last generation is dropped */

/* Adds the entries, all of `type`: EV_STRING, EV_STACK or EV_CPU_SAMPLE. Returns as below. */
int batch__read_table(struct decoder *d, struct generation *g, struct batch *b, enum ev type,
		      struct error *error);
/* Sets the clocks. Returns 0, BATCH_TRACE_ENDS or a negative errno. */
int batch__read_sync(struct decoder *d, struct generation *g, struct batch *b, struct error *error);

/*
 * Adds what the header's version has no event for, from private data: clocks, and the stacks of
 * statuses. What is corrupt is left out. Returns 0 or -ENOMEM.
 */
int generation__add_private(struct generation *g, unsigned int version);

int generation__sort_samples(struct generation *g); /* also converts times to ns; 0 or -ENOMEM */

#endif
