// SPDX-License-Identifier: GPL-2.0
/*
 * The garbage collector and the counters of an export.
 *
 * The runtime permits one GC cycle and one stop-the-world pause at a time. Sweeps are on a track
 * below that of the P, mark assists below that of the goroutine, since both outlast states.
 */
#include <inttypes.h>

#include "analysis/durations.h"
#include "export/export_impl.h"

/* ns: minimum distance of two changes of a counter of states; slices contain each change */
#define COUNTER_STEP 100000

/* ---- ranges ---- */

static void put_range(struct export *e, struct lane *lane, const struct semantics *m,
		      enum state state)
{
	struct export_event slice = { .name = m->name, .state = state };
	char text[TRACE_STRING_MAX];
	int len;

	if (m->kind == SEMANTICS_RANGE_END) {
		lane__close(e, lane, e->now);
		return;
	}
	if (m->kind == SEMANTICS_RANGE_ACTIVE && lane->depth)
		return;
	if (m->before[0]) {
		len = snprintf(text, sizeof(text), "%s%.*s%s", m->before, (int)m->name.len,
			       m->name.data ?: "", m->after);
		slice.name.data = text;
		slice.name.len = len < (int)sizeof(text) ? (uint32_t)len : sizeof(text) - 1;
	}
	lane__close(e, lane, e->now);
	lane__begin(e, lane, e->now, &slice);
}

static void put_assist(struct export *e, const struct semantics *m)
{
	struct exported *g = export__goroutine(e, m->id);

	if (!g || !g->lane.track)
		return;
	export__lane(e, &g->assist, EXPORT_GOROUTINES, g->lane.track, 1,
		     "mark assists of G %" PRIu64, g->go.id);
	put_range(e, &g->assist, m, STATE_GC);
}

static int put_sweep(struct export *e, const struct semantics *m)
{
	struct exported_proc *p = m->id == TRACE_NO_P ? NULL : export__proc(e, m->id);

	if (!p)
		return 0;
	export__lane(e, &p->sweep, EXPORT_PROCS, p->lane.track, 1, "sweeping on P %" PRIu64, p->id);
	put_range(e, &p->sweep, m, STATE_GC);
	return 0;
}

int export__range(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct export *e = context;

	switch (ev->type) {
	case EV_STW_BEGIN:
	case EV_STW_END:
		export__lane(e, &e->stw, EXPORT_GC, 0, 2, "Stop-the-world pauses");
		put_range(e, &e->stw, m, STATE_STW);
		return 0;
	case EV_GC_BEGIN:
	case EV_GC_ACTIVE:
	case EV_GC_END:
		export__lane(e, &e->gc, EXPORT_GC, 0, 1, "GC cycles");
		put_range(e, &e->gc, m, STATE_GC);
		return 0;
	}
	if (range__is_mark_assist(ev))
		put_assist(e, m);
	else if (m->resource == RESOURCE_PROC)
		return put_sweep(e, m);
	return 0;
}

/* ---- counters ---- */

static const struct {
	const char *name;
	enum export_unit unit;
	const char *metric; /* of Go; NULL: counted here */
} rows[EXPORT_COUNTERS_ALL] = {
	[COUNTER_RUNNING] = { "Goroutines running", EXPORT_COUNT },
	[COUNTER_RUNNABLE] = { "Goroutines runnable (run queues)", EXPORT_COUNT },
	[COUNTER_WAITING] = { "Goroutines waiting", EXPORT_COUNT },
	[COUNTER_SYSCALL] = { "Goroutines in system calls", EXPORT_COUNT },
	[COUNTER_THREADS] = { "Threads waiting for a CPU", EXPORT_COUNT },
	[COUNTER_HEAP] = { "Heap", EXPORT_BYTES, "/memory/classes/heap/objects:bytes" },
	[COUNTER_GOAL] = { "Heap goal", EXPORT_BYTES, "/gc/heap/goal:bytes" },
	[COUNTER_GOMAXPROCS] = { "GOMAXPROCS", EXPORT_COUNT, "/sched/gomaxprocs:threads" },
};

static void write_counter(struct export *e, enum export_counter which)
{
	struct counter *c = &e->counters[which];
	struct export_event ev = {
		.type = EXPORT_VALUE,
		.group = EXPORT_COUNTERS,
		.time = e->now,
		.value = c->value,
	};

	if (!c->track) {
		c->track = ++e->last_track;
		e->sink->ops->track(e->sink, &(struct export_track){
						     .id = c->track,
						     .group = EXPORT_COUNTERS,
						     .unit = rows[which].unit,
						     .name = text_of(rows[which].name),
						     .rank = which,
					     });
	}
	ev.track = c->track;
	ev.name = text_of(rows[which].name);
	c->written = c->value;
	e->sink->ops->event(e->sink, &ev);
}

void export__metric(struct export *e, const struct semantics *m)
{
	for (unsigned int i = COUNTER_HEAP; i < EXPORT_COUNTERS_ALL; i++) {
		if (strlen(rows[i].metric) != m->name.len ||
		    memcmp(rows[i].metric, m->name.data, m->name.len))
			continue;
		e->counters[i].value = m->value[0].value;
		write_counter(e, i);
	}
}

void export__write_counts(struct export *e)
{
	for (unsigned int i = 0; i < COUNTER_HEAP; i++)
		if (e->counters[i].value != e->counters[i].written)
			write_counter(e, i);
}

static bool is_due(const struct export *e, int64_t time)
{
	return !e->counted || time_sub(time, e->counted) >= COUNTER_STEP;
}

void export__count(struct export *e)
{
	if (!is_due(e, e->now))
		return;
	export__write_counts(e);
	e->counted = e->now;
}

void export__count_until(struct export *e, int64_t time)
{
	if (e->started && is_due(e, time))
		export__write_counts(e);
}
