// SPDX-License-Identifier: GPL-2.0
/*
 * Records of Ps: started, stopped, taken from system calls, and their number.
 *
 * docs/go-runtime.md describes how Ps move. Upstream: state.c. Downstream: transition.c.
 */
#include "sequence/boundary.h"
#include "sequence/repair.h"
#include "sequence/transition.h"
#include "sequence/state_impl.h"

#include <stddef.h>

/*
 * Without probes of system calls, a call becomes visible when its P is taken: the call is begun
 * then, so that the P can be taken. It ends with the next record of the goroutine or its thread
 * (state__apply).
 */
static void begin_unseen_syscall(struct step *st, struct proc *p)
{
	struct thread *owner = p->m;

	if (st->s->opts.no_syscalls && p->state == PROC_RUNNING && owner->g &&
	    owner->g->state == GO_RUNNING)
		go__syscall_begin(st->s, owner, st->time, 0);
}

/*
 * A P whose thread has left its system call tentatively: it may have lost the P there, or kept it,
 * and have entered another one, which it reports late (derived.h). Its next record shows which.
 */
static bool is_undecided(const struct step *st, const struct proc *p)
{
	return st->s->derived && !st->force && p->state == PROC_SYSCALL && p->m != st->t &&
	       p->m->exit_time;
}

/*
 * acquirep. The previous holder lost the P in a system call, or this M took it from itself in
 * procresize. Since Go 1.26 a goroutine that leaves a system call continues with it; before, its
 * SYSCALL_EXIT record follows.
 */
enum apply_result apply_p_start(struct step *st)
{
	const struct gt_proc *proc = st->payload;
	struct proc *p = model__proc(st->s, st->rec->object, (uint32_t)proc->id);
	struct sequencer *s = st->s;
	struct thread *t = st->t;
	struct goroutine *resized = NULL;

	if (!p)
		return step__drop(st);
	p->last_record = st->time;
	if (is_undecided(st, p))
		return WAIT;
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
				 stacks__id(s->stacks, t->resize_stack, st->time,
					    s->opts.layout->skips.stop, &s->stats.stack_misses));
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
		state__resume_on_other_proc(s, t, st->time);
	return DONE;
}

/* Address 0: the probe could not read m.p, because the kernel was moving the page. */
enum apply_result apply_p_stop(struct step *st)
{
	const struct gt_proc *proc = st->payload;
	struct thread *t = st->t;
	struct proc *p =
		st->rec->object ? model__proc(st->s, st->rec->object, (uint32_t)proc->id) : t->p;

	if (!p)
		return step__drop(st);
	p->last_record = st->time;
	if (p->m == t)
		begin_unseen_syscall(st, p);
	if (p->m != t || (t->g && t->g->state == GO_RUNNING)) {
		if (!st->force)
			return WAIT;
		if (p->m != t)
			return step__drop(st);
		repair__free_thread(st->s, t, st->time);
		if (p->m != t)
			return DONE;
	}
	proc__stop(st->s, t, st->time);
	return DONE;
}

/* Reported late, often after releasep: only relevant for a P that is still in a system call. */
enum apply_result apply_p_handoff(struct step *st)
{
	const struct gt_proc *proc = st->payload;
	struct proc *p = model__proc(st->s, st->rec->object, (uint32_t)proc->id);

	if (p)
		p->last_record = st->time;
	if (p && is_undecided(st, p))
		return WAIT;
	if (p && p->m != st->t)
		begin_unseen_syscall(st, p);
	if (p && p->state == PROC_SYSCALL)
		proc__steal(st->s, st->t, st->time, p);
	return DONE;
}

/* Written at every procresize, also if the number is unchanged, as Go's tracer does. */
enum apply_result apply_procs(struct step *st)
{
	const struct gt_value *n = st->payload;
	struct sequencer *s = st->s;
	enum apply_result result;

	/* schedinit sets the number of Ps before a goroutine exists: written with the first one */
	if (!st->t->g && !st->t->p) {
		s->runtime.procs_due = s->runtime.procs = (uint32_t)n->value;
		return DONE;
	}
	if (!step__need_user_context(st, &result))
		return result;
	st->t->resize_stack = st->rec->stack;
	s->runtime.procs = (uint32_t)n->value;
	STEP_EMIT(st, EV_PROCS_CHANGE, n->value, step__stack(st, s->opts.layout->skips.procs));
	return DONE;
}
