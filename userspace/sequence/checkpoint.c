// SPDX-License-Identifier: GPL-2.0
/*
 * Generation boundaries: what the model looked like at the open generation's start, and the
 * sequence numbers that count from there.
 *
 * No copy of the model is made. A G or P saves its state of the generation's start just before its
 * first change in it; whoever needs a number in this generation first gets a status into the
 * prologue with that saved state. So a boundary costs nothing by goroutine, and a generation names
 * only those that have sequenced events in it. The first generation written names all.
 *
 * Before: state.c (a transition). After: trace/generation.c (prologue and batches).
 */
#include "sequence/model.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/map.h"
#include "trace/generation.h"
#include "trace/private.h"

#define GENERATION_BYTES (16u << 20)
#define GENERATION_NS	 1000000000ull

static void checkpoint__note(struct sequencer *s, int err)
{
	if (err && !s->error)
		s->error = err;
}

void checkpoint__save_g(struct sequencer *s, struct goroutine *g)
{
	if (g->saved == s->generation)
		return;
	g->saved = s->generation;
	g->start_state = g->state;
	g->start_tid = g->m ? g->m->tid : 0;
}

void checkpoint__save_p(struct sequencer *s, struct proc *p)
{
	if (p->saved == s->generation)
		return;
	p->saved = s->generation;
	p->start_state = p->state;
	p->start_tid = p->m ? p->m->tid : 0;
}

/*
 * A P in a system call is bound to its M only by a status in that M's batches, and an M's running
 * G needs the P's status before it: so whoever gets a status pulls in what it stands on.
 */
static void checkpoint__status_p(struct sequencer *s, struct proc *p)
{
	if (p->numbered == s->generation)
		return;
	checkpoint__save_p(s, p);
	p->numbered = s->generation;
	p->seq = 0;
	checkpoint__note(s, writer__proc_status(s->opts.writer,
						p->start_tid ? p->start_tid : TRACE_NO_M, p->id,
						p->start_state));
}

static void checkpoint__status_g(struct sequencer *s, struct goroutine *g)
{
	if (g->numbered == s->generation)
		return;
	checkpoint__save_g(s, g);
	g->numbered = s->generation;
	g->seq = 0;
	checkpoint__note(
		s, writer__go_status(s->opts.writer, g->start_tid ? g->start_tid : TRACE_NO_M,
				     g->id, g->start_state, stacks__start_id(s->stacks, g->start)));
}

uint64_t checkpoint__g_seq(struct sequencer *s, struct goroutine *g)
{
	checkpoint__status_g(s, g);
	return ++g->seq;
}

uint64_t checkpoint__p_seq(struct sequencer *s, struct proc *p)
{
	checkpoint__status_p(s, p);
	return ++p->seq;
}

void checkpoint__full(struct sequencer *s)
{
	size_t np, ng;
	struct map_slot *p = map__sorted(&s->p, &np), *g = map__sorted(&s->id, &ng);

	for (size_t i = 0; i < np; i++)
		checkpoint__status_p(s, p[i].value);
	for (size_t i = 0; i < ng; i++)
		checkpoint__status_g(s, g[i].value);
	if (!p || !g)
		s->error = -ENOMEM;
	free(p);
	free(g);
	/* Every program has a P 0, and a reader wants a generation to have an event. */
	if (!s->p.n)
		checkpoint__note(s, writer__proc_status(s->opts.writer, TRACE_NO_M, 0, PROC_IDLE));
}

/*
 * Times go up in the order of the calls, by a tick whenever the thread changes, so that a reader that
 * takes the earliest event of all threads never meets one that can't be yet. It could wait, but
 * Go's may not find the other when both have the same time and more than a dozen threads
 * wait: it sorts its heap then, and takes the head for tried. The end of a system call concerns its
 * own thread only and may be settled late: it keeps its time.
 */
static uint64_t checkpoint__time(struct sequencer *s, const struct thread *t, uint64_t time,
				 enum ev type)
{
	uint64_t tick = s->opts.tick_ns ? s->opts.tick_ns : 1;

	if (type == EV_GO_SYSCALL_END)
		return time;
	if (t->tid != s->last_tid && time / tick <= s->last_time / tick)
		time = s->last_time + tick;
	else if (time < s->last_time)
		time = s->last_time;
	s->last_time = time;
	s->last_tid = t->tid;
	return time;
}

void checkpoint__emit(struct sequencer *s, struct thread *t, uint64_t time, enum ev type,
		      unsigned int nargs, const uint64_t *args)
{
	s->emitted++;
	checkpoint__note(s, writer__event(s->opts.writer, t->tid,
					  checkpoint__time(s, t, time, type), type, args, nargs));
}

int checkpoint__open(struct sequencer *s, uint64_t time)
{
	uint64_t wall = s->wall0 + (time - s->t0);
	int err;

	model__boundary(s, time);
	s->gen_start = s->last_time = time;
	s->last_tid = 0; /* statuses have the start's time */
	s->gc_active_due = s->gc_running;
	s->generation++;
	err = writer__open(s->opts.writer, time, wall);
	if (!err)
		err = kernel__begin(s, time);
	if (!err)
		err = private__ticks(s->opts.writer, s->opts.tick_ns, time, wall);
	if (!err && s->generation == 1 && s->opts.meta)
		err = private__meta(s->opts.writer, s->opts.meta);
	if (!err && s->generation == 1)
		err = private__table(s->opts.writer);
	return err;
}

/* Texts that are this generation's alone are written with it, and new stacks: of 24 bytes a frame about 10. */
static size_t generation_size(const struct sequencer *s)
{
	return writer__size(s->opts.writer) + intern__passing_bytes(s->opts.intern) +
	       intern__new_stack_bytes(s->opts.intern) / 2 + kernel_writer__size(s->kernel);
}

int checkpoint__roll(struct sequencer *s, uint64_t time, bool force)
{
	int err;

	if (time < s->last_time)
		time = s->last_time;
	if (!force) {
		if (time - s->gen_start < GENERATION_NS && generation_size(s) < GENERATION_BYTES)
			return 0;
		/* Readers resolve an STWEnd's name in the table of the generation it stands in. */
		if (s->stw && time - s->gen_start < 4 * GENERATION_NS &&
		    generation_size(s) < 2 * GENERATION_BYTES)
			return 0;
	}
	state__settle_exits(s, time, false);
	repair__end_stw(s, time);
	err = kernel_writer__end(s->kernel, s->opts.writer);
	if (!err)
		err = writer__close(s->opts.writer);
	if (err)
		return err;
	intern__end_generation(s->opts.intern);
	return checkpoint__open(s, time);
}
