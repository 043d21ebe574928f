// SPDX-License-Identifier: GPL-2.0
/*
 * The G/M/P state machine: one record in, legal transitions out.
 *
 * Each function below handles one kind of record: it checks what must be true first (WAIT when it
 * isn't, or a repair when forced) and then makes the transitions that the runtime's own tracer would
 * have written at that point. Here are goroutines; system calls, Ps and the runtime's own doings
 * have files of their own (state_impl.h).
 * Before: merge.c, sequencer.c (hold-back). After: transition.c; against losses: repair.c.
 */
#include "sequence/state_impl.h"

#define SKEW_NS 10000 /* clocks of CPUs differ by less */

uint32_t step__stack(const struct step *st, uint32_t skip)
{
	return stacks__id(st->s->stacks, st->rec->stack, st->time, skip,
			  &st->s->stats.stack_misses);
}

enum verdict step__drop(const struct step *st)
{
	st->s->stats.dropped++;
	return DONE;
}

bool step__is_running(const struct step *st)
{
	return st->g && st->g->state == GO_RUNNING && st->g->m == st->t;
}

bool step__need_running(struct step *st, enum verdict *verdict)
{
	if (step__is_running(st))
		return true;
	*verdict = WAIT;
	if (!st->force)
		return false;
	*verdict = DONE;
	if (repair__running(st->s, st->t, st->time, st->g))
		return true;
	step__drop(st);
	return false;
}

bool thread__has_user_context(const struct thread *t)
{
	return t->g && t->g->state == GO_RUNNING && t->p && t->p->state == PROC_RUNNING;
}

bool step__need_user_context(struct step *st, enum verdict *verdict)
{
	if (thread__has_user_context(st->t))
		return true;
	*verdict = WAIT;
	if (!st->force)
		return false;
	*verdict = DONE;
	if (st->t->g && repair__running(st->s, st->t, st->time, st->t->g))
		return true;
	step__drop(st);
	return false;
}

void step__evict(struct step *st, struct goroutine *g)
{
	if (g->m)
		repair__free_thread(st->s, g->m, st->time);
	model__orphan(st->s, g);
}

/* execute is the one probe that reads the goid: a wrong mapping of its address heals here. */
static enum verdict apply_execute(struct step *st)
{
	const struct gt_execute *x = st->payload;
	struct sequencer *s = st->s;

	if (st->g && st->g->id != x->goid) {
		st->g->told = st->told;
		if (!st->force)
			return WAIT;
		if (st->told > st->time) /* the struct has been another's since */
			return step__drop(st);
		step__evict(st, st->g);
		st->g = NULL;
	}
	if (step__is_running(st))
		return step__drop(st);
	if (!st->g || st->g->state != GO_RUNNABLE || st->t->g || !st->t->p ||
	    st->t->p->state != PROC_RUNNING) {
		if (!st->force)
			return WAIT;
		if (!st->g)
			st->g = repair__unknown(s, st->t, st->time, st->rec->object, x->goid);
		if (!st->g || !repair__running(s, st->t, st->time, st->g))
			return step__drop(st);
		return DONE;
	}
	go__start(s, st->t, st->time, st->g);
	return DONE;
}

static enum verdict apply_park(struct step *st)
{
	const struct gt_park *park = st->payload;
	enum verdict v;

	if (!step__need_running(st, &v))
		return v;
	go__block(st->s, st->t, st->time,
		  layout__block_reason(st->s->opts.layout, park->block_reason, park->wait_reason),
		  step__stack(st, park->skip));
	return DONE;
}

static enum verdict apply_preempt_park(struct step *st)
{
	enum verdict v;

	if (!step__need_running(st, &v))
		return v;
	go__block(st->s, st->t, st->time, "preempted",
		  step__stack(st, st->s->opts.layout->skips.preempt_park));
	return DONE;
}

static enum verdict apply_yield(struct step *st)
{
	const struct gt_yield *yield = st->payload;
	enum verdict v;

	if (!step__need_running(st, &v))
		return v;
	go__stop(st->s, st->t, st->time,
		 yield->why == GT_YIELD_PREEMPTED ? "preempted" : "runtime.Gosched",
		 step__stack(st, st->s->opts.layout->skips.stop));
	return DONE;
}

/*
 * An earlier record of it still waits, for longer than clocks differ: for one that was lost, which
 * this is not.
 */
static bool step__is_overtaking(const struct step *st)
{
	return !st->force && st->g->awaits && st->g->awaits + SKEW_NS < st->time;
}

static enum verdict apply_ready(struct step *st)
{
	const struct gt_ready *ready = st->payload;

