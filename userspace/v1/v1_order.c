// SPDX-License-Identifier: GPL-2.0
/*
 * Merges the batches of all Ps of a v1 trace into one order, and converts times to ns.
 *
 * Second step of v1__open(). Upstream: v1_parse.c. Downstream: v1_state.c. Since 1.7 the events of
 * a P are in file order. Of the Ps' next events, the earliest is taken that is permitted: the
 * events of a goroutine have sequence numbers, and each requires a certain state. Clocks of CPUs
 * may differ; a trace whose order contradicts its times is rejected. Versions 0 and 5 are sorted by
 * time or by a global sequence number.
 *
 * A P whose next event is not yet permitted waits under a hash key of what it waits for. So each
 * event is examined twice, even in crafted traces with many Ps. Go's reader may order equal times
 * in several ways, since it visits the Ps in the order of a hash map; here the order of the file is
 * used.
 */
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "lib/heap.h"
#include "v1/v1_impl.h"

#define NO_SEQ	  UINT64_MAX	   /* any number; it remains */
#define NEXT_SEQ  (UINT64_MAX - 1) /* increments the number */
#define UNORDERED UINT64_MAX	   /* a goroutine id that Go's reader uses for "none" */

/* The change that an event makes to the state of a goroutine. */
struct g_change {
	uint32_t g;
	bool ordered; /* false: no change, permitted at any time */
	uint64_t seq, next_seq;
	uint8_t status, next_status; /* enum v1_status */
};

/* A P whose next event is permitted. */
struct merge_head {
	int64_t time;
	uint32_t p;
};

struct v1_merge {
	struct v1 *v;
	struct error *err;
	struct merge_head *heap;
	size_t n;
	struct map waiting; /* by key, to the first waiting P + 1 */
};

struct sort_key {
	int64_t by;
	uint32_t event;
};

/* By event: which goroutine changes, its sequence number, and its state before and after. */
static const struct order_rule {
	enum { NO_G, OWN_G, OTHER_G, GC_ORDER } which_g;
	enum { ANY, LOCAL, GIVEN, FIRST, SECOND } number;
	uint8_t from, to;
} rules[V1_COUNT] = {
	[V1_GO_CREATE] = { OTHER_G, FIRST, V1_DEAD, V1_RUNNABLE },
	[V1_GO_WAITING] = { OWN_G, SECOND, V1_RUNNABLE, V1_WAITING },
	[V1_GO_IN_SYSCALL] = { OWN_G, SECOND, V1_RUNNABLE, V1_WAITING },
	[V1_GO_START] = { OWN_G, GIVEN, V1_RUNNABLE, V1_RUNNING },
	[V1_GO_START_LABEL] = { OWN_G, GIVEN, V1_RUNNABLE, V1_RUNNING },
	[V1_GO_START_LOCAL] = { OWN_G, LOCAL, V1_RUNNABLE, V1_RUNNING },
	[V1_GO_BLOCK] = { OWN_G, ANY, V1_RUNNING, V1_WAITING },
	[V1_GO_BLOCK_SEND... V1_GO_BLOCK_NET] = { OWN_G, ANY, V1_RUNNING, V1_WAITING },
	[V1_GO_BLOCK_GC] = { OWN_G, ANY, V1_RUNNING, V1_WAITING },
	[V1_GO_SLEEP] = { OWN_G, ANY, V1_RUNNING, V1_WAITING },
	[V1_GO_SYS_BLOCK] = { OWN_G, ANY, V1_RUNNING, V1_WAITING },
	[V1_GO_SCHED] = { OWN_G, ANY, V1_RUNNING, V1_RUNNABLE },
	[V1_GO_PREEMPT] = { OWN_G, ANY, V1_RUNNING, V1_RUNNABLE },
	[V1_GO_UNBLOCK] = { OTHER_G, GIVEN, V1_WAITING, V1_RUNNABLE },
	[V1_GO_UNBLOCK_LOCAL] = { OTHER_G, LOCAL, V1_WAITING, V1_RUNNABLE },
	[V1_GO_SYS_EXIT] = { OWN_G, GIVEN, V1_WAITING, V1_RUNNABLE },
	[V1_GO_SYS_EXIT_LOCAL] = { OTHER_G, LOCAL, V1_WAITING, V1_RUNNABLE },
	[V1_GC_START] = { GC_ORDER, GIVEN, V1_DEAD, V1_DEAD },
};

static void set_numbers(const struct v1 *v, const struct v1_event *ev, struct g_change *c)
{
	switch (rules[ev->type].number) {
	case ANY:
		c->seq = c->next_seq = NO_SEQ;
		return;
	case LOCAL: /* no other P is involved, so any number is permitted */
		c->seq = NO_SEQ;
		c->next_seq = NEXT_SEQ;
		return;
	case GIVEN:
		c->seq = ev->type == V1_GO_SYS_EXIT ? v->more[ev->other] : ev->arg;
		break;
	case FIRST:
		c->seq = 0;
		break;
	case SECOND:
		c->seq = 1;
		break;
	}
	c->next_seq = c->seq + 1;
}

