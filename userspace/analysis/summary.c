// SPDX-License-Identifier: GPL-2.0
/*
 * The times of goroutines: how changes of goroutines, Ps and ranges change the sums.
 *
 * Upstream: goroutine_tracker.c. Downstream: opts.done(), which gets each goroutine as it ends. It
 * does what Go's Summarizer does in the same order, including its heuristics: the P of a system
 * call determines whether the call blocked, and a sweep counts for the goroutine that both begins
 * and ends it on a P.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/summary_impl.h"
#include "format/start.h"

static const struct goroutine_client client;

struct summary *summary__create(const struct summary_opts *opts)
{
	struct summary *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->opts = *opts;
	s->from = INT64_MIN;
	s->to = INT64_MAX;
	if (naming__init(&s->naming)) {
		summary__destroy(s);
		return NULL;
	}
	goroutine_tracker__init(&s->tracker, &client, s, s->naming.names);
	s->tracker.as_go = s->tracker.ignores_gaps = opts->as_go;
	if (opts->select && goroutine_tracker__set_labels(&s->tracker, opts->select)) {
		summary__destroy(s);
		return NULL;
	}
	return s;
}

void summary__destroy(struct summary *s)
{
	if (!s)
		return;
	goroutine_tracker__deinit(&s->tracker);
	map__free(&s->p);
	tasks__deinit(s);
	naming__deinit(&s->naming);
	free(s);
}

void summary__set_window(struct summary *s, int64_t from, int64_t to)
{
	s->from = from;
	s->to = to;
	s->windowed = true;
}

static void goroutine__deinit(void *context, void *goroutine)
{
	struct live *g = goroutine;

	summary_stats__deinit(&g->stats);
	free(g->open.at);
	regions__destroy(context, g->regions);
}

/* NULL: no memory. */
static struct live_p *get_p(struct summary *s, uint64_t id)
{
	struct live_p *p = map__get(&s->p, id);

	return p ? p : map__put_new(&s->p, id, sizeof(*p));
}

/* One in a system call without a P has been there so long that it lost the P. */
static int goroutine__appear(void *context, void *goroutine, const struct trace_event *ev,
			     const struct semantics *m)
{
	struct summary *s = context;
	struct live *g = goroutine;
	bool created = m->from == GO_STATE_NOT_EXIST;
	int err = 0;

	g->created = created || g->go.again ? s->time : s->sync;
	if (created)
		return regions__inherit(s, g, goroutine_tracker__find(&s->tracker, ev->g), s->time);
	if (m->to == GO_STATE_WAITING)
		err = naming__kind(&s->naming, m, &g->block_kind);
	else if (m->to == GO_STATE_SYSCALL && ev->p == TRACE_NO_P)
		g->syscall_block = g->go.since;
	return err ? err : live__add_state(s, g, ev->time, &g->stats);
}

static inline int goroutine__leave(void *context, void *goroutine, const struct trace_event *ev,
				   const struct semantics *m)
{
	struct summary *s = context;
	struct live *g = goroutine;
	struct live_p *p;
	int err = 0;

	if (g->go.since || g->go.state == GO_STATE_RUNNING)
		err = live__add_state(s, g, ev->time, &g->stats);
	if (g->go.state == GO_STATE_SYSCALL && g->go.since) {
		p = map__get(&s->p, g->syscall_p);
		if (p)
			p->in_syscall = false;
	}
	return err;
}

/* Its times up to now become final; `ended` is SUMMARY_NEVER if only the trace has ended. */
static int finalize(struct summary *s, struct live *g, int64_t ended)
{
	int err = live__add_pending(s, g, s->tracker.now, &g->stats);

	if (!err)
		err = regions__finish(s, g, ended);
	g->go.since = g->gc_work = 0;
	g->in_assist = g->in_sweep = false;
	g->open.n = 0;
	return err;
}

static bool exists_in_window(const struct summary *s, const struct live *g)
{
	return !s->windowed || g->go.created < clip(s, g->ended ? g->ended : s->time);
}

