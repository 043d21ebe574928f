// SPDX-License-Identifier: GPL-2.0
/*
 * The G/M/P state machine: applies one record and makes legal transitions.
 *
 * Each function below handles one kind of record. It checks the preconditions (WAIT if one is not
 * met, or a repair when forced) and then makes the transitions that the runtime's own tracer would
 * have written at that point. This file handles goroutines; state_impl.h lists the files for other
 * kinds. Upstream: merge.c, sequencer.c and hold.c. Downstream: transition.c; after losses
 * repair.c.
 */
#include "sequence/derived.h"
#include "sequence/members.h"
#include "sequence/repair.h"
#include "sequence/transition.h"
#include "sequence/state_impl.h"

#define SKEW_NS 10000 /* clocks of CPUs differ by less */

/* The stack was sent with the hit, which may have been later than the time of the record. */
static uint32_t stack_of_hit(const struct step *st, uint64_t hit, uint32_t skip)
{
	return stacks__id(st->s->stacks, st->rec->stack,
			  st->s->hold.waiting ? st->s->hold.sent : hit, skip,
			  &st->s->stats.stack_misses);
}

uint32_t step__stack(const struct step *st, uint32_t skip)
{
	return stack_of_hit(st, derived__sent(st->s, st->rec), skip);
}

enum apply_result step__drop(const struct step *st)
{
	st->s->stats.dropped++;
	return DONE;
}

bool step__is_running(const struct step *st)
{
	return st->g && st->g->state == GO_RUNNING && st->g->m == st->t;
}

bool step__need_running(struct step *st, enum apply_result *result)
{
	if (step__is_running(st))
		return true;
	*result = WAIT;
	if (!st->force)
		return false;
	*result = DONE;
	if (repair__running(st->s, st->t, st->time, st->g))
		return true;
	step__drop(st);
	return false;
}

bool thread__has_user_context(const struct thread *t)
{
	return t->g && t->g->state == GO_RUNNING && t->p && t->p->state == PROC_RUNNING;
}

