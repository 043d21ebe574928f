/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Predicts the numbers of timed events.
 *
 * Upstream: pack/segment.c, which passes the events of all threads merged by time. The model
 * follows the scheduler as far as predictions need it: which goroutine a thread runs and on which
 * P, the sequence numbers, which goroutines are ready, and what a goroutine did before. It is not a
 * check: every event of every trace can be encoded, and what is unusual takes more bytes.
 */
#ifndef PACK_EVENT_MODEL_H
#define PACK_EVENT_MODEL_H

#include <stdint.h>

#include "format/spec.h"
#include "pack/predict.h"

#define MODEL_NONE  UINT64_MAX /* no goroutine, no P */
#define MODEL_READY 32	       /* goroutines that are remembered as ready */

struct model_event {
	uint8_t type;		      /* 0: the batch ends */
	uint64_t number[EV_ARGS_MAX]; /* dt and the arguments */
};

struct model_thread {
	uint64_t m, g, p;
	uint64_t stack;	 /* of the last event that had one */
	uint8_t last[3]; /* types of the last events */
};

struct model_goroutine {
	uint64_t seq, stack, last_woken, next;
	uint8_t type;
};

struct event_model {
	struct predictor *p;					/* borrowed */
	struct model_goroutine *goroutine;			/* by hash of its ID */
	unsigned int log2;					/* of their number */
	uint64_t proc_seq[256], proc_m[256], last_created[256]; /* by the lowest bits of the P */
	uint64_t max_g, max_stack, last[EV_COUNT][EV_ARGS_MAX];
	struct ready {
		uint64_t g, p;
	} ready[MODEL_READY]; /* the oldest first */
	unsigned int nready;
};

/* log2: 10 to 20, of the number of goroutines. Returns 0 or -ENOMEM. */
int event_model__init(struct event_model *m, struct predictor *p, unsigned int log2);
void event_model__deinit(struct event_model *m);
/* Whether an event of this type has dt and is supported. */
bool event_model__supports(unsigned int type);

/*
 * Encodes or decodes the type, the stack and dt of the next event of the thread; and then, when it
 * is the earliest event of all threads, the other arguments.
 */
void event_model__begin_event(struct event_model *m, struct model_thread *t, struct model_event *e);
void event_model__end_event(struct event_model *m, struct model_thread *t, struct model_event *e);

#endif
