// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles of a trace: see profile.h.
 *
 * The kinds of `go tool trace` follow its source (cmd/trace/pprof.go): an interval counts with the
 * stack of the event that begins it, if it has ended, and only as far as it lies after the first
 * time that its goroutine ran. A goroutine that never ran in the trace has no such time, and all of
 * its intervals count. So what ends before a goroutine ran is held back until it runs or ends.
 *
 * With a filter or label of start functions, samples of a goroutine whose name is not known yet are
 * held back, too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/durations.h"
#include "format/private_read.h"
#include "lib/array.h"
#include "profile/profile_impl.h"
#include "reader/timeline.h"

#define GO_PROFILE(name)	{ name, "contentions", "delay", "trace", "count" }
#define OUR_PROFILE(name, what) { name, "intervals", what, "trace", "count" }

const struct profile_names profile_names[PROFILE_KINDS] = {
	[PROFILE_NET] = GO_PROFILE("net"),
	[PROFILE_SYNC] = GO_PROFILE("sync"),
	[PROFILE_SYSCALL] = GO_PROFILE("syscall"),
	[PROFILE_SCHED] = GO_PROFILE("sched"),
	[PROFILE_CPU] = { "cpu", "samples", "cpu", "cpu", "nanoseconds" },
	[PROFILE_WALL] = OUR_PROFILE("wall", "wall"),
	[PROFILE_OFFCPU] = OUR_PROFILE("offcpu", "off-cpu"),
	[PROFILE_REGION] = OUR_PROFILE("region", "time"),
	[PROFILE_TASK] = OUR_PROFILE("task", "time"),
	[PROFILE_GC] = OUR_PROFILE("gc", "time"),
};

static const struct goroutine_client client;

struct profile *profile__create(const struct profile_opts *opts)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->opts = *opts;
	p->cpu.ns = opts->sample_ns;
	profile__set_window(p, INT64_MIN, INT64_MAX);
	if (samples__init(&p->samples)) {
		samples__deinit(&p->samples);
		free(p);
		return NULL;
	}
	profile__init_annotations(p);
	goroutine_tracker__init(&p->tracker, &client, p, p->samples.texts);
	p->tracker.as_go = true; /* as go tool trace -pprof */
	return p;
}

void profile__destroy(struct profile *p)
{
	if (!p)
		return;
	goroutine_tracker__deinit(&p->tracker);
	profile__deinit_annotations(p);
	profile_gc__deinit(p);
	samples__deinit(&p->samples);
	map__free(&p->off);
	free(p);
}

void profile__set_window(struct profile *p, int64_t from, int64_t to)
{
	p->from = from;
	p->to = to;
}

struct samples *profile__samples(struct profile *p)
{
	return &p->samples;
}

/* ---- samples ---- */

/* The kinds of Go's tool count only what comes after the first time that a goroutine runs. */
static bool is_of_go(const struct profile *p)
{
	return p->opts.kind <= PROFILE_SCHED;
}

static bool needs_name(const struct profile *p)
{
	return p->opts.by_function || (p->opts.select && p->opts.select->function.text) ||
	       p->opts.kind >= PROFILE_WALL;
}

/* 0 or -ENOMEM. */
static int is_selected(const struct profile *p, const struct tracked_goroutine *g, bool *ret)
{
	struct selection *select = p->opts.select;

	*ret = !select || !select->have_goroutine || select->goroutine == g->id;
	if (!*ret || !select)
		return 0;
	return selection__function(select, g->name, intern__text_at(p->samples.texts, g->name),
				   ret);
}

