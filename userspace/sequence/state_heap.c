// SPDX-License-Identifier: GPL-2.0
/*
 * Records of the heap: goroutines that help marking, Ps that sweep, how large it is.
 *
 * The runtime's tracer keeps the same few words by goroutine and by P (runtime/traceruntime.go),
 * and writes the same events from them. A range that a loss left open is ended by what its owner
 * can't do in it (range__end_*).
 * Before: state.c. After: checkpoint__emit(), which writes an event as it is.
 */
#include "sequence/state_impl.h"

#include <stddef.h>

#define PAGE 8192 /* the runtime's own, on amd64 */

void range__end_assist(struct sequencer *s, struct thread *t, uint64_t time)
{
	struct goroutine *g = t->g;

	if (!g || !g->in_assist)
		return;
	g->in_assist = false;
	checkpoint__emit(s, t, time, EV_GC_MARK_ASSIST_END, 0, NULL);
}

void range__end_sweep(struct sequencer *s, struct thread *t, uint64_t time)
{
	struct proc *p = t->p;

	if (!p || !p->may_sweep)
		return;
	p->may_sweep = false;
	if (!p->in_sweep)
		return;
	p->in_sweep = false;
	checkpoint__emit(s, t, time, EV_GC_SWEEP_END, 2,
			 (const uint64_t[]){ p->swept, p->reclaimed });
}

enum verdict apply_assist_begin(struct step *st)
{
	struct sequencer *s = st->s;
	uint32_t stack;
	enum verdict v;

	if (!step__need_running(st, &v))
		return v;
	if (st->g->in_assist && s->opts.layout->assist_begins_again)
		return DONE;
	range__end_assist(s, st->t, st->time); /* its end was lost */
	stack = step__stack(st, 0);
	st->g->in_assist = true;
	checkpoint__emit(s, st->t, st->time, EV_GC_MARK_ASSIST_BEGIN, 1,
			 (const uint64_t[]){ stack });
	return DONE;
}

enum verdict apply_assist_end(struct step *st)
{
	enum verdict v;

	/* one that began before the window, or never: no reason to repair anything */
	if (!st->g || (!st->g->in_assist && st->force))
		return DONE;
	if (!step__need_running(st, &v))
		return v;
	range__end_assist(st->s, st->t, st->time);
	return DONE;
}

/*
 * What is written with a P, whatever the goroutine does: who goes into a system call that blocks
 * takes the P again for a moment, to allocate an M. That a thread has a P its own records have said
 * before, so there is nothing to wait for; and it is hardly worth a repair.
 */
static struct proc *proc_of(const struct step *st)
{
	const struct thread *t = st->t;

	if (t->p && t->p->state == PROC_RUNNING)
		return t->p;
	/* its system call's end was not seen */
	if (st->force && t->g && t->g->state == GO_SYSCALL &&
	    repair__running(st->s, st->t, st->time, t->g))
		return t->p;
	if (t->p || t->g) /* else the program is starting, and allocates before it has Ps */
		step__drop(st);
	return NULL;
}

static enum verdict metric(struct step *st, enum ev type, uint64_t value)
{
	if (!proc_of(st))
		return DONE;
	checkpoint__emit(st->s, st->t, st->time, type, 1, &value);
	return DONE;
}

enum verdict apply_heap_alloc(struct step *st)
{
	return metric(st, EV_HEAP_ALLOC, ((const struct gt_value *)st->payload)->value);
}

enum verdict apply_heap_goal(struct step *st)
{
	uint64_t goal = ((const struct gt_value *)st->payload)->value;

	return metric(st, EV_HEAP_GOAL, goal == UINT64_MAX ? 0 : goal);
}

enum verdict apply_sweep_begin(struct step *st)
{
	struct proc *p = proc_of(st);

	if (!p)
		return DONE;
	range__end_sweep(st->s, st->t, st->time); /* its end was lost */
	p->may_sweep = true;
	p->swept = p->reclaimed = 0;
	st->t->swept = (struct gt_span){};
	return DONE;
}

/* The first span begins the range: one that finds nothing to sweep is none. */
enum verdict apply_sweep_span(struct step *st)
{
	const struct gt_span *span = st->payload;
	struct proc *p = proc_of(st);
	uint32_t stack;

	if (!p)
		return DONE;
	st->t->swept = *span;
	if (!p->may_sweep)
		return DONE;
	if (!p->in_sweep) {
		stack = step__stack(st, 0);
		p->in_sweep = true;
		checkpoint__emit(st->s, st->t, st->time, EV_GC_SWEEP_BEGIN, 1,
				 (const uint64_t[]){ stack });
	}
	p->swept += span->bytes;
	return DONE;
}

enum verdict apply_sweep_left(struct step *st)
{
	const struct gt_left *left = st->payload;
	struct gt_span *span = &st->t->swept;
	struct proc *p = proc_of(st);

	if (!p)
		return DONE;
	if (p->may_sweep && span->objects >= left->objects)
		p->reclaimed += (span->objects - left->objects) * span->size;
	/* what was freed has been counted by its spans, which may reach beyond the chunk */
	if (p->may_sweep && span->bytes && !span->size && left->pages <= p->swept / PAGE)
		p->swept -= left->pages * PAGE;
	*span = (struct gt_span){};
	return DONE;
}

enum verdict apply_sweep_end(struct step *st)
{
	if (proc_of(st))
		range__end_sweep(st->s, st->t, st->time);
	return DONE;
}
