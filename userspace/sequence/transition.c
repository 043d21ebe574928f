// SPDX-License-Identifier: GPL-2.0
/*
 * The legal transitions: each changes the model and writes its event in one place, so that trace
 * and model stay equal.
 *
 * Upstream: state*.c (a record), repair.c and resync.c (after a loss), which have checked the
 * reader's rules (docs/trace-format.md, Order of events). Downstream: boundary.c (sequence numbers)
 * and writer/writer.c.
 */
#include "sequence/transition.h"

#include <string.h>

#include "sequence/boundary.h"
#include "sequence/members.h"
#include "sequence/sequencer_impl.h"

/* Reasons are constants, of which a program uses few: each is interned once. */
static uint32_t text(struct sequencer *s, const char *why)
{
	struct reason *r = &s->out.reason[(uintptr_t)why / 8 % REASONS];
	uint32_t id;

	if (r->text == why)
		return r->id;
	id = intern__cstring(s->opts.intern, why);
	if (id)
		*r = (struct reason){ why, id };
	return id;
}

static void go__set(struct sequencer *s, struct goroutine *g, uint32_t state, struct thread *m)
{
	boundary__save_g(s, g);
	stacks__let_go(s->stacks, g->parked);
	g->parked = NULL;
	g->reason = 0;
	if (g->m)
		g->m->g = NULL;
	g->state = state;
	g->m = m;
	if (m)
		m->g = g;
}

static void proc__set(struct sequencer *s, struct proc *p, uint32_t state, struct thread *m)
{
	boundary__save_p(s, p);
	if (p->m) {
		p->m->last_p = p;
		p->m->p = NULL;
	}
	p->state = state;
	p->m = m;
	if (m)
		m->p = p;
}

/* `g` is new: its state is 0. Trace format 1.22 has no event for a blocked creation. */
void go__create(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g,
		bool blocked, uint32_t start, uint32_t stack)
{
	blocked = blocked && s->opts.version >= 23;
	EMIT(s, t, time, blocked ? EV_GO_CREATE_BLOCKED : EV_GO_CREATE, g->id,
	     stacks__start_id(s->stacks, start), stack);
	g->start = start;
	g->saved = g->numbered = s->out.generation;
	g->seq = 0;
	g->state = blocked ? GO_WAITING : GO_RUNNABLE;
}

void go__create_syscall(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g)
{
	EMIT(s, t, time, EV_GO_CREATE_SYSCALL, g->id);
	g->saved = g->numbered = s->out.generation;
	g->seq = 0;
	g->state = GO_SYSCALL;
	g->m = t;
	t->g = g;
	t->lost_p = false;
}

void go__destroy_syscall(struct sequencer *s, struct thread *t, uint64_t time)
{
	struct goroutine *g = t->g;

	EMIT(s, t, time, EV_GO_DESTROY_SYSCALL);
	t->g = NULL;
	model__forget(s, g);
}

void proc__count(struct sequencer *s, struct thread *t, uint64_t time)
{
	EMIT(s, t, time, EV_PROCS_CHANGE, s->runtime.procs_due, 0);
	s->runtime.procs_due = 0;
}

/* A goroutine begins to run on thread t. */
static void proc__count_due(struct sequencer *s, struct thread *t, uint64_t time)
{
	if (s->runtime.procs_due)
		proc__count(s, t, time);
}

void proc__begin_count(struct sequencer *s, uint64_t time)
{
	struct thread *t, *first = NULL;
	void *value;

	s->runtime.procs_due = s->runtime.procs;
	if (!s->runtime.procs_due)
		return;
	for (size_t i = 0; map__next(&s->model.threads, &i, &value);) {
		t = value;
		if (t->g && t->g->state == GO_RUNNING && (!first || t->tid < first->tid))
			first = t;
	}
	if (first)
		proc__count(s, first, time);
}

void go__start(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g)
{
	/* the mode of a P may be stale: the park of an earlier worker was lost */
	const char *label = g->gc_worker ? layout__gc_mode(s->opts.layout, t->p->gc_mode) : NULL;

	EMIT(s, t, time, EV_GO_START, g->id, boundary__g_seq(s, g));
	go__set(s, g, GO_RUNNING, t);
	if (label)
		EMIT(s, t, time, EV_GO_LABEL, text(s, label));
	proc__count_due(s, t, time);
	members__run(s, t, time);
}