static int add(struct profile *p, const struct tracked_goroutine *g, const struct held *held)
{
	const struct sample_labels labels = {
		.goroutine = p->opts.by_goroutine ? g->id : TRACE_NO_G,
		.thread = p->opts.by_thread ? held->thread : TRACE_NO_M,
		.task = p->opts.by_task ? held->task : 0,
		.function = p->opts.by_function ? g->name : 0,
	};
	uint32_t stack = held->stack;
	bool wanted;
	int err = is_selected(p, g, &wanted);

	if (err || !wanted)
		return err;
	if (held->leaf)
		err = samples__with_leaf(&p->samples, held->leaf, stack, g->name, &stack);
	return err ? err : samples__add(&p->samples, stack, &labels, 1, held->ns);
}

/* Adds what is held back. */
static int release(struct profile *p, struct profiled *g)
{
	int err = 0;

	for (size_t i = 0; !err && i < g->n; i++)
		err = add(p, &g->go, &g->held[i]);
	g->n = 0;
	return err;
}

int profile__add(struct profile *p, struct profiled *g, const struct held *held)
{
	const struct tracked_goroutine none = { .id = TRACE_NO_G };
	size_t cap;
	bool known;

	if (!g)
		return add(p, &none, held);
	known = (g->ran || !is_of_go(p)) && (g->go.name || !needs_name(p));
	if (known || g->n == HELD_MAX)
		return add(p, &g->go, held);
	cap = g->cap;
	if (array__grow(&g->held, g->n, &cap, sizeof(*g->held)))
		return -ENOMEM;
	g->cap = (uint8_t)cap;
	g->held[g->n++] = *held;
	return 0;
}

int64_t profile__part(const struct profile *p, int64_t begin, int64_t end)
{
	int64_t ns;

	if (begin < p->from)
		begin = p->from;
	if (end > p->to)
		end = p->to;
	if (begin >= end)
		return 0;
	ns = time_sub(end, begin);
	return ns < 0 ? INT64_MAX : ns;
}

int64_t profile__known(const struct profile *p, uint64_t g, int64_t record, int64_t begin,
		       int64_t end, int64_t *ret_lost)
{
	struct stretch stretch;
	int64_t known = 0, lost = 0, *sum, ns;

	while (gaps__next(&p->tracker.gaps, g, record, &begin, end, &stretch)) {
		sum = stretch.lost ? &lost : &known;
		ns = profile__part(p, stretch.from, stretch.to);
		if (__builtin_add_overflow(*sum, ns, sum))
			*sum = INT64_MAX;
	}
	if (ret_lost)
		*ret_lost = lost;
	return known;
}

int profile__leaf(struct profile *p, const char *what, struct trace_string detail, uint32_t *ret)
{
	char text[TRACE_STRING_MAX];
	int len = snprintf(text, sizeof(text), detail.len ? "[%s: %.*s]" : "[%s]", what,
			   (int)detail.len, detail.data);

	if (len >= (int)sizeof(text))
		len = sizeof(text) - 1;
	*ret = intern__string(p->samples.texts, text, (size_t)len);
	return *ret ? 0 : -ENOMEM;
}

/* ---- events ---- */

static bool contains(struct trace_string s, const char *word)
{
	return s.len && memmem(s.data, s.len, word, strlen(word));
}

/* Whether a state with this reason belongs to the profile. The reasons are those of Go's source. */
static bool is_of_profile(const struct profile *p, uint8_t state, struct trace_string reason)
{
	switch (p->opts.kind) {
	case PROFILE_NET:
		return state == GO_STATE_WAITING && reason.len == strlen("network") &&
		       contains(reason, "network");
	case PROFILE_SYNC:
		return state == GO_STATE_WAITING &&
		       (contains(reason, "chan") || contains(reason, "sync") ||
			contains(reason, "select"));
	case PROFILE_SYSCALL:
		return state == GO_STATE_SYSCALL;
	case PROFILE_SCHED:
		return state == GO_STATE_RUNNABLE;
	case PROFILE_WALL:
		return state != GO_STATE_NOT_EXIST;
	case PROFILE_CPU:
	case PROFILE_OFFCPU:
	case PROFILE_REGION:
	case PROFILE_TASK:
	case PROFILE_GC:
	case PROFILE_KINDS:
		break;
	}
	return false;
}

