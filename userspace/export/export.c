// SPDX-License-Identifier: GPL-2.0
/*
 * Exports a trace to a timeline viewer: see export.h. This file has goroutines and Ps.
 *
 * A goroutine's track has one slice per state. While it runs, there is also a slice on the tracks
 * of its P and of its thread, and as long as it is in a system call, on that of its thread. The
 * track is described when the start function is known, which is with its first stack; until then
 * it has the ID alone, and a description with the new name follows.
 */
#include "export/export_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct goroutine_client client;

struct export *export__create(struct export_sink *sink)
{
	struct export *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->sink = sink;
	e->now = e->go_lost_to = e->known_from = INT64_MIN;
	e->names = intern__create();
	if (!e->names) {
		free(e);
		return NULL;
	}
	goroutine_tracker__init(&e->goroutines, &client, e, e->names);
	annotation_tracker__init(&e->annotations, &export_annotations, e);
	return e;
}

void export__destroy(struct export *e)
{
	if (!e)
		return;
	goroutine_tracker__deinit(&e->goroutines);
	annotation_tracker__deinit(&e->annotations);
	intern__destroy(e->names);
	map__deinit(&e->functions);
	map__free(&e->procs);
	export__free_threads(e);
	free(e->tasks.at);
	free(e->tasks.free);
	free(e);
}

void export__select(struct export *e, const struct selection *select, const struct map *matches)
{
	e->select = select;
	e->matches = matches;
}

struct exported *export__goroutine(struct export *e, uint64_t id)
{
	return goroutine_tracker__find(&e->goroutines, id);
}

struct trace_string export__function(struct export *e, const struct exported *g)
{
	struct trace_string name = intern__text_at(e->names, g->go.name);

	return name.len ? name : text_of("(start function unknown)");
}

struct exported_proc *export__proc(struct export *e, uint64_t id)
{
	struct exported_proc *p = map__get(&e->procs, id);

	if (p)
		return p;
	p = map__put_new(&e->procs, id, sizeof(*p));
	if (!p)
		return NULL;
	p->id = id;
	export__lane(e, &p->lane, EXPORT_PROCS, 0, id, "P %" PRIu64, id);
	return p;
}

/* ---- tracks of goroutines ---- */

/* The track of a start function, below which those of its goroutines are. 0: no memory. */
static uint64_t function_track(struct export *e, const struct exported *g)
{
	uintptr_t track = (uintptr_t)map__get(&e->functions, g->go.name + 1ull);

	if (track)
		return track;
	track = export__track(e, EXPORT_GOROUTINES, 0, export__function(e, g), g->go.name);
	return map__put(&e->functions, g->go.name + 1ull, (void *)track) ? 0 : track;
}

static int describe(struct export *e, struct exported *g)
{
	struct trace_string function = intern__text_at(e->names, g->go.name);
	char name[TRACE_STRING_MAX + 32];
	int len;

	if (g->lane.track && g->described == g->go.name)
		return 0;
	if (e->select && !selection__goroutine(e->select, e->matches, g->go.id))
		return 0;
	len = snprintf(name, sizeof(name), "G %" PRIu64 "%s%.*s", g->go.id, function.len ? " " : "",
		       (int)function.len, function.data ?: "");
	if (!g->lane.track) {
		uint64_t parent = function_track(e, g);

		if (!parent)
			return -ENOMEM;
		g->lane.group = EXPORT_GOROUTINES;
		g->lane.last = INT64_MIN;
		g->lane.parent = parent;
		g->lane.track = ++e->last_track;
	}
	e->sink->ops->track(e->sink, &(struct export_track){
					     .id = g->lane.track,
					     .parent = g->lane.parent,
					     .group = EXPORT_GOROUTINES,
					     .name = { name, (uint32_t)len },
					     .rank = g->go.id,
				     });
	g->described = g->go.name;
	return 0;
}

/* ---- states ---- */

static enum export_counter counter_of(uint8_t state)
{
	switch (state) {
	case GO_STATE_RUNNING:
		return COUNTER_RUNNING;
	case GO_STATE_RUNNABLE:
		return COUNTER_RUNNABLE;
	case GO_STATE_WAITING:
		return COUNTER_WAITING;
	default:
		return COUNTER_SYSCALL;
	}
}

static enum state state_of(uint8_t state)
{
	switch (state) {
	case GO_STATE_RUNNING:
		return STATE_RUNNING;
	case GO_STATE_RUNNABLE:
		return STATE_RUNNABLE;
	case GO_STATE_WAITING:
		return STATE_WAITING;
	default:
		return STATE_SYSCALL;
	}
}

