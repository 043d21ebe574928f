// SPDX-License-Identifier: GPL-2.0
/*
 * The simulated program: its beginning, its snapshots, and sending records. Upstream: the other
 * files of the simulator. Downstream: simulate.h's struct sim_run.
 */
#include "world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_NS 75 /* each M has a nanosecond of it, and another one for derived times */
_Static_assert(GT_DERIVED_NS % SLOT_NS >= SIM_MS && SLOT_NS - GT_DERIVED_NS % SLOT_NS >= SIM_MS,
	       "no two times are equal");
#define NOISE_NS 100 /* times of two CPUs differ by less */

static struct sim_entry *world__entry(struct world *w)
{
	struct sim_run *run = w->run;
	struct sim_entry *bigger;

	if (run->n == run->cap) {
		run->cap = run->cap ? run->cap * 2 : 1024;
		bigger = reallocarray(run->entry, run->cap, sizeof(*bigger));
		if (!bigger) {
			w->failed = true;
			return NULL;
		}
		run->entry = bigger;
	}
	memset(&run->entry[run->n], 0, sizeof(run->entry[0]));
	return &run->entry[run->n++];
}

static void world__send(struct world *w, struct sim_m *m, unsigned int kind, uint64_t object,
			uint32_t stack, const void *payload, size_t size)
{
	struct sim_entry *e = world__entry(w);
	uint64_t stamp = w->now + world__below(w, NOISE_NS);

	if (!e)
		return;
	/* No two times are equal, derived ones included: their order would depend on the rings. */
	stamp += m - w->m - stamp % SLOT_NS;
	while (stamp <= m->stamp)
		stamp += SLOT_NS;
	m->stamp = stamp;
	e->at = w->now;
	e->ring = m->cpu % SIM_RINGS;
	e->size = sizeof(e->rec) + size;
	e->rec = (struct gt_record){
		.time = stamp,
		.tid = m->tid,
		.kind = kind,
		.cpu = m->cpu,
		.object = object,
		.stack = stack,
		.seq = w->seq[e->ring]++,
	};
	memcpy(e->payload, payload, size);
	w->now += 120 + world__below(w, 200);
}

/* One of 40 stacks; its PCs are sent before its first use. */
static uint32_t world__stack(struct world *w, struct sim_m *m)
{
	unsigned int k = world__below(w, 40);
	struct {
		struct gt_stack head;
		uint64_t pc[SIM_PCS];
	} s = {};

	if (!(w->stacks >> k & 1)) {
		w->stacks |= 1ull << k;
		s.head.depth = 1 + k % SIM_PCS;
		for (unsigned int i = 0; i < s.head.depth; i++)
			s.pc[i] = 0x400000 + 0x100 * ((k * 7 + i * 13) % 50);
		world__send(w, m, GT_STACK, 0xabcd00000000ull + k + 1, k + 1, &s,
			    sizeof(s.head) + 8 * s.head.depth);
	}
	return k + 1;
}

static uint64_t send_text(struct world *w, struct sim_m *m, uint64_t number, const char *format)
{
	struct {
		struct gt_text head;
		char text[SIM_TEXT];
	} t = {};

	t.head.len = snprintf(t.text, sizeof(t.text), format, (unsigned long long)number);
	world__send(w, m, GT_TEXT, number, 0, &t, sizeof(t.head) + (t.head.len + 7) / 8 * 8);
	return number;
}

uint64_t world__name(struct world *w, struct sim_m *m)
{
	unsigned int k = world__below(w, 12);

	if (k && !(w->names >> k & 1)) {
		w->names |= 1u << k;
		send_text(w, m, 100 + k, "name %llu");
	}
	return k ? 100 + k : GT_TEXT_EMPTY;
}

uint64_t world__message(struct world *w, struct sim_m *m)
{
	return world__chance(w, 8) ? GT_TEXT_EMPTY :
				     send_text(w, m, GT_TEXT_ONCE | ++w->messages, "message %llx");
}

/* A timer interrupts the thread, whatever it does. */
void world__sample(struct world *w, struct sim_m *m)
{
	struct {
		struct gt_stack head;
		uint64_t pc[SIM_PCS];
	} s = { .head.depth = world__below(w, SIM_PCS + 1) };

	for (unsigned int i = 0; i < s.head.depth; i++)
		s.pc[i] = 0x400000 + 0x100 * world__below(w, 50);
	world__send(w, m, GT_SAMPLE, 0, 0, &s, sizeof(s.head) + 8 * s.head.depth);
	world__expect(w, EV_CPU_SAMPLE);
}

