// SPDX-License-Identifier: GPL-2.0
/*
 * The state of every G, M and P at the window's start.
 *
 * A snapshot is taken while the program runs on, after the probes are live, and a status word lags
 * its probe. So records outrank it: what a goroutine, P or thread did first in the window tells what
 * it was at its start; a snapshot decides only for those without any record until the second one
 * was finished (seed: go-runtime, section 6).
 * Before: merge.c (the records so far, in order). After: checkpoint.c writes it all as the first
 * generation's prologue, then state.c takes the same records.
 */
#include "sequence/model.h"

#include <errno.h>
#include <stdlib.h>

#define AHEAD 16 /* goroutines whose places in the maps are fetched before */

/* What the records tell of one g struct before the first create at its address. */
struct g_facts {
	uint64_t goid;	/* 0: no record named it */
	uint32_t state; /* 0: did not exist */
	uint32_t tid;
	bool created; /* a create at this address was seen: later goids are of another */
};

struct p_facts {
	uint32_t id;
	uint32_t tid;	/* of its M at the start; 0: none or unknown */
	uint64_t first; /* time of the first record that names it */
};

struct t_facts {
	bool told; /* a record said whether it has a P at the start */
	bool has_p;
	bool tries;	  /* the latest record is a tentative system call exit */
	uint64_t first_p; /* time of its first P_START or P_STOP, 0: none */
	bool left;	  /* `until` is final */
	uint64_t until;	  /* a P of the start is its own until then at least; 0: to the end */
};

struct facts {
	struct map g, p, t;
	int error;
};

static void *facts__get(struct facts *f, struct map *map, uint64_t key, size_t size, bool *ret_new)
{
	void *x = map__get(map, key);

	*ret_new = !x;
	if (x || !key)
		return x;
	x = calloc(1, size);
	if (!x || map__put(map, key, x)) {
		free(x);
		f->error = -ENOMEM;
		return NULL;
	}
	return x;
}

static void facts__deinit(struct facts *f)
{
	struct map *maps[] = { &f->g, &f->p, &f->t };
	void *value;

	for (int m = 0; m < 3; m++) {
		for (size_t i = 0; map__next(maps[m], &i, &value);)
			free(value);
		map__deinit(maps[m]);
	}
}

/* The state that a record of this kind finds its goroutine in. */
static uint32_t state_before(unsigned int kind)
{
	switch (kind) {
	case GT_EXECUTE:
		return GO_RUNNABLE;
	case GT_READY:
		return GO_WAITING;
	case GT_PARK:
	case GT_YIELD:
	case GT_PREEMPT_PARK:
	case GT_DESTROY:
	case GT_SWITCH:
	case GT_TASK_BEGIN:
	case GT_TASK_END:
	case GT_REGION:
	case GT_LOG:
	case GT_SYSCALL_ENTER:
	case GT_SYSCALL_BLOCK:
	case GT_ASSIST_BEGIN:
	case GT_ASSIST_END:
		return GO_RUNNING;
	case GT_SYSCALL_EXIT:
	case GT_SYSCALL_TRY_EXIT:
	case GT_SYSCALL_NO_P:
	case GT_DESTROY_SYSCALL:
		return GO_SYSCALL;
	}
	return 0;
}

static bool is_create(unsigned int kind)
{
	return kind == GT_CREATE || kind == GT_CREATE_BLOCKED || kind == GT_CREATE_SYSCALL;
}

static void facts__goroutine(struct facts *f, uint64_t addr, uint32_t state, uint32_t tid,
			     uint64_t goid, bool create)
{
	bool fresh;
	struct g_facts *g = facts__get(f, &f->g, addr, sizeof(*g), &fresh);

	if (!g)
		return;
	if (fresh && !create) {
		g->state = state;
		g->tid = state == GO_RUNNING || state == GO_SYSCALL ? tid : 0;
	}
	if (create)
		g->created = true;
	if (!g->created && !g->goid)
		g->goid = goid;
}

/* P records: a thread's first stop is of the P that it had, unless it started one in the window. */
static void facts__proc(struct facts *f, const struct gt_record *rec)
{
	const struct gt_proc *proc = (const void *)(rec + 1);
	struct t_facts *t = map__get(&f->t, rec->tid);
	bool fresh;
	struct p_facts *p = facts__get(f, &f->p, rec->object, sizeof(*p), &fresh);

	if (p && fresh) {
		p->id = (uint32_t)proc->id;
		p->first = rec->time;
		if (rec->kind == GT_P_STOP && t && !t->first_p)
			p->tid = rec->tid;
	}
	if (t && !t->first_p && rec->kind != GT_P_HANDOFF)
		t->first_p = rec->time;
}

