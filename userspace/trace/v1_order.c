// SPDX-License-Identifier: GPL-2.0
/*
 * One stream out of the batches of a v1 trace's Ps, and its times in nanoseconds.
 *
 * Second step of v1__open(), between v1_parse.c and v1_state.c. Since 1.7 the events of a P come in
 * the order of the file, and of the Ps' next events the earliest one that may come: a goroutine's
 * events carry numbers that say which of them it is, and may only come when its state is the one
 * that they change. Clocks of CPUs may differ; a trace whose order contradicts its times is
 * refused. Versions 0 and 5 are sorted, by time and by a global sequence number.
 *
 * A P whose next event may not come yet waits under a key of what it waits for. So each event is
 * looked at twice, however many Ps a hostile trace has. Among equal times Go's reader may choose
 * one way or the other, since it begins with the Ps in the order of a hash map; this one chooses
 * as if that had been the order of the file.
 */
#include <string.h>

#include "lib/hash.h"
#include "trace/v1_impl.h"

#define NO_SEQ	  UINT64_MAX	   /* at any number; the number stays */
#define NEXT_SEQ  (UINT64_MAX - 1) /* the number becomes the next */
#define UNORDERED UINT64_MAX	   /* the goroutine id by which Go's reader knows no goroutine */

struct change { /* of a goroutine's state, by an event */
	uint32_t g;
	bool ordered; /* else the event changes none, and may come at any time */
	uint64_t seq, next_seq;
	uint8_t status, next_status; /* enum v1_status */
};

struct head { /* of a P: it may come */
	int64_t time;
	uint32_t p;
};

struct merge {
	struct v1 *v;
	struct error *err;
	struct head *heap;
	size_t n;
	struct map waiting; /* what is waited for, to the first P + 1 */
};

struct key {
	int64_t by;
	uint32_t event;
};

/* Whose state an event changes, from what to what, and by which number. */
static const struct rule {
	enum { NOBODY, ITSELF, OTHER, GARBAGE } whose;
	enum { ANY, LOCAL, GIVEN, FIRST, SECOND } number;
	uint8_t from, to;
} rules[V1_COUNT] = {
	[V1_GO_CREATE] = { OTHER, FIRST, V1_DEAD, V1_RUNNABLE },
	[V1_GO_WAITING] = { ITSELF, SECOND, V1_RUNNABLE, V1_WAITING },
	[V1_GO_IN_SYSCALL] = { ITSELF, SECOND, V1_RUNNABLE, V1_WAITING },
	[V1_GO_START] = { ITSELF, GIVEN, V1_RUNNABLE, V1_RUNNING },
	[V1_GO_START_LABEL] = { ITSELF, GIVEN, V1_RUNNABLE, V1_RUNNING },
	[V1_GO_START_LOCAL] = { ITSELF, LOCAL, V1_RUNNABLE, V1_RUNNING },
	[V1_GO_BLOCK] = { ITSELF, ANY, V1_RUNNING, V1_WAITING },
	[V1_GO_BLOCK_SEND] = { ITSELF, ANY, V1_RUNNING, V1_WAITING },
	[V1_GO_BLOCK_RECV] = { ITSELF, ANY, V1_RUNNING, V1_WAITING },
	[V1_GO_BLOCK_SELECT] = { ITSELF, ANY, V1_RUNNING, V1_WAITING },
	[V1_GO_BLOCK_SYNC] = { ITSELF, ANY, V1_RUNNING, V1_WAITING },
	[V1_GO_BLOCK_COND] = { ITSELF, ANY, V1_RUNNING, V1_WAITING },
	[V1_GO_BLOCK_NET] = { ITSELF, ANY, V1_RUNNING, V1_WAITING },
	[V1_GO_BLOCK_GC] = { ITSELF, ANY, V1_RUNNING, V1_WAITING },
	[V1_GO_SLEEP] = { ITSELF, ANY, V1_RUNNING, V1_WAITING },
	[V1_GO_SYS_BLOCK] = { ITSELF, ANY, V1_RUNNING, V1_WAITING },
	[V1_GO_SCHED] = { ITSELF, ANY, V1_RUNNING, V1_RUNNABLE },
	[V1_GO_PREEMPT] = { ITSELF, ANY, V1_RUNNING, V1_RUNNABLE },
	[V1_GO_UNBLOCK] = { OTHER, GIVEN, V1_WAITING, V1_RUNNABLE },
	[V1_GO_UNBLOCK_LOCAL] = { OTHER, LOCAL, V1_WAITING, V1_RUNNABLE },
	[V1_GO_SYS_EXIT] = { ITSELF, GIVEN, V1_WAITING, V1_RUNNABLE },
	[V1_GO_SYS_EXIT_LOCAL] = { OTHER, LOCAL, V1_WAITING, V1_RUNNABLE },
	[V1_GC_START] = { GARBAGE, GIVEN, V1_DEAD, V1_DEAD },
};

