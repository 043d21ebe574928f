// SPDX-License-Identifier: GPL-2.0
/*
 * What the simulated program's goroutines do while they run, and the scheduler of an M without one.
 * Upstream: simulate.c. Downstream: world.c.
 */
#include "world.h"

static struct sim_g *free_g(struct world *w)
{
	return world__g(w, SG_FREE);
}

static void leave(struct sim_m *m, enum sim_g_state state)
{
	m->g->state = state;
	m->g->m = NULL;
	m->g = NULL;
}

static void run(struct world *w, struct sim_m *m, struct sim_g *g)
{
	world__emit(w, m, GT_EXECUTE, g->addr, &(struct gt_execute){ g->goid });
	world__expect_start(w, g);
	g->state = SG_RUNNING;
	g->m = m;
	m->g = g;
}

static void park(struct world *w, struct sim_m *m)
{
	struct sim_g *g = m->g;

	world__emit(w, m, GT_PARK, g->addr,
		    &(struct gt_park){ .block_reason = world__below(w, 20),
				       .wait_reason = world__below(w, 30),
				       .skip = world__below(w, 4) });
	world__expect(w, EV_GO_BLOCK);
	g->mode = 0;
	leave(m, SG_WAITING);
	if (!world__chance(w, 20))
		return;
	world__emit(w, m, GT_READY, g->addr, &(struct gt_ready){ .via = GT_VIA_REFUSED });
	world__expect(w, EV_GO_UNBLOCK);
	g->state = SG_RUNNABLE;
	run(w, m, g);
}

void running__stop(struct world *w, struct sim_m *m, bool preempted)
{
	world__emit(w, m, GT_YIELD, m->g->addr,
		    &(struct gt_yield){ preempted ? GT_YIELD_PREEMPTED : GT_YIELD_GOSCHED });
	world__expect(w, EV_GO_STOP);
	leave(m, SG_RUNNABLE);
}

static void preempt_park(struct world *w, struct sim_m *m)
{
	world__emit(w, m, GT_PREEMPT_PARK, m->g->addr, "");
	world__expect(w, EV_GO_BLOCK);
	leave(m, SG_WAITING);
}

static struct sim_g *create(struct world *w, struct sim_m *m, bool blocked)
{
	struct sim_g *g = free_g(w);
	struct gt_create c;

	if (!g)
		return NULL;
	g->goid = w->next_goid;
	w->next_goid += 1 + world__chance(w, 8) * 16; /* Ps get goids in batches */
	g->startpc = 0x400000 + 0x100 * world__below(w, 50);
	g->parent = m->g ? m->g->goid : 0;
	g->mode = 0;
	g->coroutine = g->fresh = blocked;
	g->partner = NULL;
	c = (struct gt_create){ g->goid, g->startpc, g->parent };
	world__emit(w, m, blocked ? GT_CREATE_BLOCKED : GT_CREATE, g->addr, &c);
	world__expect(w, blocked && w->opts->version >= 23 ? EV_GO_CREATE_BLOCKED : EV_GO_CREATE);
	g->state = blocked ? SG_WAITING : SG_RUNNABLE;
	return g;
}

static void destroy(struct world *w, struct sim_m *m)
{
	struct sim_g *g = m->g;

	world__emit(w, m, w->opts->derives ? GT_ENDED : GT_DESTROY, g->addr,
		    &(struct gt_ended){ .goid = g->goid });
	world__expect(w, EV_GO_DESTROY);
	annotation__forget(g);
	leave(m, SG_FREE);
}

static void expect_switch(struct world *w, bool exits, bool fresh)
{
	if (w->opts->version >= 23) {
		world__expect(w, exits ? EV_GO_SWITCH_DESTROY : EV_GO_SWITCH);
		return;
	}
	if (!fresh)
		world__expect(w, EV_GO_UNBLOCK);
	world__expect(w, exits ? EV_GO_DESTROY : EV_GO_BLOCK);
	world__expect(w, EV_GO_START); /* no GC worker is a coroutine */
}

/* iter.Pull: a coroutine and the goroutine that resumes it wait for each other. */
static void coroutine_switch(struct world *w, struct sim_m *m, struct sim_g *to, bool exits)
{
	struct sim_g *from = m->g;

	world__emit(w, m, GT_SWITCH, from->addr, &(struct gt_switch){ to->addr, to->goid, exits });
	expect_switch(w, exits, to->fresh);
	if (exits) {
		world__emit(w, m, GT_DESTROY, from->addr, &(struct gt_destroy){ from->goid });
		annotation__forget(from);
	}
	leave(m, exits ? SG_FREE : SG_WAITING);
	to->fresh = to->coroutine = false;
	from->partner = NULL;
	from->coroutine = !exits;
	to->partner = exits ? NULL : from;
	to->state = SG_RUNNING;
	to->m = m;
	m->g = to;
}

static void coroutines(struct world *w, struct sim_m *m)
{
	if (!m->g->partner)
		m->g->partner = create(w, m, true);
	if (m->g->partner)
		coroutine_switch(w, m, m->g->partner, world__chance(w, 3) && !m->g->partner->fresh);
}

