// SPDX-License-Identifier: GPL-2.0
/*
 * System calls of the simulated program: entered with the P or handing it off; the P kept, retaken,
 * used by others in between, returned; with and without the tentative exit of Go 1.26. Upstream:
 * running.c. Downstream: world.c.
 */
#include "world.h"

void syscall__enter(struct world *w, struct sim_m *m)
{
	struct sim_g *g = m->g;
	bool block = world__chance(w, 5);

	world__emit(w, m, block ? GT_SYSCALL_BLOCK : GT_SYSCALL_ENTER, g->addr, "");
	world__expect(w, EV_GO_SYSCALL_BEGIN);
	m->known = w->started;
	g->state = SG_SYSCALL;
	m->p->state = SP_SYSCALL;
	if (!block)
		return;
	struct sim_p *p = m->p;

	world__p_stop(w, m);
	m->oldp = p;
	world__emit(w, m, GT_P_HANDOFF, p->addr, &(struct gt_proc){ p->id });
}

/* sysmon takes the P of a thread that has been in its system call for long. */
void syscall__retake(struct world *w)
{
	struct sim_m *sysmon = &w->m[w->ms - 1];
	unsigned int from = world__below(w, w->ps);

	for (unsigned int i = 0; i < w->ps; i++) {
		struct sim_p *p = &w->p[(from + i) % w->ps];

		if (p->state != SP_SYSCALL || (p->m->exiting && !world__chance(w, 3)))
			continue;
		world__lose_p(w, p->m, false);
		world__emit(w, sysmon, GT_P_HANDOFF, p->addr, &(struct gt_proc){ p->id });
		return;
	}
}

static void syscall__done(struct world *w, struct sim_m *m)
{
	m->g->state = SG_RUNNING;
	m->oldp = NULL;
	m->exiting = false;
}

/* With another P than before the call, or with its own again. */
static void syscall__resume(struct world *w, struct sim_m *m, struct sim_p *p)
{
	world__p_start(w, m, p);
	if (!w->opts->tentative)
		world__emit(w, m, GT_SYSCALL_EXIT, m->g->addr, "");
	world__expect(w, EV_GO_SYSCALL_END_BLOCKED);
	world__expect_start(w, m->g);
	syscall__done(w, m);
}

static void syscall__no_p(struct world *w, struct sim_m *m)
{
	struct sim_g *g = m->g;

	world__emit(w, m, GT_SYSCALL_NO_P, g->addr, "");
	for (unsigned int i = 0; i < w->ps; i++) {
		if (w->p[i].ghost == m) {
			world__expect(w, EV_PROC_STEAL);
			w->p[i].ghost = NULL;
		}
	}
	world__expect(w, EV_GO_SYSCALL_END_BLOCKED);
	syscall__done(w, m);
	g->state = SG_RUNNABLE;
	g->m = NULL;
	m->g = NULL;
}

/* The P that it had was used by another thread, which is now in a system call with it. */
static struct sim_p *reacquirable(struct world *w, struct sim_m *m)
{
	struct sim_p *p = m->oldp;

	if (!p || p->state != SP_SYSCALL || p->m == m || p->m->exiting || world__chance(w, 3))
		return NULL;
	/* Records cannot show which of two system calls from before the window has the P. */
	if (!m->known || !p->m->known)
		return NULL;
	return p;
}

static void syscall__leave(struct world *w, struct sim_m *m)
{
	struct sim_p *p = reacquirable(w, m);

	if (m->p) {
		if (!w->opts->tentative)
			world__emit(w, m, GT_SYSCALL_EXIT, m->g->addr, "");
		world__expect(w, EV_GO_SYSCALL_END);
		m->p->state = SP_RUNNING;
		syscall__done(w, m);
		return;
	}
	if (p && !w->opts->tentative) { /* exitsyscallfast_reacquired: no acquirep */
		struct sim_m *robbed = p->m;
		bool ghost = p->ghost;

		for (unsigned int i = 0; i < w->ps; i++)
			if (w->p[i].ghost == m) /* records cannot show this case */
				return;
		if (ghost)
			return;
		world__emit(w, m, GT_SYSCALL_EXIT, m->g->addr, "");
		world__lose_p(w, robbed, false);
		p->state = SP_RUNNING;
		p->m = m;
		m->p = p;
		world__expect(w, EV_PROC_START);
		world__expect(w, EV_GO_SYSCALL_END_BLOCKED);
		world__expect_start(w, m->g);
		syscall__done(w, m);
		return;
	}
	world__emit(w, m, GT_SYSCALL_LOST, 0, "");
	if (p) { /* exitsyscallTryGetP takes its old one back */
		world__lose_p(w, p->m, false);
		syscall__resume(w, m, p);
		return;
	}
	p = world__idle_p(w);
	if (p)
		syscall__resume(w, m, p);
	else
		syscall__no_p(w, m);
}

void syscall__step(struct world *w, struct sim_m *m)
{
	if (w->opts->tentative && !m->exiting) {
		world__emit(w, m, GT_SYSCALL_TRY_EXIT, m->g->addr, "");
		m->exiting = true;
		if (world__chance(w, 10)) { /* descheduled before it looks for its P */
			kernel__preempt(w, m);
			return;
		}
	}
	syscall__leave(w, m);
}