static struct g_change change_of(const struct v1 *v, const struct v1_event *ev)
{
	const struct order_rule *rule = &rules[ev->type];
	struct g_change c = { .status = rule->from, .next_status = rule->to };

	if (rule->which_g == NO_G)
		return c;
	c.g = rule->which_g == OWN_G ? ev->g : rule->which_g == OTHER_G ? ev->other : V1_G_GARBAGE;
	c.ordered = v->gs[c.g].id != UNORDERED;
	set_numbers(v, ev, &c);
	return c;
}

static bool is_permitted(const struct v1 *v, const struct g_change *c)
{
	const struct v1_g *g = &v->gs[c->g];

	return !c->ordered ||
	       ((c->seq == NO_SEQ || c->seq == g->seq) && c->status == g->order_status);
}

static void apply_change(struct v1 *v, const struct g_change *c)
{
	struct v1_g *g = &v->gs[c->g];

	if (c->next_seq == NEXT_SEQ)
		g->seq++;
	else if (c->next_seq != NO_SEQ)
		g->seq = c->next_seq;
	g->order_status = c->next_status;
}

static inline bool is_earlier(const struct merge_head *a, const struct merge_head *b)
{
	return a->time < b->time;
}

DEFINE_HEAP(heap, struct merge_head, is_earlier)

static void push(struct v1_merge *m, uint32_t p)
{
	m->heap[m->n] = (struct merge_head){ m->v->events[m->v->ps[p].event].time, p };
	heap__up(m->heap, m->n++);
}

static uint32_t pop(struct v1_merge *m)
{
	uint32_t top = m->heap[0].p;

	heap__remove(m->heap, &m->n, 0);
	return top;
}

static uint64_t waiting_key(uint32_t g, uint64_t seq, uint8_t status)
{
	return hash__word(hash__word((uint64_t)g << 2 | status) ^ seq);
}

/* Loads the next event of the P; false: none. */
static bool load_event(struct v1 *v, struct v1_p *p)
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

static int wait(struct v1_merge *m, uint32_t p, const struct g_change *c)
{
	uint64_t key = waiting_key(c->g, c->seq, c->status);

	m->v->ps[p].waiting = (uint32_t)(uintptr_t)map__get(&m->waiting, key);
	return map__put(&m->waiting, key, (void *)((uintptr_t)p + 1));
}

/* Pushes the Ps of a key whose event is now permitted. Different conditions may share a key. */
static int wake_key(struct v1_merge *m, uint64_t key)
{
	uint32_t next = (uint32_t)(uintptr_t)map__remove(&m->waiting, key), p;
	struct g_change c;
	int err = 0;

	while (next && !err) {
		p = next - 1;
		next = m->v->ps[p].waiting;
		c = change_of(m->v, &m->v->events[m->v->ps[p].event]);
		if (is_permitted(m->v, &c))
			push(m, p);
		else
			err = wait(m, p, &c);
	}
	return err;
}

/* Wakes the Ps that wait for the present state of the goroutine. */
static int wake(struct v1_merge *m, uint32_t g)
{
	const struct v1_g *is = &m->v->gs[g];
	int err;

	if (!m->waiting.n)
		return 0;
	err = wake_key(m, waiting_key(g, is->seq, is->order_status));
	return err ? err : wake_key(m, waiting_key(g, NO_SEQ, is->order_status));
}

/* Pushes the P or makes it wait, if it has another event. */
static int advance(struct v1_merge *m, uint32_t p)
{
	struct g_change c;

	if (!load_event(m->v, &m->v->ps[p]))
		return 0;
	c = change_of(m->v, &m->v->events[m->v->ps[p].event]);
	if (!is_permitted(m->v, &c))
		return wait(m, p, &c);
	push(m, p);
	return 0;
}

/* The type without the information that no other P was involved. */
static unsigned int without_local(unsigned int type)
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

static int take_earliest(struct v1_merge *m)
{
	struct v1 *v = m->v;
	uint32_t p = pop(m);
	struct v1_event *ev = &v->events[v->ps[p].event];
	struct g_change c = change_of(v, ev);
	int err = 0;

	/* two Ps claim the same change of a goroutine */
	if (!is_permitted(v, &c))
		return v1__broken(m->err, ev->offset, ev->type,
				  "goroutine %" PRIu64
				  " is no longer in a state that permits this event",
				  v->gs[c.g].id);
	if (v->norder && ev->time < v->events[v->order[v->norder - 1]].time)
		return v1__broken(m->err, ev->offset, ev->type, "time stamps out of order");
	ev->type = without_local(ev->type);
	v->order[v->norder++] = v->ps[p].event++;
	v->ps[p].left--;
	if (c.ordered) {
		apply_change(v, &c);
		err = wake(m, c.g);
	}
	return err ? err : advance(m, p);
}

