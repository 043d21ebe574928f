// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the analyses of a trace for its metrics: see metrics/engine.h.
 */
#include "metrics/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

#define TASKS_MAX (1u << 18) /* open ones: about 100 MiB */

int goroutine_sums__add(struct goroutine_sums *sums, const struct latency_goroutine *g)
{
	struct function_sums *f;

	if (array__grow_cleared(&sums->function, g->name, &sums->nfunctions, sizeof(*f)))
		return -ENOMEM;
	f = &sums->function[g->name];
	f->goroutines++;
	times__add(f->part, g->stats.part, LATENCY_PARTS);
	if (g->state < sizeof(sums->alive) / sizeof(*sums->alive))
		sums->alive[g->state]++;
	return latency_stats__add(&sums->stats, &g->stats);
}

void goroutine_sums__deinit(struct goroutine_sums *sums)
{
	latency_stats__deinit(&sums->stats);
	free(sums->function);
	*sums = (struct goroutine_sums){};
}

static int goroutine_done(void *context, const struct latency_goroutine *g)
{
	struct engine *e = context;

	return goroutine_sums__add(&e->ended, g);
}

static void interval_ended(void *context, const struct interval_end *end)
{
	struct engine *e = context;

	if (end->kind == INTERVAL_BLOCK)
		e->blocks[end->reason]++;
	e->gc_unknown += end->kind == INTERVAL_GC && end->ns < 0;
	if (end->ns < 0)
		return;
	if (end->kind == INTERVAL_STW)
		histogram__add(&e->stw[end->reason], end->ns);
	else
		histogram__add(end->kernel ? &e->kernel[end->kind] : &e->go[end->kind], end->ns);
}

static void destroy_replaced(struct engine *e)
{
	requests__destroy(e->requests);
	intervals__destroy(e->intervals);
	goroutine_sums__deinit(&e->ended);
	e->requests = NULL;
	e->intervals = NULL;
	memset(e->blocks, 0, sizeof(e->blocks));
	memset(e->stw, 0, sizeof(e->stw));
}

static int create_replaced(struct engine *e)
{
	const struct intervals_opts opts = { .ended = interval_ended, .context = e };

	e->requests = requests__create_endless(goroutine_done, e);
	e->intervals = intervals__create(&opts);
	return e->requests && e->intervals ? 0 : -ENOMEM;
}

struct engine *engine__create(void)
{
	struct engine *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	statistics__init(&e->statistics);
	e->statistics.endless = true;
	name_table__init(&e->categories);
	if (!create_replaced(e))
		return e;
	engine__destroy(e);
	return NULL;
}

void engine__destroy(struct engine *e)
{
	if (!e)
		return;
	destroy_replaced(e);
	statistics__deinit(&e->statistics);
	name_table__deinit(&e->categories);
	metric_values__deinit(&e->before);
	free(e);
}

void engine__pass_end(struct engine *e)
{
	if (!e->statistics.any)
		return;
	e->statistics.end = e->last + 1;
	latency__pass(requests__latency(e->requests), e->statistics.end);
}

int engine__restart(struct engine *e)
{
	int err;

	engine__pass_end(e);
	err = engine__collect_replaced(e, &e->before);
	if (err)
		return err;
	e->restarts++;
	destroy_replaced(e);
	return create_replaced(e);
}

bool engine__is_full(const struct engine *e)
{
	return requests__open(e->requests) > TASKS_MAX;
}

static int count_log(struct engine *e, const struct trace_event *ev)
{
	struct semantics m;
	uint32_t category;
	int err;

	semantics__of(ev, &m);
	err = name_table__get(&e->categories, m.name, &category);
	if (!err)
		e->logs[category]++;
	return err;
}

static int apply_event(struct engine *e, const struct trace_event *ev)
{
	int err = statistics__event(&e->statistics, ev);

	e->last = ev->time;
	if (err)
		return err;
	switch (ev->type) {
	case EV_SYNC:
		e->generations += ev->dictionary && ev->sync->generation;
		return 0;
	case EV_HEAP_ALLOC:
		e->heap = ev->arg[0];
		return 0;
	case EV_HEAP_GOAL:
		e->heap_goal = ev->arg[0];
		return 0;
	case EV_USER_LOG:
		return count_log(e, ev);
	}
	return 0;
}

int engine__step(struct engine *e, const struct timeline *t, const struct timeline_step *step,
		 struct error *error)
{
	int err = requests__step(e->requests, t, step, error);

	if (err)
		return err;
	err = intervals__step(e->intervals, t, step);
	if (step->item) {
		e->kernel_events++;
		e->kernel_calls |=
			step->item->kind == KERNEL_SYS_ENTER || step->item->kind == KERNEL_SYS_EXIT;
	} else if (!err) {
		err = apply_event(e, step->event);
	}
	return err ? error__set(error, err, "%s", strerror(-err)) : 0;
}
