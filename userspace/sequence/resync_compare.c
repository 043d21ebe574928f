// SPDX-License-Identifier: GPL-2.0
/*
 * Compares a pair of snapshots with the model, and lists the goroutines, threads and Ps that are
 * wrong. Changes no state of the trace. Upstream: resync.c, which then carries out the list.
 * Downstream: model.c and initial.c.
 */
#include "lib/array.h"
#include "sequence/initial.h"
#include "sequence/resync_impl.h"

#include <stdlib.h>

/* How long a status word may lag behind its probe: the thread can be descheduled in between. */
#define LAG_NS 100000000ull

/* Whether a record is newer than the pair, and so has precedence. `last_record` 0: none. */
static bool is_recent(const struct correction *c, uint64_t last_record)
{
	return last_record && last_record + LAG_NS > c->first->time;
}

/* Another pair may decide, unless a record has corrected it since. */
static void leave_open(struct correction *c, uint64_t last_record)
{
	if (last_record < c->first->time)
		c->open++;
}

/* ---- lists ---- */

static struct change *add_change(struct correction *c, struct goroutine *g, uint32_t state)
{
	if (array__grow(&c->change, c->changes, &c->changes_cap, sizeof(*c->change))) {
		c->failed = true;
		return NULL;
	}
	c->change[c->changes++] = (struct change){ .g = g, .state = state };
	if (g)
		g->change = c->changes;
	return &c->change[c->changes - 1];
}

/* The entry of a thread; initially with what the thread has. */
static struct fix *fix_of(struct correction *c, struct thread *t)
{
	struct fix *f = t->fix;

	if (f)
		return f;
	if (array__grow(&c->fix, c->fixes, &c->fixes_cap, sizeof(struct fix *)))
		goto fail;
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
	map__deinit(&c->unknown_g);
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

	*ret_tid = on_thread(state) ? snapshots__tid(ms, from->m) : 0;
	return state;
}

static void note_first(struct correction *c)
{
	for (size_t i = 0; i < c->first->ng; i++) {
		const struct snapshot_g *from = &c->first->g[i];
		struct goroutine *g = map__get(&c->s->model.by_id, from->goid);

		if (!g || g->addr != from->addr)
			continue;
		g->seen = 1;
		g->seen_state = state_in(c, &c->first_m, from, &g->seen_tid);
	}
}

static void compare_known(struct correction *c, const struct snapshot_g *from, struct goroutine *g)
{
	uint32_t tid, state = state_in(c, &c->second_m, from, &tid);
	struct change *change;

	if (g->seen & 2)
		return;
	if (!g->start) /* its creation was lost: named from the next status on */
		g->start = stacks__start(c->s->stacks, from->startpc);
	/* without their probes a system call is seen only when its P is taken */
	if (c->s->opts.no_syscalls && state == GO_SYSCALL && g->state == GO_RUNNING)
		state = GO_RUNNING;
	if (state == g->state && tid == (g->m ? g->m->tid : 0)) {
		g->seen |= 2;
		return;
	}
	if (!state || is_recent(c, g->last_record) || !(g->seen & 1) || g->seen_state != state ||
	    g->seen_tid != tid || (on_thread(state) && !tid)) {
		leave_open(c, g->last_record);
		g->seen = 3;
		return;
	}
	g->seen |= 2;
	change = add_change(c, g, state);
	if (change && tid)
		change->t = model__thread(c->s, tid);
}