/* How long a P that it has at the start stays its own: others may take it in a system call. */
static void t_facts__follow(struct t_facts *t, const struct gt_record *rec)
{
	if (t->left)
		return;
	switch (rec->kind) {
	case GT_SYSCALL_ENTER:
	case GT_SYSCALL_BLOCK:
		t->until = rec->time;
		return;
	case GT_SYSCALL_LOST:
	case GT_SYSCALL_NO_P:
	case GT_P_START:
	case GT_P_STOP:
	case GT_CREATE_SYSCALL:
	case GT_DESTROY_SYSCALL:
		t->left = true;
		if (!t->until)
			t->until = rec->time;
		return;
	case GT_SYSCALL_TRY_EXIT:
		return;
	}
	t->until = 0; /* it has left the call with it */
}

/* Most of what a thread can do it does with a P: had it one already? */
static void facts__thread(struct facts *f, const struct gt_record *rec)
{
	bool fresh, needs_p = true;
	struct t_facts *t;

	if (rec->kind == GT_SAMPLE) /* it is done to the thread, in whatever state */
		return;
	t = facts__get(f, &f->t, rec->tid, sizeof(*t), &fresh);
	if (!t)
		return;
	t_facts__follow(t, rec);
	switch (rec->kind) {
	case GT_READY:
	case GT_P_HANDOFF:
	case GT_EXEC:
	case GT_DESTROY_SYSCALL:
	case GT_PROCS: /* schedinit sizes the Ps, and allocates, before it has one */
	case GT_HEAP_ALLOC:
	case GT_HEAP_GOAL:
	case GT_SWEEP_BEGIN:
	case GT_SWEEP_SPAN:
	case GT_SWEEP_LEFT:
	case GT_SWEEP_END:
		return;
	case GT_SYSCALL_LOST:
	case GT_SYSCALL_NO_P:
		t->told &= !t->tries;
		needs_p = false;
		break;
	case GT_P_START:
	case GT_CREATE_SYSCALL:
		needs_p = false;
		break;
	}
	if (!t->told)
		t->has_p = needs_p;
	t->tries = !t->told && rec->kind == GT_SYSCALL_TRY_EXIT;
	t->told = true;
}

static void facts__collect(struct facts *f, const struct gt_record *const *rec, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct gt_record *r = rec[i];
		const void *payload = r + 1;
		uint64_t goid = 0;

		facts__thread(f, r);
		switch (r->kind) {
		case GT_P_START:
		case GT_P_STOP:
		case GT_P_HANDOFF:
			facts__proc(f, r);
			continue;
		case GT_EXECUTE:
			goid = ((const struct gt_execute *)payload)->goid;
			break;
		case GT_DESTROY:
		case GT_DESTROY_SYSCALL:
			goid = ((const struct gt_destroy *)payload)->goid;
			break;
		case GT_SWITCH:
			facts__goroutine(f, ((const struct gt_switch *)payload)->next, GO_WAITING,
					 0, ((const struct gt_switch *)payload)->next_goid, false);
			break;
		}
		if (state_before(r->kind) || is_create(r->kind))
			facts__goroutine(f, r->object, state_before(r->kind), r->tid, goid,
					 is_create(r->kind));
	}
}

uint32_t initial__state(const struct layout *layout, const struct snapshot_g *g)
{
	switch (g->status) {
	case GS_RUNNABLE:
		return GO_RUNNABLE;
	case GS_RUNNING:
	case GS_COPYSTACK:
		return GO_RUNNING;
	case GS_SYSCALL:
		return GO_SYSCALL;
	case GS_WAITING:
		/* it waits for a suspended goroutine, or for the world: the tracer says running */
		if (g->wait_reason < 64 && (layout->suspend_g_reasons >> g->wait_reason) & 1)
			return GO_RUNNING;
		return GO_WAITING;
	case GS_PREEMPTED:
	case GS_LEAKED:
		return GO_WAITING;
	}
	return 0;
}

/* The TIDs of a snapshot's Ms by their addresses; with ten thousand in system calls, none is sought. */
static int tids_by_m(const struct snapshot *snap, struct map *ret)
{
	int err = 0;

	for (size_t i = 0; i < snap->nm && !err; i++) {
		const struct snapshot_m *m = &snap->m[i];

		if (m->addr && m->tid && !map__get(ret, m->addr))
			err = map__put(ret, m->addr, (void *)(uintptr_t)m->tid);
	}
	return err;
}

