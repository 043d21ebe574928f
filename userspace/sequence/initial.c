// SPDX-License-Identifier: GPL-2.0
/*
 * The state of every G, M and P at the window's start.
 *
 * Snapshots are taken while the program runs and the probes are attached, and a status word lags
 * behind its probe. So records have precedence: the first record of a goroutine, P or thread in the
 * window shows its state at the start; a snapshot decides only for those without any record up to
 * the end of the second (docs/go-runtime.md, Attaching to a running process). Upstream: merge.c
 * (the records so far, in order). Downstream: boundary.c, which writes the state as the first
 * generation's prologue; then state.c applies the same records.
 */
#include "sequence/initial.h"
#include "sequence/boundary.h"
#include "sequence/sequencer_impl.h"

#include <errno.h>
#include <stdlib.h>

#define AHEAD 16 /* goroutines whose map entries are prefetched */

/* What records show about one g struct before the first creation at its address. */
struct g_facts {
	uint64_t goid;	/* 0: no record contains it */
	uint32_t state; /* 0: did not exist */
	uint32_t tid;
	bool created;	/* a creation at this address was seen: later goids belong to others */
	bool readied;	/* the first record was its READY: a late PARK may follow */
	uint64_t ran;	/* threads that have started it since; bits, by thread_bit() */
	uint64_t first; /* time of the first record */
};

struct p_facts {
	uint32_t id;
	uint32_t tid;	/* of its M at the start; 0: none or unknown */
	uint64_t first; /* time of the first record that names it */
};

struct t_facts {
	bool decided; /* a record showed whether it had a P at the start */
	bool has_p;
	bool tries;	  /* the latest record is a tentative system call exit */
	uint64_t first_p; /* time of its first P_START or P_STOP, 0: none */
	bool left;	  /* `until` is final */
	uint64_t until;	  /* its P of the start stays its own at least until then; 0: to the end */
};

/* Whether a record's thread had a P before it: a column of gotrace/kinds.h. */
enum { HAD_P_ANY, HAD_P_YES, HAD_P_NO };

struct facts {
	struct map g, p, t;
	int err;
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
		f->err = -ENOMEM;
		return NULL;
	}
	return x;
}

static void facts__deinit(struct facts *f)
{
	map__free(&f->g);
	map__free(&f->p);
	map__free(&f->t);
}

static const struct {
	uint8_t g, p;
} found[GT_KIND_END] = {
#define FOUND(number, NAME, name, payload, g, P) [GT_##NAME] = { FOUND_##g, HAD_P_##P },
	GT_GO_KINDS(FOUND)
};

static void facts__goroutine(struct facts *f, const struct gt_record *rec, uint64_t addr,
			     uint32_t state, uint64_t goid)
{
	bool fresh, create = state == FOUND_NEW;
	struct g_facts *g = facts__get(f, &f->g, addr, sizeof(*g), &fresh);

	if (!g)
		return;
	if (fresh)
		g->first = rec->time;
	if (fresh && !create) {
		g->state = state;
		g->tid = state == GO_RUNNING || state == GO_SYSCALL ? rec->tid : 0;
	}
	if (create)
		g->created = true;
	if (!g->created && !g->goid)
		g->goid = goid;
}

/* Two threads may share a bit: then a late park is not found out. */
static uint64_t thread_bit(uint32_t tid)
{
	return 1ull << (tid & 63);
}

/*
 * A derived park or end may come after the record that made the goroutine runnable, and even after
 * it was started elsewhere: then it ran at the start, on the thread that reports this so late, and
 * has not started it since.
 */
static void facts__late(struct facts *f, const struct gt_record *rec, bool first)
{
	struct g_facts *g = map__get(&f->g, rec->object);

	if (!g)
		return;
	if (rec->kind == GT_READY) {
		g->readied |= first;
	} else if (rec->kind == GT_EXECUTE) {
		g->ran |= thread_bit(rec->tid);
	} else if (rec->kind != GT_PARK && rec->kind != GT_ENDED) {
		g->readied = false;
	} else if (g->readied && !(g->ran & thread_bit(rec->tid))) {
		g->state = GO_RUNNING;
		g->tid = rec->tid;
		g->readied = false;
	}
}

/* P records: a thread's first P_STOP is of the P that it had, unless it started one before. */
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

/* How long a thread keeps the P that it had at the start: in a system call others may take it. */
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
	t->until = 0; /* it has left the call with its P */
}