static void set_numbers(const struct v1 *v, const struct v1_event *ev, struct change *c)
{
	switch (rules[ev->type].number) {
	case ANY:
		c->seq = c->next_seq = NO_SEQ;
		break;
	case LOCAL: /* no other P is involved: it comes when it is met */
		c->seq = NO_SEQ;
		c->next_seq = NEXT_SEQ;
		break;
	case GIVEN:
		c->seq = ev->type == V1_GO_SYS_EXIT ? v->more[ev->other] : ev->arg;
		c->next_seq = c->seq + 1;
		break;
	case FIRST:
		c->seq = 0;
		c->next_seq = 1;
		break;
	case SECOND:
		c->seq = 1;
		c->next_seq = 2;
		break;
	}
}

static struct change change_of(const struct v1 *v, const struct v1_event *ev)
{
	const struct rule *rule = &rules[ev->type];
	struct change c = { .status = rule->from, .next_status = rule->to };

	if (rule->whose == NOBODY)
		return c;
	c.g = rule->whose == ITSELF ? ev->g : rule->whose == OTHER ? ev->other : V1_G_GARBAGE;
	c.ordered = v->gs[c.g].id != UNORDERED;
	set_numbers(v, ev, &c);
	return c;
}

static bool may_come(const struct v1 *v, const struct change *c)
{
	const struct v1_g *g = &v->gs[c->g];

	return !c->ordered ||
	       ((c->seq == NO_SEQ || c->seq == g->seq) && c->status == g->order_status);
}

static void make_change(struct v1 *v, const struct change *c)
{
	struct v1_g *g = &v->gs[c->g];

	if (c->next_seq == NEXT_SEQ)
		g->seq++;
	else if (c->next_seq != NO_SEQ)
		g->seq = c->next_seq;
	g->order_status = c->next_status;
}

/* The steps are those of Go's heap, which decide what comes first among equal times. */
static void push(struct merge *m, uint32_t p)
{
	struct head added = { m->v->events[m->v->ps[p].event].time, p };
	size_t at = m->n++, parent;

	for (; at; at = parent) {
		parent = (at - 1) / 2;
		if (added.time >= m->heap[parent].time)
			break;
		m->heap[at] = m->heap[parent];
	}
	m->heap[at] = added;
}

static uint32_t pop(struct merge *m)
{
	struct head moved = m->heap[--m->n];
	uint32_t top = m->heap[0].p;
	size_t at = 0, child;

	while ((child = 2 * at + 1) < m->n) {
		if (child + 1 < m->n && m->heap[child + 1].time < m->heap[child].time)
			child++;
		if (m->heap[child].time >= moved.time)
			break;
		m->heap[at] = m->heap[child];
		at = child;
	}
	m->heap[at] = moved;
	return top;
}

static uint64_t waiting_key(uint32_t g, uint64_t seq, uint8_t status)
{
	return hash__word(hash__word((uint64_t)g << 2 | status) ^ seq);
}

/* The event that comes next on the P; false: none. */
static bool load(struct v1 *v, struct v1_p *p)
{
	struct v1_batch *batch;

	if (!p->left && p->first_batch) {
		batch = &v->batches[p->first_batch - 1];
		p->event = batch->first;
		p->left = batch->n;
		p->first_batch = batch->next;
	}
	return p->left;
}

static int wait(struct merge *m, uint32_t p, const struct change *c)
{
	uint64_t key = waiting_key(c->g, c->seq, c->status);

	m->v->ps[p].waiting = (uint32_t)(uintptr_t)map__get(&m->waiting, key);
	return map__put(&m->waiting, key, (void *)((uintptr_t)p + 1));
}

/* The Ps of one key: those that may go on are pushed. Keys may be equal for different things. */
static int wake_key(struct merge *m, uint64_t key)
{
	uint32_t next = (uint32_t)(uintptr_t)map__remove(&m->waiting, key), p;
	struct change c;
	int err = 0;

	while (next && !err) {
		p = next - 1;
		next = m->v->ps[p].waiting;
		c = change_of(m->v, &m->v->events[m->v->ps[p].event]);
		if (may_come(m->v, &c))
			push(m, p);
		else
			err = wait(m, p, &c);
	}
	return err;
}