/* The frame in front of the stack. 0 or -ENOMEM. */
static int name_state(struct profile *p, struct profiled *g, const struct semantics *m)
{
	static const struct trace_string none = { "", 0 };

	switch (m->to) {
	case GO_STATE_RUNNABLE:
		return profile__leaf(p, "runnable", none, &g->leaf);
	case GO_STATE_RUNNING:
		return profile__leaf(p, "running", none, &g->leaf);
	case GO_STATE_WAITING:
		return profile__leaf(p, "waiting", m->name, &g->leaf);
	default:
		return profile__leaf(p, "system call", none, &g->leaf);
	}
}

/*
 * The goroutine's own stack. One that becomes runnable keeps that with which it was blocked; while
 * it runs there is none.
 */
static int take_own_stack(struct profile *p, struct profiled *g, const struct trace_event *ev,
			  const struct semantics *m)
{
	if (m->to == GO_STATE_RUNNING)
		g->stack = 0;
	if (!m->transition_stack || m->to == GO_STATE_RUNNING)
		return 0;
	return samples__stack(&p->samples, ev->dictionary, m->transition_stack, &g->stack);
}

static int enter_state(struct profile *p, struct profiled *g, const struct trace_event *ev,
		       const struct semantics *m)
{
	int err;

	if (is_of_go(p))
		return g->wanted ?
			       samples__stack(&p->samples, ev->dictionary, m->stack, &g->stack) :
			       0;
	if (p->opts.kind != PROFILE_WALL && p->opts.kind != PROFILE_OFFCPU)
		return 0;
	if (m->from == GO_STATE_UNDETERMINED)
		g->go.since = g->go.created;
	err = take_own_stack(p, g, ev, m);
	return !err && g->wanted ? name_state(p, g, m) : err;
}

int profile__leave_state(struct profile *p, struct profiled *g)
{
	struct held held = { .thread = g->thread, .stack = g->stack, .leaf = g->leaf };

	int64_t lost;
	int err;

	if (!g->wanted)
		return 0;
	g->wanted = false;
	held.ns = profile__known(p, g->go.id, g->go.record, g->go.since, p->tracker.now, &lost);
	err = held.ns ? profile__add(p, g, &held) : 0;
	if (err || !lost || p->opts.kind != PROFILE_WALL)
		return err;
	held = (struct held){ .ns = lost, .thread = TRACE_NO_M };
	return profile__leaf(p, "lost", (struct trace_string){ "", 0 }, &held.leaf) ?:
		       profile__add(p, g, &held);
}

static int goroutine__leave(void *context, void *goroutine, const struct trace_event *ev,
			    const struct semantics *m)
{
	struct profile *p = context;
	struct profiled *g = goroutine;

	(void)ev;
	(void)m;
	return profile__leave_state(p, g);
}

static int goroutine__enter(void *context, void *goroutine, const struct trace_event *ev,
			    const struct semantics *m)
{
	struct profile *p = context;
	struct profiled *g = goroutine;
	int err = 0;

	if (m->to == GO_STATE_RUNNING && !g->ran) {
		g->ran = true;
		if (is_of_go(p))
			g->n = 0;
	}
	if (g->n && g->go.name && (g->ran || !is_of_go(p)))
		err = release(p, g);
	g->thread = m->to == GO_STATE_SYSCALL || m->to == GO_STATE_RUNNING ?
			    transition__thread(ev) :
			    TRACE_NO_M;
	g->wanted = is_of_profile(p, m->to, m->name);
	return err ? err : enter_state(p, g, ev, m);
}

/*
 * It is known now that the goroutine never runs, or has no name. In the profiles of all time and of
 * the GC, its last state ends with the trace.
 */