static int report_deadlock(struct v1_merge *m)
{
	const struct v1_event *ev;
	uintptr_t first = UINTPTR_MAX;
	void *p;

	/* the choice must not depend on the order of the map */
	for (size_t i = 0; map__next(&m->waiting, &i, &p);)
		if ((uintptr_t)p < first)
			first = (uintptr_t)p;
	ev = &m->v->events[m->v->ps[first - 1].event];
	return v1__broken(m->err, ev->offset, ev->type,
			  "goroutine %" PRIu64 " is never in a state "
			  "that permits this event: no consistent ordering of events is possible",
			  m->v->gs[change_of(m->v, ev).g].id);
}

static int merge_all(struct v1_merge *m)
{
	int err = 0;

	for (uint32_t p = 0; p < m->v->nps && !err; p++)
		err = advance(m, p);
	while (m->n && !err)
		err = take_earliest(m);
	if (!err && m->waiting.n)
		err = report_deadlock(m);
	return err;
}

static int merge(struct v1 *v, struct error *error)
{
	struct v1_merge m = { .v = v, .err = error, .heap = malloc(v->nps * sizeof(*m.heap)) };
	int err = m.heap ? merge_all(&m) : -ENOMEM;

	free(m.heap);
	map__deinit(&m.waiting);
	return err;
}

static int compare_keys(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;

	if (x->by != y->by)
		return x->by < y->by ? -1 : 1;
	return (x->event > y->event) - (x->event < y->event);
}

/*
 * The exit from a system call is written when its goroutine has a P again; `arg` is the real time.
 * *ret are the exits whose time changes, as positions in `order`.
 */
static int find_exits(struct v1 *v, struct sort_key **ret, size_t *ret_n, struct error *error)
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
			return v1__broken(error, ev->offset, ev->type,
					  "goroutine %" PRIu64 " was not in a system call",
					  v->gs[ev->g].id);
		if ((int64_t)ev->arg < v->gs[ev->g].left)
			return v1__broken(error, ev->offset, ev->type, "time stamps out of order");
		if (array__grow(ret, *ret_n, &cap, sizeof(**ret)))
			return -ENOMEM;
		(*ret)[(*ret_n)++] = (struct sort_key){ (int64_t)ev->arg, (uint32_t)i };
	}
	return 0;
}

/*
 * Moves exits to their real times; equal times keep their order. `key` is sorted, its events are
 * positions in `order`.
 */
static int move_exits(struct v1 *v, const struct sort_key *key, size_t n)
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

static int correct_exits(struct v1 *v, struct error *error)
{
	struct sort_key *key = NULL;
	size_t n = 0;
	int err = find_exits(v, &key, &n, error);

	if (!err && n) {
		array__sort(key, n, sizeof(*key), compare_keys);
		err = move_exits(v, key, n);
	}
	free(key);
	return err;
}

/* Sorts versions 0 and 5, where a system call's exit has its own number and time. */
static int sort_all(struct v1 *v, struct error *error)
{
	struct sort_key *key = malloc(v->nevents * sizeof(*key));
	struct v1_event *ev, *last = NULL;

	if (!key)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->nevents; i++) {
		ev = &v->events[i];
		if (v->seqs && ev->type == V1_GO_SYS_EXIT && ev->arg)
			ev->time = (int64_t)ev->arg;
		key[i] = (struct sort_key){ v->seqs ? v->seqs[i] : ev->time, i };
	}
	array__sort(key, v->nevents, sizeof(*key), compare_keys);
	for (size_t i = 0; i < v->nevents; i++)
		v->order[i] = key[i].event;
	free(key);
	v->norder = v->nevents;
	for (size_t i = 0; i < v->norder; i++, last = ev) {
		ev = &v->events[v->order[i]];
		if (last && ev->time < last->time)
			return v1__broken(error, ev->offset, ev->type, "time stamps out of order");
	}
	return 0;
}

/* Converts like Go, with its result for overflow. */
static int64_t to_ns(double ns)
{
	return ns > -0x1p63 && ns < 0x1p63 ? (int64_t)ns : INT64_MIN;
}

/* Converts like the first parser, but without its overflow after some seconds. */
static int64_t to_exact_ns(int64_t ticks, int64_t ticks_per_sec)
{
	__int128 ns = (__int128)ticks * 1000000000 / ticks_per_sec;

	return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

/*
 * Converts times to ns since the first event, and moves events of timers and system calls to their
 * special Ps.
 */
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

int v1__sort(struct v1 *v, struct error *error)
{
	int err;

	if (!v->nevents)
		return 0;
	v->order = malloc(v->nevents * sizeof(*v->order));
	if (!v->order)
		return -ENOMEM;
	if (v1__has_symbols(v->version)) {
		err = merge(v, error);
		if (!err)
			err = correct_exits(v, error);
	} else {
		err = sort_all(v, error);
	}
	if (!err)
		set_times(v);
	return err;
}
