// SPDX-License-Identifier: GPL-2.0
/*
 * The durations of all intervals of one kind: see intervals.h.
 *
 * States of goroutines are followed by goroutine_tracker.c. The runtime permits one GC cycle and one
 * stop-the-world pause at a time, so there is one open range.
 */
#include "analysis/intervals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/durations.h"
#include "analysis/goroutine_tracker.h"

/* a goroutine */
struct followed {
	struct tracked_goroutine go;
	bool wanted;  /* its state is an interval of the requested kind and name */
	bool unbegun; /* the begin of its state is not in the trace */
};

struct open_range {
	bool is_open, wanted, unbegun;
	uint64_t g, name; /* of a stop-the-world pause */
	int64_t begin;
};

struct intervals {
	struct intervals_opts opts;
	int64_t from, to;
	int64_t lost_to;		  /* what began before is uncertain */
	struct goroutine_tracker tracker; /* of struct followed */
	struct naming naming;
	struct open_range range;
	struct interval_counts go, kernel;
	bool has_calls; /* there were kernel events of system calls */
};

static const struct goroutine_client client;

struct intervals *intervals__create(const struct intervals_opts *opts)
{
	struct intervals *iv = calloc(1, sizeof(*iv));

	if (!iv)
		return NULL;
	iv->opts = *opts;
	iv->lost_to = INT64_MIN;
	intervals__set_window(iv, INT64_MIN, INT64_MAX);
	if (naming__init(&iv->naming)) {
		naming__deinit(&iv->naming);
		free(iv);
		return NULL;
	}
	goroutine_tracker__init(&iv->tracker, &client, iv, iv->naming.names);
	if (opts->select && goroutine_tracker__set_labels(&iv->tracker, opts->select)) {
		intervals__destroy(iv);
		return NULL;
	}
	return iv;
}

void intervals__destroy(struct intervals *iv)
{
	if (!iv)
		return;
	goroutine_tracker__deinit(&iv->tracker);
	naming__deinit(&iv->naming);
	free(iv);
}

void intervals__set_window(struct intervals *iv, int64_t from, int64_t to)
{
	iv->from = from;
	iv->to = to;
}

void intervals__lose_before(struct intervals *iv, int64_t time)
{
	iv->lost_to = time;
}

static bool has_name(const struct intervals *iv, const char *name, size_t len)
{
	const char *wanted = iv->opts.name;

	return !wanted || (strlen(wanted) == len && !memcmp(wanted, name, len));
}

static bool has_labels(const struct intervals *iv, uint64_t goroutine)
{
	const struct followed *g;

	if (!iv->opts.select->nlabels)
		return true;
	g = goroutine_tracker__find(&iv->tracker, goroutine);
	return g && g->go.labels.selected;
}

/* With the labels that it has now: they change only while it runs, so not within an interval. */
static bool is_selected(const struct intervals *iv, uint64_t goroutine)
{
	return !iv->opts.select ||
	       (selection__goroutine(iv->opts.select, iv->opts.matches, goroutine) &&
		has_labels(iv, goroutine));
}

/* The end of an interval. ns < 0: its duration is unknown. */
static void add(const struct intervals *iv, struct interval_counts *counts, int64_t time,
		int64_t ns)
{
	if (time < iv->from || time >= iv->to)
		return;
	if (ns < 0)
		counts->uncounted++;
	else
		lengths__add(&counts->lengths, ns);
}

/*
 * How long it has lasted; of times of a hostile trace, at most INT64_MAX. -1: unknown, because
 * events were lost in it.
 */
static int64_t since(const struct intervals *iv, int64_t begin)
{
	int64_t ns = time_sub(iv->tracker.now, begin);

	if (begin < iv->lost_to)
		return -1;
	return ns < 0 ? INT64_MAX : ns;
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
	struct intervals *iv = context;
	const struct followed *g = goroutine;

	(void)ev;
	(void)m;
	if (g->wanted)
		add(iv, &iv->go, iv->tracker.now, g->unbegun ? -1 : since(iv, g->go.since));
	return 0;
}

static int goroutine__enter(void *context, void *goroutine, const struct trace_event *ev,
			    const struct semantics *m)
{
	static const uint8_t states[INTERVAL_KINDS] = {
		[INTERVAL_SCHED] = GO_STATE_RUNNABLE,
		[INTERVAL_SYSCALL] = GO_STATE_SYSCALL,
		[INTERVAL_BLOCK] = GO_STATE_WAITING,
	};
	struct intervals *iv = context;
	struct followed *g = goroutine;

	(void)ev;
	g->unbegun = m->from == GO_STATE_UNDETERMINED;
	g->wanted = states[iv->opts.kind] == m->to &&
		    (iv->opts.kind != INTERVAL_BLOCK || has_name(iv, m->name.data, m->name.len)) &&
		    is_selected(iv, g->go.id);
	return 0;
}

