/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Repairs after a loss: each function makes one condition true with the fewest transitions.
 * Upstream: state*.c and resync.c. Downstream: transition.c.
 */
#ifndef SEQUENCE_REPAIR_H
#define SEQUENCE_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

struct goroutine;
struct proc;
struct sequencer;
struct thread;

void repair__free_thread(struct sequencer *s, struct thread *t, uint64_t time);
void repair__free_proc(struct sequencer *s, struct thread *t, uint64_t time, struct proc *p);
bool repair__need_proc(struct sequencer *s, struct thread *t, uint64_t time);
bool repair__runnable(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g);
bool repair__waiting(struct sequencer *s, uint64_t time, struct goroutine *g);
bool repair__running(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g);
struct goroutine *repair__unknown(struct sequencer *s, struct thread *t, uint64_t time,
				  uint64_t addr, uint64_t goid);
void repair__end_stw(struct sequencer *s, uint64_t time);

#endif