	if (!st->g || st->g->state != GO_WAITING || step__is_overtaking(st)) {
		if (!st->force)
			return WAIT;
		/* it has run since: this came too late, and what it says is over */
		if (st->g && st->g->state != GO_RUNNABLE && st->told > st->time)
			return step__drop(st);
		if (!st->g || !repair__waiting(st->s, st->t, st->time, st->g))
			return step__drop(st);
	}
	go__unblock(st->s, st->t, st->time, st->g, step__stack(st, ready->skip));
	if (ready->via == GT_VIA_GC_WORKER && st->t->p) {
		st->g->gc_worker = true;
		st->t->p->gc_mode = ready->mode;
	}
	return DONE;
}

static enum verdict apply_create(struct step *st)
{
	const struct gt_create *create = st->payload;
	bool blocked = st->rec->kind == GT_CREATE_BLOCKED;
	struct sequencer *s = st->s;
	struct goroutine *g;

	if (!create->goid || !st->rec->object)
		return step__drop(st);
	if (st->g && st->g->id == create->goid)
		return DONE; /* site_inline.c: told once a round */
	if (st->g || model__id_taken(s, create->goid) || !st->t->p ||
	    st->t->p->state != PROC_RUNNING || (st->t->g && st->t->g->state != GO_RUNNING)) {
		if (!st->force)
			return WAIT;
		if (model__id_taken(s, create->goid))
			return step__drop(st);
		if (st->g && st->told > st->time)
			return step__drop(st);
		if (st->g) /* its end was lost */
			step__evict(st, st->g);
		if (st->t->g && !repair__running(s, st->t, st->time, st->t->g))
			return step__drop(st);
		if (!repair__need_proc(s, st->t, st->time))
			return step__drop(st);
	}
	g = model__goroutine(s, st->rec->object, create->goid);
	if (g)
		go__create(s, st->t, st->time, g, blocked,
			   stacks__start(s->stacks, create->startpc),
			   step__stack(st, s->opts.layout->skips.create));
	return DONE;
}

static enum verdict apply_destroy(struct step *st)
{
	const struct gt_destroy *destroy = st->payload;
	enum verdict v;

	if (!st->g)
		return DONE; /* a coroutine that ended by its switch; or never known */
	if (st->g->id != destroy->goid)
		return st->force ? step__drop(st) : WAIT;
	if (!step__need_running(st, &v))
		return v;
	go__destroy(st->s, st->t, st->time);
	return DONE;
}

/* Version 22 has no switch: its three parts are written one by one. */
static void switch_in_parts(struct step *st, struct goroutine *next, bool exits)
{
	struct sequencer *s = st->s;

	if (next->state == GO_WAITING)
		go__unblock(s, st->t, st->time, next, 0);
	if (exits)
		go__destroy(s, st->t, st->time);
	else
		go__block(s, st->t, st->time, "unspecified", 0);
	go__start(s, st->t, st->time, next);
}

static enum verdict try_switch(struct step *st, struct goroutine *next)
{
	const struct gt_switch *sw = st->payload;
	struct sequencer *s = st->s;
	enum verdict v;

	if (!step__need_running(st, &v))
		return v;
	if (next == st->g)
		return step__drop(st);
	if (!next || next->id != sw->next_goid ||
	    (next->state != GO_WAITING && next->state != GO_RUNNABLE) ||
	    (next->state == GO_RUNNABLE && s->opts.version >= 23)) {
		if (!st->force)
			return WAIT;
		if (next && next->id != sw->next_goid && next->born > st->time)
			return step__drop(st); /* the struct has another by now */
		if (next && next->id != sw->next_goid) {
			step__evict(st, next);
			next = NULL;
		}
		if (!next)
			next = repair__unknown(s, st->t, st->time, sw->next, sw->next_goid);
		if (!next || !repair__runnable(s, st->t, st->time, next) || !step__is_running(st))
			return step__drop(st);
	}
	if (s->opts.version < 23 || next->state == GO_RUNNABLE)
		switch_in_parts(st, next, sw->exits);
	else
		go__switch(s, st->t, st->time, next, sw->exits);
	return DONE;
}

/* It is a record of two goroutines. */
static enum verdict apply_switch(struct step *st)
{
	const struct gt_switch *sw = st->payload;
	struct goroutine *next = map__get(&st->s->g, sw->next);
	enum verdict verdict = try_switch(st, next);

	next = map__get(&st->s->g, sw->next);
	if (next && verdict == DONE) {
		next->told = next->told > st->time ? next->told : st->time;
		next->awaits = next->awaits == st->time ? 0 : next->awaits;
	} else if (next && !next->awaits) {
		next->awaits = st->time;
	}
	return verdict;
}

