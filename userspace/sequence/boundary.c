// SPDX-License-Identifier: GPL-2.0
/*
 * Generation boundaries: the state of the model at the open generation's start, and sequence
 * numbers, which restart there.
 *
 * The model is not copied. A G or P saves its state just before its first change in a generation;
 * the first sequence number that it needs there adds a status with the saved state to the prologue.
 * So a boundary has no cost per goroutine, and a generation contains only Gs and Ps that have
 * sequenced events in it. The first generation of a file contains all.
 *
 * Upstream: transition.c and state*.c. Downstream: writer/writer.c (prologue and batches).
 */
#include "sequence/boundary.h"
#include "sequence/repair.h"
#include "sequence/transition.h"
#include "sequence/sequencer_impl.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/map.h"
#include "writer/private_parked.h"
#include "writer/private_write.h"
#include "writer/writer.h"

#define GENERATION_BYTES (16u << 20)
#define GENERATION_NS	 1000000000ull

void boundary__note(struct sequencer *s, int err)
{
	if (err && !s->error)
		s->error = err;
}

void boundary__save_g(struct sequencer *s, struct goroutine *g)
{
	if (g->saved == s->out.generation)
		return;
	g->saved = s->out.generation;
	g->start_state = g->state;
	g->start_tid = g->m ? g->m->tid : 0;
}

void boundary__save_p(struct sequencer *s, struct proc *p)
{
	if (p->saved == s->out.generation)
		return;
	p->saved = s->out.generation;
	p->start_state = p->state;
	p->start_tid = p->m ? p->m->tid : 0;
}

/*
 * Only a status in an M's batches binds a P in a system call to that M, and an M's running G needs
 * the status of its P before its own: so each status also adds those that it depends on.
 */
static void boundary__status_p(struct sequencer *s, struct proc *p)
{
	if (p->numbered == s->out.generation)
		return;
	boundary__save_p(s, p);
	p->numbered = s->out.generation;
	p->seq = 0;
	boundary__note(s,
		       writer__proc_status(s->opts.writer, p->start_tid ? p->start_tid : TRACE_NO_M,
					   p->id, p->start_state));
}

/* The stack of a status: `whole`, as far as it is known, of a goroutine that waits or is in a system call. */
static uint32_t status_stack(struct sequencer *s, const struct goroutine *g, bool whole)
{
	uint32_t id = 0;

	if (whole && g->parked)
		id = stacks__held_id(s->stacks, g->parked, g->start);
	return id ?: stacks__start_id(s->stacks, g->start);
}

/* `whole`: the status is the first one of a file, which begins now. */
static void boundary__status_g(struct sequencer *s, struct goroutine *g, bool whole)
{
	if (g->numbered == s->out.generation)
		return;
	boundary__save_g(s, g);
	g->numbered = s->out.generation;
	g->seq = 0;
	boundary__note(s,
		       writer__go_status(s->opts.writer, g->start_tid ? g->start_tid : TRACE_NO_M,
					 g->id, g->start_state, status_stack(s, g, whole)));
}

uint64_t boundary__g_seq(struct sequencer *s, struct goroutine *g)
{
	boundary__status_g(s, g, false);
	return ++g->seq;
}

uint64_t boundary__p_seq(struct sequencer *s, struct proc *p)
{
	boundary__status_p(s, p);
	return ++p->seq;
}

/*
 * A range that is open when a file begins ends in it, which readers accept only if it is named. The
 * event follows the status in the batches of the same thread, or of none.
 */
static void boundary__active(struct sequencer *s, const struct thread *m, enum ev type, uint64_t id)
{
	boundary__note(s, writer__event(s->opts.writer, m ? m->tid : TRACE_NO_M, s->out.start, type,
					&id, 1));
}

static void boundary__ranges(struct sequencer *s)
{
	void *value;

	for (size_t i = 0; map__next(&s->model.by_id, &i, &value);) {
		const struct goroutine *g = value;

		if (g->in_assist)
			boundary__active(s, g->m, EV_GC_MARK_ASSIST_ACTIVE, g->id);
	}
	for (size_t i = 0; map__next(&s->model.procs, &i, &value);) {
		const struct proc *p = value;

		if (p->in_sweep)
			boundary__active(s, p->m, EV_GC_SWEEP_ACTIVE, p->id);
	}
}