static void ready(struct world *w, struct sim_m *m, unsigned int via)
{
	struct sim_g *g = world__g(w, SG_WAITING);
	struct gt_ready r = { .via = via, .skip = world__below(w, 3) };

	if (!g)
		return;
	if (via == GT_VIA_GC_WORKER)
		g->mode = r.mode = 1 + world__below(w, 3);
	world__emit(w, m, GT_READY, g->addr, &r);
	world__expect(w, EV_GO_UNBLOCK);
	g->state = SG_RUNNABLE;
	if (via == GT_VIA_GC_WORKER) /* findRunnable returns it */
		run(w, m, g);
}

/* procresize: the caller may lose its own P. */
static void resize(struct world *w, struct sim_m *m)
{
	unsigned int n = 1 + world__below(w, w->ps);

	world__emit(w, m, GT_PROCS, 0, &(struct gt_value){ n });
	world__expect(w, EV_PROCS_CHANGE);
	w->procs = n;
	if (m->p->id >= n) {
		world__expect(w, EV_GO_STOP);
		world__expect(w, EV_PROC_STOP);
		m->p->m = NULL;
		m->p = NULL;
		world__p_start(w, m, &w->p[0]);
		world__expect_start(w, m->g);
	}
	for (unsigned int i = 0; i < w->ps; i++)
		if (&w->p[i] != m->p)
			w->p[i].state = i < n ? SP_IDLE : SP_GONE;
}

void running__stop_the_world(struct world *w, struct sim_m *m)
{
	world__emit(w, m, GT_STW_BEGIN, 0, &(struct gt_value){ world__below(w, 18) });
	world__expect(w, EV_STW_BEGIN);
	for (unsigned int i = 0; i < w->ms; i++) {
		struct sim_m *other = &w->m[i];

		if (other == m || !other->p)
			continue;
		if (other->p->state == SP_SYSCALL) {
			bool silently = !w->opts->tentative || world__chance(w, 2);
			struct sim_p *p = other->p;

			world__lose_p(w, other, silently);
			if (!silently)
				world__emit(w, m, GT_P_HANDOFF, p->addr,
					    &(struct gt_proc){ p->id });
			continue;
		}
		if (other->g && other->g->mode)
			park(w, other);
		if (other->g)
			running__stop(w, other, true);
		world__p_stop(w, other);
	}
	if (world__chance(w, 3))
		resize(w, m);
	w->now += 1000 + world__below(w, 30000);
	world__emit(w, m, GT_STW_END, 0, "");
	world__expect(w, EV_STW_END);
}

static void collect(struct world *w, struct sim_m *m)
{
	w->gc = !w->gc;
	world__emit(w, m, w->gc ? GT_GC_BEGIN : GT_GC_END, 0, "");
	world__expect(w, w->gc ? EV_GC_BEGIN : EV_GC_END);
	w->now += 2000;
}

void running__step(struct world *w, struct sim_m *m)
{
	unsigned int much = m->g->mode ? 13 : m->g->assists ? 17 : 39;

	if (m->g->assists && world__chance(w, 2)) {
		heap__end_assist(w, m);
		return;
	}
	switch (world__below(w, much)) { /* a GC worker does little */
	case 0 ... 6:
		park(w, m);
		break;
	case 7 ... 12:
		ready(w, m, GT_VIA_READY);
		break;
	case 13 ... 15:
		running__stop(w, m, world__chance(w, 2));
		break;
	case 16:
		preempt_park(w, m);
		break;
	case 17 ... 20:
		create(w, m, false);
		break;
	case 21 ... 22:
		if (m->g != &w->g[0] && !m->g->partner)
			destroy(w, m);
		break;
	case 23 ... 24:
		coroutines(w, m);
		break;
	case 25 ... 29:
		syscall__enter(w, m);
		break;
	case 30:
		collect(w, m);
		break;
	case 31:
		if (world__chance(w, 3))
			running__stop_the_world(w, m);
		break;
	case 36 ... 38:
		annotation__step(w, m);
		break;
	case 32:
		heap__begin_assist(w, m);
		break;
	case 33 ... 35:
		heap__step(w, m);
		break;
	}
}

/* An M without a goroutine. */
void scheduler__step(struct world *w, struct sim_m *m)
{
	struct sim_g *g = world__g(w, SG_RUNNABLE);
	struct sim_p *p = world__idle_p(w);

	if (!m->p) {
		if (world__chance(w, 12))
			ready(w, m, GT_VIA_SCHEDULER); /* injectglist of sysmon */
		else if (p && m != &w->m[w->ms - 1])
			world__p_start(w, m, p);
	} else if (world__chance(w, 6)) {
		ready(w, m, world__chance(w, 3) ? GT_VIA_GC_WORKER : GT_VIA_SCHEDULER);
	} else if (world__chance(w, 12)) {
		heap__step(w, m);
	} else if (g && !world__chance(w, 10)) {
		run(w, m, g);
	} else {
		world__p_stop(w, m);
	}
}
