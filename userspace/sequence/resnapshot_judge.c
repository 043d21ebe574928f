// SPDX-License-Identifier: GPL-2.0
/*
 * What a pair of snapshots says against the model: which goroutines, threads and Ps are wrong.
 *
 * Nothing is moved here. Before: resnapshot.c, which tells what counts and does what is found.
 */
#include "sequence/resnapshot.h"

#include <errno.h>
#include <stdlib.h>

/* How long a status word may lag behind its probe: the thread can be descheduled in between. */
#define LAG_NS 100000000ull

/* Records tell it better than the pair. `told` 0: never. */
static bool is_recent(const struct correction *c, uint64_t told)
{
	return told && told + LAG_NS > c->first->time;
}

/* Not decided now, but another pair may: unless it was told since, which made it right. */
static void leave_open(struct correction *c, uint64_t told)
{
	if (told < c->first->time)
		c->open++;
}

static const struct snapshot_m *m_of(const struct map *ms, uint64_t addr)
{
	return addr ? map__get(ms, addr) : NULL;
}

static uint32_t tid_of(const struct map *ms, uint64_t addr)
{
	const struct snapshot_m *m = m_of(ms, addr);

	return m ? m->tid : 0;
}

static bool index_ms(struct map *ms, const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->nm; i++)
		if (snap->m[i].addr && map__put(ms, snap->m[i].addr, &snap->m[i]))
			return false;
	return true;
}

/* ---- lists ---- */

static struct change *add_change(struct correction *c, struct goroutine *g, uint32_t state)
{
	struct change *bigger = c->change;

	if (c->changes == c->changes_cap) {
		c->changes_cap = c->changes_cap ? c->changes_cap * 2 : 64;
		bigger = reallocarray(c->change, c->changes_cap, sizeof(*bigger));
		if (!bigger) {
			c->failed = true;
			return NULL;
		}
		c->change = bigger;
	}
	c->change[c->changes++] = (struct change){ .g = g, .state = state };
	if (g)
		g->change = c->changes;
	return &c->change[c->changes - 1];
}

/* What a thread should have: to begin with, what it has. */
static struct fix *fix_of(struct correction *c, struct thread *t)
{
	struct fix **bigger, *f = t->fix;

	if (f)
		return f;
	if (c->fixes == c->fixes_cap) {
		c->fixes_cap = c->fixes_cap ? c->fixes_cap * 2 : 64;
		bigger = reallocarray(c->fix, c->fixes_cap, sizeof(struct fix *));
		if (!bigger)
			goto fail;
		c->fix = bigger;
	}
	f = malloc(sizeof(*f));
	if (!f)
		goto fail;
	*f = (struct fix){ .t = t, .g = t->g, .state = t->g ? t->g->state : 0, .p = t->p };
	t->fix = c->fix[c->fixes++] = f;
	return f;
fail:
	c->failed = true;
	return NULL;
}

void correction__deinit(struct correction *c)
{
	for (size_t i = 0; i < c->changes; i++)
		if (c->change[i].g)
			c->change[i].g->change = 0;
	for (size_t i = 0; i < c->fixes; i++) {
		c->fix[i]->t->fix = NULL;
		free(c->fix[i]);
	}
	free(c->change);
	free(c->fix);
	map__deinit(&c->first_m);
	map__deinit(&c->second_m);
	map__deinit(&c->strangers);
}

/* ---- goroutines ---- */

static bool on_thread(uint32_t state)
{
	return state == GO_RUNNING || state == GO_SYSCALL;
}

static uint32_t state_in(const struct correction *c, const struct map *ms,
			 const struct snapshot_g *from, uint32_t *ret_tid)
{
	uint32_t state = initial__state(c->s->opts.layout, from);

	*ret_tid = on_thread(state) ? tid_of(ms, from->m) : 0;
	return state;
}

static void note_first(struct correction *c)
{
	for (size_t i = 0; i < c->first->ng; i++) {
		const struct snapshot_g *from = &c->first->g[i];
		struct goroutine *g = map__get(&c->s->id, from->goid);

		if (!g || g->addr != from->addr)
			continue;
		g->seen = 1;
		g->seen_state = state_in(c, &c->first_m, from, &g->seen_tid);
	}
}

static void judge_known(struct correction *c, const struct snapshot_g *from, struct goroutine *g)
{
	uint32_t tid, state = state_in(c, &c->second_m, from, &tid);
	struct change *change;

	if (g->seen & 2)
		return;
	if (!g->start) /* its create was lost: it has a name from the next status on */
		g->start = stacks__start(c->s->stacks, from->startpc);
	/* without their probes a system call shows only when its P is taken */
	if (c->s->opts.no_syscalls && state == GO_SYSCALL && g->state == GO_RUNNING)
		state = GO_RUNNING;
	if (state == g->state && tid == (g->m ? g->m->tid : 0)) {
		g->seen |= 2;
		return;
	}
	if (!state || is_recent(c, g->told) || !(g->seen & 1) || g->seen_state != state ||
	    g->seen_tid != tid || (on_thread(state) && !tid)) {
		leave_open(c, g->told);
		g->seen = 3;
		return;
	}
	g->seen |= 2;
	change = add_change(c, g, state);
	if (change && tid)
		change->t = model__thread(c->s, tid);
}

