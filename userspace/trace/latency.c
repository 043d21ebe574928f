// SPDX-License-Identifier: GPL-2.0
/*
 * Each goroutine's time in parts: who is on which thread, and what events and items change.
 *
 * Before it: trace/timeline.c. Whenever a goroutine's state or its thread's changes, the time since
 * the last change is added to the part that it was in (latency_part.c), so that the parts add up by
 * construction. After it: the done() of `gotrace latency`.
 */
#include "trace/latency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/latency_impl.h"

struct latency *latency__create(const struct latency_opts *opts)
{
	struct latency *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->opts = *opts;
	l->preemptors = intern__create();
	if (naming__init(&l->naming) || !l->preemptors) {
		latency__destroy(l);
		return NULL;
	}
	return l;
}

static void live__destroy(struct live *g)
{
	latency_stats__deinit(&g->stats);
	free(g);
}

void latency__destroy(struct latency *l)
{
	void *value;

	if (!l)
		return;
	for (size_t i = 0; map__next(&l->g, &i, &value);)
		live__destroy(value);
	map__deinit(&l->g);
	map__deinit(&l->on_thread);
	naming__deinit(&l->naming);
	intern__destroy(l->preemptors);
	amounts__deinit(&l->worker_wall);
	amounts__deinit(&l->worker_oncpu);
	free(l);
}

void latency__set_window(struct latency *l, int64_t from, int64_t to)
{
	l->opts.from = from;
	l->opts.to = to;
}

static bool is_on_thread(const struct live *g)
{
	return (g->state == GO_STATE_RUNNING || g->state == GO_STATE_SYSCALL) && g->m != TRACE_NO_M;
}

static void leave_thread(struct latency *l, struct live *g)
{
	if (is_on_thread(g) && map__get(&l->on_thread, g->m) == g)
		map__remove(&l->on_thread, g->m);
}

/* Whoever is said to be on that thread still is on none that is known. */
static int enter_thread(struct latency *l, struct live *g, uint64_t m)
{
	struct live *other = m == TRACE_NO_M ? NULL : map__get(&l->on_thread, m);
	int err;

	g->m = m;
	g->has_cpu = false;
	if (m == TRACE_NO_M || other == g)
		return 0;
	if (other) {
		err = part__add(l, other);
		other->m = TRACE_NO_M;
		if (!err)
			err = part__guess(l, other);
		if (err)
			return err;
	}
	return map__put(&l->on_thread, m, g);
}

/* A goroutine met for the first time, or again by the same id. NULL: no memory. */
static struct live *meet(struct latency *l, uint64_t id, int64_t created)
{
	struct live *g = calloc(1, sizeof(*g)), *old = map__get(&l->g, id);

	if (!g || map__put(&l->g, id, g)) {
		free(g);
		return NULL;
	}
	if (old) {
		leave_thread(l, old);
		live__destroy(old);
	}
	g->id = id;
	g->created = g->since = created;
	g->m = TRACE_NO_M;
	return g;
}

static int hand_out(struct latency *l, struct live *g)
{
	int64_t from = latest(g->created, l->opts.from), to = earliest(l->now, l->opts.to);
	bool whole = l->opts.from == INT64_MIN && l->opts.to == INT64_MAX;
	struct latency_goroutine done = { .id = g->id, .pc = g->pc, .name = g->name };

	if (!whole && to <= from)
		return 0;
	done.stats = g->stats;
	done.stats.total = time_sub(to, from);
	return l->opts.done(l->opts.context, &done);
}

static int end(struct latency *l, struct live *g)
{
	int err = hand_out(l, g);

	map__remove(&l->g, g->id);
	live__destroy(g);
	return err;
}

/* Which thread the event puts it on. */
static uint64_t thread__of(const struct trace_event *ev)
{
	return ev->type == EV_GO_STATUS || ev->type == EV_GO_STATUS_STACK ? ev->arg[1] : ev->m;
}

static int enter(struct latency *l, struct live *g, const struct trace_event *ev,
		 const struct meaning *m, const struct kernel_threads *threads)
{
	bool runs = m->to == GO_STATE_RUNNING || m->to == GO_STATE_SYSCALL;
	bool stays = runs && is_on_thread(g) && g->m == thread__of(ev);
	int err = 0;

	if (!stays)
		leave_thread(l, g);
	g->state = m->to;
	g->label = 0;
	if (runs && !stays)
		err = enter_thread(l, g, thread__of(ev));
	else if (m->to == GO_STATE_WAITING)
		err = naming__kind(&l->naming, m, &g->go_kind);
	else if (m->to == GO_STATE_RUNNABLE)
		g->go_kind = KIND_EMPTY;
	return err ? err : part__choose(l, g, threads, NULL);
}

/* It has been in the state that it is named in since the generation began. */
static int told(struct latency *l, struct live *g, const struct meaning *m)
{
	int err;

	g->generation = l->generations;
	g->state = m->to;
	if (m->to == GO_STATE_RUNNING || m->to == GO_STATE_SYSCALL)
		return part__guess(l, g);
	g->part = m->to == GO_STATE_WAITING ? PART_GO_BLOCKED : PART_GO_RUNNABLE;
	err = naming__kind(&l->naming, m, &g->kind);
	return err;
}