static void boundary__full(struct sequencer *s)
{
	size_t np, ng;
	struct map_slot *p = map__sorted(&s->model.procs, &np),
			*g = map__sorted(&s->model.by_id, &ng);

	for (size_t i = 0; i < np; i++)
		boundary__status_p(s, p[i].value);
	for (size_t i = 0; i < ng; i++)
		boundary__status_g(s, g[i].value, true);
	if (!p || !g)
		s->error = -ENOMEM;
	free(p);
	free(g);
	/* Every program has a P 0, and readers require a generation to have an event. */
	if (!s->model.procs.n)
		boundary__note(s, writer__proc_status(s->opts.writer, TRACE_NO_M, 0, PROC_IDLE));
}

/*
 * Increases times in the order of the calls, by a tick whenever the thread changes. A reader, which
 * takes the earliest event of all threads, then never finds one that must wait. Go's reader could
 * fail: if more than a dozen threads wait and two times are equal, it sorts its heap and takes the
 * head for tried. The end of a system call concerns only its own thread and may be confirmed late:
 * it keeps its time, and so does what is reported late (out.late_tid).
 */
uint64_t boundary__stamp(struct sequencer *s, const struct thread *t, uint64_t time, enum ev type)
{
	uint64_t tick = sequencer__tick(s);

	if (type == EV_GO_SYSCALL_END || t->tid == s->out.late_tid)
		return time;
	if (t->tid != s->out.last_tid && time / tick <= s->out.last_time / tick)
		time = s->out.last_time + tick;
	else if (time < s->out.last_time)
		time = s->out.last_time;
	s->out.last_time = time;
	s->out.last_tid = t->tid;
	return time;
}

void boundary__put(struct sequencer *s, struct thread *t, uint64_t time, enum ev type,
		   unsigned int nargs, const uint64_t *args)
{
	s->out.events++;
	boundary__note(s, writer__event(s->opts.writer, t->tid, time, type, args, nargs));
}

void boundary__watch(struct sequencer *s, const struct thread *t, uint64_t time, enum ev type,
		     const uint64_t *args)
{
	struct watch_event ev = { time, t->g ? t->g->id : 0, t->tid, type, args };

	if (s->opts.watch.event)
		s->opts.watch.event(s->opts.watch.ctx, &ev);
}

void boundary__emit(struct sequencer *s, struct thread *t, uint64_t time, enum ev type,
		    unsigned int nargs, const uint64_t *args)
{
	uint64_t from = time, to;

	short_calls__show(s, t);
	time = to = boundary__stamp(s, t, time, type);
	if (to < s->out.start && s->losses.seen) /* a system call whose end is confirmed late */
		to = s->out.start;
	if (s->losses.forces || to != time) {
		bool is_of_other = type == EV_GO_START || type == EV_GO_UNBLOCK;

		losses__late(s, is_of_other ? args[0] : t->g ? t->g->id : 0, from, to);
	}
	boundary__put(s, t, time, type, nargs, args);
	boundary__watch(s, t, time, type, args);
}

static int boundary__open(struct sequencer *s, uint64_t time)
{
	uint64_t wall = s->wall0 + (time - s->t0);
	int err;

	model__boundary(s, time);
	s->out.start = s->out.last_time = time;
	s->out.last_tid = 0; /* statuses have the time of the generation's start */
	s->runtime.gc_active_due = s->runtime.gc_running;
	s->out.generation++;
	err = writer__open(s->opts.writer, time, wall);
	if (!err)
		err = kernel_events__begin(s, time);
	if (!err)
		err = private__ticks(s->opts.writer, s->opts.tick_ns, time, wall);
	if (!err && s->host_clock.time)
		err = private__host_clock(s->opts.writer, &s->host_clock);
	return err;
}

