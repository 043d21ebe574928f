// SPDX-License-Identifier: GPL-2.0
/*
 * Records of the runtime other than scheduling: stop-the-world pauses and garbage collection.
 * Upstream: state.c. Downstream: boundary__emit().
 */
#include "sequence/boundary.h"
#include "sequence/repair.h"
#include "sequence/state_impl.h"

enum apply_result apply_stw_begin(struct step *st)
{
	const struct gt_value *reason = st->payload;
	struct sequencer *s = st->s;
	unsigned int value =
		s->opts.layout->stw_by_caller ?
			stacks__lookup(s->stacks, st->rec->stack, st->time, layout__stw_caller) :
			(unsigned int)reason->value;
	const char *why = layout__stw_reason(s->opts.layout, value);
	uint32_t stack;
	enum apply_result result;

	if (!step__need_user_context(st, &result))
		return result;
	if (s->runtime.stw)
		repair__end_stw(s, st->time);
	if (st->t->g->in_stw)
		return step__drop(st);
	stack = step__stack(st, s->opts.layout->skips.stw_begin);
	s->runtime.stw = st->t->g;
	s->runtime.stw_name = intern__cstring(s->opts.intern, why);
	STEP_EMIT(st, EV_STW_BEGIN, s->runtime.stw_name, stack);
	return DONE;
}

enum apply_result apply_stw_end(struct step *st)
{
	struct sequencer *s = st->s;

	/* begun before the window, or by a goroutine that is not in the model */
	if (!s->runtime.stw || s->runtime.stw != st->t->g)
		return DONE;
	if (!thread__has_user_context(st->t))
		return st->force ? step__drop(st) : WAIT;
	repair__end_stw(s, st->time);
	return DONE;
}

/* A GC from before the window is not reported: gotraceui cannot read its end without a begin. */
void gc__active(struct sequencer *s, struct thread *t, uint64_t time)
{
	s->runtime.gc_active_due = false;
	EMIT(s, t, time, EV_GC_ACTIVE, ++s->runtime.gc_seq);
}

enum apply_result apply_gc_begin(struct step *st)
{
	struct sequencer *s = st->s;
	enum apply_result result;

	if (!step__need_user_context(st, &result))
		return result;
	if (s->runtime.gc_running) /* the end was lost */
		STEP_EMIT(st, EV_GC_END, ++s->runtime.gc_seq);
	s->runtime.gc_running = true;
	s->runtime.gc_active_due = false;
	s->runtime.gc_seq++;
	STEP_EMIT(st, EV_GC_BEGIN, s->runtime.gc_seq,
		  step__stack(st, s->opts.layout->skips.gc_begin));
	return DONE;
}

enum apply_result apply_gc_end(struct step *st)
{
	struct sequencer *s = st->s;
	enum apply_result result;

	if (!s->runtime.gc_running) /* begun before the window */
		return DONE;
	if (!step__need_user_context(st, &result))
		return result;
	s->runtime.gc_running = s->runtime.gc_active_due = false;
	STEP_EMIT(st, EV_GC_END, ++s->runtime.gc_seq);
	return DONE;
}
