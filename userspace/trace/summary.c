// SPDX-License-Identifier: GPL-2.0
/*
 * Where each goroutine's time went: how events of goroutines, Ps and ranges change the sums.
 *
 * Before it in an event's way: trace/meaning.c. After it: the done() of `gotrace goroutines`, which
 * gets each goroutine as it ends. What Go's Summarizer does is done here in the same order, its
 * guesses included: the P of a system call tells whether the call blocked, a sweep counts for the
 * goroutine that both begins and ends it on a P.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/summary_impl.h"

struct summary *summary__create(const struct summary_opts *opts)
{
	struct summary *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->opts = *opts;
	if (naming__init(&s->naming)) {
		summary__destroy(s);
		return NULL;
	}
	return s;
}

static void live__destroy(struct summary *s, struct live *g)
{
	summary_stats__deinit(&g->stats);
	free(g->open.at);
	regions__destroy(s, g->regions);
	free(g);
}

void summary__destroy(struct summary *s)
{
	void *value;

	if (!s)
		return;
	for (size_t i = 0; map__next(&s->g, &i, &value);)
		live__destroy(s, value);
	for (size_t i = 0; map__next(&s->p, &i, &value);)
		free(value);
	map__deinit(&s->g);
	map__deinit(&s->p);
	tasks__deinit(s);
	naming__deinit(&s->naming);
	free(s);
}

/* A goroutine met for the first time, or again by the same id. NULL: no memory. */
static struct live *meet(struct summary *s, uint64_t id, int64_t created)
{
	struct live *g = calloc(1, sizeof(*g)), *old = map__get(&s->g, id);

	if (!g || map__put(&s->g, id, g)) {
		free(g);
		return NULL;
	}
	if (old)
		live__destroy(s, old);
	g->id = id;
	g->created = created;
	return g;
}

static struct live_p *meet_p(struct summary *s, uint64_t id)
{
	struct live_p *p = map__get(&s->p, id);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p || map__put(&s->p, id, p)) {
		free(p);
		return NULL;
	}
	p->id = id;
	return p;
}

/* It has been in the state that it is named in since the generation began. */
static int name_state(struct summary *s, const struct trace_event *ev, const struct meaning *m,
		      struct live *g)
{
	int64_t ns = time_sub(ev->time, s->sync);
	uint32_t kind;
	int err;

	switch (m->to) {
	case GO_STATE_RUNNING:
		g->stats.exec = ns;
		break;
	case GO_STATE_RUNNABLE:
		g->stats.sched_wait = ns;
		break;
	case GO_STATE_WAITING:
		err = naming__kind(&s->naming, m, &kind);
		return err ? err : amounts__add(&g->stats.block, kind, ns);
	case GO_STATE_SYSCALL: /* without a P it has been there so long that it lost it */
		if (ev->p == TRACE_NO_P)
			g->stats.syscall_block = ns;
		else
			g->stats.syscall = ns;
	}
	return 0;
}

static void leave_syscall(struct summary *s, struct live *g, int64_t now)
{
	struct summary_stats *stats = &g->stats;
	int64_t until = g->syscall_block ? g->syscall_block : now;
	struct live_p *p;

	if (!g->syscall)
		return;
	p = map__get(&s->p, g->syscall_p);
	stats->syscall = time_add(stats->syscall, time_sub(until, g->syscall));
	stats->syscall_block = time_add(stats->syscall_block, time_sub(now, until));
	g->syscall = g->syscall_block = 0;
	if (p)
		p->in_syscall = false;
}

static int leave(struct summary *s, struct live *g, uint8_t state, int64_t now)
{
	struct summary_stats *stats = &g->stats;
	int64_t since;

	switch (state) {
	case GO_STATE_RUNNING:
		live__add_gc_work(g, now, stats);
		stats->exec = time_add(stats->exec, time_sub(now, g->running));
		g->running = 0;
		break;
	case GO_STATE_WAITING:
		since = g->blocked;
		g->blocked = 0;
		return since ? amounts__add(&stats->block, g->block_kind, time_sub(now, since)) : 0;
	case GO_STATE_RUNNABLE:
		if (g->runnable)
			stats->sched_wait = time_add(stats->sched_wait, time_sub(now, g->runnable));
		g->runnable = 0;
		break;
	case GO_STATE_SYSCALL:
		leave_syscall(s, g, now);
	}
	return 0;
}

/* Its times up to now become final; `ended` is SUMMARY_NEVER when only the trace has ended. */
static int finalize(struct summary *s, struct live *g, int64_t now, int64_t ended)
{
	int err = live__add_pending(g, now, &g->stats);

	if (!err)
		err = regions__finish(s, g, ended);
	g->running = g->runnable = g->blocked = g->syscall = g->syscall_block = 0;
	g->gc_work = 0;
	g->in_assist = g->in_sweep = false;
	g->open.n = 0;
	return err;
}