/* Why goroutines wait when a file begins: statuses have no reason. */
static int boundary__parked(struct sequencer *s, uint64_t time)
{
	struct parked_record record = { .reasons = s->model.reasons.text, .n = s->model.reasons.n };
	size_t n;
	struct map_slot *slot = map__sorted(&s->model.by_id, &n);
	int err = slot ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		const struct goroutine *g = slot[i].value;
		bool known = g->last_record && g->last_record <= time;

		if (g->state == GO_WAITING && g->reason)
			err = private__parked(s->opts.writer, &record, g->id, g->reason - 1u,
					      known ? time - g->last_record + 1 : 0);
	}
	err = err ?: private__parked_end(s->opts.writer, &record);
	parked_record__deinit(&record);
	free(slot);
	return err;
}

/* What only the first generation of a file contains. */
int boundary__first(struct sequencer *s, uint64_t time)
{
	int err = boundary__open(s, time);

	if (!err && s->opts.meta)
		err = private__meta(s->opts.writer, s->opts.meta);
	if (!err)
		err = private__table(s->opts.writer);
	if (!err && s->runtime.heap_sampled) /* since an earlier file */
		err = private__number(s->opts.writer, PRIVATE_SAMPLED, time);
	if (err)
		return err;
	shedding__begin_file(s, time);
	boundary__full(s);
	boundary__note(s, boundary__parked(s, time));
	boundary__ranges(s);
	labels__begin_file(s);
	proc__begin_count(s, time);
	return s->error;
}

/* Opens the next generation, in a new file if the user of the sequencer begins one here. */
static int boundary__next(struct sequencer *s, uint64_t time)
{
	int is_first = s->opts.between ? s->opts.between(s->opts.between_ctx, time) : 0;

	if (is_first < 0)
		return is_first;
	return is_first ? boundary__first(s, time) : boundary__open(s, time);
}

/* Includes texts of this generation only, and new stacks: about 10 bytes per frame of 24. */
static size_t generation_size(const struct sequencer *s)
{
	return writer__size(s->opts.writer) + intern__transient_bytes(s->opts.intern) +
	       intern__new_stack_bytes(s->opts.intern) / 2 + kernel_writer__size(s->kernel.writer);
}

int boundary__close(struct sequencer *s, uint64_t time)
{
	uint64_t tick = sequencer__tick(s);
	int err = samples__end_generation(s);

	if (!err)
		err = private__kernel(s->opts.writer, s->kernel.writer);
	if (!err)
		err = open_requests__end_generation(s);
	if (!err && time / tick > s->out.last_time / tick) /* else its last event shows the end */
		err = writer__end(s->opts.writer, time);
	return err ? err : writer__close(s->opts.writer);
}

int boundary__end(struct sequencer *s, uint64_t time)
{
	int err;

	if (time < s->out.last_time)
		time = s->out.last_time;
	state__settle_exits(s, time, false);
	repair__end_stw(s, time);
	open_requests__resolve_all(s);
	losses__end_generation(s, time);
	shedding__end_generation(s, time);
	err = s->error ? s->error : short_calls__end_generation(s);
	if (!err)
		err = boundary__close(s, time);
	if (err)
		return err;
	intern__end_generation(s->opts.intern);
	return boundary__next(s, time);
}

int boundary__roll(struct sequencer *s, uint64_t time, bool before)
{
	uint64_t due;

	if (time < s->out.last_time)
		time = s->out.last_time;
	if (time - s->out.start < GENERATION_NS && generation_size(s) < GENERATION_BYTES)
		return 0;
	/* Readers resolve the name of an STWEnd in the table of its own generation. */
	if (s->runtime.stw && time - s->out.start < 4 * GENERATION_NS &&
	    generation_size(s) < 2 * GENERATION_BYTES)
		return 0;
	due = time - (time - s->out.start) % GENERATION_NS;
	if (due <= s->now) /* what has been written precedes the boundary */
		due = s->now + 1;
	if (before && time > s->out.start)
		time--;
	return boundary__end(s, due < time ? due : time);
}
