// SPDX-License-Identifier: GPL-2.0
/*
 * Repairs after a loss: the fewest transitions that make the next record legal.
 *
 * Upstream: state*.c, once a record has waited in vain for a causally earlier one. A later
 * generation cannot correct a state by a status, which readers compare with their own state. So
 * states are only changed by inserted transitions; each is counted in stats.repairs. Downstream:
 * transition.c.
 */
#include "sequence/repair.h"
#include "sequence/boundary.h"
#include "sequence/transition.h"
#include "sequence/sequencer_impl.h"

static const char unknown[] = "unspecified"; /* a reason that Go's own tracer uses */

static void note(struct sequencer *s)
{
	s->stats.repairs++;
}

/* The goroutine of `t` leaves it, as if it was rescheduled. */
void repair__free_thread(struct sequencer *s, struct thread *t, uint64_t time)
{
	if (t->exit_time && t->p && t->p->state == PROC_SYSCALL)
		state__exit_kept(s, t);
	t->exit_time = 0;
	if (!t->g)
		return;
	note(s);
	if (t->g->state == GO_SYSCALL) {
		if (t->p && t->p->state == PROC_SYSCALL)
			proc__stop(s, t, time);
		go__syscall_end_blocked(s, t, time);
		return;
	}
	if (repair__need_proc(s, t, time))
		go__stop(s, t, time, unknown, 0);
}

/* `p` becomes idle; `t` is the thread that wants it. */
void repair__free_proc(struct sequencer *s, struct thread *t, uint64_t time, struct proc *p)
{
	struct thread *owner = p->m;

	if (!owner)
		return;
	if (owner->exit_time)
		state__exit_kept(s, owner);
	if (p->m != owner)
		return;
	note(s);
	if (p->state == PROC_SYSCALL) {
		proc__steal(s, t, time, p);
		return;
	}
	if (owner->g && owner->g->state == GO_RUNNING)
		go__stop(s, owner, time, unknown, 0);
	proc__stop(s, owner, time);
}

/* Gives `t` a running P: its own, its last one, or any idle one. False: there is none. */
bool repair__need_proc(struct sequencer *s, struct thread *t, uint64_t time)
{
	struct proc *p = t->last_p, *idle;

	if (t->p && t->p->state == PROC_RUNNING)
		return true;
	if (t->p) { /* in a system call without a goroutine */
		p = t->p;
		proc__stop(s, t, time);
	}
	if (!p || p->state != PROC_IDLE) {
		idle = model__first_proc(s, PROC_IDLE);
		p = idle ? idle : p;
	}
	if (!p)
		p = model__first_proc(s, 0);
	if (!p)
		return false;
	repair__free_proc(s, t, time, p);
	note(s);
	proc__start(s, t, time, p);
	return true;
}

bool repair__runnable(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g)
{
	if (!g)
		return false;
	if (g->m)
		repair__free_thread(s, g->m, time);
	if (g->state == GO_WAITING) {
		note(s);
		go__unblock(s, t, time, g, 0);
	}
	return g->state == GO_RUNNABLE;
}

/* False: it is runnable already, so the record that unblocks it is obsolete. */
bool repair__waiting(struct sequencer *s, uint64_t time, struct goroutine *g)
{
	struct thread *owner = g->m;

	if (owner && owner->exit_time)
		state__exit_kept(s, owner);
	if (g->state == GO_RUNNING && g->m && g->m->p) {
		note(s);
		go__block(s, g->m, time, unknown, 0);
	} else if (g->m) {
		repair__free_thread(s, g->m, time);
	}
	return g->state == GO_WAITING;
}

bool repair__running(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g)
{
	if (!g)
		return false;
	if (t->exit_time)
		state__exit_kept(s, t);
	if (g->m == t && g->state == GO_SYSCALL && t->p && t->p->state == PROC_SYSCALL) {
		note(s);
		go__syscall_end(s, t, time); /* only its exit was lost */
	}
	if (g->m == t && g->state == GO_RUNNING)
		return repair__need_proc(s, t, time);
	if (t->g && t->g != g)
		repair__free_thread(s, t, time);
	if (!repair__runnable(s, t, time, g) || t->g || !repair__need_proc(s, t, time))
		return false;
	note(s);
	go__start(s, t, time, g);
	return true;
}

/*
 * Creates a goroutine that the trace does not contain, because its creation was lost. `t` must run
 * to create it; a goroutine that it cannot run leaves it first.
 */
struct goroutine *repair__unknown(struct sequencer *s, struct thread *t, uint64_t time,
				  uint64_t addr, uint64_t goid)
{
	struct goroutine *g;

	if (!addr || !goid || model__id_taken(s, goid))
		return NULL;
	if (t->g && t->g->state == GO_SYSCALL)
		repair__free_thread(s, t, time);
	if (!repair__need_proc(s, t, time))
		return NULL;
	note(s);
	g = model__goroutine(s, addr, goid);
	if (g)
		go__create(s, t, time, g, false, 0, 0);
	return g;
}

/* Only a running goroutine can end its pause: otherwise the range stays open, and is its last. */
void repair__end_stw(struct sequencer *s, uint64_t time)
{
	struct goroutine *g = s->runtime.stw;

	if (!g)
		return;
	s->runtime.stw = NULL;
	if (g->state == GO_RUNNING && g->m && g->m->p && g->m->p->state == PROC_RUNNING)
		EMIT(s, g->m, time, EV_STW_END);
	else
		g->in_stw = true;
}