static int goroutine__end(void *context, void *goroutine)
{
	struct summary *s = context;
	struct live *g = goroutine;
	bool ended = g->go.state == GO_STATE_NOT_EXIST;
	struct summary_goroutine done;
	int err;

	if (ended)
		g->ended = s->time;
	err = finalize(s, g, ended ? g->ended : SUMMARY_NEVER);
	if (err || !exists_in_window(s, g))
		return err;
	done = (struct summary_goroutine){
		.id = g->go.id,
		.pc = g->go.pc,
		.name = g->go.name,
		.again = g->go.again && g->go.created > s->from,
		.labels = g->go.labels,
		.created = g->created,
		.started = g->started,
		.ended = g->ended,
		.stats = g->stats,
	};
	if (g->regions)
		done.regions = buf__make(g->regions->done.data, g->regions->done.len);
	return s->opts.done(s->opts.context, &done);
}

static int enter_syscall(struct summary *s, struct live *g, uint64_t id)
{
	struct live_p *p = get_p(s, id);

	if (!p)
		return -ENOMEM;
	p->in_syscall = true;
	p->syscall_g = g->go.id;
	g->syscall_p = id;
	g->syscall_block = 0;
	return 0;
}

static inline int goroutine__enter(void *context, void *goroutine, const struct trace_event *ev,
				   const struct semantics *m)
{
	struct summary *s = context;
	struct live *g = goroutine;
	int err;

	switch (m->to) {
	case GO_STATE_RUNNING:
		if (!g->started)
			g->started = s->time;
		return 0;
	case GO_STATE_SYSCALL:
		return enter_syscall(s, g, ev->p);
	case GO_STATE_WAITING:
		err = naming__kind(&s->naming, m, &g->block_kind);
		if (err || g->block_kind != KIND_FOREVER || m->from == GO_STATE_UNDETERMINED)
			return err;
		g->go.since = 0;
		g->ended = s->time;
		return finalize(s, g, s->time);
	}
	return 0;
}

/* A P that goes idle while its goroutine is in a system call: the call blocks. */
static int proc__idle(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct summary *s = context;
	struct live_p *p = map__get(&s->p, m->id);
	struct live *g;

	if (!p || !p->in_syscall)
		return 0;
	p->in_syscall = false;
	g = goroutine_tracker__find(&s->tracker, p->syscall_g);
	if (g)
		g->syscall_block = ev->time;
	return 0;
}

/* ---- mark assists and sweeps, which the goroutine may wait in ---- */

static bool is_sweep(const struct trace_event *ev)
{
	return ev->type == EV_GC_SWEEP_BEGIN || ev->type == EV_GC_SWEEP_ACTIVE ||
	       ev->type == EV_GC_SWEEP_END;
}

/* One that goes on has done so since the generation began. */
static void gc_work__begin(struct summary *s, const struct trace_event *ev, bool active,
			   struct live *g)
{
	if (!range__is_mark_assist(ev) && !is_sweep(ev))
		return;
	if (!g->gc_work && active && g->go.created == s->tracker.sync)
		g->stats.gc_work = g->stats.exec;
	if (!g->gc_work)
		g->gc_work = active ? s->tracker.sync : ev->time;
	*(is_sweep(ev) ? &g->in_sweep : &g->in_assist) = true;
}

static void gc_work__end(struct summary *s, const struct trace_event *ev, struct live *g)
{
	if (!range__is_mark_assist(ev) && !is_sweep(ev))
		return;
	*(is_sweep(ev) ? &g->in_sweep : &g->in_assist) = false;
	if (g->in_assist || g->in_sweep)
		return;
	live__add_gc_work(s, g, ev->time, &g->stats);
	g->gc_work = 0;
}

/* The goroutine to whose time a range that begins or goes on belongs. */
static int range__owner(struct summary *s, const struct trace_event *ev, const struct semantics *m,
			struct live **ret)
{
	struct live_p *p;

	if (m->resource == RESOURCE_GOROUTINE) {
		*ret = goroutine_tracker__find(&s->tracker, m->id);
	} else if (m->resource == RESOURCE_PROC &&
		   (*ret = goroutine_tracker__find(&s->tracker, ev->g))) {
		p = get_p(s, m->id);
		if (!p)
			return -ENOMEM;
		p->in_sweep = true;
		p->sweep_g = ev->g;
	}
	return 0;
}

