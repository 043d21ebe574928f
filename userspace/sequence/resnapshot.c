// SPDX-License-Identifier: GPL-2.0
/*
 * The state after a loss, put right from two snapshots of the running process.
 *
 * A goroutine, P or thread whose record was lost stays wrong until its next one: running for ever, or
 * alive though it has ended. So after losses the recorder takes a pair of snapshots, as at the start,
 * and here it is held against the model. Records outrank it: what one has told since the pair was
 * begun, or so shortly before that the program's own status may lag behind it, is let be; so is what
 * the two do not agree upon. Then another pair is asked for.
 *
 * A later generation can't correct a state by a status, so all is done by transitions, in three
 * steps: threads that are wrong let go of what they have; what has no thread is moved, ended or
 * created, on one thread that has a P to spare (the carrier); the threads take what they should have.
 * Each event counts as a repair.
 *
 * Before: sequencer.c, at the right moment of the stream. After: transition.c. resnapshot_judge.c
 * finds what is wrong, and makes the list that this file works off.
 */
#include "sequence/resnapshot.h"

#include "trace/private.h"

static const char unknown[] = "unspecified";

/* ---- threads that are wrong let go ---- */

/* What becomes of a goroutine that leaves its thread: enum trace_go_status, 0: it ends. */
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

/* The goroutine stays on its thread and P: one event says the rest. */
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

static void let_go(struct correction *c, const struct fix *f)
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

/* ---- a thread and a P to do things with ---- */

/* What was taken away for it, to be given back. */
struct loan {
	struct thread *t;     /* has a running P and no goroutine; NULL: there is none */
	struct proc *p;	      /* brought to t from elsewhere, or NULL */
	struct thread *owner; /* p's, NULL: it was idle */
	struct goroutine *g;  /* which the owner, or t itself, ran */
};

static struct proc *idle_proc(struct correction *c)
{
	return model__first_proc(c->s, PROC_IDLE);
}

/*
 * The thread of the lowest TID that has (or, `p` false, has not) a running P, with a goroutine or
 * without.
 */
static struct thread *find_thread(struct correction *c, bool p, bool g)
{
	struct thread *lowest = NULL;
	void *value;

	for (size_t i = 0; map__next(&c->s->m, &i, &value);) {
		struct thread *t = value;
		bool has_g = p ? t->g && t->g->state == GO_RUNNING : t->g != NULL;

		if (!t->exit_time && has_g == g && (p || !t->p) && (!t->g || has_g) &&
		    (!p || (t->p && t->p->state == PROC_RUNNING)) &&
		    (!lowest || t->tid < lowest->tid))
			lowest = t;
	}
	return lowest;
}

/* Of ten thousand threads in system calls each would look at all others for one. */
static struct thread *lender(struct correction *c)
{
	struct thread *t = c->lender;

	return t && !t->exit_time && t->p && t->p->state == PROC_RUNNING &&
			       (!t->g || t->g->state == GO_RUNNING) ?
		       t :
		       NULL;
}

/* The last resort: its goroutine will come out of its system call without. */
static struct proc *proc_of_a_syscall(struct correction *c, struct thread *t)
{
	struct proc *p = model__first_proc(c->s, PROC_SYSCALL);

	if (p)
		proc__steal(c->s, t, c->time, p);
	return p;
}

/* Brings a P to t, which has none and runs nothing: an idle one, else somebody's. */
static bool borrow_proc(struct correction *c, struct thread *t, struct loan *loan)
{
	struct proc *p = idle_proc(c);

	if (!p) {
		loan->owner = lender(c)				  ?:
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

/* ---- what has no thread ---- */

static void create(struct correction *c, struct change *change, struct thread *t)
{
	const struct snapshot_g *from = change->from;

	if (model__id_taken(c->s, from->goid) || map__get(&c->s->g, from->addr))
		return;
	change->g = model__goroutine(c->s, from->addr, from->goid);
	if (change->g)
		go__create(c->s, t, c->time, change->g, change->state == GO_WAITING,
			   stacks__start(c->s->stacks, from->startpc), 0);
}

/* It needs to run for a moment, to block or to end. */
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

/* It is on a thread, or as it should be already: its own thread has done it, or will. */
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

/* Those that end go first: another may have its g struct by now. */
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

/* ---- the threads take what they should have ---- */

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

/* In a system call that has lost its P: it needs one to get there. */
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
	if (!t->p) { /* which one it has, nobody knows */
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

	if (!c->second->procs || c->second->procs == s->procs ||
	    c->first->procs != c->second->procs)
		return;
	s->procs = s->procs_due = c->second->procs;
	for (size_t i = 0; i < c->fixes; i++) {
		struct thread *t = c->fix[i]->t;

		if (s->procs_due && t->g && t->g->state == GO_RUNNING)
			proc__count(s, t, c->time);
	}
}

static void correct(struct correction *c)
{
	if (c->s->stw && c->s->stw->change)
		repair__end_stw(c->s, c->time);
	for (size_t i = 0; i < c->fixes; i++)
		let_go(c, c->fix[i]);
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

/* Pairs asked for because of what the one before left open, with no loss in between. */
#define TRIES 3

uint64_t resnapshot__due(const struct sequencer *s)
{
	return s->again[1].time_end;
}

/* Few between two pairs; if not, a pair that began before they were forgotten tells of no stranger. */
#define STRAYS_MAX 262144

/* As a map's value: a kind and its time, which has less than 56 bits. */
void resnapshot__note_stray(struct sequencer *s, uint64_t addr, unsigned int kind, uint64_t time)
{
	if (s->strays.n >= STRAYS_MAX) {
		map__deinit(&s->strays);
		s->strays_from = time;
	}
	map__put(&s->strays, addr, (void *)((time & ~0ull >> 8) << 8 | (kind & 0xff)));
}

/* Into the file: from when on it is right again, and how many events are not the program's. */
static void tell(const struct correction *c, uint64_t events)
{
	uint64_t to = c->time > c->s->last_time ? c->time : c->s->last_time;
	struct private_correction told = {
		.from = c->first->time < to ? c->first->time : to,
		.to = to,
		.goroutines = c->changes,
		.threads = c->procs,
		.events = events,
	};
	int err = private__correction(c->s->opts.writer, &told);

	if (err && !c->s->error)
		c->s->error = err;
}

void resnapshot__apply(struct sequencer *s, uint64_t time)
{
	struct correction c = {
		.s = s,
		.first = &s->again[0],
		.second = &s->again[1],
		.time = time > s->now ? time : s->now,
	};
	uint64_t emitted = s->emitted;

	correction__judge(&c);
	if (!c.failed) {
		correct(&c);
		tell(&c, s->emitted - emitted);
		s->stats.resnapshots++;
	}
	s->stats.corrected += c.changes;
	s->stats.corrected_procs += c.procs;
	s->stats.repairs += s->emitted - emitted;
	s->losses.watching = s->losses.last >= c.first->time;
	if (c.open && s->losses.tries++ < TRIES) {
		s->losses.seen++;
		s->losses.wrong++;
		s->losses.watching = true;
	}
	correction__deinit(&c);
	map__deinit(&s->strays);
}
