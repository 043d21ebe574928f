/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Codes kernel events, the items of a record of private data (gotrace-private(5), records 7 and 8).
 *
 * Upstream: pack/segment.c, with the parts of a record joined. Items that cannot be encoded
 * exactly, because they are invalid or newer than this program, are coded as bytes.
 */
#ifndef PACK_ITEM_MODEL_H
#define PACK_ITEM_MODEL_H

#include "lib/buf.h"
#include "pack/predict.h"

#define ITEMS_THREADS 4096 /* whose last calls are remembered; a power of two */

/* Times of events at which items are likely, ns, ascending as far as the clocks permit. */
struct items_times {
	uint64_t *time;
	size_t n, cap;
	size_t at; /* index of the first one that is not before the last item */
};

struct item_model {
	struct predictor *p; /* borrowed */
	struct items_thread {
		uint32_t call; /* the last one */
		uint8_t kind;  /* of its last item */
	} thread_at[ITEMS_THREADS];
	uint64_t thread, previous;	   /* of the last item; the one before that was another */
	uint64_t other;			   /* that the last item named */
	uint64_t nthreads, last_call;	   /* threads: that the record has introduced */
	uint8_t kind[2];		   /* of the last items */
	struct items_times *begins, *ends; /* of system calls; borrowed */
	uint64_t time;			   /* of the last item, ns */
	/* while a record is coded */
	enum { ITEMS_CHECK, ITEMS_ENCODE, ITEMS_DECODE } mode;
	struct buf in;
	struct outbuf *out;
	bool bad;
	int err;
};

/* `begins` and `ends` are the times of GoSyscallBegin and GoSyscallEnd; borrowed. */
void item_model__init(struct item_model *k, struct predictor *p, struct items_times *begins,
		      struct items_times *ends);
/*
 * Codes a record of `len` bytes: encodes `data`, or decodes and appends it to `out`. `whole`: it
 * begins with its time and size. Returns 0, -ENOMEM, or -EBADMSG if what was decoded is longer.
 */
int item_model__code(struct item_model *k, const void *data, size_t len, bool whole,
		     struct outbuf *out);

#endif
