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
#include "reader/timeline.h"

/* a goroutine */
struct followed {
	struct tracked_goroutine go;
	uint8_t kind;	 /* of the interval that its state is */
	bool wanted;	 /* it is one of the requested kind and name */
	bool unbegun;	 /* the begin of its state is not in the trace */
	uint32_t reason; /* with opts.ended */
};

struct open_range {
	bool is_open, wanted, unbegun;
	uint64_t g, name; /* of a stop-the-world pause */
	uint32_t reason;  /* with opts.ended */
	int64_t begin;
};

struct intervals {
	struct intervals_opts opts;
	int64_t from, to;
	int64_t lost_to;		  /* what began before is uncertain */
	struct goroutine_tracker tracker; /* of struct followed */
	struct naming naming;
	struct open_range gc, stw;
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

static bool is_wanted(const struct intervals *iv, enum interval_kind kind)
{
	return iv->opts.ended || iv->opts.kind == kind;
}

static void add(struct intervals *iv, int64_t time, const struct interval_end *end)
{
	struct interval_counts *counts = end->kernel ? &iv->kernel : &iv->go;

	if (time < iv->from || time >= iv->to)
		return;
	if (iv->opts.ended)
		iv->opts.ended(iv->opts.context, end);
	else if (end->ns < 0)
		counts->uncounted++;
	else
		lengths__add(&counts->lengths, end->ns);
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

static int read_reason(struct intervals *iv, const struct semantics *m, uint32_t *ret)
{
	if (!iv->opts.ended)
		return 0;
	return naming__text_kind(&iv->naming, m->name.data, m->name.len, ret);
}

static int goroutine__leave(void *context, void *goroutine, const struct trace_event *ev,
			    const struct semantics *m)
{
	struct intervals *iv = context;
	const struct followed *g = goroutine;

	(void)ev;
	(void)m;
	if (g->wanted)
		add(iv, iv->tracker.now,
		    &(struct interval_end){
			    .kind = (enum interval_kind)g->kind,
			    .reason = g->reason,
			    .ns = g->unbegun ? -1 : since(iv, g->go.since),
		    });
	return 0;
}

static int goroutine__enter(void *context, void *goroutine, const struct trace_event *ev,
			    const struct semantics *m)
{
	static const uint8_t kinds[] = {
		[GO_STATE_UNDETERMINED] = INTERVAL_KINDS, [GO_STATE_NOT_EXIST] = INTERVAL_KINDS,
		[GO_STATE_RUNNABLE] = INTERVAL_SCHED,	  [GO_STATE_RUNNING] = INTERVAL_KINDS,
		[GO_STATE_WAITING] = INTERVAL_BLOCK,	  [GO_STATE_SYSCALL] = INTERVAL_SYSCALL,
	};
	struct intervals *iv = context;
	struct followed *g = goroutine;

	(void)ev;
	g->unbegun = m->from == GO_STATE_UNDETERMINED;
	g->kind = kinds[m->to];
	g->reason = 0;
	g->wanted = g->kind != INTERVAL_KINDS && is_wanted(iv, (enum interval_kind)g->kind) &&
		    (g->kind != INTERVAL_BLOCK || has_name(iv, m->name.data, m->name.len)) &&
		    is_selected(iv, g->go.id);
	return g->kind == INTERVAL_BLOCK ? read_reason(iv, m, &g->reason) : 0;
}

static void begin_range(const struct intervals *iv, struct open_range *range,
			const struct trace_event *ev, bool wanted, bool unbegun)
{
	*range = (struct open_range){
		.is_open = true,
		.wanted = wanted,
		.unbegun = unbegun,
		.g = ev->g,
		.name = ev->arg[0],
		.begin = iv->tracker.now,
	};
}

/*
 * `same`: the range that ends is the one that is open. Otherwise, if it is `wanted`, *end is what is
 * known of it.
 */
static void end_range(struct intervals *iv, struct open_range *range, bool same, bool wanted,
		      struct interval_end *end)
{
	end->ns = -1;
	if (same) {
		end->reason = range->reason;
		end->ns = range->unbegun ? -1 : since(iv, range->begin);
		range->is_open = false;
	}
	if (same ? range->wanted : wanted)
		add(iv, iv->tracker.now, end);
}

static void gc_event(struct intervals *iv, const struct trace_event *ev)
{
	struct interval_end end = { .kind = INTERVAL_GC };

	switch (ev->type) {
	case EV_GC_BEGIN:
		begin_range(iv, &iv->gc, ev, true, false);
		break;
	case EV_GC_ACTIVE: /* in each generation; of a cycle that began before the trace, the only one */
		if (!iv->gc.is_open)
			begin_range(iv, &iv->gc, ev, true, true);
		break;
	case EV_GC_END:
		end_range(iv, &iv->gc, iv->gc.is_open, true, &end);
		break;
	}
}

/* The end has the name of the begin, but possibly no longer its text: the reader matches them. */
static int stw_event(struct intervals *iv, const struct trace_event *ev, const struct semantics *m)
{
	struct interval_end end = { .kind = INTERVAL_STW };
	bool wanted = has_name(iv, m->name.data, m->name.len);
	struct open_range *r = &iv->stw;
	int err;

	if (ev->type == EV_STW_BEGIN) {
		begin_range(iv, r, ev, wanted, false);
		return read_reason(iv, m, &r->reason);
	}
	if (ev->type != EV_STW_END)
		return 0;
	err = read_reason(iv, m, &end.reason);
	end_range(iv, r, r->is_open && r->g == ev->g && r->name == ev->arg[0], wanted, &end);
	return err;
}

static int range__event(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct intervals *iv = context;

	if (is_wanted(iv, INTERVAL_GC))
		gc_event(iv, ev);
	return is_wanted(iv, INTERVAL_STW) ? stw_event(iv, ev, m) : 0;
}

static const struct goroutine_client client = {
	.size = sizeof(struct followed),
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
	struct interval_end end = { .kernel = true, .ns = known ? (int64_t)item->duration : -1 };

	iv->has_calls |= kind == KERNEL_SYS_ENTER || kind == KERNEL_SYS_EXIT;
	if (!is_selected(iv, item->goroutine))
		return;
	end.kind = kind == KERNEL_SYS_EXIT ? INTERVAL_SYSCALL : INTERVAL_RUNQUEUE;
	if (kind == KERNEL_SYS_EXIT && is_wanted(iv, end.kind) && is_call(iv, item))
		add(iv, item->time, &end);
	/* Without a duration the thread need not have waited: it may have been running. */
	if (kind == KERNEL_ON && is_wanted(iv, end.kind) && item->duration <= INT64_MAX)
		add(iv, item->time, &end);
}

int intervals__step(struct intervals *iv, const struct timeline *t,
		    const struct timeline_step *step)
{
	struct interval_item item;

	if (step->event) {
		intervals__lose_before(iv, timeline__go_lost_to(t));
		return intervals__event(iv, step->event);
	}
	item = (struct interval_item){
		.item = step->item,
		.time = timeline__time(t, step->item->time),
		.duration = timeline__duration(t),
		.goroutine = timeline__goroutine(t, step->item->tid),
		.in_loss = timeline__in_loss(t),
		.threads = timeline__threads(t),
	};
	intervals__item(iv, &item);
	return 0;
}

struct trace_string intervals__text(const struct intervals *iv, uint32_t reason)
{
	return naming__kind_at(&iv->naming, reason);
}

const struct interval_counts *intervals__counts(const struct intervals *iv, bool *ret_kernel)
{
	bool calls = iv->opts.kind == INTERVAL_SYSCALL && (iv->has_calls || iv->opts.name);

	*ret_kernel = calls || iv->opts.kind == INTERVAL_RUNQUEUE;
	return *ret_kernel ? &iv->kernel : &iv->go;
}

uint64_t intervals__open(const struct intervals *iv, enum interval_kind kind)
{
	const struct followed *g;
	uint64_t n = 0;
	void *value;

	if (kind == INTERVAL_GC)
		return iv->gc.is_open && iv->gc.wanted;
	if (kind == INTERVAL_STW)
		return iv->stw.is_open && iv->stw.wanted;
	for (size_t i = 0; map__next(&iv->tracker.goroutines, &i, &value);) {
		g = value;
		n += g->wanted && g->kind == kind;
	}
	return n;
}