static int hand_out(struct summary *s, const struct live *g)
{
	struct summary_goroutine done = {
		.id = g->id,
		.pc = g->pc,
		.name = g->name,
		.created = g->created,
		.started = g->started,
		.ended = g->ended,
		.stats = g->stats,
	};

	if (g->regions)
		done.regions = buf__make(g->regions->done.data, g->regions->done.len);
	return s->opts.done(s->opts.context, &done);
}

static int end(struct summary *s, struct live *g, int64_t now)
{
	g->ended = now;
	return finalize(s, g, now, now);
}

static int enter_syscall(struct summary *s, struct live *g, const struct trace_event *ev)
{
	struct live_p *p = meet_p(s, ev->p);

	if (!p)
		return -ENOMEM;
	p->in_syscall = true;
	p->syscall_g = g->id;
	g->syscall_p = ev->p;
	g->syscall = ev->time;
	return 0;
}

static int enter(struct summary *s, const struct trace_event *ev, const struct meaning *m,
		 struct live *g)
{
	int err;

	switch (m->to) {
	case GO_STATE_RUNNING:
		g->running = ev->time;
		if (!g->started)
			g->started = ev->time;
		break;
	case GO_STATE_RUNNABLE:
		g->runnable = ev->time;
		break;
	case GO_STATE_WAITING:
		err = naming__kind(&s->naming, m, &g->block_kind);
		if (err)
			return err;
		if (g->block_kind == KIND_FOREVER)
			return end(s, g, ev->time);
		g->blocked = ev->time;
		break;
	case GO_STATE_SYSCALL:
		return enter_syscall(s, g, ev);
	case GO_STATE_NOT_EXIST:
		err = end(s, g, ev->time);
		if (!err)
			err = hand_out(s, g);
		live__destroy(s, map__remove(&s->g, g->id));
		return err;
	}
	return 0;
}

static int goroutine__event(struct summary *s, const struct trace_event *ev,
			    const struct meaning *m)
{
	struct live *g;
	int err = 0;

	if (m->from == m->to) /* it was told again */
		return 0;
	switch (m->from) {
	case GO_STATE_UNDETERMINED:
		g = meet(s, m->id, s->sync);
		err = g ? name_state(s, ev, m, g) : -ENOMEM;
		break;
	case GO_STATE_NOT_EXIST:
		g = meet(s, m->id, ev->time);
		err = g ? regions__inherit(s, g, map__get(&s->g, ev->g), ev->time) : -ENOMEM;
		break;
	default:
		g = map__get(&s->g, m->id);
		if (!g) /* its first state was none */
			return 0;
		err = leave(s, g, m->from, ev->time);
	}
	if (!err && !g->name)
		err = naming__start_function(&s->naming, ev, m->transition_stack, &g->pc, &g->name);
	return err ? err : enter(s, ev, m, g);
}

/* A P that goes idle while its goroutine is in a system call: the call blocks. */
static void proc__event(struct summary *s, const struct trace_event *ev, const struct meaning *m)
{
	struct live_p *p;
	struct live *g;

	if (m->from == m->to || m->to != PROC_STATE_IDLE)
		return;
	p = map__get(&s->p, m->id);
	if (!p || !p->in_syscall)
		return;
	p->in_syscall = false;
	g = map__get(&s->g, p->syscall_g);
	if (g)
		g->syscall_block = ev->time;
}

/* ---- mark assists and sweeps, which the goroutine may wait in ---- */

static bool is_assist(const struct trace_event *ev)
{
	return ev->type == EV_GC_MARK_ASSIST_BEGIN || ev->type == EV_GC_MARK_ASSIST_ACTIVE ||
	       ev->type == EV_GC_MARK_ASSIST_END;
}

static bool is_sweep(const struct trace_event *ev)
{
	return ev->type == EV_GC_SWEEP_BEGIN || ev->type == EV_GC_SWEEP_ACTIVE ||
	       ev->type == EV_GC_SWEEP_END;
}

/* One that goes on has done so since the generation began. */
static void gc_work__begin(struct summary *s, const struct trace_event *ev, bool active,
			   struct live *g)
{
	if (!is_assist(ev) && !is_sweep(ev))
		return;
	if (!g->gc_work && active && g->created == s->sync)
		g->stats.gc_work = g->stats.exec;
	if (!g->gc_work)
		g->gc_work = active ? s->sync : ev->time;
	*(is_sweep(ev) ? &g->in_sweep : &g->in_assist) = true;
}

static void gc_work__end(const struct trace_event *ev, struct live *g)
{
	if (!is_assist(ev) && !is_sweep(ev))
		return;
	*(is_sweep(ev) ? &g->in_sweep : &g->in_assist) = false;
	if (g->in_assist || g->in_sweep)
		return;
	live__add_gc_work(g, ev->time, &g->stats);
	g->gc_work = 0;
}

/* Whose time a range is that begins or goes on. */
static int range__owner(struct summary *s, const struct trace_event *ev, const struct meaning *m,
			struct live **ret)
{
	struct live_p *p;

