// SPDX-License-Identifier: GPL-2.0
/*
 * Records of Ps: started, stopped, taken out of system calls, their number.
 *
 * The rules by which Ps follow are those of seed go-runtime, section 2. Before: state.c. After:
 * transition.c.
 */
#include "sequence/state_impl.h"

#include <stddef.h>

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
enum verdict apply_p_start(struct step *st)
{
	const struct gt_proc *proc = st->payload;
	struct proc *p = model__proc(st->s, st->rec->object, (uint32_t)proc->id);
	struct sequencer *s = st->s;
	struct thread *t = st->t;
	struct goroutine *resized = NULL;

	if (!p)
		return step__drop(st);
	p->told = st->time;
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

enum verdict apply_p_stop(struct step *st)
{
	const struct gt_proc *proc = st->payload;
	struct proc *p = model__proc(st->s, st->rec->object, (uint32_t)proc->id);
	struct thread *t = st->t;

	if (!p)
		return step__drop(st);
	p->told = st->time;
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

/* After the fact and often after releasep: only a P still in a system call is news. */
enum verdict apply_p_handoff(struct step *st)
{
	const struct gt_proc *proc = st->payload;
	struct proc *p = model__proc(st->s, st->rec->object, (uint32_t)proc->id);

	if (p)
		p->told = st->time;
	if (p && p->m != st->t)
		begin_unseen_syscall(st, p);
	if (p && p->state == PROC_SYSCALL)
		proc__steal(st->s, st->t, st->time, p);
	return DONE;
}

/* As Go's tracer does, at every procresize: also when the number stays what it was. */
enum verdict apply_procs(struct step *st)
{
	const struct gt_value *n = st->payload;
	struct sequencer *s = st->s;
	uint32_t stack;
	enum verdict v;

	/* schedinit sizes the Ps before there is a goroutine to say so: the first one will */
	if (!st->t->g && !st->t->p) {
		s->procs_due = s->procs = (uint32_t)n->value;
		return DONE;
	}
	if (!step__need_user_context(st, &v))
		return v;
	st->t->resize_stack = st->rec->stack;
	s->procs = (uint32_t)n->value;
	stack = step__stack(st, s->opts.layout->skips.procs);
	checkpoint__emit(s, st->t, st->time, EV_PROCS_CHANGE, 2,
			 (const uint64_t[]){ n->value, stack });
	return DONE;
}