static bool is_state(uint8_t state)
{
	return state >= GO_STATE_RUNNABLE && state <= GO_STATE_SYSCALL;
}

/* An arrow from the goroutine that did something to another one, in the slice that it is in. */
static uint64_t flow_from(struct export *e, const struct trace_event *ev, const char *what,
			  uint64_t id)
{
	struct exported *from = ev->g == id ? NULL : export__goroutine(e, ev->g);
	struct export_event instant = { .name = text_of(what) };

	if (!from || !from->lane.depth || !from->lane.track)
		return 0;
	instant.flow_to = ++e->flows;
	add_number(&instant, "goroutine", id);
	lane__instant(e, &from->lane, &instant);
	return instant.flow_to;
}

static int goroutine__appear(void *context, void *goroutine, const struct trace_event *ev,
			     const struct semantics *m)
{
	struct exported *g = goroutine;

	if (m->from == GO_STATE_NOT_EXIST)
		g->flow = flow_from(context, ev, "create goroutine", m->id);
	return 0;
}

/* Ends the slices of its state. */
static void leave_state(struct export *e, struct exported *g)
{
	if (is_state(g->go.state) && g->lane.depth)
		e->counters[counter_of(g->go.state)].value--;
	lane__close(e, &g->lane, e->now);
	if (g->proc)
		lane__end(e, &g->proc->lane, e->now);
	if (g->thread) {
		lane__end(e, &g->thread->lane, e->now);
		g->thread->goroutine = TRACE_NO_G;
	}
	g->proc = NULL;
	g->thread = NULL;
}

static int goroutine__leave(void *context, void *goroutine, const struct trace_event *ev,
			    const struct semantics *m)
{
	(void)ev;
	(void)m;
	leave_state(context, goroutine);
	return 0;
}

/* Another goroutine cannot be on this P or thread, except in a trace that is not valid. */
static void displace(struct export *e, struct exported_proc *proc, struct exported_thread *thread)
{
	struct exported *g;

	if (proc && proc->lane.depth) {
		g = export__goroutine(e, proc->goroutine);
		if (g && g->proc == proc)
			g->proc = NULL;
		lane__close(e, &proc->lane, e->now);
	}
	if (thread && thread->lane.depth) {
		g = export__goroutine(e, thread->goroutine);
		if (g && g->thread == thread)
			g->thread = NULL;
		lane__close(e, &thread->lane, e->now);
	}
}

/* Begins its slices on the tracks of its P and its thread, at the time `since` as on its own track. */
static int occupy(struct export *e, struct exported *g, const struct trace_event *ev, int64_t since)
{
	uint64_t m = transition__thread(ev);
	struct export_event slice = { .name = export__function(e, g) };

	add_number(&slice, "goroutine", g->go.id);
	if (m != TRACE_NO_M) {
		g->thread = export__thread(e, m);
		if (!g->thread)
			return -ENOMEM;
	}
	/* The P of a status is that of the thread that reports it. */
	if (g->go.state == GO_STATE_RUNNING && ev->p != TRACE_NO_P && m == ev->m) {
		g->proc = export__proc(e, ev->p);
		if (!g->proc)
			return -ENOMEM;
	}
	displace(e, g->proc, g->thread);
	if (g->proc) {
		g->proc->goroutine = g->go.id;
		lane__begin(e, &g->proc->lane, since, &slice);
	}
	if (g->thread) {
		g->thread->goroutine = g->go.id;
		slice.state = state_of(g->go.state);
		if (slice.state == STATE_SYSCALL)
			add_text(&slice, "state", text_of(state_table[STATE_SYSCALL].name));
		lane__begin(e, &g->thread->lane, since, &slice);
	}
	return 0;
}

/* The name of a slice: with the reason why it waits. */
static struct trace_string state_name(enum state state, const struct semantics *m, char *text,
				      size_t size)
{
	int len;

	if (state != STATE_WAITING || !m->name.len)
		return text_of(state_table[state].name);
	len = snprintf(text, size, "waiting: %.*s", (int)m->name.len, m->name.data);
	return (struct trace_string){ text, len < (int)size ? (uint32_t)len : (uint32_t)size - 1 };
}

/* Where in the program: the innermost function of its stack. */
static void add_place(struct export_event *slice, const struct trace_event *ev, uint64_t stack)
{
	struct trace_string function;

	if (!stack || !dictionary__frames(ev->dictionary, stack))
		return;
	if (dictionary__string(ev->dictionary, dictionary__frame(ev->dictionary, stack, 0)->func,
			       &function) &&
	    function.len)
		add_text(slice, "function", function);
}