/* Only one goroutine runs on a thread, and an M that isn't known can't be named in the file. */
static void place(struct goroutine *g, uint32_t state, struct thread *t)
{
	if ((state == GO_RUNNING || state == GO_SYSCALL) && (!t || t->g)) {
		g->state = GO_RUNNABLE;
		return;
	}
	g->state = state;
	if (state == GO_RUNNING || state == GO_SYSCALL) {
		g->m = t;
		t->g = g;
	}
}

static void initial__snapshot_g(struct sequencer *s, struct facts *f, const struct snapshot *snap)
{
	struct map tids = {};

	if (!f->error)
		f->error = tids_by_m(snap, &tids);
	for (size_t i = 0; i < snap->ng && !f->error; i++) {
		const struct snapshot_g *from = &snap->g[i];
		struct g_facts *facts = map__get(&f->g, from->addr);
		uint64_t goid = from->goid;
		struct goroutine *g;

		if (i + AHEAD < snap->ng) {
			map__prefetch(&s->g, from[AHEAD].addr);
			map__prefetch(&s->id, from[AHEAD].goid);
		}
		if (map__get(&s->g, from->addr))
			continue;
		if (facts && (facts->created || facts->goid))
			goid = facts->goid; /* 0: it was created in the window */
		if (!from->addr || !goid || (facts && !facts->state) || model__id_taken(s, goid))
			continue;
		if (!facts && !initial__state(s->opts.layout, from))
			continue;
		g = model__goroutine(s, from->addr, goid);
		if (!g && !s->error)
			continue;
		if (!g)
			break;
		if (goid == from->goid)
			g->start = stacks__start(s->stacks, from->startpc);
		if (facts)
			place(g, facts->state, model__thread(s, facts->tid));
		else
			place(g, initial__state(s->opts.layout, from),
			      model__thread(s, (uintptr_t)map__get(&tids, from->m)));
	}
	map__deinit(&tids);
}

/* Those that ended before a snapshot could see them. */
static void initial__record_g(struct sequencer *s, struct facts *f,
			      const struct gt_record *const *rec, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct g_facts *facts = map__get(&f->g, rec[i]->object);
		struct goroutine *g;

		if (!facts || !facts->state || !facts->goid || map__get(&s->g, rec[i]->object) ||
		    model__id_taken(s, facts->goid))
			continue;
		g = model__goroutine(s, rec[i]->object, facts->goid);
		if (!g)
			return;
		place(g, facts->state, model__thread(s, facts->tid));
	}
}

/* A P goes to a thread whose goroutine has the state that fits; else it was idle. */
static void give(struct proc *p, struct thread *t)
{
	if (!t || t->p || p->m)
		return;
	p->state = t->g && t->g->state == GO_SYSCALL ? PROC_SYSCALL : PROC_RUNNING;
	p->m = t;
	t->p = p;
}

static bool in_syscall(const struct snapshot *snap, uint64_t p)
{
	for (size_t i = 0; i < snap->np; i++)
		if (snap->p[i].addr == p)
			return snap->p[i].status == 2; /* the runtime's _Psyscall */
	return false;
}

/*
 * What a snapshot says of a thread counts if no record before it says that it has changed. Until
 * 1.25 the P of a system call, maybe one entered in the window, stands in m.oldp; but so it does
 * after it was taken: then (`certain` false) the P must be in somebody's system call still.
 */
static void initial__snapshot_p(struct sequencer *s, struct facts *f, const struct snapshot *snap,
				bool certain)
{
	bool tentative = s->opts.layout->exit_is_tentative;

	for (size_t i = 0; i < snap->nm; i++) {
		const struct snapshot_m *m = &snap->m[i];
		const struct t_facts *tf = map__get(&f->t, m->tid);
		struct thread *t = model__thread(s, m->tid);
		struct proc *p = map__get(&s->p, m->p || tentative ? m->p : m->oldp);
		const struct p_facts *pf = p ? map__get(&f->p, p->addr) : NULL;
		bool changed = pf && pf->first <= snap->time_end;
		bool had = (t && t->g && t->g->state == GO_RUNNING) || (tf && tf->has_p);

		if (!t || !p || (tf && tf->first_p && tf->first_p <= snap->time_end))
			continue;
		if (certain && (had || (m->p && !changed)))
			give(p, t);
		else if (!certain && !changed && t->g && in_syscall(snap, p->addr))
			give(p, t);
	}
}

