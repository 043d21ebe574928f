// SPDX-License-Identifier: GPL-2.0
/*
 * The profile of the garbage collector: mark assists, sweeping and stop-the-world pauses, with the stack
 * of their begin, and the running time of mark workers. See profile.h.
 *
 * profile.c calls these for ranges and labels. A range that begins before the trace has no stack, and
 * counts from its first generation on. What is open at the end of the trace ends with it.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/map.h"
#include "profile/profile_impl.h"

struct gc_range {
	int64_t begin;
	uint64_t g, thread;
	uint32_t stack, leaf;
};

static bool range_of(const struct trace_event *ev, enum gc_range_kind *ret)
{
	switch (ev->type) {
	case EV_GC_MARK_ASSIST_BEGIN:
	case EV_GC_MARK_ASSIST_ACTIVE:
	case EV_GC_MARK_ASSIST_END:
		*ret = GC_RANGE_ASSIST;
		return true;
	case EV_GC_SWEEP_BEGIN:
	case EV_GC_SWEEP_ACTIVE:
	case EV_GC_SWEEP_END:
		*ret = GC_RANGE_SWEEP;
		return true;
	case EV_STW_BEGIN:
	case EV_STW_END:
		*ret = GC_RANGE_STW;
		return true;
	default:
		return false;
	}
}

static int begin(struct profile *p, enum gc_range_kind kind, const struct trace_event *ev,
		 const struct semantics *m)
{
	static const char *const names[GC_RANGES] = { "mark assist", "sweep", "stop-the-world" };
	const struct trace_string none = { "", 0 };
	bool active = m->kind == SEMANTICS_RANGE_ACTIVE;
	struct gc_range *range = map__get(&p->gc[kind], m->id);
	int err;

	if (range)
		return 0;
	range = map__put_new(&p->gc[kind], m->id, sizeof(*range));
	if (!range)
		return -ENOMEM;
	range->begin = active ? p->tracker.sync : p->tracker.now;
	range->g = kind != GC_RANGE_SWEEP ? m->id : active ? TRACE_NO_G : ev->g;
	range->thread = active ? TRACE_NO_M : ev->m;
	err = profile__leaf(p, names[kind], kind == GC_RANGE_STW ? m->name : none, &range->leaf);
	return err || active ? err :
			       samples__stack(&p->samples, ev->dictionary, m->stack, &range->stack);
}

static int end(struct profile *p, enum gc_range_kind kind, uint64_t id)
{
	struct gc_range *range = map__remove(&p->gc[kind], id);
	struct held held;
	int err;

	if (!range)
		return 0;
	held = (struct held){
		.ns = profile__known(p, TRACE_NO_G, range->begin, range->begin, p->tracker.now,
				     NULL),
		.thread = range->thread,
		.stack = range->stack,
		.leaf = range->leaf,
	};
	err = held.ns ? profile__add(p, goroutine_tracker__find(&p->tracker, range->g), &held) : 0;
	free(range);
	return err;
}

int profile_gc__range(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct profile *p = context;
	enum gc_range_kind kind;

	if (p->opts.kind != PROFILE_GC || !range_of(ev, &kind))
		return 0;
	return m->kind == SEMANTICS_RANGE_END ? end(p, kind, m->id) : begin(p, kind, ev, m);
}

int profile_gc__label(struct profile *p, const struct semantics *m)
{
	struct profiled *g;
	int err;

	if (p->opts.kind != PROFILE_GC || m->resource != RESOURCE_GOROUTINE)
		return 0;
	g = goroutine_tracker__find(&p->tracker, m->id);
	if (!g || g->go.state != GO_STATE_RUNNING)
		return 0;
	if (g->wanted) { /* of another kind from now on */
		err = profile__leave_state(p, g);
		if (err)
			return err;
		g->go.since = p->tracker.now;
	}
	g->wanted = true;
	g->stack = 0;
	return profile__leaf(p, "mark worker", m->name, &g->leaf);
}

int profile_gc__finish(struct profile *p)
{
	struct map_slot *open;
	int err = 0;
	size_t n;

	for (unsigned int kind = 0; !err && kind < GC_RANGES; kind++) {
		open = map__sorted(&p->gc[kind], &n);
		if (!open)
			return -ENOMEM;
		for (size_t i = 0; !err && i < n; i++)
			err = end(p, kind, open[i].key);
		free(open);
	}
	return err;
}

void profile_gc__deinit(struct profile *p)
{
	for (unsigned int kind = 0; kind < GC_RANGES; kind++)
		map__free(&p->gc[kind]);
}
