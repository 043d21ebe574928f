/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of the state machine: the record being applied, and conditions that most
 * kinds check first.
 *
 * state.c contains the table of handlers and goroutines; state_syscall.c, state_proc.c,
 * state_runtime.c, state_heap.c, state_user.c, state_calls.c, state_request.c and state_sample.c
 * contain the other kinds.
 */
#ifndef SEQUENCE_STATE_IMPL_H
#define SEQUENCE_STATE_IMPL_H

#include "sequence/sequencer_impl.h"

/* Argument of each handler. */
struct step {
	struct sequencer *s;
	struct thread *t;
	const struct gt_record *rec;
	const void *payload;
	struct goroutine *g; /* found by rec->object; NULL: unknown, or the object is no g */
	uint64_t time;
	uint64_t last_record; /* g->last_record before this record */
	bool force;
};

/* EMIT() for the record's thread and time. */
#define STEP_EMIT(st, type, ...) EMIT((st)->s, (st)->t, (st)->time, type, __VA_ARGS__)
/* The id of the record's stack without its `skip` innermost frames; 0: none. */
uint32_t step__stack(const struct step *st, uint32_t skip);
/*
 * When what a record of the thread shows has happened, at the latest: maybe when it left a CPU, in
 * the trace's ticks no earlier than that switch.
 */
uint64_t state__time(const struct sequencer *s, const struct thread *t,
		     const struct gt_record *rec);
/* Counts a record that cannot be applied. */
enum apply_result step__drop(const struct step *st);
/* Whether the record's goroutine runs on its thread. */
bool step__is_running(const struct step *st);
/*
 * Requires "user context": the record's goroutine runs on its thread, which has a P. Waits or
 * repairs; false with *result set if the record cannot be applied now.
 */
bool step__need_running(struct step *st, enum apply_result *result);
/* The same for records that name no goroutine, such as GC, STW and PROCS: the thread's is meant. */
bool step__need_user_context(struct step *st, enum apply_result *result);
bool thread__has_user_context(const struct thread *t);
/*
 * Whether a record names another goroutine than the struct at its address had. 0: the id could not be
 * read, because the kernel was moving the page (compaction, huge pages); it names the same one.
 */
static inline bool step__is_other(const struct goroutine *g, uint64_t goid)
{
	return goid && goid != g->id;
}

/* The g struct belongs to another goroutine by now: the end of this one was lost. */
void step__evict(struct step *st, struct goroutine *g);

/* state_syscall.c: the goroutine leaves its system call with a P other than the one before. */
void state__resume_on_other_proc(struct sequencer *s, struct thread *t, uint64_t time);

/* state_runtime.c: writes GCActive if the GC began in an earlier generation. */
void gc__active(struct sequencer *s, struct thread *t, uint64_t time);

/*
 * The handlers. WAIT: nothing was changed. One function may handle several kinds. Most kinds whose
 * goroutine is running, according to gotrace/kinds.h, are passed on only if step__need_running().
 */
#define apply_create_blocked		 apply_create
#define apply_syscall_block		 apply_syscall_enter
#define apply_syscall_try_exit		 apply_syscall_exit
#define HANDLER(number, NAME, name, ...) enum apply_result apply_##name(struct step *st);
GT_GO_KINDS(HANDLER)
#undef HANDLER
enum apply_result apply_sample(struct step *st);

#endif
