// SPDX-License-Identifier: GPL-2.0
/*
 * Corrects the model after a loss, by means of two snapshots of the running process.
 *
 * A goroutine, P or thread whose record was lost stays wrong until its next record: for example
 * running for ever, or alive though it has ended. So the recorder takes a pair of snapshots after
 * losses, as at the start, and the pair is compared with the model. Records have precedence: what
 * was recorded since the pair was begun, or so shortly before that the program's own status may
 * lag, is not changed; neither is anything in which the two snapshots differ. Then another pair is
 * requested.
 *
 * A later generation cannot correct a state by a status, so transitions are inserted, in three
 * steps: wrong threads lose their goroutine and P; goroutines without a thread are moved, ended or
 * created, on one thread that has a P (the carrier); threads get what they should have. Each event
 * counts as a repair.
 *
 * Upstream: sequencer.c. Downstream: transition.c. resync_compare.c makes the list of corrections.
 */
#include "sequence/resync_impl.h"
#include "sequence/repair.h"
#include "sequence/transition.h"

#include "writer/private_write.h"

static const char unknown[] = "unspecified";

/* ---- wrong threads lose what they have ---- */

/* The correct state of a goroutine that leaves its thread: enum trace_go_status, 0: it ends. */
static uint32_t wanted_state(const struct correction *c, const struct goroutine *g)
{
	return g->change ? c->change[g->change - 1].state : GO_RUNNABLE;
}

static void leave_proc(struct correction *c, struct thread *t)
{
	if (t->p->state == PROC_SYSCALL)
		proc__steal(c->s, t, c->time, t->p);
	else
		proc__stop(c->s, t, c->time);
}

static void leave_running(struct correction *c, struct thread *t)
{
	struct goroutine *g = t->g;

	switch (wanted_state(c, g)) {
	case 0:
		c->change[g->change - 1].g = NULL;
		go__destroy(c->s, t, c->time);
		break;
	case GO_WAITING:
		go__block(c->s, t, c->time, unknown, 0);
		break;
	default:
		go__stop(c->s, t, c->time, unknown, 0);
	}
}

static void leave_syscall(struct correction *c, struct thread *t)
{
	struct goroutine *g = t->g;

	if (t->p)
		leave_proc(c, t);
	if (wanted_state(c, g)) {
		go__syscall_end_blocked(c->s, t, c->time);
		return;
	}
	c->change[g->change - 1].g = NULL;
	go__destroy_syscall(c->s, t, c->time);
}

/* The goroutine stays on its thread and P: one event is sufficient. */
static bool corrected_in_place(struct correction *c, const struct fix *f)
{
	struct thread *t = f->t;

	if (!t->g || t->g != f->g || !t->p)
		return false;
	if (f->state == GO_RUNNING && t->g->state == GO_SYSCALL && t->p->state == PROC_SYSCALL &&
	    t->p == f->p)
		go__syscall_end(c->s, t, c->time);
	else if (f->state == GO_SYSCALL && t->g->state == GO_RUNNING && t->p->state == PROC_RUNNING)
		go__syscall_begin(c->s, t, c->time, 0);
	if (t->g->state == GO_SYSCALL && f->state == GO_SYSCALL) {
		if (!f->p)
			leave_proc(c, t);
		return true;
	}
	return t->g->state == f->state && t->p == f->p;
}

static void detach_thread(struct correction *c, const struct fix *f)
{
	struct thread *t = f->t;

	if (t->g == f->g && t->p == f->p && (!t->g || t->g->state == f->state))
		return;
	if (corrected_in_place(c, f))
		return;
	if (t->g && t->g->state == GO_RUNNING && t->p && t->p->state == PROC_RUNNING)
		leave_running(c, t);
	else if (t->g && t->g->state == GO_SYSCALL)
		leave_syscall(c, t);
	if (t->p && !t->g && (t->p != f->p || t->p->state == PROC_SYSCALL))
		leave_proc(c, t);
}

/* ---- a thread with a P, to make transitions on ---- */

/* What was taken away for it, to be returned. */
struct loan {
	struct thread *t;     /* has a running P and no goroutine; NULL: none */
	struct proc *p;	      /* brought to t from elsewhere, or NULL */
	struct thread *owner; /* of p; NULL: p was idle */
	struct goroutine *g;  /* the one that the owner, or t itself, ran */
};

static struct proc *idle_proc(struct correction *c)
{
	return model__first_proc(c->s, PROC_IDLE);
}

/* The thread with the lowest TID that has (`p`) or lacks a running P, with (`g`) or without a G. */
static struct thread *find_thread(struct correction *c, bool p, bool g)
{
	struct thread *lowest = NULL;
	void *value;

	for (size_t i = 0; map__next(&c->s->model.threads, &i, &value);) {
		struct thread *t = value;
		bool has_g = p ? t->g && t->g->state == GO_RUNNING : t->g != NULL;

		if (!t->exit_time && has_g == g && (p || !t->p) && (!t->g || has_g) &&
		    (!p || (t->p && t->p->state == PROC_RUNNING)) &&
		    (!lowest || t->tid < lowest->tid))
			lowest = t;
	}
	return lowest;
}