/* The state according to records since the pair was begun that found no goroutine. False: none. */
static bool stray_state(const struct correction *c, uint64_t addr, uint32_t *state)
{
	uint64_t stray = (uint64_t)map__get(&c->s->resync.strays, addr);

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
 * The model has an older goroutine at this address: it has ended, and later records at the address
 * belong to the new one.
 */
static bool replaces(struct correction *c, const struct snapshot_g *from, uint32_t *state)
{
	struct goroutine *old = map__get(&c->s->model.by_addr, from->addr);

	if (!old || old->first_seen >= c->first->time || old->seen)
		return false;
	old->seen = 4;
	if (old->last_record >= c->first->time && !on_thread(old->state))
		*state = old->state;
	add_change(c, old, 0);
	return on_thread(*state) ? false : true;
}

static void compare_unknown(struct correction *c)
{
	for (size_t i = 0; i < c->first->ng && c->s->resync.strays_from < c->first->time; i++) {
		const struct snapshot_g *first = &c->first->g[i];
		const struct snapshot_g *from = map__get(&c->unknown_g, first->addr);
		uint32_t tid, tid_before, state;
		struct change *change;

		if (!from || from->goid != first->goid)
			continue;
		map__remove(&c->unknown_g, first->addr);
		state = state_in(c, &c->second_m, from, &tid);
		if (!state || !model__id_valid(from->goid))
			continue;
		if (replaces(c, from, &state) || stray_state(c, from->addr, &state)) {
			tid = 0;
			if (!state)
				continue;
		} else if (on_thread(state) &&
			   (state_in(c, &c->first_m, first, &tid_before) != state ||
			    tid != tid_before || !tid)) { /* at least it exists */
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
	c->open += c->unknown_g.n;
}

/* Reverts model__orphan(): the goroutine still has its g struct. */
static bool restore_address(struct correction *c, struct goroutine *g, uint64_t addr)
{
	if (!addr || map__get(&c->s->model.by_addr, addr) ||
	    map__put(&c->s->model.by_addr, addr, g))
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

/* Entries from `first` on were found in map order, which differs between runs. */
static void sort_changes(struct correction *c, size_t first)
{
	if (c->changes == first)
		return;
	array__sort(c->change + first, c->changes - first, sizeof(*c->change), by_goid);
	for (size_t i = first; i < c->changes; i++)
		c->change[i].g->change = (uint32_t)(i + 1);
}

static void compare_goroutines(struct correction *c)
{
	size_t known;
	void *value;

	note_first(c);
	for (size_t i = 0; i < c->second->ng && !c->failed; i++) {
		const struct snapshot_g *from = &c->second->g[i];
		struct goroutine *g = map__get(&c->s->model.by_id, from->goid);

		if (g && !g->addr && restore_address(c, g, from->addr))
			leave_open(c, g->last_record);
		else if (g && g->addr == from->addr)
			compare_known(c, from, g);
		else if (!g && from->addr && map__put(&c->unknown_g, from->addr, (void *)from))
			c->failed = true;
	}
	compare_unknown(c);
	known = c->changes;
	for (size_t i = 0; map__next(&c->s->model.by_id, &i, &value);) {
		struct goroutine *g = value;

		/* without an address another goroutine has its g struct, so it has ended */
		if (!g->seen && (!g->addr || !is_recent(c, g->last_record)))
			add_change(c, g, 0);
		else if (g->seen < 2)
			leave_open(c, g->last_record);
		g->seen = 0;
	}
	sort_changes(c, known);
}

/* Adds the former and the new thread of a goroutine. Drops changes that contradict records. */
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

/* The P of a thread in a snapshot while its goroutine is in a system call, or 0. */
static uint64_t syscall_proc(const struct correction *c, const struct snapshot *snap,
			     const struct snapshot_m *m)
{
	if (c->s->opts.layout->exit_is_tentative)
		return m->p;
	return snapshots__proc_status(snap, m->oldp) == RUNTIME_PSYSCALL ? m->oldp : 0;
}

/* Assigns a P to a thread; the thread that has it in the model has lost it. */
static void assign(struct correction *c, struct fix *f, struct proc *p)
{
	struct fix *owner = p && p->m && p->m != f->t ? fix_of(c, p->m) : NULL;

	if (owner && owner->p == p)
		owner->p = NULL;
	f->p = p;
	c->procs++;
}

static void compare_thread(struct correction *c, const struct snapshot_m *m,
			   const struct snapshot_m *before)
{
	struct thread *t = m->tid ? model__thread(c->s, m->tid) : NULL;
	uint32_t state;
	struct fix *f;
	struct proc *p;
	bool same;

	if (!t || !before || before->tid != m->tid)
		return;
	if (c->s->opts.no_syscalls && t->g && !m->p) /* in a system call that no probe reports */
		return;
	f = t->fix;
	state = f ? (f->g || f->change ? f->state : 0) : t->g ? t->g->state : 0;
	if (state == GO_SYSCALL) {
		uint64_t addr = syscall_proc(c, c->second, m);

		same = addr == syscall_proc(c, c->first, before);
		p = addr ? map__get(&c->s->model.procs, addr) : NULL;
		if (p && t->p != p && !(f && f->change))
			return; /* to be taken back by another system call: its exit will show it */
	} else {
		same = m->p == before->p;
		p = m->p ? map__get(&c->s->model.procs, m->p) : NULL;
		if (m->p && !p)
			return;
	}
	if (p == t->p)
		return;
	if (!same || (t->p && is_recent(c, t->p->last_record)) ||
	    (p && is_recent(c, p->last_record)) || (!p && state == GO_RUNNING)) {
		if (t->p && !is_recent(c, t->last_record))
			leave_open(c, t->p->last_record);
		return;
	}
	f = fix_of(c, t);
	if (f)
		assign(c, f, p);
}

static void compare_procs(struct correction *c)
{
	for (size_t i = 0; i < c->second->np; i++)
		model__proc(c->s, c->second->p[i].addr, c->second->p[i].id);
	for (size_t i = 0; i < c->second->nm && !c->failed; i++) {
		const struct snapshot_m *m = &c->second->m[i];

		compare_thread(c, m, map__get(&c->first_m, m->addr));
	}
}

/* Threads that have ended have no P, and are no longer the runtime's. */
static void compare_gone_threads(struct correction *c)
{
	struct map tids = {};
	size_t n;
	struct map_slot *m = map__sorted(&c->s->model.threads, &n);

	c->failed |= !m;
	for (size_t i = 0; i < c->second->nm; i++)
		if (c->second->m[i].tid && map__put(&tids, c->second->m[i].tid, c))
			c->failed = true;
	for (size_t i = 0; i < n && !c->failed; i++) {
		struct thread *t = m[i].value;
		struct fix *f;

		if (!t->p || map__get(&tids, t->tid) || is_recent(c, t->last_record) ||
		    is_recent(c, t->p->last_record))
			continue;
		f = fix_of(c, t);
		if (f && !f->g)
			assign(c, f, NULL);
	}
	map__deinit(&tids);
	free(m);
}

/* A tentative exit without a later record for this long was final. */
static void settle_exits(struct correction *c)
{
	size_t n;
	struct map_slot *m = map__sorted(&c->s->model.threads, &n);

	c->failed |= !m;
	for (size_t i = 0; i < n; i++) {
		struct thread *t = m[i].value;

		if (t->exit_time && t->exit_time < c->first->time)
			state__exit_kept(c->s, t);
	}
	free(m);
}

void correction__compare(struct correction *c)
{
	if (!c->second->ng || !c->second->np || !c->first->ng) {
		c->failed = true; /* useless */
		return;
	}
	settle_exits(c);
	if (snapshots__index_ms(c->first, &c->first_m) ||
	    snapshots__index_ms(c->second, &c->second_m))
		c->failed = true;
	if (!c->failed)
		compare_goroutines(c);
	if (!c->failed)
		place_changes(c);
	if (!c->failed)
		compare_procs(c);
	if (!c->failed)
		compare_gone_threads(c);
}