static int goroutine__end(void *context, void *goroutine)
{
	struct profile *p = context;
	struct profiled *g = goroutine;
	bool to_the_end = p->opts.kind == PROFILE_WALL || p->opts.kind == PROFILE_GC;
	int err = to_the_end ? profile__leave_state(p, g) : 0;

	return err ? err : release(p, g);
}

static void goroutine__deinit(void *context, void *goroutine)
{
	struct profiled *g = goroutine;

	(void)context;
	free(g->held);
}

/* The rate of CPU samples belongs to the generation that begins. */
static int note_sample_rate(struct profile *p, const struct trace_event *sync)
{
	uint64_t ns = 0;
	int err = sync->dictionary ? private_read__sample_period(sync->dictionary, &ns) : 0;

	if (!err)
		p->cpu.ns = (int64_t)ns; /* at most INT64_MAX */
	return err;
}

static int add_cpu_sample(struct profile *p, const struct trace_event *ev,
			  const struct semantics *m)
{
	struct held held = { .ns = p->cpu.ns, .thread = ev->m };
	int err;

	if (ev->time < p->from || ev->time >= p->to)
		return 0;
	p->cpu.unknown |= !held.ns;
	p->cpu.differ |= p->cpu.any && held.ns != p->cpu.all;
	p->cpu.all = held.ns;
	p->cpu.any = true;
	err = samples__stack(&p->samples, ev->dictionary, m->stack, &held.stack);
	return err ? err : profile__add(p, goroutine_tracker__find(&p->tracker, ev->g), &held);
}

static int other__event(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct profile *p = context;

	if (m->kind == SEMANTICS_SYNC) {
		samples__begin_generation(&p->samples);
		if (p->opts.kind == PROFILE_CPU && !p->opts.sample_ns)
			return note_sample_rate(p, ev);
	}
	if (m->kind == SEMANTICS_STACK_SAMPLE && p->opts.kind == PROFILE_CPU)
		return add_cpu_sample(p, ev, m);
	return semantics__is_worker_label(m) ? profile_gc__label(p, m) : 0;
}

static const struct goroutine_client client = {
	.size = sizeof(struct profiled),
	.leave = goroutine__leave,
	.enter = goroutine__enter,
	.end = goroutine__end,
	.deinit = goroutine__deinit,
	.range = profile_gc__range,
	.other = other__event,
};

/* Samples of the CPU are complete in themselves, unless their goroutines are asked for. */
static bool needs_goroutines(const struct profile *p)
{
	return p->opts.kind != PROFILE_CPU || p->opts.select || p->opts.by_goroutine ||
	       p->opts.by_function;
}

int profile__event(struct profile *p, const struct trace_event *ev)
{
	int err = profile__annotation(p, ev);
	struct semantics m;

	if (err)
		return err;
	if (needs_goroutines(p))
		return goroutine_tracker__event(&p->tracker, &client, ev, ev->time);
	if (ev->type != EV_SYNC && ev->type != EV_CPU_SAMPLE)
		return 0;
	semantics__of(ev, &m);
	return other__event(p, ev, &m);
}

int profile__step(struct profile *p, const struct timeline *t, const struct timeline_step *step)
{
	struct profile_item item;

	if (step->loss)
		profile__lose_threads(p);
	if (step->event)
		return profile__event(p, step->event);
	item = (struct profile_item){
		.item = step->item,
		.time = timeline__time(t, step->item->time),
		.duration = timeline__duration(t),
		.goroutine = timeline__goroutine(t, step->item->tid),
		.threads = timeline__threads(t),
	};
	return profile__item(p, &item);
}

int profile__finish(struct profile *p)
{
	int err = profile_gc__finish(p);

	err = err ?: goroutine_tracker__finish(&p->tracker);
	if (!err && p->cpu.unknown)
		samples__use_counts(&p->samples);
	return err;
}

int64_t profile__sample_ns(const struct profile *p)
{
	return p->cpu.differ ? 0 : p->cpu.all;
}