/* What records that found no goroutine say of it since the pair was begun. False: nothing. */
static bool stray_state(const struct correction *c, uint64_t addr, uint32_t *state)
{
	uint64_t stray = (uint64_t)map__get(&c->s->strays, addr);

	if (stray >> 8 < c->first->time)
		return false;
	switch (stray & 0xff) {
	case GT_DESTROY:
	case GT_DESTROY_SYSCALL:
		*state = 0;
		return true;
	case GT_READY:
	case GT_YIELD:
	case GT_SYSCALL_NO_P:
		*state = GO_RUNNABLE;
		return true;
	case GT_PARK:
	case GT_PREEMPT_PARK:
		*state = GO_WAITING;
		return true;
	}
	return false;
}

/*
 * The model has an older goroutine at the stranger's address: that has ended, and what was told of it
 * since is the stranger's.
 */
static bool replaces(struct correction *c, const struct snapshot_g *from, uint32_t *state)
{
	struct goroutine *old = map__get(&c->s->g, from->addr);

	if (!old || old->born >= c->first->time || old->seen)
		return false;
	old->seen = 4;
	if (old->told >= c->first->time && !on_thread(old->state))
		*state = old->state;
	add_change(c, old, 0);
	return on_thread(*state) ? false : true;
}

static void judge_strangers(struct correction *c)
{
	for (size_t i = 0; i < c->first->ng && c->s->strays_from < c->first->time; i++) {
		const struct snapshot_g *first = &c->first->g[i];
		const struct snapshot_g *from = map__get(&c->strangers, first->addr);
		uint32_t tid, tid_before, state;
		struct change *change;

		if (!from || from->goid != first->goid)
			continue;
		map__remove(&c->strangers, first->addr);
		state = state_in(c, &c->second_m, from, &tid);
		if (!state || !model__id_valid(from->goid))
			continue;
		if (replaces(c, from, &state) || stray_state(c, from->addr, &state)) {
			tid = 0;
			if (!state)
				continue;
		} else if (on_thread(state) &&
			   (state_in(c, &c->first_m, first, &tid_before) != state ||
			    tid != tid_before || !tid)) { /* it is there, at least */
			state = GO_RUNNABLE;
			tid = 0;
			c->open++;
		}
		change = add_change(c, NULL, state);
		if (!change)
			return;
		change->from = from;
		if (tid)
			change->t = model__thread(c->s, tid);
	}
	c->open += c->strangers.n;
}

/* It was thought to have left its g struct to another. */
static bool adopt(struct correction *c, struct goroutine *g, uint64_t addr)
{
	if (!addr || map__get(&c->s->g, addr) || map__put(&c->s->g, addr, g))
		return false;
	g->addr = addr;
	g->seen = 2;
	return true;
}

static int by_goid(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return x->g->id < y->g->id ? -1 : x->g->id > y->g->id;
}

/* Those from `first` on were found in the order of a map, which is another in each run. */
static void sort_changes(struct correction *c, size_t first)
{
	if (c->changes == first)
		return;
	qsort(c->change + first, c->changes - first, sizeof(*c->change), by_goid);
	for (size_t i = first; i < c->changes; i++)
		c->change[i].g->change = (uint32_t)(i + 1);
}

static void judge_goroutines(struct correction *c)
{
	size_t known;
	void *value;

	note_first(c);
	for (size_t i = 0; i < c->second->ng && !c->failed; i++) {
		const struct snapshot_g *from = &c->second->g[i];
		struct goroutine *g = map__get(&c->s->id, from->goid);

		if (g && !g->addr && adopt(c, g, from->addr))
			leave_open(c, g->told);
		else if (g && g->addr == from->addr)
			judge_known(c, from, g);
		else if (!g && from->addr && map__put(&c->strangers, from->addr, (void *)from))
			c->failed = true;
	}
	judge_strangers(c);
	known = c->changes;
	for (size_t i = 0; map__next(&c->s->id, &i, &value);) {
		struct goroutine *g = value;

		/* without an address: another has its g struct, so it is gone */
		if (!g->seen && (!g->addr || !is_recent(c, g->told)))
			add_change(c, g, 0);
		else if (g->seen < 2)
			leave_open(c, g->told);
		g->seen = 0;
	}
	sort_changes(c, known);
}

/* A goroutine's thread, before and after. What is at odds with what records tell is not done. */
static void place_changes(struct correction *c)
{
	for (size_t i = 0; i < c->changes && !c->failed; i++) {
		struct goroutine *g = c->change[i].g;
		struct fix *f = g && g->m ? fix_of(c, g->m) : NULL;

		if (f)
			f->g = NULL;
	}
	for (size_t i = 0; i < c->changes && !c->failed; i++) {
		struct change *change = &c->change[i];
		struct fix *f;

		if (!on_thread(change->state))
			continue;
		f = change->t ? fix_of(c, change->t) : NULL;
		if (!f || f->g || f->change) {
			change->state = GO_RUNNABLE;
			c->open++;
			continue;
		}
		f->g = change->g;
		f->change = (uint32_t)i + 1;
		f->state = change->state;
	}
}

