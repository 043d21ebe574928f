// SPDX-License-Identifier: GPL-2.0
/*
 * Records of what the runtime does besides scheduling: stops of the world, garbage collection.
 *
 * Before: state.c. After: checkpoint__emit(), which writes an event as it is.
 */
#include "sequence/state_impl.h"

#include <stddef.h>

enum verdict apply_stw_begin(struct step *st)
{
	const struct gt_value *reason = st->payload;
	struct sequencer *s = st->s;
	unsigned int value =
		s->opts.layout->stw_by_caller ?
			stacks__lookup(s->stacks, st->rec->stack, st->time, layout__stw_caller) :
			(unsigned int)reason->value;
	const char *why = layout__stw_reason(s->opts.layout, value);
	uint32_t stack;
	enum verdict v;

	if (!step__need_user_context(st, &v))
		return v;
	if (s->stw)
		repair__end_stw(s, st->time);
	if (st->t->g->in_stw)
		return step__drop(st);
	stack = step__stack(st, s->opts.layout->skips.stw_begin);
	s->stw = st->t->g;
	s->stw_name = intern__cstring(s->opts.intern, why);
	checkpoint__emit(s, st->t, st->time, EV_STW_BEGIN, 2,
			 (const uint64_t[]){ s->stw_name, stack });
	return DONE;
}

enum verdict apply_stw_end(struct step *st)
{
	struct sequencer *s = st->s;

	/* begun before the window, or by a goroutine that the model has lost */
	if (!s->stw || s->stw != st->t->g)
		return DONE;
	if (!thread__has_user_context(st->t))
		return st->force ? step__drop(st) : WAIT;
	repair__end_stw(s, st->time);
	return DONE;
}

/* One that ran before the window is not told of: gotraceui can't read its end without a begin. */
void gc__active(struct sequencer *s, struct thread *t, uint64_t time)
{
	s->gc_active_due = false;
	checkpoint__emit(s, t, time, EV_GC_ACTIVE, 1, (const uint64_t[]){ ++s->gc_seq });
}

enum verdict apply_gc_begin(struct step *st)
{
	struct sequencer *s = st->s;
	uint32_t stack;
	enum verdict v;

	if (!step__need_user_context(st, &v))
		return v;
	if (s->gc_running) /* the end was lost */
		checkpoint__emit(s, st->t, st->time, EV_GC_END, 1,
				 (const uint64_t[]){ ++s->gc_seq });
	s->gc_running = true;
	s->gc_active_due = false;
	stack = step__stack(st, s->opts.layout->skips.gc_begin);
	checkpoint__emit(s, st->t, st->time, EV_GC_BEGIN, 2,
			 (const uint64_t[]){ ++s->gc_seq, stack });
	return DONE;
}

enum verdict apply_gc_end(struct step *st)
{
	struct sequencer *s = st->s;
	enum verdict v;

	if (!s->gc_running) /* begun before the window */
		return DONE;
	if (!step__need_user_context(st, &v))
		return v;
	s->gc_running = s->gc_active_due = false;
	checkpoint__emit(s, st->t, st->time, EV_GC_END, 1, (const uint64_t[]){ ++s->gc_seq });
	return DONE;
}
