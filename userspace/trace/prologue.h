/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The statuses that open a generation, collected in any order while it is open, and the one that an
 * empty generation can repeat.
 */
#ifndef TRACE_PROLOGUE_H
#define TRACE_PROLOGUE_H

#include <stdbool.h>

#include "trace/encode.h"
#include "trace/spec.h"

struct status { /* of what runs on a thread */
	uint64_t m, id;
	uint32_t stack;
	uint8_t status;
	bool goroutine; /* else a P */
};

struct prologue {
	struct stream nobody;  /* of all that runs nowhere */
	struct stream threads; /* filled by prologue__write() */
	struct status *list;
	size_t count, cap;
};

void prologue__init(struct prologue *p, struct chunk_pool *pool);
void prologue__deinit(struct prologue *p);
void prologue__open(struct prologue *p, uint32_t gen, uint64_t time); /* empties it, too */

/* 0, -ENOMEM, or -EINVAL for a state that needs a thread without one. */
int prologue__add_proc(struct prologue *p, uint64_t m, uint64_t id, enum trace_proc_status status);
int prologue__add_go(struct prologue *p, uint64_t m, uint64_t id, enum trace_go_status status,
		     uint32_t stack);

/* Ends `nobody` and fills `threads`: a batch or more each thread, its P before its goroutine. */
int prologue__write(struct prologue *p);

/*
 * The witness: one P whose state is followed through all events, so that a generation in which
 * nothing happened can hold a status that is true.
 */
struct witness {
	bool known;
	bool missed; /* a P changed state unseen: statuses of this generation are old */
	uint8_t status;
	uint64_t p, m;
};

void witness__open(struct witness *w); /* a new generation: its statuses are fresh */
void witness__status(struct witness *w, uint64_t m, uint64_t p, enum trace_proc_status status);
void witness__event(struct witness *w, uint64_t m, enum ev type, const uint64_t *args);
bool witness__follows(enum ev type); /* only these need to be passed on */

#endif
