/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The legal transitions of goroutines and Ps: each changes the model and writes the trace event.
 * The caller has checked that the transition is legal. Upstream: state*.c, repair.c and resync.c.
 * Downstream: boundary.c.
 */
#ifndef SEQUENCE_TRANSITION_H
#define SEQUENCE_TRANSITION_H

#include <stdbool.h>
#include <stdint.h>

struct goroutine;
struct proc;
struct sequencer;
struct thread;

void go__create(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g,
		bool blocked, uint32_t start, uint32_t stack);
void go__create_syscall(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g);
void go__destroy_syscall(struct sequencer *s, struct thread *t, uint64_t time);
void go__start(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g);
void go__stop(struct sequencer *s, struct thread *t, uint64_t time, const char *why,
	      uint32_t stack);
void go__block(struct sequencer *s, struct thread *t, uint64_t time, const char *why,
	       uint32_t stack);
void go__unblock(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g,
		 uint32_t stack);
void go__destroy(struct sequencer *s, struct thread *t, uint64_t time);
void go__switch(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *next,
		bool exits);
void go__syscall_begin(struct sequencer *s, struct thread *t, uint64_t time, uint32_t stack);
void go__syscall_end_blocked(struct sequencer *s, struct thread *t, uint64_t time);
void go__syscall_end(struct sequencer *s, struct thread *t, uint64_t time);
/* Writes the number of Ps. A reader accepts it only of a thread with a running goroutine. */
void proc__count(struct sequencer *s, struct thread *t, uint64_t time);
/*
 * The number of Ps for what begins now, a window or a file: of the first thread with a running
 * goroutine or, if there is none, of the next goroutine to start.
 */
void proc__begin_count(struct sequencer *s, uint64_t time);
void proc__start(struct sequencer *s, struct thread *t, uint64_t time, struct proc *p);
void proc__stop(struct sequencer *s, struct thread *t, uint64_t time);
void proc__steal(struct sequencer *s, struct thread *t, uint64_t time, struct proc *p);

#endif