/* One that no record names while it must have been this thread's. */
static struct proc *likely_proc(struct sequencer *s, struct facts *f, const struct t_facts *t)
{
	uint64_t until = t && t->until ? t->until : UINT64_MAX, best_first = 0;
	struct proc *best = NULL;
	void *value;

	for (size_t i = 0; map__next(&s->p, &i, &value);) {
		struct proc *p = value;
		const struct p_facts *pf = map__get(&f->p, p->addr);
		uint64_t first = pf ? pf->first : UINT64_MAX;

		if (p->m)
			continue;
		/* the earliest of those that could be; else the latest of the others */
		if (!best || (first == best_first && p->id < best->id) ||
		    (first >= until ? best_first < until || first < best_first :
				      first > best_first)) {
			best = p;
			best_first = first;
		}
	}
	return best;
}

/*
 * A P that was taken out of a system call begun before the window may be taken back by it silently
 * (<= 1.25): then it is the one that the M remembers.
 */
static void initial__old_procs(struct sequencer *s, const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->nm; i++) {
		struct thread *t = map__get(&s->m, snap->m[i].tid);
		struct proc *p = map__get(&s->p, snap->m[i].oldp);

		if (t && p && !t->p && !t->last_p && t->g && t->g->state == GO_SYSCALL)
			t->last_p = p;
	}
}

static void initial__procs(struct sequencer *s, struct facts *f, const struct snapshot *first,
			   const struct snapshot *second)
{
	size_t n;
	struct map_slot *slot = map__sorted(&f->p, &n);

	for (size_t i = 0; i < second->np; i++)
		model__proc(s, second->p[i].addr, second->p[i].id);
	for (size_t i = 0; i < n; i++) {
		struct p_facts *facts = slot[i].value;
		struct proc *p = model__proc(s, slot[i].key, facts->id);

		if (p && facts->tid)
			give(p, model__thread(s, facts->tid));
	}
	if (!slot)
		s->error = -ENOMEM;
	free(slot);
	initial__snapshot_p(s, f, first, true);
	initial__snapshot_p(s, f, second, true);
	initial__snapshot_p(s, f, first, false);
	initial__snapshot_p(s, f, second, false);
	initial__old_procs(s, first);
	initial__old_procs(s, second);
	for (size_t i = 0; i < f->t.cap; i++)
		if (f->t.slot[i].key)
			model__thread(s, f->t.slot[i].key);
	/* Whatever runs has a P; which one it was, the file can't know any better. */
	slot = map__sorted(&s->m, &n);
	if (!slot)
		s->error = -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct thread *t = slot[i].value;
		const struct t_facts *tf = map__get(&f->t, t->tid);
		bool runs = t->g && t->g->state == GO_RUNNING;
		struct proc *p;

		if (t->p || !(runs || (tf && tf->has_p)))
			continue;
		p = likely_proc(s, f, tf);
		if (p)
			give(p, t);
		if (!t->p && runs) {
			t->g->state = GO_RUNNABLE;
			t->g->m = NULL;
			t->g = NULL;
		}
	}
	free(slot);
}

static void initial__count(struct sequencer *s, const struct snapshot *snap)
{
	struct thread *t, *first = NULL;
	void *value;

	s->procs_due = s->procs = snap->procs;
	if (!s->procs_due)
		return;
	for (size_t i = 0; map__next(&s->m, &i, &value);) {
		t = value;
		if (t->g && t->g->state == GO_RUNNING && (!first || t->tid < first->tid))
			first = t;
	}
	if (first)
		proc__count(s, first, s->t0);
}

/* A million take as much memory as the model: not longer than need be. */
static void forget_goroutines(struct snapshot *snap)
{
	free(snap->g);
	snap->g = NULL;
	snap->ng = 0;
}

int initial__resolve(struct sequencer *s, const struct gt_record *const *rec, size_t n)
{
	const struct snapshot *first = s->has_first ? &s->first : &s->second;
	const struct snapshot *second = s->has_second ? &s->second : first;
	struct facts f = {};
	int err;

	facts__collect(&f, rec, n);
	if (!f.error)
		f.error = model__expect(s, first->ng > second->ng ? first->ng : second->ng);
	initial__snapshot_g(s, &f, second);
	initial__snapshot_g(s, &f, first);
	forget_goroutines(&s->first);
	forget_goroutines(&s->second);
	initial__record_g(s, &f, rec, n);
	initial__procs(s, &f, first, second);
	facts__deinit(&f);
	if (f.error || s->error)
		return f.error ? f.error : s->error;

	err = checkpoint__open(s, s->t0);
	if (err)
		return err;
	checkpoint__full(s);
	initial__count(s, first);
	return s->error;
}