/* A mark worker resets its P's mode before it can be stopped: it is not preemptible. */
static void leave_worker(struct thread *t)
{
	if (t->g->gc_worker && t->p)
		t->p->gc_mode = 0;
	t->g->gc_worker = false;
}

void go__stop(struct sequencer *s, struct thread *t, uint64_t time, const char *why, uint32_t stack)
{
	members__leave(s, t, time);
	EMIT(s, t, time, EV_GO_STOP, text(s, why), stack);
	leave_worker(t);
	go__set(s, t->g, GO_RUNNABLE, NULL);
}

void go__block(struct sequencer *s, struct thread *t, uint64_t time, const char *why,
	       uint32_t stack)
{
	struct goroutine *g = t->g;

	members__leave(s, t, time);
	EMIT(s, t, time, EV_GO_BLOCK, text(s, why), stack);
	leave_worker(t);
	go__set(s, g, GO_WAITING, NULL);
	g->in_network = !strcmp(why, "network");
	if (s->opts.between) /* a file may begin meanwhile */
		g->reason = model__reason(s, why);
}

void go__unblock(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g,
		 uint32_t stack)
{
	EMIT(s, t, time, EV_GO_UNBLOCK, g->id, boundary__g_seq(s, g), stack);
	if (g->in_network)
		g->network_ready = time;
	g->in_network = false;
	go__set(s, g, GO_RUNNABLE, NULL);
}

void go__destroy(struct sequencer *s, struct thread *t, uint64_t time)
{
	struct goroutine *g = t->g;

	range__end_assist(s, t, time); /* only after a loss, as below */
	open_regions__leave(s, t, time);
	EMIT(s, t, time, EV_GO_DESTROY);
	t->g = NULL;
	model__forget(s, g);
}

void go__switch(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *next,
		bool exits)
{
	struct goroutine *g = t->g;

	range__end_assist(s, t, time);
	if (exits)
		open_regions__leave(s, t, time);
	else
		members__leave(s, t, time);
	EMIT(s, t, time, exits ? EV_GO_SWITCH_DESTROY : EV_GO_SWITCH, next->id,
	     boundary__g_seq(s, next));
	if (exits) {
		t->g = NULL;
		model__forget(s, g);
	} else {
		go__set(s, g, GO_WAITING, NULL);
	}
	go__set(s, next, GO_RUNNING, t);
	proc__count_due(s, t, time);
	members__run(s, t, time);
}

void go__syscall_begin(struct sequencer *s, struct thread *t, uint64_t time, uint32_t stack)
{
	range__end_assist(s, t, time);
	range__end_sweep(s, t, time);
	members__leave(s, t, time);
	short_calls__begin(s, t, time, stack);
	go__set(s, t->g, GO_SYSCALL, t);
	proc__set(s, t->p, PROC_SYSCALL, t);
	t->lost_p = false;
}

void go__syscall_end(struct sequencer *s, struct thread *t, uint64_t time)
{
	if (!short_calls__end(s, t, time))
		EMIT(s, t, time, EV_GO_SYSCALL_END);
	go__set(s, t->g, GO_RUNNING, t);
	proc__set(s, t->p, PROC_RUNNING, t);
	proc__count_due(s, t, time);
}

void go__syscall_end_blocked(struct sequencer *s, struct thread *t, uint64_t time)
{
	EMIT(s, t, time, EV_GO_SYSCALL_END_BLOCKED);
	go__set(s, t->g, GO_RUNNABLE, NULL);
	t->lost_p = false;
}

void proc__start(struct sequencer *s, struct thread *t, uint64_t time, struct proc *p)
{
	EMIT(s, t, time, EV_PROC_START, p->id, boundary__p_seq(s, p));
	proc__set(s, p, PROC_RUNNING, t);
}

void proc__stop(struct sequencer *s, struct thread *t, uint64_t time)
{
	range__end_sweep(s, t, time);
	EMIT(s, t, time, EV_PROC_STOP);
	proc__set(s, t->p, PROC_IDLE, NULL);
}

/* Thread t writes the event; it may be the one that loses the P. */
void proc__steal(struct sequencer *s, struct thread *t, uint64_t time, struct proc *p)
{
	short_calls__show(s, p->m);
	EMIT(s, t, time, EV_PROC_STEAL, p->id, boundary__p_seq(s, p), p->m->tid);
	proc__set(s, p, PROC_IDLE, NULL);
}