/* ---- Ps ---- */

static uint32_t status_of(const struct snapshot *snap, uint64_t p)
{
	for (size_t i = 0; p && i < snap->np; i++)
		if (snap->p[i].addr == p)
			return snap->p[i].status;
	return 0;
}

#define RUNTIME_PSYSCALL 2 /* _Psyscall, up to 1.25 */

/* The P that a snapshot sees a thread have while its goroutine is in a system call, or 0. */
static uint64_t syscall_proc(const struct correction *c, const struct snapshot *snap,
			     const struct snapshot_m *m)
{
	if (c->s->opts.layout->exit_is_tentative)
		return m->p;
	return status_of(snap, m->oldp) == RUNTIME_PSYSCALL ? m->oldp : 0;
}

/* A P for a thread; whoever the model says it was with has lost it. */
static void assign(struct correction *c, struct fix *f, struct proc *p)
{
	struct fix *owner = p && p->m && p->m != f->t ? fix_of(c, p->m) : NULL;

	if (owner && owner->p == p)
		owner->p = NULL;
	f->p = p;
	c->procs++;
}

static void judge_thread(struct correction *c, const struct snapshot_m *m,
			 const struct snapshot_m *before)
{
	struct thread *t = m->tid ? model__thread(c->s, m->tid) : NULL;
	uint32_t state;
	struct fix *f;
	struct proc *p;
	bool same;

	if (!t || !before || before->tid != m->tid)
		return;
	if (c->s->opts.no_syscalls && t->g && !m->p) /* in a call that is not seen */
		return;
	f = t->fix;
	state = f ? (f->g || f->change ? f->state : 0) : t->g ? t->g->state : 0;
	if (state == GO_SYSCALL) {
		uint64_t addr = syscall_proc(c, c->second, m);

		same = addr == syscall_proc(c, c->first, before);
		p = addr ? map__get(&c->s->p, addr) : NULL;
		if (p && t->p != p && !(f && f->change))
			return; /* it would take another call to get it back: its exit will tell */
	} else {
		same = m->p == before->p;
		p = m->p ? map__get(&c->s->p, m->p) : NULL;
		if (m->p && !p)
			return;
	}
	if (p == t->p)
		return;
	if (!same || (t->p && is_recent(c, t->p->told)) || (p && is_recent(c, p->told)) ||
	    (!p && state == GO_RUNNING)) {
		if (t->p && !is_recent(c, t->told))
			leave_open(c, t->p->told);
		return;
	}
	f = fix_of(c, t);
	if (f)
		assign(c, f, p);
}

static void judge_procs(struct correction *c)
{
	for (size_t i = 0; i < c->second->np; i++)
		model__proc(c->s, c->second->p[i].addr, c->second->p[i].id);
	for (size_t i = 0; i < c->second->nm && !c->failed; i++) {
		const struct snapshot_m *m = &c->second->m[i];

		judge_thread(c, m, m_of(&c->first_m, m->addr));
	}
}

/* Threads that have ended have no P, and are none of the runtime's any more. */
static void judge_gone_threads(struct correction *c)
{
	struct map tids = {};
	size_t n;
	struct map_slot *m = map__sorted(&c->s->m, &n);

	c->failed |= !m;
	for (size_t i = 0; i < c->second->nm; i++)
		if (c->second->m[i].tid && map__put(&tids, c->second->m[i].tid, c))
			c->failed = true;
	for (size_t i = 0; i < n && !c->failed; i++) {
		struct thread *t = m[i].value;
		struct fix *f;

		if (!t->p || map__get(&tids, t->tid) || is_recent(c, t->told) ||
		    is_recent(c, t->p->told))
			continue;
		f = fix_of(c, t);
		if (f && !f->g)
			assign(c, f, NULL);
	}
	map__deinit(&tids);
	free(m);
}

/* A tentative exit that nothing has followed for so long was one. */
static void settle_exits(struct correction *c)
{
	size_t n;
	struct map_slot *m = map__sorted(&c->s->m, &n);

	c->failed |= !m;
	for (size_t i = 0; i < n; i++) {
		struct thread *t = m[i].value;

		if (t->exit_time && t->exit_time < c->first->time)
			state__exit_kept(c->s, t);
	}
	free(m);
}

void correction__judge(struct correction *c)
{
	if (!c->second->ng || !c->second->np || !c->first->ng) {
		c->failed = true; /* of no use */
		return;
	}
	settle_exits(c);
	if (!index_ms(&c->first_m, c->first) || !index_ms(&c->second_m, c->second))
		c->failed = true;
	if (!c->failed)
		judge_goroutines(c);
	if (!c->failed)
		place_changes(c);
	if (!c->failed)
		judge_procs(c);
	if (!c->failed)
		judge_gone_threads(c);
}
