/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by segment.c, which codes the batches of a segment, and segment_events.c, which codes the
 * timed events in them.
 */
#ifndef PACK_SEGMENT_IMPL_H
#define PACK_SEGMENT_IMPL_H

#include "pack/item_model.h"
#include "pack/event_model.h"
#include "pack/segment.h"

/* What a segment consists of. The values are part of the file format. */
enum piece_kind {
	PIECE_EVENTS, /* a batch of timed events */
	PIECE_STRINGS,
	PIECE_STACKS,
	PIECE_BATCH, /* another batch: the data is coded as bytes */
	PIECE_END,   /* the event EndOfGeneration, without a batch */
	PIECE_BYTES, /* not a batch: bytes up to the end of the segment */
};

struct piece {
	uint8_t kind;	    /* enum piece_kind */
	uint8_t experiment; /* 0: an EventBatch; else an ExperimentalBatch, of that number */
	uint8_t size_len;   /* bytes of the size in the header, which may be padded */
	uint64_t gen, m, time;
	size_t at, len; /* of the data: in the segment, or where it was decoded */
	size_t thread;	/* EVENTS: index of the thread */
	size_t next;	/* EVENTS: index of its next piece; SIZE_MAX: none */
};

struct segment {
	struct predictor p;
	struct piece *piece;
	size_t n, cap;
	const unsigned char *data; /* to encode: the segment */
	size_t max;		   /* bytes that are decoded at most */
	struct outbuf other;	   /* decoded: data of BATCH and BYTES */
	struct segment_thread *thread;
	size_t nthreads, threads_cap;
	struct map thread_by_m;		 /* index + 1 */
	struct items_times begins, ends; /* of system calls */
};

struct segment_thread {
	struct model_thread model;
	size_t piece, last; /* indices: of the present piece, of the last one */
	bool open;	    /* the present piece has begun */
	uint64_t time;	    /* ticks, of `event` or of the beginning of the piece */
	struct model_event event;
	struct buf in;	   /* to encode: the rest of the piece */
	struct outbuf out; /* decoded: the data of all pieces of this thread */
};

/* Whether a batch can be encoded as events and decoded to the same bytes. */
bool segment__are_events(const void *data, size_t len);
/* Adds a piece with events to those of its thread. Returns 0 or -ENOMEM. */
int segment__add_to_thread(struct segment *s, size_t i);
/*
 * Codes all events, ordered by time, and stores the times of system calls. Returns 0, -ENOMEM or
 * -EBADMSG.
 */
int segment__code_events(struct segment *s);

#endif
