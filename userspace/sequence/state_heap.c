// SPDX-License-Identifier: GPL-2.0
/*
 * Records of the heap: mark assists, sweeping, and the size of the heap.
 *
 * The runtime's tracer keeps the same data per goroutine and per P (runtime/traceruntime.go), and
 * writes the same events. A range that a loss left open is ended by an event that cannot occur
 * within it (range__end_*). Upstream: state.c. Downstream: boundary__emit().
 */
#include "sequence/boundary.h"
#include "sequence/repair.h"
#include "sequence/state_impl.h"

#include <stddef.h>

#include "writer/private_write.h"

void range__end_assist(struct sequencer *s, struct thread *t, uint64_t time)
{
	struct goroutine *g = t->g;

	if (!g || !g->in_assist)
		return;
	g->in_assist = false;
	EMIT(s, t, time, EV_GC_MARK_ASSIST_END);
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
	EMIT(s, t, time, EV_GC_SWEEP_END, p->swept, p->reclaimed);
}

enum apply_result apply_assist_begin(struct step *st)
{
	if (st->g->in_assist && st->s->opts.layout->assist_begins_again)
		return DONE;
	range__end_assist(st->s, st->t, st->time); /* its end was lost */
	st->g->in_assist = true;
	STEP_EMIT(st, EV_GC_MARK_ASSIST_BEGIN, step__stack(st, 0));
	return DONE;
}

enum apply_result apply_assist_end(struct step *st)
{
	enum apply_result result;

	/* it began before the window, or never: repairs nothing */
	if (!st->g || (!st->g->in_assist && st->force))
		return DONE;
	if (!step__need_running(st, &result))
		return result;
	range__end_assist(st->s, st->t, st->time);
	return DONE;
}

/*
 * The P with which the event is written, whatever the goroutine does: a goroutine that enters a
 * blocking system call takes its P again for a moment, to allocate an M. Earlier records of the
 * thread have shown that it has a P, so there is nothing to wait for, and a repair is not
 * worthwhile.
 */
static struct proc *proc_of(const struct step *st)
{
	const struct thread *t = st->t;

	if (t->p && t->p->state == PROC_RUNNING)
		return t->p;
	/* the end of its system call is missing */
	if (st->force && t->g && t->g->state == GO_SYSCALL &&
	    repair__running(st->s, st->t, st->time, t->g))
		return t->p;
	if (t->p || t->g) /* else the program is starting, and allocates before it has Ps */
		step__drop(st);
	return NULL;
}

static enum apply_result metric(struct step *st, enum ev type, uint64_t value)
{
	if (proc_of(st))
		STEP_EMIT(st, type, value);
	return DONE;
}

enum apply_result apply_heap_alloc(struct step *st)
{
	return metric(st, EV_HEAP_ALLOC, ((const struct gt_value *)st->payload)->value);
}

/* The first one states it in the trace. */
enum apply_result apply_heap_sample(struct step *st)
{
	struct sequencer *s = st->s;

	if (!s->runtime.heap_sampled) {
		s->runtime.heap_sampled = true;
		boundary__note(s, private__number(s->opts.writer, PRIVATE_SAMPLED, st->time));
	}
	return apply_heap_alloc(st);
}

enum apply_result apply_heap_goal(struct step *st)
{
	uint64_t goal = ((const struct gt_value *)st->payload)->value;

	return metric(st, EV_HEAP_GOAL, goal == UINT64_MAX ? 0 : goal);
}

enum apply_result apply_sweep_begin(struct step *st)
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

/* The first span begins the range: sweeping that finds nothing makes no range. */
enum apply_result apply_sweep_span(struct step *st)
{
	const struct gt_span *span = st->payload;
	struct proc *p = proc_of(st);

	if (!p)
		return DONE;
	st->t->swept = *span;
	if (!p->may_sweep)
		return DONE;
	if (!p->in_sweep) {
		p->in_sweep = true;
		STEP_EMIT(st, EV_GC_SWEEP_BEGIN, step__stack(st, 0));
	}
	p->swept += span->bytes;
	return DONE;
}

enum apply_result apply_sweep_left(struct step *st)
{
	const struct gt_left *left = st->payload;
	struct gt_span *span = &st->t->swept;
	struct proc *p = proc_of(st);

	if (!p)
		return DONE;
	if (p->may_sweep && span->objects >= left->objects)
		p->reclaimed += (span->objects - left->objects) * span->size;
	/* the spans counted what was freed, which may extend beyond the chunk */
	if (p->may_sweep && span->bytes && !span->size && left->pages <= p->swept / GT_PAGE)
		p->swept -= left->pages * GT_PAGE;
	*span = (struct gt_span){};
	return DONE;
}

enum apply_result apply_sweep_end(struct step *st)
{
	if (proc_of(st))
		range__end_sweep(st->s, st->t, st->time);
	return DONE;
}
