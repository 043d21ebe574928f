/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the state machine's files share: the record that is being applied, and what most kinds ask
 * of the model first.
 *
 * state.c has the table and goroutines; state_syscall.c, state_proc.c, state_runtime.c and
 * state_heap.c have the other kinds.
 */
#ifndef SEQUENCE_STATE_IMPL_H
#define SEQUENCE_STATE_IMPL_H

#include "sequence/model.h"

/* What a record's handler works on. */
struct step {
	struct sequencer *s;
	struct thread *t;
	const struct gt_record *rec;
	const void *payload;
	struct goroutine *g; /* by rec->object, where that is a g; NULL: not known */
	uint64_t time;
	uint64_t told; /* g->told before it */
	bool force;
};

/* The id of the record's stack without its `skip` innermost frames; 0: none. */
uint32_t step__stack(const struct step *st, uint32_t skip);
/* Counts a record that can't be used. */
enum verdict step__drop(const struct step *st);
/* The record's goroutine runs on its thread. */
bool step__is_running(const struct step *st);
/*
 * A current thread whose goroutine runs on a P: what events "in user context" need. Waits or
 * repairs; false with *verdict set when the record can't go on.
 */
bool step__need_running(struct step *st, enum verdict *verdict);
/* The same of a record that names no goroutine, such as GC, STW and procs: it is the thread's. */
bool step__need_user_context(struct step *st, enum verdict *verdict);
bool thread__has_user_context(const struct thread *t);
/* The g struct has another goroutine by now: the end of this one was lost. */
void step__evict(struct step *st, struct goroutine *g);

/* state_syscall.c: the thread's goroutine goes on, with another P than its system call began with. */
void state__resume_on_other_proc(struct sequencer *s, struct thread *t, uint64_t time);

/* state_runtime.c: tells of a collection that began in another generation. */
void gc__active(struct sequencer *s, struct thread *t, uint64_t time);

/* The handlers: DONE, or WAIT and nothing was changed. */
enum verdict apply_syscall_enter(struct step *st);
enum verdict apply_create_syscall(struct step *st);
enum verdict apply_destroy_syscall(struct step *st);
enum verdict apply_syscall_exit(struct step *st);
enum verdict apply_syscall_lost(struct step *st);
enum verdict apply_syscall_no_p(struct step *st);
enum verdict apply_p_start(struct step *st);
enum verdict apply_p_stop(struct step *st);
enum verdict apply_p_handoff(struct step *st);
enum verdict apply_procs(struct step *st);
enum verdict apply_stw_begin(struct step *st);
enum verdict apply_stw_end(struct step *st);
enum verdict apply_gc_begin(struct step *st);
enum verdict apply_gc_end(struct step *st);
enum verdict apply_task_begin(struct step *st);
enum verdict apply_task_end(struct step *st);
enum verdict apply_region(struct step *st);
enum verdict apply_log(struct step *st);
enum verdict apply_assist_begin(struct step *st);
enum verdict apply_assist_end(struct step *st);
enum verdict apply_heap_alloc(struct step *st);
enum verdict apply_heap_goal(struct step *st);
enum verdict apply_sweep_begin(struct step *st);
enum verdict apply_sweep_span(struct step *st);
enum verdict apply_sweep_left(struct step *st);
enum verdict apply_sweep_end(struct step *st);
enum verdict apply_sample(struct step *st);

#endif