/* Most records of a thread require a P: shows whether it had one at the start. */
static void facts__thread(struct facts *f, const struct gt_record *rec)
{
	struct t_facts *t;
	bool fresh;

	if (rec->kind == GT_SAMPLE) /* a sample occurs in any state */
		return;
	t = facts__get(f, &f->t, rec->tid, sizeof(*t), &fresh);
	if (!t)
		return;
	t_facts__follow(t, rec);
	if (found[rec->kind].p == HAD_P_ANY)
		return;
	if (rec->kind == GT_SYSCALL_LOST || rec->kind == GT_SYSCALL_NO_P)
		t->decided &= !t->tries;
	if (!t->decided)
		t->has_p = found[rec->kind].p == HAD_P_YES;
	t->tries = !t->decided && rec->kind == GT_SYSCALL_TRY_EXIT;
	t->decided = true;
}

static void facts__collect(struct facts *f, const struct gt_record *const *rec, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct gt_record *r = rec[i];
		const void *payload = r + 1;
		uint64_t goid = 0;
		bool first;

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
		case GT_ENDED: /* begins as gt_destroy */
		case GT_DESTROY_SYSCALL:
			goid = ((const struct gt_destroy *)payload)->goid;
			break;
		case GT_SWITCH:
			facts__goroutine(f, r, ((const struct gt_switch *)payload)->next,
					 GO_WAITING,
					 ((const struct gt_switch *)payload)->next_goid);
			break;
		}
		if (found[r->kind].g == FOUND_NONE)
			continue;
		first = !map__get(&f->g, r->object);
		facts__goroutine(f, r, r->object, found[r->kind].g, goid);
		facts__late(f, r, first);
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
		/* waits for a suspended goroutine, or for an STW pause: runs, for the tracer */
		if (g->wait_reason < 64 && (layout->suspend_g_reasons >> g->wait_reason) & 1)
			return GO_RUNNING;
		return GO_WAITING;
	case GS_PREEMPTED:
	case GS_LEAKED:
		return GO_WAITING;
	}
	return 0;
}

/* Only one goroutine runs on a thread, and a thread without a TID cannot be named in the trace. */
static void bind_goroutine(struct goroutine *g, uint32_t state, struct thread *t)
{
	if ((state == GO_RUNNING || state == GO_SYSCALL) && (!t || t->g)) {
		g->state = GO_RUNNABLE;
		return;
	}
	g->state = state;
	g->in_network = state == GO_WAITING;
	if (state == GO_RUNNING || state == GO_SYSCALL) {
		g->m = t;
		t->g = g;
	}
}

/*
 * The reason and the stack that a snapshot has of a goroutine are those of its first state if no record
 * of the time until they were read shows that the goroutine ran.
 */
static void initial__parked(struct sequencer *s, const struct g_facts *facts,
			    const struct snapshot *snap, const struct snapshot_g *from,
			    struct goroutine *g)
{
	const uint64_t *pc;
	uint32_t depth;
	bool cut;

	if (g->reason || g->parked || g->id != from->goid ||
	    initial__state(s->opts.layout, from) != g->state ||
	    !(g->state == GO_WAITING || (g->state == GO_SYSCALL && !s->opts.no_syscalls)) ||
	    (facts && facts->first <= snap->time_end))
		return;
	if (g->state == GO_WAITING) {
		g->reason =
			model__reason(s, layout__parked_reason(s->opts.layout, from->wait_reason));
		if (from->wait_since <= snap->time) /* as the record of its park */
			g->last_record = from->wait_since;
	}
	pc = snapshot__stack(snap, from, &depth, &cut);
	if (pc)
		g->parked = stacks__hold(s->stacks, pc, depth, cut, &s->stats.parked_left_out);
	s->stats.parked += g->parked != NULL;
}

static void initial__snapshot_g(struct sequencer *s, struct facts *f, const struct snapshot *snap)
{
	struct map ms = {};

	if (!f->err)
		f->err = snapshots__index_ms(snap, &ms);
	for (size_t i = 0; i < snap->ng && !f->err; i++) {
		const struct snapshot_g *from = &snap->g[i];
		struct g_facts *facts = map__get(&f->g, from->addr);
		uint64_t goid = from->goid;
		struct goroutine *g;

		if (i + AHEAD < snap->ng) {
			map__prefetch(&s->model.by_addr, from[AHEAD].addr);
			map__prefetch(&s->model.by_id, from[AHEAD].goid);
		}
		g = map__get(&s->model.by_addr, from->addr);
		if (g) {
			initial__parked(s, facts, snap, from, g);
			continue;
		}
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
			bind_goroutine(g, facts->state, model__thread(s, facts->tid));
		else
			bind_goroutine(g, initial__state(s->opts.layout, from),
				       model__thread(s, snapshots__tid(&ms, from->m)));
		initial__parked(s, facts, snap, from, g);
	}
	map__deinit(&ms);
}

