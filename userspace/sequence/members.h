/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Members of tasks: with `record --inherit` a goroutine that is created in the task of a call or
 * request belongs to that task. It has a region of the task, named after its start function, around
 * all its others, from its first execution until it ends. If the task ends earlier, the region ends at
 * the next event at which the goroutine runs and has no other region open.
 *
 * Upstream: state.c (creations) and transition.c. Downstream: open_regions.c.
 */
#ifndef SEQUENCE_MEMBERS_H
#define SEQUENCE_MEMBERS_H

#include <stdint.h>

struct goroutine;
struct regions;
struct sequencer;
struct thread;

/* The thread has created g: it belongs to the innermost task of the thread's goroutine, if any. */
void members__created(struct sequencer *s, const struct thread *t, struct goroutine *g);
/* The thread's goroutine has begun to run. */
void members__run(struct sequencer *s, struct thread *t, uint64_t time);
/* The thread's goroutine runs, and is about to stop: ends its membership if its task has ended. */
void members__leave(struct sequencer *s, struct thread *t, uint64_t time);
/* The goroutine of `r` ends without having run. */
void members__forget(struct sequencer *s, struct regions *r);

#endif