static int range__begin(struct summary *s, const struct trace_event *ev, const struct semantics *m)
{
	bool active = m->kind == SEMANTICS_RANGE_ACTIVE;
	int64_t since = active ? s->tracker.sync : ev->time;
	struct duration *open;
	struct live *g = NULL;
	uint32_t kind;
	int err = range__owner(s, ev, m, &g);

	if (err || !g)
		return err;
	gc_work__begin(s, ev, active, g);
	err = naming__kind(&s->naming, m, &kind);
	if (err)
		return err;
	open = durations__find(&g->open, kind);
	if (!open)
		return durations__add(&g->open, kind, since);
	if (active && open->ns)
		err = durations__add(&g->stats.ranges, kind,
				     live__range(s, open->ns, s->tracker.sync));
	open->ns = since;
	return err;
}

static int range__end(struct summary *s, const struct trace_event *ev, const struct semantics *m)
{
	struct duration *open;
	struct live *g = NULL;
	struct live_p *p;
	int64_t since;
	uint32_t kind;
	int err;

	if (m->resource == RESOURCE_GOROUTINE) {
		g = goroutine_tracker__find(&s->tracker, m->id);
	} else if (m->resource == RESOURCE_PROC && (p = map__get(&s->p, m->id)) && p->in_sweep) {
		p->in_sweep = false;
		g = goroutine_tracker__find(&s->tracker, p->sweep_g);
		if (g)
			gc_work__end(s, ev, g);
		if (p->sweep_g != ev->g)
			g = NULL;
	}
	if (!g)
		return 0;
	if (m->resource == RESOURCE_GOROUTINE)
		gc_work__end(s, ev, g);
	err = naming__kind(&s->naming, m, &kind);
	if (err)
		return err;
	open = durations__find(&g->open, kind);
	if (!open || !open->ns)
		return 0;
	since = open->ns;
	durations__remove(&g->open, open);
	return durations__add(&g->stats.ranges, kind, live__range(s, since, ev->time));
}

static int range__event(void *context, const struct trace_event *ev, const struct semantics *m)
{
	return m->kind == SEMANTICS_RANGE_END ? range__end(context, ev, m) :
						range__begin(context, ev, m);
}

static int annotation__event(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct summary *s = context;

	if (!s->opts.regions)
		return 0;
	switch (m->kind) {
	case SEMANTICS_REGION_BEGIN:
		return regions__begin(s, ev, m);
	case SEMANTICS_REGION_END:
		return regions__end(s, ev, m);
	case SEMANTICS_TASK_BEGIN:
	case SEMANTICS_TASK_END:
	case SEMANTICS_LOG:
		return tasks__event(s, ev, m);
	default:
		return 0;
	}
}

static const struct goroutine_client client = {
	.size = sizeof(struct live),
	.splits = true,
	.appear = goroutine__appear,
	.leave = goroutine__leave,
	.enter = goroutine__enter,
	.end = goroutine__end,
	.deinit = goroutine__deinit,
	.proc_idle = proc__idle,
	.range = range__event,
	.other = annotation__event,
};

static int report(int err, struct error *error)
{
	if (err == -E2BIG)
		error__set(
			error, err,
			"cannot summarize the goroutines: too many regions are open at the same time");
	else if (err)
		error__set(error, err, "cannot summarize the goroutines: %s", strerror(-err));
	return err;
}

int summary__event(struct summary *s, const struct trace_event *ev, struct error *error)
{
	struct trace_event clipped;

	s->time = ev->time;
	if (!s->sync || ev->type == EV_SYNC)
		s->sync = s->time;
	if (s->windowed) {
		clipped = *ev;
		clipped.time = clip(s, ev->time);
		s->tracker.clipped = time_sub(clipped.time, ev->time);
		ev = &clipped;
	}
	if (!s->tracker.sync) /* as in Go, 0 is none */
		s->tracker.sync = ev->time;
	return report(goroutine_tracker__event(&s->tracker, &client, ev, ev->time), error);
}

int summary__finish(struct summary *s, struct error *error)
{
	int err = goroutine_tracker__finish(&s->tracker);

	return report(err ? err : tasks__finish(s), error);
}

struct trace_string summary__name(const struct summary *s, uint32_t name)
{
	return naming__name_at(&s->naming, name);
}

struct trace_string summary__kind(const struct summary *s, uint32_t kind)
{
	return naming__kind_at(&s->naming, kind);
}

bool summary__has_gaps(const struct summary *s)
{
	return goroutine_tracker__has_gaps(&s->tracker);
}

bool summary__is_system(struct trace_string name)
{
	return !name.len || start__is_runtimes(name);
}