static int goroutine__enter(void *context, void *goroutine, const struct trace_event *ev,
			    const struct semantics *m)
{
	struct export *e = context;
	struct exported *g = goroutine;
	struct export_event slice = { .flow_from = g->flow };
	char text[TRACE_STRING_MAX];
	int64_t since = m->from == GO_STATE_UNDETERMINED ? g->go.created : e->now;
	int err = describe(e, g);

	if (err || !is_state(m->to))
		return err;
	g->flow = 0;
	/* After a loss the next event shows the state, unless the recorder inserted it. */
	g->lost = e->go_lost || (g->lost && transition__may_be_inserted(ev, m));
	slice.state = g->lost ? STATE_UNKNOWN : state_of(m->to);
	slice.name = state_name(slice.state, m, text, sizeof(text));
	if (ev->type == EV_GO_UNBLOCK || ev->type == EV_GO_SWITCH ||
	    ev->type == EV_GO_SWITCH_DESTROY)
		slice.flow_from = flow_from(e, ev, "unblock", g->go.id);
	if (m->to == GO_STATE_WAITING || m->to == GO_STATE_SYSCALL)
		add_place(&slice, ev, m->transition_stack);
	if (m->to == GO_STATE_RUNNING && ev->p != TRACE_NO_P)
		add_number(&slice, "P", ev->p);
	if (m->to == GO_STATE_RUNNING || m->to == GO_STATE_SYSCALL) {
		err = occupy(e, g, ev, since);
		if (g->thread)
			add_number(&slice, "thread", g->thread->id);
	}
	lane__begin(e, &g->lane, since, &slice);
	e->counters[counter_of(m->to)].value++;
	if (!err && g->thread)
		export__run_on(e, g->thread, g, since);
	return err;
}

static void goroutine__deinit(void *context, void *goroutine)
{
	struct export *e = context;
	struct exported *g = goroutine;

	leave_state(e, g);
	lane__close(e, &g->regions, e->now);
	lane__close(e, &g->assist, e->now);
}

static int goroutine__end(void *context, void *goroutine)
{
	goroutine__deinit(context, goroutine);
	return 0;
}

static void put_sample(struct export *e, const struct trace_event *ev, const struct semantics *m)
{
	struct export_sample sample = {
		.time = ev->time,
		.thread = ev->m,
		.dictionary = ev->dictionary,
		.stack = m->stack,
	};
	struct exported_thread *t = ev->m == TRACE_NO_M ? NULL : export__thread(e, ev->m);

	if (!t || !dictionary__frames(ev->dictionary, m->stack))
		return;
	sample.track = t->lane.track;
	e->sink->ops->sample(e->sink, &sample);
}

static int other__event(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct export *e = context;

	switch (m->kind) {
	case SEMANTICS_SYNC:
		if (ev->sync->clock.known)
			e->sink->ops->clock(e->sink, e->now, &ev->sync->clock);
		break;
	case SEMANTICS_METRIC:
		export__metric(e, m);
		break;
	case SEMANTICS_LABEL:
		export__label(e, ev, m);
		break;
	case SEMANTICS_LOG:
		export__log(e, ev, m);
		break;
	case SEMANTICS_STACK_SAMPLE:
		put_sample(e, ev, m);
		break;
	default:
		break;
	}
	return 0;
}

static const struct goroutine_client client = {
	.size = sizeof(struct exported),
	.appear = goroutine__appear,
	.leave = goroutine__leave,
	.enter = goroutine__enter,
	.end = goroutine__end,
	.deinit = goroutine__deinit, /* of one whose ID is used again */
	.range = export__range,
	.other = other__event,
};

/* ---- reading ---- */

int export__event(struct export *e, const struct trace_event *ev)
{
	int err;

	/* A known clock is written by other__event(). */
	if (!e->started && !(ev->type == EV_SYNC && ev->sync->clock.known))
		e->sink->ops->clock(e->sink, ev->time, NULL);
	e->started = true;
	if (ev->time > e->now)
		e->now = ev->time;
	err = annotation_tracker__event(&e->annotations, ev);
	if (!err)
		err = goroutine_tracker__event(&e->goroutines, &client, ev, e->now);
	return err;
}

static int result(struct export *e, int err, struct error *error)
{
	if (e->sink->err)
		return error__set(error, e->sink->err, "%s",
				  e->sink->error.text[0] ? e->sink->error.text : "out of memory");
	return err ? error__set(error, err, "out of memory") : 0;
}

