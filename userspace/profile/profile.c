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
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/durations.h"
#include "analysis/goroutine_tracker.h"
#include "lib/array.h"

/*
 * Samples that a goroutine holds back. Before it runs there is one per state. More of a goroutine
 * without a name exist only in traces without stacks; their name is never known.
 */
#define HELD_MAX 64

struct held {
	int64_t ns;
	uint64_t thread;
	uint32_t stack;
};

/* a goroutine */
struct profiled {
	struct tracked_goroutine go;
	bool wanted; /* its state belongs to the profile */
	bool ran;
	uint32_t stack;	 /* of the begin of its state */
	uint64_t thread; /* on which it is in that state; TRACE_NO_M: on none */
	struct held *held;
	size_t n, cap;
};

struct profile {
	struct profile_opts opts;
	int64_t from, to;
	struct goroutine_tracker tracker; /* of struct profiled */
	struct samples samples;
};

#define GO_PROFILE(name)                                                                           \
	{ .kind = name, .count = "contentions", .value = "delay", .period = "trace" }

const struct profile_names profile_names[PROFILE_KINDS] = {
	[PROFILE_NET] = GO_PROFILE("net"),
	[PROFILE_SYNC] = GO_PROFILE("sync"),
	[PROFILE_SYSCALL] = GO_PROFILE("syscall"),
	[PROFILE_SCHED] = GO_PROFILE("sched"),
};

static const struct goroutine_client client;

struct profile *profile__create(const struct profile_opts *opts)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->opts = *opts;
	profile__set_window(p, INT64_MIN, INT64_MAX);
	if (samples__init(&p->samples)) {
		samples__deinit(&p->samples);
		free(p);
		return NULL;
	}
	goroutine_tracker__init(&p->tracker, &client, p, p->samples.texts);
	return p;
}

void profile__destroy(struct profile *p)
{
	if (!p)
		return;
	goroutine_tracker__deinit(&p->tracker);
	samples__deinit(&p->samples);
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

static bool needs_name(const struct profile *p)
{
	return p->opts.by_function || (p->opts.select && p->opts.select->pattern);
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
		.function = p->opts.by_function ? g->name : 0,
	};
	bool wanted;
	int err = is_selected(p, g, &wanted);

	return err || !wanted ? err : samples__add(&p->samples, held->stack, &labels, 1, held->ns);
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

static int add_or_hold(struct profile *p, struct profiled *g, const struct held *held)
{
	if ((g->ran && (g->go.name || !needs_name(p))) || g->n == HELD_MAX)
		return add(p, &g->go, held);
	if (array__grow(&g->held, g->n, &g->cap, sizeof(*g->held)))
		return -ENOMEM;
	g->held[g->n++] = *held;
	return 0;
}

/* The part of an interval within the window; of times of a hostile trace, at most INT64_MAX. */
static int64_t part_in_window(const struct profile *p, int64_t begin, int64_t end)
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

/* ---- events ---- */

static bool contains(struct trace_string s, const char *word)
{
	return memmem(s.data, s.len, word, strlen(word));
}

/* Whether a state with this reason belongs to the profile. The words are those of Go's source. */
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
	case PROFILE_KINDS:
		break;
	}
	return false;
}

static int goroutine__appear(void *context, void *goroutine, const struct trace_event *ev,
			     const struct semantics *m)
{
	(void)context;
	(void)goroutine;
	(void)ev;
	(void)m;
	return 0;
}

static int goroutine__leave(void *context, void *goroutine, const struct trace_event *ev,
			    const struct semantics *m)
{
	struct profile *p = context;
	struct profiled *g = goroutine;
	struct held held = { .thread = g->thread, .stack = g->stack };

	(void)ev;
	(void)m;
	if (!g->wanted)
		return 0;
	g->wanted = false;
	held.ns = part_in_window(p, g->go.since, p->tracker.now);
	return held.ns ? add_or_hold(p, g, &held) : 0;
}

static int goroutine__enter(void *context, void *goroutine, const struct trace_event *ev,
			    const struct semantics *m)
{
	struct profile *p = context;
	struct profiled *g = goroutine;
	int err = 0;

	if (m->to == GO_STATE_RUNNING && !g->ran) {
		g->ran = true;
		g->n = 0;
	}
	if (g->n && g->ran && g->go.name)
		err = release(p, g);
	g->thread = m->to == GO_STATE_SYSCALL ? transition__thread(ev) : TRACE_NO_M;
	g->wanted = is_of_profile(p, m->to, m->name);
	if (!err && g->wanted)
		err = samples__stack(&p->samples, ev->dictionary, m->stack, &g->stack);
	return err;
}

/* It is known now that the goroutine never runs, or has no name. */
static int goroutine__end(void *context, void *goroutine)
{
	return release(context, goroutine);
}

static void goroutine__deinit(void *context, void *goroutine)
{
	struct profiled *g = goroutine;

	(void)context;
	free(g->held);
}

static int other__event(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct profile *p = context;

	(void)ev;
	if (m->kind == SEMANTICS_SYNC)
		samples__begin_generation(&p->samples);
	return 0;
}

static const struct goroutine_client client = {
	.size = sizeof(struct profiled),
	.appear = goroutine__appear,
	.leave = goroutine__leave,
	.enter = goroutine__enter,
	.end = goroutine__end,
	.deinit = goroutine__deinit,
	.other = other__event,
};

int profile__event(struct profile *p, const struct trace_event *ev)
{
	return goroutine_tracker__event(&p->tracker, &client, ev, ev->time);
}

int profile__finish(struct profile *p)
{
	return goroutine_tracker__finish(&p->tracker);
}
