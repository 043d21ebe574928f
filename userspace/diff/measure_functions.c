// SPDX-License-Identifier: GPL-2.0
/*
 * The time of goroutines in slices, by start function and state, and by the reason why they were blocked.
 *
 * A client of analysis/goroutine_tracker.h, twice: in the first pass it collects the names of goroutines
 * whose start function is not known when they appear, so that the second one can attribute all of
 * their time. Downstream: diff/figures.h.
 */
#include <errno.h>

#include "diff/measure_impl.h"

static int ignore(void *context, void *goroutine, const struct trace_event *ev,
		  const struct semantics *m)
{
	(void)context, (void)goroutine, (void)ev, (void)m;
	return 0;
}

/* ---- the first pass ---- */

struct named {
	struct tracked_goroutine go;
	bool late; /* it had no name when it appeared */
};

static int named__changes(void *context, void *goroutine, const struct trace_event *ev,
			  const struct semantics *m)
{
	struct named *g = goroutine;

	(void)context, (void)ev, (void)m;
	g->late |= !g->go.name;
	return 0;
}

static int named__end(void *context, void *goroutine)
{
	const struct named *g = goroutine;
	struct measure *m = context;

	if (!g->late || !g->go.name)
		return 0;
	return map__put(&m->late, g->go.id, (void *)(uintptr_t)g->go.name);
}

static const struct goroutine_client names_client = {
	.size = sizeof(struct named),
	.leave = ignore,
	.enter = named__changes,
	.end = named__end,
};

/* ---- the second pass ---- */

struct timed {
	struct tracked_goroutine go;
	uint32_t reason; /* why it is blocked */
	bool assists;
	int64_t assists_since;
};

static uint32_t name_of(const struct measure *m, const struct tracked_goroutine *g)
{
	return g->name ?: (uint32_t)(uintptr_t)map__get(&m->late, g->id);
}

/* The time in the state that it leaves. */
static int add_state(struct measure *m, const struct timed *g)
{
	static const enum figure_kind kinds[] = {
		[GO_STATE_RUNNABLE] = FIGURE_RUNNABLE,
		[GO_STATE_RUNNING] = FIGURE_RUNNING,
		[GO_STATE_WAITING] = FIGURE_BLOCKED,
		[GO_STATE_SYSCALL] = FIGURE_SYSCALL,
	};
	int64_t since = g->go.since, now = m->tracker.now;
	int err;

	if (g->go.state != GO_STATE_RUNNABLE && g->go.state != GO_STATE_RUNNING &&
	    g->go.state != GO_STATE_WAITING && g->go.state != GO_STATE_SYSCALL)
		return 0;
	err = measure__add_time(m, kinds[g->go.state], name_of(m, &g->go), since, now);
	if (!err && g->go.state == GO_STATE_WAITING)
		err = measure__add_time(m, FIGURE_REASON, g->reason, since, now);
	if (!err && g->go.state == GO_STATE_RUNNABLE)
		err = measure__add_time(m, FIGURE_SCHED_WAIT, 0, since, now);
	return err;
}

static int timed__leave(void *context, void *goroutine, const struct trace_event *ev,
			const struct semantics *m)
{
	(void)ev, (void)m;
	return add_state(context, goroutine);
}

static int timed__enter(void *context, void *goroutine, const struct trace_event *ev,
			const struct semantics *s)
{
	struct measure *m = context;
	struct timed *g = goroutine;

	(void)ev;
	if (s->from == GO_STATE_UNDETERMINED)
		g->go.since = g->go.created;
	return s->to == GO_STATE_WAITING ? naming__kind(m->naming, s, &g->reason) : 0;
}

static int add_assist(struct measure *m, struct timed *g)
{
	int err;

	if (!g->assists)
		return 0;
	g->assists = false;
	err = measure__add_time(m, FIGURE_ASSIST, name_of(m, &g->go), g->assists_since,
				m->tracker.now);
	return err ? err :
		     measure__add_time(m, FIGURE_GC_ASSIST, 0, g->assists_since, m->tracker.now);
}

static int timed__end(void *context, void *goroutine)
{
	int err = add_assist(context, goroutine);

	return err ? err : add_state(context, goroutine);
}

static int timed__range(void *context, const struct trace_event *ev, const struct semantics *s)
{
	struct measure *m = context;
	struct timed *g;

	if (!range__is_mark_assist(ev))
		return 0;
	g = goroutine_tracker__find(&m->tracker, s->id);
	if (!g)
		return 0;
	if (s->kind == SEMANTICS_RANGE_END)
		return add_assist(m, g);
	if (!g->assists)
		g->assists_since =
			s->kind == SEMANTICS_RANGE_ACTIVE ? m->tracker.sync : m->tracker.now;
	g->assists = true;
	return 0;
}

static const struct goroutine_client timed_client = {
	.size = sizeof(struct timed),
	.leave = timed__leave,
	.enter = timed__enter,
	.end = timed__end,
	.range = timed__range,
};

void measure_functions__init(struct measure *m)
{
	goroutine_tracker__init(&m->names, &names_client, m, m->naming->names);
	goroutine_tracker__init(&m->tracker, &timed_client, m, m->naming->names);
}

void measure_functions__deinit(struct measure *m)
{
	goroutine_tracker__deinit(&m->names);
	goroutine_tracker__deinit(&m->tracker);
	map__deinit(&m->late);
}

int measure_functions__look(struct measure *m, const struct trace_event *ev)
{
	return goroutine_tracker__event(&m->names, &names_client, ev, ev->time);
}

int measure_functions__begin(struct measure *m)
{
	int err = goroutine_tracker__finish(&m->names);

	goroutine_tracker__deinit(&m->names);
	goroutine_tracker__init(&m->names, &names_client, m, m->naming->names);
	return err;
}

int measure_functions__event(struct measure *m, const struct trace_event *ev)
{
	return goroutine_tracker__event(&m->tracker, &timed_client, ev, ev->time);
}

int measure_functions__finish(struct measure *m)
{
	return goroutine_tracker__finish(&m->tracker);
}