/* The thread that lent its P last; avoids a search of all threads for each loan. */
static struct thread *last_lender(struct correction *c)
{
	struct thread *t = c->lender;

	return t && !t->exit_time && t->p && t->p->state == PROC_RUNNING &&
			       (!t->g || t->g->state == GO_RUNNING) ?
		       t :
		       NULL;
}

/* The last resort: the goroutine leaves its system call without a P. */
static struct proc *proc_of_a_syscall(struct correction *c, struct thread *t)
{
	struct proc *p = model__first_proc(c->s, PROC_SYSCALL);

	if (p)
		proc__steal(c->s, t, c->time, p);
	return p;
}

/* Gives a P to t, which has none and no goroutine: an idle one, else another thread's. */
static bool borrow_proc(struct correction *c, struct thread *t, struct loan *loan)
{
	struct proc *p = idle_proc(c);

	if (!p) {
		loan->owner = last_lender(c)			  ?:
				      find_thread(c, true, false) ?:
								    find_thread(c, true, true);
		c->lender = loan->owner;
		p = loan->owner ? loan->owner->p : proc_of_a_syscall(c, t);
	}
	if (!p)
		return false;
	if (loan->owner) {
		loan->g = loan->owner->g;
		if (loan->g)
			go__stop(c->s, loan->owner, c->time, unknown, 0);
		proc__stop(c->s, loan->owner, c->time);
	}
	proc__start(c->s, t, c->time, p);
	loan->t = t;
	loan->p = p;
	return true;
}

static void give_back(struct correction *c, struct loan *loan)
{
	struct thread *home = loan->owner ?: loan->t;

	if (!loan->t)
		return;
	if (loan->p && loan->t->p == loan->p)
		leave_proc(c, loan->t);
	if (loan->owner && loan->p->state == PROC_IDLE)
		proc__start(c->s, loan->owner, c->time, loan->p);
	if (loan->g && home->p)
		go__start(c->s, home, c->time, loan->g);
	*loan = (struct loan){};
}

static struct thread *carrier(struct correction *c, struct loan *loan)
{
	struct thread *free;

	if (loan->t)
		return loan->t;
	loan->t = find_thread(c, true, false);
	if (loan->t)
		return loan->t;
	free = find_thread(c, false, false);
	if (free && idle_proc(c) && borrow_proc(c, free, loan))
		return loan->t;
	loan->t = find_thread(c, true, true);
	if (!loan->t)
		return free && borrow_proc(c, free, loan) ? free : NULL;
	loan->g = loan->t->g;
	go__stop(c->s, loan->t, c->time, unknown, 0);
	return loan->t;
}

/* ---- goroutines without a thread ---- */

static void create(struct correction *c, struct change *change, struct thread *t)
{
	const struct snapshot_g *from = change->from;

	if (model__id_taken(c->s, from->goid) || map__get(&c->s->model.by_addr, from->addr))
		return;
	change->g = model__goroutine(c->s, from->addr, from->goid);
	if (change->g)
		go__create(c->s, t, c->time, change->g, change->state == GO_WAITING,
			   stacks__start(c->s->stacks, from->startpc), 0);
}

/* The goroutine must run for a moment to block or to end. */
static void run_and_leave(struct correction *c, struct goroutine *g, struct thread *t, bool ends)
{
	if (g->state == GO_WAITING)
		go__unblock(c->s, t, c->time, g, 0);
	go__start(c->s, t, c->time, g);
	if (ends)
		go__destroy(c->s, t, c->time);
	else
		go__block(c->s, t, c->time, unknown, 0);
}

/* Whether it is on a thread, or correct already: its own thread corrects it. */
static bool is_done(const struct change *change)
{
	const struct goroutine *g = change->g;

	if (!g)
		return !change->from;
	return g->m || (change->state && change->state == g->state) ||
	       (change->state != GO_WAITING && change->state && g->state == GO_RUNNABLE);
}

static void move(struct correction *c, struct change *change, struct loan *loan)
{
	struct thread *t;

	if (is_done(change))
		return;
	t = carrier(c, loan);
	if (!t) {
		c->open++;
		return;
	}
	if (!change->g)
		create(c, change, t);
	if (!change->g)
		return;
	if (!change->state) {
		run_and_leave(c, change->g, t, true);
		change->g = NULL;
	} else if (change->state == GO_WAITING) {
		if (change->g->state == GO_RUNNABLE)
			run_and_leave(c, change->g, t, false);
	} else if (change->g->state == GO_WAITING) {
		go__unblock(c->s, t, c->time, change->g, 0);
	}
}

/* Goroutines that end come first, because new ones may have their g structs. */
static void move_all(struct correction *c)
{
	struct loan loan = {};

	for (size_t i = 0; i < c->changes; i++)
		if (c->change[i].g && !c->change[i].state)
			move(c, &c->change[i], &loan);
	for (size_t i = 0; i < c->changes; i++)
		if (c->change[i].state)
			move(c, &c->change[i], &loan);
	give_back(c, &loan);
}

/* ---- threads get what they should have ---- */

