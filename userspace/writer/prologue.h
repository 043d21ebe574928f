/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The statuses at the start of a generation, collected in any order while it is open, and the
 * status that a generation without events repeats.
 *
 * Used by writer/writer.c.
 */
#ifndef WRITER_PROLOGUE_H
#define WRITER_PROLOGUE_H

#include <stdbool.h>

#include "format/encode.h"
#include "format/spec.h"

/* The status of a P or goroutine that is on a thread. */
struct prologue_status {
	uint64_t m, id;
	uint32_t stack;
	uint8_t status;
	bool goroutine; /* false: a P */
};

struct prologue {
	struct stream threadless; /* statuses without a thread */
	struct stream threads;	  /* filled by prologue__write() */
	struct prologue_status *list;
	size_t count, cap;
};

void prologue__init(struct prologue *p, struct chunk_pool *pool);
void prologue__deinit(struct prologue *p);
void prologue__open(struct prologue *p, uint32_t gen,
		    uint64_t time); /* also removes all statuses */

/* Return 0, -ENOMEM, or -EINVAL if the state requires a thread and m is TRACE_NO_M. */
int prologue__add_proc(struct prologue *p, uint64_t m, uint64_t id, enum trace_proc_status status);
int prologue__add_go(struct prologue *p, uint64_t m, uint64_t id, enum trace_go_status status,
		     uint32_t stack);

/* Ends `threadless` and fills `threads`: batches per thread, its P before its goroutine. */
int prologue__write(struct prologue *p);

/*
 * One P whose state is tracked through all events, so that a generation without events can contain
 * a correct status.
 */
struct tracked_p {
	bool known;
	bool missed; /* a P changed state before: statuses may be outdated */
	uint8_t status;
	uint64_t p, m;
};

void tracked_p__open(struct tracked_p *w); /* at a new generation, whose statuses are current */
void tracked_p__status(struct tracked_p *w, uint64_t m, uint64_t p, enum trace_proc_status status);
void tracked_p__event(struct tracked_p *w, uint64_t m, enum ev type, const uint64_t *args);
bool tracked_p__needs(enum ev type); /* other events need not be passed */

#endif