static void begin_range(struct intervals *iv, const struct trace_event *ev, bool wanted,
			bool unbegun)
{
	iv->range = (struct open_range){
		.is_open = true,
		.wanted = wanted,
		.unbegun = unbegun,
		.g = ev->g,
		.name = ev->arg[0],
		.begin = iv->tracker.now,
	};
}

/* `same`: the range that ends is the one that is open. */
static void end_range(struct intervals *iv, bool same, bool wanted)
{
	const struct open_range *r = &iv->range;

	if (same && r->wanted)
		add(iv, &iv->go, iv->tracker.now, r->unbegun ? -1 : since(iv, r->begin));
	else if (!same && wanted)
		add(iv, &iv->go, iv->tracker.now, -1);
	if (same)
		iv->range.is_open = false;
}

static void gc_event(struct intervals *iv, const struct trace_event *ev)
{
	switch (ev->type) {
	case EV_GC_BEGIN:
		begin_range(iv, ev, true, false);
		break;
	case EV_GC_ACTIVE: /* in each generation; of a cycle that began before the trace, the only one */
		if (!iv->range.is_open)
			begin_range(iv, ev, true, true);
		break;
	case EV_GC_END:
		end_range(iv, iv->range.is_open, true);
		break;
	}
}

/* The end has the name of the begin, but possibly no longer its text: the reader matches them. */
static void stw_event(struct intervals *iv, const struct trace_event *ev, const struct semantics *m)
{
	const struct open_range *r = &iv->range;

	if (ev->type == EV_STW_BEGIN)
		begin_range(iv, ev, has_name(iv, m->name.data, m->name.len), false);
	else if (ev->type == EV_STW_END)
		end_range(iv, r->is_open && r->g == ev->g && r->name == ev->arg[0],
			  has_name(iv, m->name.data, m->name.len));
}

static int range__event(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct intervals *iv = context;

	if (iv->opts.kind == INTERVAL_GC)
		gc_event(iv, ev);
	else if (iv->opts.kind == INTERVAL_STW)
		stw_event(iv, ev, m);
	return 0;
}

static const struct goroutine_client client = {
	.size = sizeof(struct followed),
	.appear = goroutine__appear,
	.leave = goroutine__leave,
	.enter = goroutine__enter,
	.range = range__event,
};

int intervals__event(struct intervals *iv, const struct trace_event *ev)
{
	return goroutine_tracker__event(&iv->tracker, &client, ev, ev->time);
}

/* A system call without a name is named by its number, as the tables of Linux have it. */
static bool is_call(const struct intervals *iv, const struct interval_item *item)
{
	uint32_t number = item->item->number;
	struct trace_string name = kernel_threads__syscall(item->threads, number);
	char text[16];

	if (name.len)
		return has_name(iv, name.data, name.len);
	snprintf(text, sizeof(text), "%" PRIu32, number);
	return has_name(iv, text, strlen(text));
}

void intervals__item(struct intervals *iv, const struct interval_item *item)
{
	uint8_t kind = item->item->kind;
	bool known = item->duration <= INT64_MAX && !item->in_loss;
	int64_t ns = known ? (int64_t)item->duration : -1;

	iv->has_calls |= kind == KERNEL_SYS_ENTER || kind == KERNEL_SYS_EXIT;
	if (!is_selected(iv, item->goroutine))
		return;
	if (iv->opts.kind == INTERVAL_SYSCALL && kind == KERNEL_SYS_EXIT && is_call(iv, item))
		add(iv, &iv->kernel, item->time, ns);
	/* Without a duration the thread need not have waited: it may have been running. */
	if (iv->opts.kind == INTERVAL_RUNQUEUE && kind == KERNEL_ON && item->duration <= INT64_MAX)
		add(iv, &iv->kernel, item->time, ns);
}

const struct interval_counts *intervals__counts(const struct intervals *iv, bool *ret_kernel)
{
	bool calls = iv->opts.kind == INTERVAL_SYSCALL && (iv->has_calls || iv->opts.name);

	*ret_kernel = calls || iv->opts.kind == INTERVAL_RUNQUEUE;
	return *ret_kernel ? &iv->kernel : &iv->go;
}
