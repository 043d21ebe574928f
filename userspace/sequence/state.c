// SPDX-License-Identifier: GPL-2.0
/*
 * The G/M/P state machine: one record in, legal transitions out.
 *
 * Each function below handles one kind of record: it checks what must be true first (WAIT when it
 * isn't, or a repair when forced) and then makes the transitions that the runtime's own tracer would
 * have written at that point. The rules by which Ps follow are those of seed go-runtime, section 2.
 * Before: merge.c, sequencer.c (hold-back). After: transition.c; against losses: repair.c.
 */
#include "sequence/model.h"

#include <stddef.h>

/* What a record's handler works on. */
struct step {
	struct sequencer *s;
	struct thread *t;
	const struct gt_record *rec;
	const void *payload;
	struct goroutine *g;	/* by rec->object, where that is a g; NULL: not known */
	uint64_t time;
	bool force;
};

static uint32_t step__stack(const struct step *st, uint32_t skip)
{
	return stacks__id(st->s->stacks, st->rec->stack, skip, &st->s->stats.stack_misses);
}

static enum verdict drop(const struct step *st)
{
	st->s->stats.dropped++;
	return DONE;
}

/* The record's goroutine runs on its thread. */
static bool is_running(const struct step *st)
{
	return st->g && st->g->state == GO_RUNNING && st->g->m == st->t;
}

/*
 * A current thread whose goroutine runs on a P: what events "in user context" need. Waits or
 * repairs; false with *verdict set when the record can't go on.
 */
static bool need_running(struct step *st, enum verdict *verdict)
{
	if (is_running(st))
		return true;
	*verdict = WAIT;
	if (!st->force)
		return false;
	*verdict = DONE;
	if (repair__running(st->s, st->t, st->time, st->g))
		return true;
	drop(st);
	return false;
}

static bool has_user_context(const struct thread *t)
{
	return t->g && t->g->state == GO_RUNNING && t->p && t->p->state == PROC_RUNNING;
}

/* GC, STW and procs records name no goroutine: it is the thread's. */
static bool need_user_context(struct step *st, enum verdict *verdict)
{
	if (has_user_context(st->t))
		return true;
	*verdict = WAIT;
	if (!st->force)
		return false;
	*verdict = DONE;
	if (st->t->g && repair__running(st->s, st->t, st->time, st->t->g))
		return true;
	drop(st);
	return false;
}

/* The g struct has another goroutine by now: the end of this one was lost. */
static void evict(struct step *st, struct goroutine *g)
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
		if (!st->force)
			return WAIT;
		evict(st, st->g);
		st->g = NULL;
	}
	if (is_running(st))
		return drop(st);
	if (!st->g || st->g->state != GO_RUNNABLE || st->t->g || !st->t->p ||
	    st->t->p->state != PROC_RUNNING) {
		if (!st->force)
			return WAIT;
		if (!st->g)
			st->g = repair__unknown(s, st->t, st->time, st->rec->object, x->goid);
		if (!st->g || !repair__running(s, st->t, st->time, st->g))
			return drop(st);
		return DONE;
	}
	go__start(s, st->t, st->time, st->g);
	return DONE;
}

static enum verdict apply_park(struct step *st)
{
	const struct gt_park *park = st->payload;
	enum verdict v;

	if (!need_running(st, &v))
		return v;
	go__block(st->s, st->t, st->time,
		  layout__block_reason(st->s->opts.layout, park->block_reason,
				       park->wait_reason),
		  step__stack(st, park->skip));
	return DONE;
}

static enum verdict apply_preempt_park(struct step *st)
{
	enum verdict v;

	if (!need_running(st, &v))
		return v;
	go__block(st->s, st->t, st->time, "preempted",
		  step__stack(st, st->s->opts.layout->skips.preempt_park));
	return DONE;
}

static enum verdict apply_yield(struct step *st)
{
	const struct gt_yield *yield = st->payload;
	enum verdict v;

