/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Leaves out system calls that are shorter than a threshold (`--min-duration syscall:TIME`).
 *
 * The model of goroutines, threads and Ps applies each call, as without a threshold; only the output
 * differs. The begin event of a goroutine's call, with the time that it would have had, is held back
 * in its thread until the call ends. It is written before any other event of that thread, before
 * another thread takes the P, and at the end of a generation; so a call is left out only if
 * the goroutine kept its P and did nothing else.
 *
 * Whether the kernel events of a system call are left out depends only on the time between them, also
 * for calls that no goroutine made; they remain if the goroutine's begin is written meanwhile. They
 * are written in the order of time: those after an undecided begin wait in a queue.
 *
 * Upstream: transition.c, boundary.c and kernel_events.c. Downstream: boundary.c, and the private
 * data of the generation, which state what was left out.
 */
#ifndef SEQUENCE_SHORT_CALLS_H
#define SEQUENCE_SHORT_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/private.h"
#include "lib/map.h"

struct kernel_item;
struct sequencer;
struct thread;

/* A begin that is not written yet. */
struct held_begin {
	uint64_t time; /* as in the trace */
	uint32_t stack;
	bool held;
};

struct queued_item;

struct short_calls {
	struct private_short sum; /* of the open generation; min_ns 0: nothing is left out */
	/* A ring of `cap` items, a power of two, at positions head ... tail - 1, modulo `cap`. */
	struct queued_item *queue;
	size_t cap;
	uint64_t head, tail;
	struct map undecided; /* tid: position + 1 of the begin of its call */
};

/* The goroutine of `t` begins a system call: writes the event, or holds it back. */
void short_calls__begin(struct sequencer *s, struct thread *t, uint64_t time, uint32_t stack);
/* The call ends with the P. True: the begin was held back, and neither event is written. */
bool short_calls__end(struct sequencer *s, struct thread *t, uint64_t time);
/* Writes the begin that is held back, if any: something happens during the call. */
void short_calls__show(struct sequencer *s, struct thread *t);
/* Adds a kernel event of the open generation, in the order of time. Returns 0 or -ENOMEM. */
int short_calls__item(struct sequencer *s, const struct kernel_item *item);
/* Writes all that is held back, and what was left out. Returns 0 or a negative errno. */
int short_calls__end_generation(struct sequencer *s);
void short_calls__deinit(struct sequencer *s);

#endif