static const struct {
	enum verdict (*apply)(struct step *st);
	bool object_is_g;
} handlers[GT_KIND_END] = {
	[GT_EXECUTE] = { apply_execute, true },
	[GT_PARK] = { apply_park, true },
	[GT_READY] = { apply_ready, true },
	[GT_YIELD] = { apply_yield, true },
	[GT_PREEMPT_PARK] = { apply_preempt_park, true },
	[GT_CREATE] = { apply_create, true },
	[GT_CREATE_BLOCKED] = { apply_create, true },
	[GT_DESTROY] = { apply_destroy, true },
	[GT_SWITCH] = { apply_switch, true },
	[GT_SYSCALL_ENTER] = { apply_syscall_enter, true },
	[GT_SYSCALL_BLOCK] = { apply_syscall_enter, true },
	[GT_SYSCALL_EXIT] = { apply_syscall_exit, true },
	[GT_SYSCALL_TRY_EXIT] = { apply_syscall_exit, true },
	[GT_SYSCALL_LOST] = { apply_syscall_lost, false },
	[GT_SYSCALL_NO_P] = { apply_syscall_no_p, true },
	[GT_CREATE_SYSCALL] = { apply_create_syscall, true },
	[GT_DESTROY_SYSCALL] = { apply_destroy_syscall, true },
	[GT_P_START] = { apply_p_start, false },
	[GT_P_STOP] = { apply_p_stop, false },
	[GT_P_HANDOFF] = { apply_p_handoff, false },
	[GT_STW_BEGIN] = { apply_stw_begin, false },
	[GT_STW_END] = { apply_stw_end, false },
	[GT_GC_BEGIN] = { apply_gc_begin, false },
	[GT_GC_END] = { apply_gc_end, false },
	[GT_PROCS] = { apply_procs, false },
	[GT_TASK_BEGIN] = { apply_task_begin, true },
	[GT_TASK_END] = { apply_task_end, true },
	[GT_REGION] = { apply_region, true },
	[GT_LOG] = { apply_log, true },
	[GT_ASSIST_BEGIN] = { apply_assist_begin, true },
	[GT_ASSIST_END] = { apply_assist_end, true },
	[GT_SWEEP_BEGIN] = { apply_sweep_begin, false },
	[GT_SWEEP_SPAN] = { apply_sweep_span, false },
	[GT_SWEEP_LEFT] = { apply_sweep_left, false },
	[GT_SWEEP_END] = { apply_sweep_end, false },
	[GT_HEAP_ALLOC] = { apply_heap_alloc, false },
	[GT_HEAP_GOAL] = { apply_heap_goal, false },
};

enum verdict state__apply(struct sequencer *s, struct thread *t, const struct gt_record *rec,
			  bool force)
{
	struct step st = {
		.s = s,
		.t = t,
		.rec = rec,
		.payload = rec + 1,
		.time = rec->time,
		.force = force,
	};
	enum verdict verdict;

	if (rec->kind == GT_SAMPLE) /* it is done to the thread, and tells nothing of it */
		return apply_sample(&st);
	if (rec->kind >= GT_KIND_END || !handlers[rec->kind].apply)
		return DONE;
	/* Whatever a thread does next but seek another P or go without: its tentative exit was one. */
	if (t->exit_time && rec->kind != GT_SYSCALL_LOST && rec->kind != GT_SYSCALL_NO_P)
		state__exit_kept(s, t);
	if (s->gc_active_due && thread__has_user_context(t))
		gc__active(s, t, rec->time);
	if (handlers[rec->kind].object_is_g && rec->object)
		st.g = map__get(&s->g, rec->object);
	t->told = rec->time;
	if (st.g) {
		st.told = st.g->told;
		if (st.told < rec->time)
			st.g->told = rec->time;
		if (st.g->awaits == rec->time)
			st.g->awaits = 0;
	} else if (s->losses.watching && handlers[rec->kind].object_is_g && rec->object) {
		resnapshot__note_stray(s, rec->object, rec->kind, rec->time);
	}
	if (s->opts.no_syscalls) /* nothing will come that ends the call: this does */
		st.force |=
			(t->g && t->g->state == GO_SYSCALL) || (st.g && st.g->state == GO_SYSCALL);
	verdict = handlers[rec->kind].apply(&st);
	if (verdict == WAIT && st.g) {
		st.g->told = st.told;
		if (!st.g->awaits || rec->time < st.g->awaits)
			st.g->awaits = rec->time;
	}
	return verdict;
}