	if (m->resource == RESOURCE_GOROUTINE) {
		*ret = map__get(&s->g, m->id);
	} else if (m->resource == RESOURCE_PROC && (*ret = map__get(&s->g, ev->g))) {
		p = meet_p(s, m->id);
		if (!p)
			return -ENOMEM;
		p->in_sweep = true;
		p->sweep_g = ev->g;
	}
	return 0;
}

static int range__begin(struct summary *s, const struct trace_event *ev, const struct meaning *m)
{
	bool active = m->kind == MEANING_RANGE_ACTIVE;
	int64_t since = active ? s->sync : ev->time;
	struct amount *open;
	struct live *g = NULL;
	uint32_t kind;
	int err = range__owner(s, ev, m, &g);

	if (err || !g)
		return err;
	gc_work__begin(s, ev, active, g);
	err = naming__kind(&s->naming, m, &kind);
	if (err)
		return err;
	open = amounts__find(&g->open, kind);
	if (!open)
		return amounts__add(&g->open, kind, since);
	if (active && open->ns)
		err = amounts__add(&g->stats.ranges, kind, time_sub(s->sync, open->ns));
	open->ns = since;
	return err;
}

static int range__end(struct summary *s, const struct trace_event *ev, const struct meaning *m)
{
	struct amount *open;
	struct live *g = NULL;
	struct live_p *p;
	int64_t since;
	uint32_t kind;
	int err;

	if (m->resource == RESOURCE_GOROUTINE) {
		g = map__get(&s->g, m->id);
	} else if (m->resource == RESOURCE_PROC && (p = map__get(&s->p, m->id)) && p->in_sweep) {
		p->in_sweep = false;
		g = map__get(&s->g, p->sweep_g);
		if (g)
			gc_work__end(ev, g);
		if (p->sweep_g != ev->g)
			g = NULL;
	}
	if (!g)
		return 0;
	if (m->resource == RESOURCE_GOROUTINE)
		gc_work__end(ev, g);
	err = naming__kind(&s->naming, m, &kind);
	if (err)
		return err;
	open = amounts__find(&g->open, kind);
	if (!open || !open->ns)
		return 0;
	since = open->ns;
	amounts__remove(&g->open, open);
	return amounts__add(&g->stats.ranges, kind, time_sub(ev->time, since));
}

static int dispatch(struct summary *s, const struct trace_event *ev, const struct meaning *m)
{
	switch (m->kind) {
	case MEANING_SYNC:
		s->sync = ev->time;
		return 0;
	case MEANING_STATE_TRANSITION:
		if (m->resource == RESOURCE_GOROUTINE)
			return goroutine__event(s, ev, m);
		proc__event(s, ev, m);
		return 0;
	case MEANING_RANGE_BEGIN:
	case MEANING_RANGE_ACTIVE:
		return range__begin(s, ev, m);
	case MEANING_RANGE_END:
		return range__end(s, ev, m);
	case MEANING_REGION_BEGIN:
		return s->opts.regions ? regions__begin(s, ev, m) : 0;
	case MEANING_REGION_END:
		return s->opts.regions ? regions__end(s, ev, m) : 0;
	case MEANING_TASK_BEGIN:
	case MEANING_TASK_END:
	case MEANING_LOG:
		return s->opts.regions ? tasks__event(s, ev, m) : 0;
	default:
		return 0;
	}
}

static int say(int code, struct error *err)
{
	if (code == -E2BIG)
		error__set(err, code, "more regions are open at once than can be kept track of");
	else if (code)
		error__set(err, code, "cannot sum the goroutines up: %s", strerror(-code));
	return code;
}

int summary__event(struct summary *s, const struct trace_event *ev, struct error *err)
{
	struct meaning m;

	meaning__of(ev, &m);
	if (!s->sync)
		s->sync = ev->time;
	s->last = ev->time;
	return say(dispatch(s, ev, &m), err);
}

int summary__finish(struct summary *s, struct error *err)
{
	void *value;
	int code = 0;

	for (size_t i = 0; !code && map__next(&s->g, &i, &value);) {
		code = finalize(s, value, s->last, SUMMARY_NEVER);
		if (!code)
			code = hand_out(s, value);
	}
	if (!code)
		code = tasks__finish(s);
	return say(code, err);
}

struct trace_string summary__name(const struct summary *s, uint32_t name)
{
	return naming__name_at(&s->naming, name);
}

struct trace_string summary__kind(const struct summary *s, uint32_t kind)
{
	return naming__kind_at(&s->naming, kind);
}

bool summary__is_system(struct trace_string name)
{
	static const char prefix[] = "runtime.", main[] = "runtime.main";

	if (!name.len)
		return true;
	if (name.len == sizeof(main) - 1 && !memcmp(name.data, main, name.len))
		return false;
	return name.len >= sizeof(prefix) - 1 && !memcmp(name.data, prefix, sizeof(prefix) - 1);
}
