/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the decoder share: decode.c (batches and generations), decode_tables.c (what is in
 * a batch of strings, stacks, CPU samples, clocks); and align/write.c, which copies batches.
 */
#ifndef TRACE_DECODE_IMPL_H
#define TRACE_DECODE_IMPL_H

#include "lib/buf.h"
#include "trace/decode.h"

struct batch {
	uint64_t gen, m, time;
	uint64_t offset, head; /* where it begins, and how long its header is */
	struct buf data;
	uint8_t experiment;
	bool end_of_generation;
	bool ended; /* number() found nothing left */
};

struct decoder {
	struct input *in;
	unsigned int version;
	uint64_t batch; /* number of the batch being read, in its generation */
	bool ended;
	int pending; /* what to return next: an error behind a good generation */
	struct error reason;
};

/*
 * Sets the reason with the place where the batch's reading stands; `event` counts from 1, 0: none.
 * -EBADMSG.
 */
__attribute__((format(printf, 5, 6))) int batch__broken(struct error *err, const struct decoder *d,
							const struct batch *b, uint64_t event,
							const char *fmt, ...);

/*
 * Shows the next batch, which stays in the input's window until it is consumed. 1; 0: the trace
 * ends here; a negative errno.
 */
int batch__peek(struct decoder *d, struct batch *b, struct error *err);
void batch__consume(struct decoder *d, const struct batch *b);

#define BATCH_TRACE_ENDS 1 /* the trace ends here for Go's reader, without its last generation */

/* Of a batch of that kind into the generation. 0, BATCH_TRACE_ENDS, or a negative errno. */
int batch__read_strings(struct decoder *d, struct generation *g, struct batch *b,
			struct error *err);
int batch__read_stacks(struct decoder *d, struct generation *g, struct batch *b, struct error *err);
int batch__read_samples(struct decoder *d, struct generation *g, struct batch *b,
			struct error *err);
int batch__read_sync(struct decoder *d, struct generation *g, struct batch *b, struct error *err);

int generation__sort_samples(struct generation *g); /* makes their times ns; 0 or -ENOMEM */

#endif