/* Those who waited for the state that the goroutine has now. */
static int wake(struct merge *m, uint32_t g)
{
	const struct v1_g *is = &m->v->gs[g];
	int err;

	if (!m->waiting.n)
		return 0;
	err = wake_key(m, waiting_key(g, is->seq, is->order_status));
	return err ? err : wake_key(m, waiting_key(g, NO_SEQ, is->order_status));
}

/* The P's next event goes where it belongs, if there is one. */
static int advance(struct merge *m, uint32_t p)
{
	struct change c;

	if (!load(m->v, &m->v->ps[p]))
		return 0;
	c = change_of(m->v, &m->v->events[m->v->ps[p].event]);
	if (!may_come(m->v, &c))
		return wait(m, p, &c);
	push(m, p);
	return 0;
}

/* "Local" events only said that no other P was involved. */
static unsigned int not_local(unsigned int type)
{
	switch (type) {
	case V1_GO_START_LOCAL:
		return V1_GO_START;
	case V1_GO_UNBLOCK_LOCAL:
		return V1_GO_UNBLOCK;
	case V1_GO_SYS_EXIT_LOCAL:
		return V1_GO_SYS_EXIT;
	}
	return type;
}

static int take_first(struct merge *m)
{
	struct v1 *v = m->v;
	uint32_t p = pop(m);
	struct v1_event *ev = &v->events[v->ps[p].event];
	struct change c = change_of(v, ev);
	int err = 0;

	/* Two Ps that say the same of one goroutine. */
	if (!may_come(v, &c))
		return v1__broken(m->err, ev->offset, ev->type,
				  "goroutine %" PRIu64 " cannot do it twice", v->gs[c.g].id);
	if (v->norder && ev->time < v->events[v->order[v->norder - 1]].time)
		return v1__broken(m->err, ev->offset, ev->type, "time stamps out of order");
	ev->type = not_local(ev->type);
	v->order[v->norder++] = v->ps[p].event++;
	v->ps[p].left--;
	if (c.ordered) {
		make_change(v, &c);
		err = wake(m, c.g);
	}
	return err ? err : advance(m, p);
}

static int nothing_may_come(struct merge *m)
{
	const struct v1_event *ev;
	uintptr_t first = UINTPTR_MAX;
	void *p;

	/* Which one is named must not depend on the map's order. */
	for (size_t i = 0; map__next(&m->waiting, &i, &p);)
		if ((uintptr_t)p < first)
			first = (uintptr_t)p;
	ev = &m->v->events[m->v->ps[first - 1].event];
	return v1__broken(m->err, ev->offset, ev->type,
			  "goroutine %" PRIu64 " is never in a state "
			  "for it: no consistent ordering of events is possible",
			  m->v->gs[change_of(m->v, ev).g].id);
}

static int merge_all(struct merge *m)
{
	int err = 0;

	for (uint32_t p = 0; p < m->v->nps && !err; p++)
		err = advance(m, p);
	while (m->n && !err)
		err = take_first(m);
	if (!err && m->waiting.n)
		err = nothing_may_come(m);
	return err;
}

static int merge(struct v1 *v, struct error *err)
{
	struct merge m = { .v = v, .err = err, .heap = malloc(v->nps * sizeof(*m.heap)) };
	int e = m.heap ? merge_all(&m) : -ENOMEM;

	free(m.heap);
	map__deinit(&m.waiting);
	return e;
}

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->by != y->by)
		return x->by < y->by ? -1 : 1;
	return (x->event > y->event) - (x->event < y->event);
}

/*
 * A system call's exit is written when its goroutine has a P again; `arg` is when it was. *ret:
 * those whose time changes, by that time, as positions in `order`.
 */
static int find_exits(struct v1 *v, struct key **ret, size_t *ret_n, struct error *err)
{
	struct v1_event *ev;
	size_t cap = 0;

	for (size_t i = 0; i < v->norder; i++) {
		ev = &v->events[v->order[i]];
		if (ev->type == V1_GO_SYS_BLOCK || ev->type == V1_GO_IN_SYSCALL)
			v->gs[ev->g].left = ev->time;
		if (ev->type != V1_GO_SYS_EXIT || !ev->arg)
			continue;
		if (!v->gs[ev->g].left)
			return v1__broken(err, ev->offset, ev->type,
					  "goroutine %" PRIu64 " was in no system call",
					  v->gs[ev->g].id);
		if ((int64_t)ev->arg < v->gs[ev->g].left)
			return v1__broken(err, ev->offset, ev->type, "time stamps out of order");
		if (v1__grow(ret, &cap, *ret_n, sizeof(**ret)))
			return -ENOMEM;
		(*ret)[(*ret_n)++] = (struct key){ (int64_t)ev->arg, (uint32_t)i };
	}
	return 0;
}