static int goroutine__event(struct latency *l, const struct trace_event *ev,
			    const struct meaning *m, const struct kernel_threads *threads)
{
	struct live *g;
	int err = 0;

	if (m->from == m->to) /* it was told again */
		return 0;
	switch (m->from) {
	case GO_STATE_UNDETERMINED:
		g = meet(l, m->id, l->sync);
		err = g ? told(l, g, m) : -ENOMEM;
		break;
	case GO_STATE_NOT_EXIST:
		g = meet(l, m->id, l->now);
		err = g ? 0 : -ENOMEM;
		break;
	default:
		g = map__get(&l->g, m->id);
		if (!g) /* its first state was none */
			return 0;
	}
	if (!err)
		err = part__add(l, g);
	if (!err && !g->name)
		err = naming__start_function(&l->naming, ev, m->transition_stack, &g->pc, &g->name);
	if (!err)
		err = enter(l, g, ev, m, threads);
	if (!err && m->to == GO_STATE_NOT_EXIST)
		err = end(l, g);
	return err;
}

/* A mark assist that goes on has done so since the generation began. */
static int assist__event(struct latency *l, const struct trace_event *ev, const struct meaning *m)
{
	struct live *g = map__get(&l->g, m->id);
	int err = g ? part__add(l, g) : 0;

	if (err || !g)
		return err;
	if (ev->type == EV_GC_MARK_ASSIST_ACTIVE && !g->in_assist &&
	    g->generation == l->generations)
		g->stats.gc_assist = g->stats.part[PART_ONCPU];
	g->in_assist = ev->type != EV_GC_MARK_ASSIST_END;
	return 0;
}

/* The runtime labels mark workers whenever they start to run. */
static int label__event(struct latency *l, const struct meaning *m)
{
	static const char prefix[] = "GC (";
	struct live *g = map__get(&l->g, m->id);
	int err = g ? part__add(l, g) : 0;

	if (err || !g)
		return err;
	g->label = 0;
	if (m->name.len >= sizeof(prefix) && !memcmp(m->name.data, prefix, sizeof(prefix) - 1))
		err = naming__kind(&l->naming, m, &g->label);
	return err;
}

/* Threads may be known from now on, or not any more. */
static int look_again(struct latency *l, const struct kernel_threads *threads)
{
	struct live *g;
	void *value;
	int err = 0;

	for (size_t i = 0; !err && map__next(&l->on_thread, &i, &value);) {
		g = value;
		err = part__add(l, g);
		if (!err)
			err = part__choose(l, g, threads, NULL);
	}
	return err;
}

static int dispatch(struct latency *l, const struct trace_event *ev,
		    const struct kernel_threads *threads)
{
	struct meaning m;

	meaning__of(ev, &m);
	switch (m.kind) {
	case MEANING_SYNC:
		l->sync = l->now;
		l->generations++;
		return 0;
	case MEANING_STATE_TRANSITION:
		return m.resource == RESOURCE_GOROUTINE ? goroutine__event(l, ev, &m, threads) : 0;
	case MEANING_LABEL:
		return label__event(l, &m);
	case MEANING_RANGE_BEGIN:
	case MEANING_RANGE_ACTIVE:
	case MEANING_RANGE_END:
		if (ev->type == EV_GC_MARK_ASSIST_BEGIN || ev->type == EV_GC_MARK_ASSIST_ACTIVE ||
		    ev->type == EV_GC_MARK_ASSIST_END)
			return assist__event(l, ev, &m);
		return 0;
	default:
		return 0;
	}
}

static int say(int code, struct error *err)
{
	return code ? error__set(err, code, "%s", strerror(-code)) : 0;
}

int latency__event(struct latency *l, const struct trace_event *ev,
		   const struct kernel_threads *threads, struct error *err)
{
	if (!l->started)
		l->now = l->sync = ev->time;
	l->started = true;
	l->now = latest(l->now, ev->time);
	return say(dispatch(l, ev, threads), err);
}

int latency__item(struct latency *l, const struct kernel_item *item, int64_t time,
		  const struct kernel_threads *threads, struct error *err)
{
	struct live *g = map__get(&l->on_thread, item->tid);
	int code;

	if (!l->started || item->kind == KERNEL_CORE)
		return 0;
	l->now = latest(l->now, time);
	if (!g)
		return 0;
	code = part__add(l, g);
	if (!code)
		code = part__choose(l, g, threads, item);
	return say(code, err);
}

int latency__forget(struct latency *l, const struct kernel_threads *threads, bool in_loss,
		    struct error *err)
{
	l->in_loss = in_loss;
	return say(look_again(l, threads), err);
}

int latency__finish(struct latency *l, struct error *err)
{
	void *value;
	int code = 0;

	for (size_t i = 0; !code && map__next(&l->g, &i, &value);) {
		code = part__add(l, value);
		if (!code)
			code = hand_out(l, value);
	}
	return say(code, err);
}

struct trace_string latency__name(const struct latency *l, uint32_t name)
{
	return naming__name_at(&l->naming, name);
}

struct trace_string latency__reason(const struct latency *l, uint32_t kind)
{
	return naming__kind_at(&l->naming, kind & UINT16_MAX);
}

bool latency__worker(const struct latency *l, size_t i, struct latency_worker *ret)
{
	if (i >= l->worker_wall.n)
		return false;
	*ret = (struct latency_worker){
		.label = naming__kind_at(&l->naming, l->worker_wall.at[i].kind),
		.wall = l->worker_wall.at[i].ns,
		.oncpu = l->worker_oncpu.at[i].ns,
	};
	return true;
}