bool step__need_user_context(struct step *st, enum apply_result *result)
{
	if (thread__has_user_context(st->t))
		return true;
	*result = WAIT;
	if (!st->force)
		return false;
	*result = DONE;
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

/* Only execute reads the goid: a wrong mapping of its address is corrected here. */
enum apply_result apply_execute(struct step *st)
{
	const struct gt_execute *x = st->payload;
	struct sequencer *s = st->s;

	if (st->g && step__is_other(st->g, x->goid)) {
		st->g->last_record = st->last_record;
		if (!st->force)
			return WAIT;
		if (st->last_record > st->time) /* another goroutine has used the struct since */
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

/* A file that begins while the goroutine waits contains the stack. */
static void hold_stack(const struct step *st, struct goroutine *g, uint64_t hit)
{
	g->parked = stacks__hold_number(st->s->stacks, st->rec->stack,
					st->s->hold.waiting ? st->s->hold.sent : hit,
					&st->s->stats.parked_left_out);
}

static void block(struct step *st, const struct gt_park *park, uint32_t stack)
{
	go__block(st->s, st->t, st->time,
		  layout__block_reason(st->s->opts.layout, park->block_reason, park->wait_reason),
		  stack);
}

/*
 * A derived park may be so late that the goroutine has run elsewhere: the stack, which was read
 * only then, may be that of another park.
 */
static bool has_run_since(const struct step *st, const struct gt_park *park)
{
	if (!st->rec->stack)
		return false;
	if (st->s->hold.waiting)
		return st->s->hold.has_run;
	return park->derived &&
	       merge__has(st->s->merge, GT_EXECUTE, st->rec->object, st->rec->time + park->derived);
}

enum apply_result apply_park(struct step *st)
{
	const struct gt_park *park = st->payload;
	struct goroutine *g = st->t->g;
	uint64_t hit = derived__sent(st->s, st->rec);
	bool is_its_stack = !has_run_since(st, park);

	st->s->stats.stacks_gone += !is_its_stack;
	block(st, park, is_its_stack ? stack_of_hit(st, hit, park->skip) : 0);
	if (is_its_stack && st->s->opts.between)
		hold_stack(st, g, hit);
	return DONE;
}

enum apply_result apply_preempt_park(struct step *st)
{
	go__block(st->s, st->t, st->time, "preempted",
		  step__stack(st, st->s->opts.layout->skips.preempt_park));
	return DONE;
}

enum apply_result apply_yield(struct step *st)
{
	const struct gt_yield *yield = st->payload;

	go__stop(st->s, st->t, st->time,
		 yield->why == GT_YIELD_PREEMPTED ? "preempted" : "runtime.Gosched",
		 step__stack(st, st->s->opts.layout->skips.stop));
	return DONE;
}

/*
 * An earlier record of this goroutine has been held for longer than clocks differ: it waits for a
 * record that was lost, and this one does not.
 */
static bool step__is_overtaking(const struct step *st)
{
	return !st->force && st->g->earliest_pending &&
	       st->g->earliest_pending + SKEW_NS < st->time;
}

enum apply_result apply_ready(struct step *st)
{
	const struct gt_ready *ready = st->payload;

	if (!st->g || st->g->state != GO_WAITING || step__is_overtaking(st)) {
		if (!st->force)
			return WAIT;
		/* the goroutine has run since: the record is late, and no longer applies */
		if (st->g && st->g->state != GO_RUNNABLE && st->last_record > st->time)
			return step__drop(st);
		if (!st->g || !repair__waiting(st->s, st->time, st->g))
			return step__drop(st);
	}
	go__unblock(st->s, st->t, st->time, st->g, step__stack(st, ready->skip));
	if (ready->via == GT_VIA_GC_WORKER && st->t->p) {
		st->g->gc_worker = true;
		st->t->p->gc_mode = ready->mode;
	}
	return DONE;
}

enum apply_result apply_create(struct step *st)
{
	const struct gt_create *create = st->payload;
	bool blocked = st->rec->kind == GT_CREATE_BLOCKED;
	struct sequencer *s = st->s;
	struct goroutine *g;

	if (!create->goid || !st->rec->object)
		return step__drop(st);
	if (st->g && st->g->id == create->goid)
		return DONE; /* site_inline.c: reported in each iteration */
	if (st->g || model__id_taken(s, create->goid) || !st->t->p ||
	    st->t->p->state != PROC_RUNNING || (st->t->g && st->t->g->state != GO_RUNNING)) {
		if (!st->force)
			return WAIT;
		if (model__id_taken(s, create->goid))
			return step__drop(st);
		if (st->g && st->last_record > st->time)
			return step__drop(st);
		if (st->g) /* its end was lost */
			step__evict(st, st->g);
		if (st->t->g && !repair__running(s, st->t, st->time, st->t->g))
			return step__drop(st);
		if (!repair__need_proc(s, st->t, st->time))
			return step__drop(st);
	}
	g = model__goroutine(s, st->rec->object, create->goid);
	if (!g)
		return DONE;
	go__create(s, st->t, st->time, g, blocked, stacks__start(s->stacks, create->startpc),
		   step__stack(st, s->opts.layout->skips.create));
	labels__inherit(s, st->t->g, g);
	members__created(s, st->t, g);
	open_requests__created(g, st->t->g);
	return DONE;
}

enum apply_result apply_destroy(struct step *st)
{
	const struct gt_destroy *destroy = st->payload;
	enum apply_result result;

	if (!st->g)
		return DONE; /* a coroutine that ended by its switch, or was never known */
	if (step__is_other(st->g, destroy->goid))
		return st->force ? step__drop(st) : WAIT;
	if (!step__need_running(st, &result))
		return result;
	go__destroy(st->s, st->t, st->time);
	return DONE;
}

/*
 * Whether another record of the goroutine's struct shows that it goes on: one that waits for its end or
 * park, or one between the time of these and the hit, which found it dead. The record may be about
 * another goroutine, or wait only for the P that the thread no longer has.
 */
static bool goes_on(const struct step *st, const struct gt_ended *ended)
{
	const struct gt_record *rec = st->s->hold.waiting;
	const struct gt_execute *execute;

	if (!rec)
		rec = merge__first_of(st->s->merge, st->rec->object,
				      st->rec->time + ended->park.derived);
	execute = (const void *)(rec + 1);
	return rec && rec->object == st->rec->object && rec->kind != GT_CREATE &&
	       rec->kind != GT_CREATE_BLOCKED &&
	       (rec->kind != GT_EXECUTE || !execute->goid || execute->goid == ended->goid);
}

/* It only parked here, and ended elsewhere, if another record shows that it goes on. */
enum apply_result apply_ended(struct step *st)
{
	const struct gt_ended *ended = st->payload;
	struct step destroy = *st;

	if (step__is_running(st) && !step__is_other(st->g, ended->goid) && goes_on(st, ended)) {
		block(st, &ended->park, 0);
		return DONE;
	}
	destroy.payload = &(struct gt_destroy){ .goid = ended->goid };
	return apply_destroy(&destroy);
}

/* Trace format 1.22 has no GoSwitch: its three parts are written as separate events. */
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

static enum apply_result try_switch(struct step *st, struct goroutine *next)
{
	const struct gt_switch *sw = st->payload;
	struct sequencer *s = st->s;
	enum apply_result result;

	if (!step__need_running(st, &result))
		return result;
	if (next == st->g)
		return step__drop(st);
	if (!next || step__is_other(next, sw->next_goid) ||
	    (next->state != GO_WAITING && next->state != GO_RUNNABLE) ||
	    (next->state == GO_RUNNABLE && s->opts.version >= 23)) {
		if (!st->force)
			return WAIT;
		if (next && step__is_other(next, sw->next_goid) && next->first_seen > st->time)
			return step__drop(st); /* another goroutine has the struct by now */
		if (next && step__is_other(next, sw->next_goid)) {
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

/* The record concerns two goroutines. */
enum apply_result apply_switch(struct step *st)
{
	const struct gt_switch *sw = st->payload;
	struct goroutine *next = map__get(&st->s->model.by_addr, sw->next);
	enum apply_result result = try_switch(st, next);

	next = map__get(&st->s->model.by_addr, sw->next);
	if (next && result == DONE) {
		next->last_record = next->last_record > st->time ? next->last_record : st->time;
		next->earliest_pending =
			next->earliest_pending == st->time ? 0 : next->earliest_pending;
	} else if (next && !next->earliest_pending) {
		next->earliest_pending = st->time;
	}
	return result;
}

/* Their handlers require a running goroutine only in some cases, or do more if it is not. */
#define CHECKS_ITSELF(kind)                                                                        \
	((kind) == GT_DESTROY || (kind) == GT_ENDED || (kind) == GT_SWITCH ||                      \
	 (kind) == GT_ASSIST_END)

static const struct {
	enum apply_result (*apply)(struct step *st);
	bool object_is_g;
	bool needs_running; /* step__need_running() is called before */
} handlers[GT_KIND_END] = {
#define HANDLER(number, NAME, name, payload, g, P)                                                 \
	[GT_##NAME] = { apply_##name, FOUND_##g != FOUND_NONE,                                     \
			FOUND_##g == FOUND_RUNNING && !CHECKS_ITSELF(GT_##NAME) },
	GT_GO_KINDS(HANDLER)
};

struct thread *state__awaited(const struct sequencer *s, const struct thread *t,
			      const struct gt_record *rec)
{
	const struct goroutine *g = NULL;
	const struct proc *p;

	if (rec->kind < GT_KIND_END && handlers[rec->kind].object_is_g)
		g = map__get(&s->model.by_addr, rec->object);
	if (g && g->m != t)
		return g->m;
	if (rec->kind == GT_P_START || rec->kind == GT_P_HANDOFF)
		p = map__get(&s->model.procs, rec->object);
	else if (rec->kind == GT_SYSCALL_EXIT && g && !t->p && !t->lost_p && !s->losses.watching)
		p = t->last_p; /* taken back from a system call that its thread reports late */
	else
		p = NULL;
	return p && p->m != t ? p->m : NULL;
}

enum apply_result state__apply(struct sequencer *s, struct thread *t, const struct gt_record *rec,
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
	enum apply_result result;

	if (rec->kind == GT_SAMPLE) /* a sample does not show what the thread does */
		return apply_sample(&st);
	if (rec->kind >= GT_KIND_END || !handlers[rec->kind].apply)
		return DONE;
	/* Any record but one of a thread without its P confirms a tentative exit. */
	if (t->exit_time && rec->kind != GT_SYSCALL_LOST && rec->kind != GT_SYSCALL_NO_P)
		state__exit_kept(s, t);
	if (s->runtime.gc_active_due && thread__has_user_context(t))
		gc__active(s, t, rec->time);
	if (s->user.present.n)
		labels__write_present(s, t, rec->time);
	if (handlers[rec->kind].object_is_g && rec->object)
		st.g = map__get(&s->model.by_addr, rec->object);
	t->last_record = rec->time;
	if (st.g) {
		st.last_record = st.g->last_record;
		if (st.last_record < rec->time)
			st.g->last_record = rec->time;
		if (st.g->earliest_pending == rec->time)
			st.g->earliest_pending = 0;
	} else if (s->losses.watching && handlers[rec->kind].object_is_g && rec->object) {
		resync__note_stray(s, rec->object, rec->kind, rec->time);
	}
	if (s->opts.no_syscalls) /* without probes of system calls no other record ends the call */
		st.force |=
			(t->g && t->g->state == GO_SYSCALL) || (st.g && st.g->state == GO_SYSCALL);
	st.time = force ? rec->time : state__time(s, t, rec);
	s->out.late_tid = st.time < rec->time ? t->tid : 0;
	if (!handlers[rec->kind].needs_running || step__need_running(&st, &result))
		result = handlers[rec->kind].apply(&st);
	s->out.late_tid = 0;
	if (result != WAIT)
		t->off_at = GT_OFF_AT_UNKNOWN;
	if (s->user.present.n && result == DONE)
		labels__write_present(s, t, rec->time);
	if (result == WAIT && st.g) {
		st.g->last_record = st.last_record;
		if (!st.g->earliest_pending || rec->time < st.g->earliest_pending)
			st.g->earliest_pending = rec->time;
	}
	return result;
}