static struct goroutine *goroutine_of(const struct correction *c, const struct fix *f)
{
	return f->change ? c->change[f->change - 1].g : f->g;
}

static void start_on(struct correction *c, const struct fix *f, struct goroutine *g)
{
	struct thread *t = f->t;

	go__start(c->s, t, c->time, g);
	if (f->state != GO_SYSCALL)
		return;
	go__syscall_begin(c->s, t, c->time, 0);
	if (!f->p)
		leave_proc(c, t);
}

/* For a system call that has lost its P: a P is needed to enter it. */
static void take_syscall(struct correction *c, const struct fix *f)
{
	struct goroutine *g = goroutine_of(c, f);
	struct loan loan = {};

	if (f->state != GO_SYSCALL || f->p || f->t->g || f->t->p || !g || g->state != GO_RUNNABLE)
		return;
	if (borrow_proc(c, f->t, &loan))
		start_on(c, f, g);
	else
		c->open++;
	give_back(c, &loan);
}

static void take_proc(struct correction *c, const struct fix *f)
{
	if (f->p && !f->t->p && !f->t->g && f->p->state == PROC_IDLE)
		proc__start(c->s, f->t, c->time, f->p);
}

static void take_goroutine(struct correction *c, const struct fix *f)
{
	struct goroutine *g = goroutine_of(c, f);
	struct thread *t = f->t;
	struct proc *p;

	if (!g || t->g || g->state != GO_RUNNABLE ||
	    (f->state != GO_RUNNING && (f->state != GO_SYSCALL || !f->p)))
		return;
	if (!t->p) { /* which P it has is unknown */
		p = idle_proc(c);
		if (p)
			proc__start(c->s, t, c->time, p);
	}
	if (t->p && t->p->state == PROC_RUNNING)
		start_on(c, f, g);
	else
		c->open++;
}

static void count_procs(struct correction *c)
{
	struct sequencer *s = c->s;

	if (!c->second->procs || c->second->procs == s->runtime.procs ||
	    c->first->procs != c->second->procs)
		return;
	s->runtime.procs = s->runtime.procs_due = c->second->procs;
	for (size_t i = 0; i < c->fixes; i++) {
		struct thread *t = c->fix[i]->t;

		if (s->runtime.procs_due && t->g && t->g->state == GO_RUNNING)
			proc__count(s, t, c->time);
	}
}

static void correct(struct correction *c)
{
	if (c->s->runtime.stw && c->s->runtime.stw->change)
		repair__end_stw(c->s, c->time);
	for (size_t i = 0; i < c->fixes; i++)
		detach_thread(c, c->fix[i]);
	if (c->changes)
		move_all(c);
	for (size_t i = 0; i < c->fixes; i++)
		take_syscall(c, c->fix[i]);
	for (size_t i = 0; i < c->fixes; i++)
		take_proc(c, c->fix[i]);
	for (size_t i = 0; i < c->fixes; i++)
		take_goroutine(c, c->fix[i]);
	count_procs(c);
}

/* Pairs requested because the one before left differences, without a loss in between. */
#define TRIES 3

uint64_t resync__due(const struct sequencer *s)
{
	return s->resync.pair[1].time_end;
}

/* Limits memory between two pairs. A pair that began before they were freed adds no goroutines. */
#define STRAYS_MAX 262144

/* A map value consists of a time of less than 56 bits, and a kind. */
void resync__note_stray(struct sequencer *s, uint64_t addr, unsigned int kind, uint64_t time)
{
	if (s->resync.strays.n >= STRAYS_MAX) {
		map__deinit(&s->resync.strays);
		s->resync.strays_from = time;
	}
	map__put(&s->resync.strays, addr, (void *)((time & ~0ull >> 8) << 8 | (kind & 0xff)));
}

/* Writes to the trace what was corrected and when, and how many events were inserted. */
static void write_correction(const struct correction *c, uint64_t events)
{
	uint64_t to = c->time > c->s->out.last_time ? c->time : c->s->out.last_time;
	struct private_correction correction = {
		.from = c->first->time < to ? c->first->time : to,
		.to = to,
		.goroutines = c->changes,
		.threads = c->procs,
		.events = events,
	};

	boundary__note(c->s, private__correction(c->s->opts.writer, &correction));
}

void resync__apply(struct sequencer *s, uint64_t time)
{
	struct correction c = {
		.s = s,
		.first = &s->resync.pair[0],
		.second = &s->resync.pair[1],
		.time = time > s->now ? time : s->now,
	};
	uint64_t emitted = s->out.events;

	correction__compare(&c);
	if (!c.failed) {
		correct(&c);
		write_correction(&c, s->out.events - emitted);
		s->stats.resnapshots++;
	}
	s->stats.corrected += c.changes;
	s->stats.corrected_procs += c.procs;
	s->stats.repairs += s->out.events - emitted;
	s->losses.watching = s->losses.last >= c.first->time;
	if (c.open && s->losses.tries++ < TRIES) {
		s->losses.seen++;
		s->losses.wrong++;
		s->losses.watching = true;
	}
	correction__deinit(&c);
	map__deinit(&s->resync.strays);
}