	if (!need_running(st, &v))
		return v;
	go__stop(st->s, st->t, st->time,
		 yield->why == GT_YIELD_PREEMPTED ? "preempted" : "runtime.Gosched",
		 step__stack(st, st->s->opts.layout->skips.stop));
	return DONE;
}

static enum verdict apply_ready(struct step *st)
{
	const struct gt_ready *ready = st->payload;

	if (!st->g || st->g->state != GO_WAITING) {
		if (!st->force)
			return WAIT;
		if (!st->g || !repair__waiting(st->s, st->t, st->time, st->g))
			return drop(st);
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
		return drop(st);
	if (st->g && st->g->id == create->goid)
		return DONE;	/* site_inline.c: told once a round */
	if (st->g || model__id_taken(s, create->goid) || !st->t->p ||
	    st->t->p->state != PROC_RUNNING || (st->t->g && st->t->g->state != GO_RUNNING)) {
		if (!st->force)
			return WAIT;
		if (model__id_taken(s, create->goid))
			return drop(st);
		if (st->g)	/* its end was lost */
			evict(st, st->g);
		if (st->t->g && !repair__running(s, st->t, st->time, st->t->g))
			return drop(st);
		if (!repair__need_proc(s, st->t, st->time))
			return drop(st);
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
		return DONE;	/* a coroutine that ended by its switch; or never known */
	if (st->g->id != destroy->goid)
		return st->force ? drop(st) : WAIT;
	if (!need_running(st, &v))
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

static enum verdict apply_switch(struct step *st)
{
	const struct gt_switch *sw = st->payload;
	struct goroutine *next = map__get(&st->s->g, sw->next);
	struct sequencer *s = st->s;
	enum verdict v;

	if (!need_running(st, &v))
		return v;
	if (next == st->g)
		return drop(st);
	if (!next || next->id != sw->next_goid || (next->state != GO_WAITING && next->state != GO_RUNNABLE) ||
	    (next->state == GO_RUNNABLE && s->opts.version >= 23)) {
		if (!st->force)
			return WAIT;
		if (next && next->id != sw->next_goid) {
			evict(st, next);
			next = NULL;
		}
		if (!next)
			next = repair__unknown(s, st->t, st->time, sw->next, sw->next_goid);
		if (!next || !repair__runnable(s, st->t, st->time, next) || !is_running(st))
			return drop(st);
	}
	if (s->opts.version < 23 || next->state == GO_RUNNABLE)
		switch_in_parts(st, next, sw->exits);
	else
		go__switch(s, st->t, st->time, next, sw->exits);
	return DONE;
}

static enum verdict apply_syscall_enter(struct step *st)
{
	const struct layout_skips *skips = &st->s->opts.layout->skips;
	enum verdict v;

	if (!need_running(st, &v))
		return v;
	go__syscall_begin(st->s, st->t, st->time,
			  step__stack(st, st->rec->kind == GT_SYSCALL_BLOCK ? skips->syscall_block
							    : skips->syscall));
	return DONE;
}

/*
 * A thread that C made calls Go. The M that it was lent may find the P with which it last left Go
 * still its own, and says nothing of that: state__exit_kept() and syscall_exit() take last_p. The
 * goroutine has had its id before.
 */
static enum verdict apply_create_syscall(struct step *st)
{
	const struct gt_create_syscall *create = st->payload;
	struct sequencer *s = st->s;
	struct thread *t = st->t;
	struct goroutine *g;
	struct proc *p = map__get(&s->p, create->p);

	if (!create->goid || !st->rec->object)
		return drop(st);
	if (st->g || t->g || t->p || map__get(&s->id, create->goid)) {
		if (!st->force)
			return WAIT;
		if (st->g)
			evict(st, st->g);
		repair__free_thread(s, t, st->time);
		if (t->p)
			proc__stop(s, t, st->time);
		if (t->g || map__get(&s->id, create->goid))
			return drop(st);
	}
	if (!model__id_valid(create->goid))
		return drop(st);
	map__remove(&s->ended, create->goid);
	g = model__goroutine(s, st->rec->object, create->goid);
	if (!g)
		return DONE;
	go__create_syscall(s, t, st->time, g);
	if (p)
		t->last_p = p;
	return DONE;
}

/* The system call ends, and the thread has no P any more: one that it still has goes here. */
static void leave_without_proc(struct step *st)
{
	struct thread *t = st->t;

	t->exit_time = 0;
	if (t->p && t->p->state == PROC_SYSCALL)
		proc__steal(st->s, t, st->time, t->p);
	else if (t->p)
		proc__stop(st->s, t, st->time);
}

/*
 * The thread goes back to C for good: it may end, and its number be another's. So the P of its
 * last call, if no one took it yet, is taken from it here, as Go's reader does it by itself.
 */
static enum verdict apply_destroy_syscall(struct step *st)
{
	const struct gt_destroy *destroy = st->payload;
	struct thread *t = st->t;

	if (!st->g)
		return DONE;
	if (st->g->id != destroy->goid || st->g->state != GO_SYSCALL || st->g->m != t) {
		if (!st->force || st->g->id != destroy->goid)
			return st->force ? drop(st) : WAIT;
		if (!repair__running(st->s, t, st->time, st->g))
			return drop(st);
		go__destroy(st->s, t, st->time);
		return DONE;
	}
	leave_without_proc(st);
	go__destroy_syscall(st->s, t, st->time);
	return DONE;
}

/* The goroutine of a system call goes on, with another P than it came with. */
static void resume_on_other_proc(struct sequencer *s, struct thread *t, uint64_t time)
{
	struct goroutine *g = t->g;

	go__syscall_end_blocked(s, t, time);
	go__start(s, t, time, g);
}

/*
 * It has a P: the one it came with (no one took it), one that P_START has just brought, or its old
 * one again after others had used it in between and left it in a system call of theirs (<= 1.25,
 * exitsyscallfast_reacquired). Whose call that was may have noticed already, which leaves it idle.
 */
static bool syscall_exit(struct sequencer *s, struct thread *t, uint64_t time, bool force)
{
	struct proc *p = t->p ? t->p : t->last_p;

	if (t->p && t->p->state == PROC_SYSCALL) {
		go__syscall_end(s, t, time);
		return true;
	}
	if (!t->p) {
		if (!force && !(p && p->state != PROC_RUNNING))
			return false;
		if (p && p->state == PROC_SYSCALL)
			proc__steal(s, t, time, p);
		if (p && p->state == PROC_IDLE)
			proc__start(s, t, time, p);
		else if (!repair__need_proc(s, t, time))
			return false;
	}
	resume_on_other_proc(s, t, time);
	return true;
}

void state__exit_kept(struct sequencer *s, struct thread *t)
{
	uint64_t time = t->exit_time;

	t->exit_time = 0;
	if (t->g && t->g->state == GO_SYSCALL)
		syscall_exit(s, t, time, true);
}

static enum verdict apply_syscall_exit(struct step *st)
{
	struct thread *t = st->t;

	if (!st->g || st->g->state != GO_SYSCALL || st->g->m != t) {
		if (!st->force)
			return WAIT;
		if (is_running(st))	/* the enter was lost: nothing to end */
			return drop(st);
		if (!repair__running(st->s, t, st->time, st->g))
			return drop(st);
		return DONE;
	}
	if (st->rec->kind == GT_SYSCALL_TRY_EXIT) {
		t->exit_time = st->time;
		return DONE;
	}
	return syscall_exit(st->s, t, st->time, st->force) ? DONE : st->force ? drop(st) : WAIT;
}

static enum verdict apply_syscall_lost(struct step *st)
{
	st->t->exit_time = 0;
	st->t->lost_p = st->t->g && st->t->g->state == GO_SYSCALL;
	return DONE;
}

static enum verdict apply_syscall_no_p(struct step *st)
{
	struct thread *t = st->t;

	if (!st->g || st->g->state != GO_SYSCALL || st->g->m != t) {
		if (!st->force)
			return WAIT;
		if (!repair__runnable(st->s, t, st->time, st->g))
			return drop(st);
		return DONE;
	}
	leave_without_proc(st);
	go__syscall_end_blocked(st->s, t, st->time);
	return DONE;
}

/*
 * Without system call probes a goroutine's call shows when its P is taken from it: then it begins,
 * so that the P can be. Its end is what the goroutine or its thread does next (state__apply).
 */
static void begin_unseen_syscall(struct step *st, struct proc *p)
{
	struct thread *owner = p->m;

	if (st->s->opts.no_syscalls && p->state == PROC_RUNNING && owner->g &&
	    owner->g->state == GO_RUNNING)
		go__syscall_begin(st->s, owner, st->time, 0);
}

/*
 * acquirep. Whoever held the P lost it before: in a system call (rule 3), or this very M to
 * itself in procresize (rule 6). >= 1.26 a goroutine that comes out of a system call goes on with
 * it; before, its SYSCALL_EXIT record follows.
 */
static enum verdict apply_p_start(struct step *st)
{
	const struct gt_proc *proc = st->payload;
	struct proc *p = model__proc(st->s, st->rec->object, (uint32_t)proc->id);
	struct sequencer *s = st->s;
	struct thread *t = st->t;
	struct goroutine *resized = NULL;

	if (!p)
		return drop(st);
	if (p->m != t)
		begin_unseen_syscall(st, p);
	if (p->state == PROC_RUNNING && p->m != t) {
		if (!st->force)
			return WAIT;
		repair__free_proc(s, t, st->time, p);
	}
	if (t->p && t->p->state == PROC_RUNNING) {
		if (t->g && t->g->state == GO_RUNNING) {
			resized = t->g;
			go__stop(s, t, st->time, "runtime.Gosched",
				 stacks__id(s->stacks, t->resize_stack,
					    s->opts.layout->skips.stop,
					    &s->stats.stack_misses));
		}
		proc__stop(s, t, st->time);
	} else if (t->p) {
		proc__steal(s, t, st->time, t->p);
	}
	if (p->state == PROC_SYSCALL)
		proc__steal(s, t, st->time, p);
	proc__start(s, t, st->time, p);
	if (resized)
		go__start(s, t, st->time, resized);
	else if (t->g && t->g->state == GO_SYSCALL &&
		 (s->opts.no_syscalls || (t->lost_p && s->opts.layout->exit_is_tentative)))
		resume_on_other_proc(s, t, st->time);
	return DONE;
}

static enum verdict apply_p_stop(struct step *st)
{
	const struct gt_proc *proc = st->payload;
	struct proc *p = model__proc(st->s, st->rec->object, (uint32_t)proc->id);
	struct thread *t = st->t;

	if (!p)
		return drop(st);
	if (p->m == t)
		begin_unseen_syscall(st, p);
	if (p->m != t || (t->g && t->g->state == GO_RUNNING)) {
		if (!st->force)
			return WAIT;
		if (p->m != t)
			return drop(st);
		repair__free_thread(st->s, t, st->time);
		if (p->m != t)
			return DONE;
	}
	proc__stop(st->s, t, st->time);
	return DONE;
}

/* After the fact and often after releasep: only a P still in a system call is news. */
static enum verdict apply_p_handoff(struct step *st)
{
	const struct gt_proc *proc = st->payload;
	struct proc *p = model__proc(st->s, st->rec->object, (uint32_t)proc->id);

	if (p && p->m != st->t)
		begin_unseen_syscall(st, p);
	if (p && p->state == PROC_SYSCALL)
		proc__steal(st->s, st->t, st->time, p);
	return DONE;
}

static enum verdict apply_stw_begin(struct step *st)
{
	const struct gt_value *reason = st->payload;
	struct sequencer *s = st->s;
	unsigned int value = s->opts.layout->stw_by_caller ?
		stacks__lookup(s->stacks, st->rec->stack, layout__stw_caller) :
		(unsigned int)reason->value;
	const char *why = layout__stw_reason(s->opts.layout, value);
	uint32_t stack;
	enum verdict v;

	if (!need_user_context(st, &v))
		return v;
	if (s->stw)
		repair__end_stw(s, st->time);
	if (st->t->g->in_stw)
		return drop(st);
	stack = step__stack(st, s->opts.layout->skips.stw_begin);
	s->stw = st->t->g;
	s->stw_name = intern__cstring(s->opts.intern, why);
	checkpoint__emit(s, st->t, st->time, EV_STW_BEGIN, 2,
			 (const uint64_t[]){ s->stw_name, stack });
	return DONE;
}

static enum verdict apply_stw_end(struct step *st)
{
	struct sequencer *s = st->s;

	/* begun before the window, or by a goroutine that the model has lost */
	if (!s->stw || s->stw != st->t->g)
		return DONE;
	if (!has_user_context(st->t))
		return st->force ? drop(st) : WAIT;
	repair__end_stw(s, st->time);
	return DONE;
}

static enum verdict apply_gc_begin(struct step *st)
{
	struct sequencer *s = st->s;
	uint32_t stack;
	enum verdict v;

	if (!need_user_context(st, &v))
		return v;
	if (s->gc_running)	/* the end was lost */
		checkpoint__emit(s, st->t, st->time, EV_GC_END, 1,
				 (const uint64_t[]){ ++s->gc_seq });
	s->gc_running = true;
	stack = step__stack(st, s->opts.layout->skips.gc_begin);
	checkpoint__emit(s, st->t, st->time, EV_GC_BEGIN, 2,
			 (const uint64_t[]){ ++s->gc_seq, stack });
	return DONE;
}

static enum verdict apply_gc_end(struct step *st)
{
	struct sequencer *s = st->s;
	enum verdict v;

	if (!s->gc_running)	/* begun before the window */
		return DONE;
	if (!need_user_context(st, &v))
		return v;
	s->gc_running = false;
	checkpoint__emit(s, st->t, st->time, EV_GC_END, 1, (const uint64_t[]){ ++s->gc_seq });
	return DONE;
}

/* As Go's tracer does, at every procresize: also when the number stays what it was. */
static enum verdict apply_procs(struct step *st)
{
	const struct gt_value *n = st->payload;
	struct sequencer *s = st->s;
	uint32_t stack;
	enum verdict v;

	/* schedinit sizes the Ps before there is a goroutine to say so: the first one will */
	if (!st->t->g && !st->t->p) {
		s->procs_due = (uint32_t)n->value;
		return DONE;
	}
	if (!need_user_context(st, &v))
		return v;
	st->t->resize_stack = st->rec->stack;
	stack = step__stack(st, s->opts.layout->skips.procs);
	checkpoint__emit(s, st->t, st->time, EV_PROCS_CHANGE, 2,
			 (const uint64_t[]){ n->value, stack });
	return DONE;
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
};

enum verdict state__apply(struct sequencer *s, struct thread *t, const struct gt_record *rec,
			  bool force)
{
	struct step st = {
		.s = s, .t = t, .rec = rec, .payload = rec + 1, .time = rec->time, .force = force,
	};

	if (rec->kind >= GT_KIND_END || !handlers[rec->kind].apply)
		return DONE;
	/* Whatever a thread does next but seek another P or go without: its tentative exit was one. */
	if (t->exit_time && rec->kind != GT_SYSCALL_LOST && rec->kind != GT_SYSCALL_NO_P)
		state__exit_kept(s, t);
	if (handlers[rec->kind].object_is_g && rec->object)
		st.g = map__get(&s->g, rec->object);
	if (s->opts.no_syscalls)	/* nothing will come that ends the call: this does */
		st.force |= (t->g && t->g->state == GO_SYSCALL) ||
			    (st.g && st.g->state == GO_SYSCALL);
	return handlers[rec->kind].apply(&st);
}
