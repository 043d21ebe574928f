/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by reader.c and reader_generation.c, which read a trace from its start to its end, and
 * parallel.c, which lets several readers read one generation each.
 */
#ifndef READER_READER_IMPL_H
#define READER_READER_IMPL_H

#include "format/gosort.h"
#include "lib/buf.h"
#include "lib/heap.h"
#include "reader/decode.h"
#include "reader/order.h"
#include "reader/reader.h"

struct cursor {
	uint64_t offset;	      /* of its batch */
	struct order_event ev;	      /* the thread's next event */
	uint64_t number[EV_ARGS_MAX]; /* dt, and the arguments that `ev` points to */
	struct order_place at;
	struct buf data;	    /* rest of the batch after the event */
	int64_t last;		    /* ns, of the event; 0: at the start of a batch */
	const unsigned char *start; /* first byte of the event */
	struct gen_thread *thread;
	size_t batch; /* index in the thread; SIZE_MAX: before the first */
	/* Where the data of batches is released after their last event; NULL: nowhere. */
	struct generation *release;
};

/* The cursors with an event, by its time. */
static inline bool cursor_heap__is_earlier(const struct gosort_item *a, const struct gosort_item *b)
{
	return a->time < b->time;
}

DEFINE_HEAP(cursor_heap, struct gosort_item, cursor_heap__is_earlier)

struct reader {
	struct input *in;
	struct reader_opts opts;
	unsigned int version;
	struct v1 *v1; /* NULL: a v2 trace */
	struct decoder *decoder;
	struct block_pool own_blocks, *blocks; /* of the generations */
	struct generation gen;
	struct order order;
	struct cursor *cursors;
	struct gosort_item *heap; /* by time; what: a struct cursor */
	size_t nheap, cursors_cap;
	size_t sample;	      /* index of the next CPU sample */
	uint64_t generations; /* number begun so far */
	unsigned int extra;   /* index of the next in order.extra */
	int64_t last_time;
	struct trace_sync sync;
	struct reader_place place;
	bool at_sync, done;
	int (*next)(struct reader *r, struct trace_event *ret, struct error *error);
	struct description *description; /* of the trace, if opts.described */
	uint64_t *skipped;		 /* number by type; NULL without a description */
	uint8_t nargs[256];		 /* by type, dt included; 0: not a timed event */
	int pending;			 /* error to return next, with pending_reason */
	struct error pending_reason;
	/*
	 * For parallel.c and push.c, see there. `part`: end with the generation. `given`: the result of the
	 * decoder, for the next generation, is in gen, given_result and pending_reason. `followed`:
	 * the decoder has read beyond the generation, or is not known here. `release`: batches are
	 * released once they have been read.
	 */
	bool part, given, followed, release;
	bool pushed;   /* the next generation comes with reader__push() */
	bool overflow; /* a time was greater than INT64_MAX */
	int given_result;
	struct error left_out;
	struct error reason; /* of the order, without the position */
};

/*
 * Prepares a reader for generations that are decoded elsewhere into its `gen`. `like` was opened by
 * reader__open() on a v2 trace, and lends its blocks. NULL: out of memory.
 */
struct reader *reader__create_part(struct reader *like);

/*
 * The next generation was decoded elsewhere, into r->gen, with `result` of the decoder; if that is
 * negative, *reason is why. The generation before has been read to its end, or elsewhere.
 */
void reader__give(struct reader *r, int result, const struct error *reason);

/*
 * Makes the state of the order that of the start of the reader's generation, as far as its events show it.
 * Returns 0, -ENOMEM, or -EBADMSG if they contradict each other.
 */
int reader__guess(struct reader *r);

/*
 * Begins the next generation and delivers its sync event, or ends the trace with a last one. Returns
 * 1, 0 at the end of a part, or a negative errno.
 */
int reader__next_generation(struct reader *r, struct trace_event *ret, struct error *error);

/* Decodes the next event of the thread, if any. Returns 1, 0 at the end, or a negative errno. */
int cursor__next(const struct reader *r, struct cursor *c, struct error *error);

/* Prepares a cursor in front of the first event of a thread. */
void cursor__init(struct cursor *c, const struct generation *gen, struct gen_thread *thread);

#endif