/* ---- losses of Go's events ---- */

/* Its present slice ends at `time`, and one for its state, or that this is unknown, begins. */
static void show_again(struct export *e, struct exported *g, int64_t time)
{
	struct export_event slice = {};

	if (!g->lane.depth || (!e->go_lost && !g->lost))
		return;
	g->lost = e->go_lost;
	slice.state = g->lost ? STATE_UNKNOWN : state_of(g->go.state);
	slice.name = text_of(state_table[slice.state].name);
	lane__close(e, &g->lane, time);
	lane__begin(e, &g->lane, time, &slice);
	if (g->thread)
		export__run_on(e, g->thread, g, time);
}

static int show_all_again(struct export *e, bool lost, int64_t time)
{
	size_t n;
	struct map_slot *slot;

	e->go_lost = lost;
	e->divided += e->goroutines.goroutines.n;
	if (e->divided > EXPORT_DIVIDED_MAX)
		return 0;
	slot = map__sorted(&e->goroutines.goroutines, &n);
	for (size_t i = 0; slot && i < n; i++)
		show_again(e, slot[i].value, time);
	free(slot);
	return slot ? 0 : -ENOMEM;
}

/* A slice for each gap that has begun at `time`. */
static void put_gaps(struct export *e, const struct gaps *gaps, int64_t time)
{
	const struct gap *gap = gaps__first(gaps, e->go_lost_to);

	for (; e->sink->marks_gaps && gap && gap->from <= time; gap = gaps__first(gaps, gap->to)) {
		struct export_event slice = { .name = text_of("lost"), .state = STATE_UNKNOWN };

		export__lane(e, &e->gaps, EXPORT_GC, 0, 3, "Lost records");
		e->sink->dropped = true;
		lane__begin(e, &e->gaps, gap->from, &slice);
		lane__close(e, &e->gaps, gap->to);
	}
}

/* A correction shows the state of all, also of those without an event after the gap. */
static int pass_correction(struct export *e, const struct timeline *t, int64_t time)
{
	const struct gap *gap = gaps__latest(timeline__gaps(t), time);

	if (!gap || gap->until > time || gap->until <= e->known_from || gap->to > e->go_lost_to)
		return 0;
	e->known_from = gap->until;
	return show_all_again(e, false, gap->until);
}

/* Before a step at `time`: what goroutines do in a gap, and until their next events, is unknown. */
static int pass_gaps(struct export *e, const struct timeline *t, int64_t time)
{
	int64_t to = timeline__go_lost_to(t);
	int err;

	e->go_lost &= time < e->go_lost_to;
	err = pass_correction(e, t, time);
	if (err || to <= e->go_lost_to)
		return err;
	put_gaps(e, timeline__gaps(t), time);
	e->go_lost_to = to;
	err = show_all_again(e, true, timeline__go_lost_from(t));
	e->go_lost &= time < to;
	return err;
}

int export__step(struct export *e, const struct timeline *t, const struct timeline_step *step,
		 struct error *error)
{
	int64_t time = step->event ? step->event->time : timeline__time(t, step->item->time);
	int err;

	e->kernel = timeline__threads(t);
	e->in_loss = timeline__in_loss(t);
	export__count_until(e, time);
	err = pass_gaps(e, t, time);
	if (!err && step->event)
		err = export__event(e, step->event);
	if (!err && (step->table || step->loss))
		err = export__refresh(e, step, step->loss ? timeline__lost_from(t) : e->now);
	if (!err && step->item)
		err = export__item(e, t, step->item);
	export__count(e);
	return result(e, err, error);
}

static int finish_procs(struct export *e)
{
	size_t n;
	struct map_slot *p = map__sorted(&e->procs, &n);

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct exported_proc *proc = p[i].value;

		lane__close(e, &proc->lane, e->now);
		lane__close(e, &proc->sweep, e->now);
	}
	free(p);
	return 0;
}

int export__finish(struct export *e, int64_t end, struct error *error)
{
	int err;

	if (end > e->now)
		e->now = end;
	err = annotation_tracker__finish(&e->annotations, e->now);
	export__write_counts(e);
	if (!err)
		err = goroutine_tracker__finish(&e->goroutines);
	if (!err)
		err = finish_procs(e);
	if (!err)
		err = export__finish_threads(e);
	lane__close(e, &e->gc, e->now);
	lane__close(e, &e->stw, e->now);
	if (!err)
		e->sink->ops->finish(e->sink);
	return result(e, err, error);
}