void world__report_left(struct world *w, struct sim_m *m)
{
	struct sim_left left = m->left;

	m->left.kind = 0;
	if (left.kind)
		world__send(w, m, left.kind, left.object, left.stack,
			    left.kind == GT_PARK ? (void *)&left.how.park : &left.how,
			    gt_payload_size(left.kind));
}

static void leave_unreported(struct sim_m *m, unsigned int kind, uint64_t object, uint32_t stack,
			     const void *payload)
{
	m->left = (struct sim_left){ .kind = kind, .object = object, .stack = stack };
	if (kind == GT_PARK)
		m->left.how.park = *(const struct gt_park *)payload;
	else
		m->left.how = *(const struct gt_ended *)payload;
	m->left.how.park.derived = 1;
}

static void execute_after(struct world *w, struct sim_m *m, uint64_t object, uint64_t goid)
{
	struct sim_left left = m->left;
	struct gt_execute_parked parked = { goid, left.object, left.how.park };
	struct gt_execute_ended ended = { goid, left.object, left.how };

	m->left.kind = 0;
	if (left.kind == GT_PARK)
		world__send(w, m, GT_EXECUTE_PARKED, object, left.stack, &parked, sizeof(parked));
	else
		world__send(w, m, GT_EXECUTE_ENDED, object, 0, &ended, sizeof(ended));
}

void world__emit(struct world *w, struct sim_m *m, unsigned int kind, uint64_t object,
		 const void *payload)
{
	uint32_t stack = 0;

	if (world__chance(w, 30)) { /* the thread moves */
		m->cpu = world__below(w, SIM_CPUS);
		w->now += 2 * GT_DERIVED_NS;
	}
	if (m->left.kind && kind == GT_EXECUTE) {
		execute_after(w, m, object, ((const struct gt_execute *)payload)->goid);
		return;
	}
	world__report_left(w, m);
	switch (kind) {
	case GT_PARK:
	case GT_READY:
	case GT_YIELD:
	case GT_PREEMPT_PARK:
	case GT_CREATE:
	case GT_CREATE_BLOCKED:
	case GT_SWITCH:
	case GT_SYSCALL_ENTER:
	case GT_SYSCALL_BLOCK:
	case GT_STW_BEGIN:
	case GT_GC_BEGIN:
	case GT_ASSIST_BEGIN:
	case GT_SWEEP_SPAN:
	case GT_PROCS:
	case GT_TASK_BEGIN:
	case GT_TASK_END:
	case GT_REGION:
	case GT_LOG:
		stack = world__chance(w, 10) ? 0 : world__stack(w, m);
	}
	if (kind == GT_ENDED || (kind == GT_PARK && w->opts->derives))
		leave_unreported(m, kind, object, stack, payload);
	else
		world__send(w, m, kind, object, stack, payload, gt_payload_size(kind));
}

void world__init(struct world *w)
{
	w->now = 5000000000000ull + world__below(w, 1u << 30);
	w->ps = 1 + world__below(w, SIM_PS);
	w->procs = w->ps;
	w->ms = w->ps + 2 + world__below(w, SIM_MS - w->ps - 2);
	w->gs = 4 + world__below(w, SIM_GS - 4);
	w->next_goid = 1;
	for (unsigned int i = 0; i < w->ps; i++)
		w->p[i] = (struct sim_p){ .addr = 0xc000040000ull + i * 0x2a00, .id = i };
	for (unsigned int i = 0; i < w->ms; i++)
		w->m[i] = (struct sim_m){ .addr = 0xc000080000ull + i * 0x800,
					  .tid = 4000 + i * 3,
					  .cpu = world__below(w, SIM_CPUS) };
	for (unsigned int i = 0; i < w->gs; i++) {
		w->g[i].addr = 0xc000100000ull + i * 0x200;
		if (i && world__chance(w, 3))
			continue;
		w->g[i].goid = w->next_goid++;
		w->g[i].startpc = 0x400000 + 0x100 * world__below(w, 50);
		w->g[i].state = world__chance(w, 2) ? SG_RUNNABLE : SG_WAITING;
	}
	w->g[0].state = SG_RUNNABLE;
	/* some goroutines run when the window opens */
	for (unsigned int i = 0; i < w->ps; i++) {
		struct sim_g *g = world__g(w, SG_RUNNABLE);

		if (world__chance(w, 3))
			continue;
		w->p[i].state = SP_RUNNING;
		w->p[i].m = &w->m[i];
		w->m[i].p = &w->p[i];
		if (!g)
			continue;
		g->state = SG_RUNNING;
		g->m = &w->m[i];
		w->m[i].g = g;
	}
}