/* Goroutines that ended before a snapshot could contain them. */
static void initial__record_g(struct sequencer *s, struct facts *f,
			      const struct gt_record *const *rec, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct g_facts *facts = map__get(&f->g, rec[i]->object);
		struct goroutine *g;

		if (!facts || !facts->state || !facts->goid ||
		    map__get(&s->model.by_addr, rec[i]->object) || model__id_taken(s, facts->goid))
			continue;
		g = model__goroutine(s, rec[i]->object, facts->goid);
		if (!g)
			return;
		bind_goroutine(g, facts->state, model__thread(s, facts->tid));
	}
}

/* Binds a P to a thread whose goroutine has a matching state; otherwise the P was idle. */
static void assign_proc(struct proc *p, struct thread *t)
{
	if (!t || t->p || p->m)
		return;
	p->state = t->g && t->g->state == GO_SYSCALL ? PROC_SYSCALL : PROC_RUNNING;
	p->m = t;
	t->p = p;
}

/*
 * The P of a thread in a snapshot counts unless an earlier record shows a change. Until 1.25 m.oldp
 * is the P of a system call, possibly one entered in the window, but m.oldp also stays after that P
 * was taken: then (`certain` false) the P must still be in a system call.
 */
static void initial__snapshot_p(struct sequencer *s, struct facts *f, const struct snapshot *snap,
				bool certain)
{
	bool tentative = s->opts.layout->exit_is_tentative;

	for (size_t i = 0; i < snap->nm; i++) {
		const struct snapshot_m *m = &snap->m[i];
		const struct t_facts *tf = map__get(&f->t, m->tid);
		struct thread *t = model__thread(s, m->tid);
		struct proc *p = map__get(&s->model.procs, m->p || tentative ? m->p : m->oldp);
		const struct p_facts *pf = p ? map__get(&f->p, p->addr) : NULL;
		bool changed = pf && pf->first <= snap->time_end;
		bool had = (t && t->g && t->g->state == GO_RUNNING) || (tf && tf->has_p);

		if (!t || !p || (tf && tf->first_p && tf->first_p <= snap->time_end))
			continue;
		if (certain && (had || (m->p && !changed)))
			assign_proc(p, t);
		else if (!certain && !changed && t->g &&
			 snapshots__proc_status(snap, p->addr) == RUNTIME_PSYSCALL)
			assign_proc(p, t);
	}
}

/* A P without a record while it must have been this thread's. */
static struct proc *likely_proc(struct sequencer *s, struct facts *f, const struct t_facts *t)
{
	uint64_t until = t && t->until ? t->until : UINT64_MAX, best_first = 0;
	struct proc *best = NULL;
	void *value;

	for (size_t i = 0; map__next(&s->model.procs, &i, &value);) {
		struct proc *p = value;
		const struct p_facts *pf = map__get(&f->p, p->addr);
		uint64_t first = pf ? pf->first : UINT64_MAX;

		if (p->m)
			continue;
		/* the P with the earliest possible first record; else with the latest */
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
 * Until 1.25 a P that was taken from a system call begun before the window may be taken back
 * without a record: it is then the one that the M remembers.
 */
static void initial__old_procs(struct sequencer *s, const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->nm; i++) {
		struct thread *t = map__get(&s->model.threads, snap->m[i].tid);
		struct proc *p = map__get(&s->model.procs, snap->m[i].oldp);

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
			assign_proc(p, model__thread(s, facts->tid));
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
	/* Every running thread has a P; which one it was is unknown. */
	slot = map__sorted(&s->model.threads, &n);
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
			assign_proc(p, t);
		if (!t->p && runs) {
			t->g->state = GO_RUNNABLE;
			t->g->m = NULL;
			t->g = NULL;
		}
	}
	free(slot);
}

/* A million goroutines in a snapshot take as much memory as the model: freed early. */
static void forget_goroutines(struct snapshot *snap)
{
	free(snap->g);
	free(snap->stacks);
	snap->g = NULL;
	snap->stacks = NULL;
	snap->ng = snap->nstacks = 0;
}

int initial__resolve(struct sequencer *s, const struct gt_record *const *rec, size_t n)
{
	const struct snapshot *first = s->start.has_first ? &s->start.first : &s->start.second;
	const struct snapshot *second = s->start.has_second ? &s->start.second : first;
	struct facts f = {};

	facts__collect(&f, rec, n);
	if (!f.err)
		f.err = model__expect(s, first->ng > second->ng ? first->ng : second->ng);
	initial__snapshot_g(s, &f, second);
	initial__snapshot_g(s, &f, first);
	s->stats.parked_left_out +=
		s->start.first.stacks_left_out + s->start.second.stacks_left_out;
	forget_goroutines(&s->start.first);
	forget_goroutines(&s->start.second);
	initial__record_g(s, &f, rec, n);
	initial__procs(s, &f, first, second);
	facts__deinit(&f);
	if (f.err || s->error)
		return f.err ? f.err : s->error;

	s->runtime.procs = first->procs;
	return boundary__first(s, s->t0);
}