/*
 * Exits go to where their times belong, all other events stay in order. `key` is sorted, its events
 * are positions in `order`. Equal times stay as they were.
 */
static int move_exits(struct v1 *v, const struct key *key, size_t n)
{
	uint32_t *order = malloc(v->norder * sizeof(*order));
	size_t k = 0, at = 0;
	struct v1_event *ev;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < v->norder; i++) {
		ev = &v->events[v->order[i]];
		if (ev->type == V1_GO_SYS_EXIT && ev->arg)
			continue;
		for (;
		     k < n && (key[k].by < ev->time || (key[k].by == ev->time && key[k].event < i));
		     k++)
			order[at++] = v->order[key[k].event];
		order[at++] = v->order[i];
	}
	for (; k < n; k++)
		order[at++] = v->order[key[k].event];
	free(v->order);
	v->order = order;
	for (k = 0; k < at; k++) {
		ev = &v->events[order[k]];
		if (ev->type == V1_GO_SYS_EXIT && ev->arg)
			ev->time = (int64_t)ev->arg;
	}
	return 0;
}

static int time_exits(struct v1 *v, struct error *err)
{
	struct key *key = NULL;
	size_t n = 0;
	int e = find_exits(v, &key, &n, err);

	if (!e && n) {
		qsort(key, n, sizeof(*key), compare_keys);
		e = move_exits(v, key, n);
	}
	free(key);
	return e;
}

/* Versions 0 and 5. An exit from a system call has a number and a time of its own. */
static int sort_all(struct v1 *v, struct error *err)
{
	struct key *key = malloc(v->nevents * sizeof(*key));
	struct v1_event *ev, *last = NULL;

	if (!key)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->nevents; i++) {
		ev = &v->events[i];
		if (v->seqs && ev->type == V1_GO_SYS_EXIT && ev->arg)
			ev->time = (int64_t)ev->arg;
		key[i] = (struct key){ v->seqs ? v->seqs[i] : ev->time, i };
	}
	qsort(key, v->nevents, sizeof(*key), compare_keys);
	for (size_t i = 0; i < v->nevents; i++)
		v->order[i] = key[i].event;
	free(key);
	v->norder = v->nevents;
	for (size_t i = 0; i < v->norder; i++, last = ev) {
		ev = &v->events[v->order[i]];
		if (last && ev->time < last->time)
			return v1__broken(err, ev->offset, ev->type, "time stamps out of order");
	}
	return 0;
}

/* As Go computes them. */
static int64_t to_ns(double ns)
{
	return ns > -0x1p63 && ns < 0x1p63 ? (int64_t)ns : INT64_MIN;
}

/* As the first parser did it, but for its overflow after seconds. */
static int64_t to_exact_ns(int64_t ticks, int64_t ticks_per_sec)
{
	__int128 ns = (__int128)ticks * 1000000000 / ticks_per_sec;

	return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

/* Times become ns since the first event, and fake Ps get what happens on none. */
static void set_times(struct v1 *v)
{
	uint64_t first = (uint64_t)v->events[v->order[0]].time;
	double ns_per_tick = 1e9 / (double)v->ticks_per_sec;
	struct v1_event *ev;
	int64_t ticks;

	for (size_t i = 0; i < v->norder; i++) {
		ev = &v->events[v->order[i]];
		ticks = (int64_t)((uint64_t)ev->time - first);
		ev->time = v->version ? to_ns((double)ticks * ns_per_tick) :
					to_exact_ns(ticks, v->ticks_per_sec);
		if (ev->type == V1_GO_UNBLOCK && v->gs[ev->g].timer)
			ev->p = V1_P_TIMER;
		if (ev->type == V1_GO_SYS_EXIT)
			ev->p = V1_P_SYSCALL;
	}
}

int v1__sort(struct v1 *v, struct error *err)
{
	int e;

	if (!v->nevents)
		return 0;
	v->order = malloc(v->nevents * sizeof(*v->order));
	if (!v->order)
		return -ENOMEM;
	if (v1__has_symbols(v->version)) {
		e = merge(v, err);
		if (!e)
			e = time_exits(v, err);
	} else {
		e = sort_all(v, err);
	}
	if (!e)
		set_times(v);
	return e;
}