struct sim_p *world__idle_p(struct world *w)
{
	unsigned int from = world__below(w, w->ps);

	for (unsigned int i = 0; i < w->ps; i++) {
		struct sim_p *p = &w->p[(from + i) % w->ps];

		if (p->state == SP_IDLE)
			return p;
	}
	return NULL;
}

struct sim_g *world__g(struct world *w, enum sim_g_state state)
{
	unsigned int from = world__below(w, w->gs);

	for (unsigned int i = 0; i < w->gs; i++) {
		struct sim_g *g = &w->g[(from + i) % w->gs];

		if (g->state == state && !(g->coroutine && state == SG_WAITING))
			return g;
	}
	return NULL;
}

void world__p_start(struct world *w, struct sim_m *m, struct sim_p *p)
{
	world__emit(w, m, GT_P_START, p->addr, &(struct gt_proc){ p->id });
	if (p->ghost) /* only now the loss of the P becomes visible */
		world__expect(w, EV_PROC_STEAL);
	p->ghost = NULL;
	for (unsigned int i = 0; i < w->ps; i++) {
		if (w->p[i].ghost == m) {
			world__expect(w, EV_PROC_STEAL);
			w->p[i].ghost = NULL;
		}
	}
	world__expect(w, EV_PROC_START);
	p->state = SP_RUNNING;
	p->m = m;
	m->p = p;
	m->oldp = NULL;
}

void world__p_stop(struct world *w, struct sim_m *m)
{
	struct sim_p *p = m->p;

	world__emit(w, m, GT_P_STOP, p->addr, &(struct gt_proc){ p->id });
	world__expect(w, EV_PROC_STOP);
	p->state = SP_IDLE;
	p->m = NULL;
	m->p = NULL;
}

void world__lose_p(struct world *w, struct sim_m *m, bool silently)
{
	struct sim_p *p = m->p;

	p->state = SP_IDLE;
	p->m = NULL;
	m->p = NULL;
	m->oldp = p;
	if (silently)
		p->ghost = m;
	else
		world__expect(w, EV_PROC_STEAL);
}

static uint32_t status_of(const struct sim_g *g)
{
	switch (g->state) {
	case SG_RUNNABLE:
		return 1;
	case SG_RUNNING:
		return 2;
	case SG_SYSCALL:
		return g->m->exiting ? 2 : 3;
	case SG_WAITING:
		return 4;
	default:
		return 0;
	}
}

void world__snapshot(struct world *w, struct snapshot *snap)
{
	*snap = (struct snapshot){ .time = w->now, .procs = w->procs };
	snap->g = calloc(w->gs, sizeof(*snap->g));
	snap->m = calloc(w->ms, sizeof(*snap->m));
	snap->p = calloc(w->ps, sizeof(*snap->p));
	if (!snap->g || !snap->m || !snap->p) {
		w->failed = true;
		return;
	}
	for (unsigned int i = 0; i < w->gs; i++) {
		const struct sim_g *g = &w->g[i];

		if (status_of(g))
			snap->g[snap->ng++] = (struct snapshot_g){
				.addr = g->addr,
				.goid = g->goid,
				.m = g->m ? g->m->addr : 0,
				.startpc = g->startpc,
				.status = status_of(g),
				.wait_reason = 2,
			};
	}
	for (unsigned int i = 0; i < w->ms; i++) {
		const struct sim_m *m = &w->m[i];

		/* <= 1.25 m.p is empty during a system call, and m.oldp is set */
		bool away = m->p && m->p->state == SP_SYSCALL && !w->opts->tentative;

		snap->m[snap->nm++] = (struct snapshot_m){
			.addr = m->addr,
			.curg = m->g ? m->g->addr : 0,
			.tid = m->tid,
			.p = m->p && !away ? m->p->addr : 0,
			.oldp = away	? m->p->addr :
				m->oldp ? m->oldp->addr :
					  0,
		};
	}
	for (unsigned int i = 0; i < w->ps; i++)
		snap->p[snap->np++] = (struct snapshot_p){
			.addr = w->p[i].addr,
			.id = w->p[i].id,
			.m = w->p[i].m ? w->p[i].m->addr : 0,
			.status = w->p[i].state,
		};
	w->now += 500;
	snap->time_end = w->now;
}
