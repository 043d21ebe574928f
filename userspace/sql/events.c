// SPDX-License-Identifier: GPL-2.0
/*
 * The table `events`: one row per event of the trace, as `gotrace events` prints them.
 *
 * Syncs and events that are derived from others are left out, so the number of rows is that of
 * `gotrace stat`.
 */
#include <stdlib.h>

#include "reader/semantics.h"
#include "sql/tables.h"

enum { TIME, TYPE, THREAD, P, G, GOROUTINE, FROM, TO, NAME, MESSAGE, VALUE, TASK, STACK };

static const char *type_name(unsigned int i)
{
	return spec__event(i) ? spec__event(i)->name : NULL;
}

enum { GO_STATES = GO_STATE_SYSCALL + 1, PROC_STATES = PROC_STATE_IDLE + 1 };

static const char *state_name(unsigned int i)
{
	return i < GO_STATES ? semantics__state(RESOURCE_GOROUTINE, (uint8_t)i) :
			       semantics__state(RESOURCE_PROC, (uint8_t)(i - GO_STATES));
}

static const struct column columns[] = {
	[TIME] = { "time_ns", "BIGINT", "clock of the trace" },
	[TYPE] = { "type", "VARCHAR", "as in Go's trace format, such as GoUnblock", EV_END,
		   type_name },
	[THREAD] = { "thread", "BIGINT", "on which it happened" },
	[P] = { "p", "BIGINT", "on which it happened" },
	[G] = { "g", "BIGINT", "the goroutine that was running" },
	[GOROUTINE] = { "goroutine", "BIGINT", "whose state or range it is" },
	[FROM] = { "from_state", "VARCHAR", "of a goroutine or P, such as Running",
		   GO_STATES + PROC_STATES, state_name },
	[TO] = { "to_state", "VARCHAR", "of a goroutine or P", GO_STATES + PROC_STATES,
		 state_name },
	[NAME] = { "name", "VARCHAR",
		   "reason, or name of a metric, range, label, task or region; category of a log" },
	[MESSAGE] = { "message", "VARCHAR", "of a log" },
	[VALUE] = { "value", "BIGINT", "of a metric" },
	[TASK] = { "task", "BIGINT", "of a task, region or log" },
	[STACK] = { "stack", "BIGINT", "of the goroutine that was running: stacks.stack" },
};

struct producer {
	struct rows *rows;
	struct stack_numbers stacks;
	struct duckdb_text types[EV_END];
	struct duckdb_text go_states[GO_STATE_SYSCALL + 1], proc_states[PROC_STATE_IDLE + 1];
	bool semantics; /* a column is wanted that needs them */
};

static void *create(struct rows *rows, const struct source *source, const struct reader *reader)
{
	struct producer *p = calloc(1, sizeof(*p));

	(void)source;
	(void)reader;
	if (!p)
		return NULL;
	p->rows = rows;
	for (unsigned int i = 1; i < EV_END; i++)
		if (spec__event(i))
			p->types[i] = text__static(spec__event(i)->name);
	for (uint8_t i = 0; i <= GO_STATE_SYSCALL; i++)
		p->go_states[i] = text__static(semantics__state(RESOURCE_GOROUTINE, i));
	for (uint8_t i = 0; i <= PROC_STATE_IDLE; i++)
		p->proc_states[i] = text__static(semantics__state(RESOURCE_PROC, i));
	for (unsigned int i = GOROUTINE; i <= STACK; i++)
		p->semantics |= rows->wanted[i];
	return p;
}

static void destroy(void *producer)
{
	struct producer *p = producer;

	stack_numbers__clear(&p->stacks);
	free(p);
}

static void put_states(struct producer *p, const struct semantics *m)
{
	const struct duckdb_text *states =
		m->resource == RESOURCE_GOROUTINE ? p->go_states : p->proc_states;
	bool changes = m->kind == SEMANTICS_STATE_TRANSITION && m->resource != RESOURCE_NONE;

	row__text(p->rows, FROM, changes ? states[m->from] : text__null());
	row__text(p->rows, TO, changes ? states[m->to] : text__null());
	row__id(p->rows, GOROUTINE, m->resource == RESOURCE_GOROUTINE ? m->id : TRACE_NO_G);
}

static bool has_task(enum semantics_kind kind)
{
	return kind == SEMANTICS_TASK_BEGIN || kind == SEMANTICS_TASK_END ||
	       kind == SEMANTICS_REGION_BEGIN || kind == SEMANTICS_REGION_END ||
	       kind == SEMANTICS_LOG;
}

static void put_semantics(struct producer *p, const struct trace_event *ev)
{
	struct rows *r = p->rows;
	struct semantics m;

	semantics__of(ev, &m);
	semantics__add_reason(ev, &m);
	put_states(p, &m);
	row__name(r, NAME, &m);
	row__copy(r, MESSAGE, m.message);
	row__number(r, VALUE,
		    m.kind == SEMANTICS_METRIC && m.values ? (int64_t)m.value[0].value : ROW_NULL);
	row__id(r, TASK, has_task(m.kind) ? m.task : TRACE_NO_TASK);
	if (r->numbers[STACK])
		row__number(r, STACK, stack_numbers__get(&p->stacks, ev->dictionary, m.stack));
}

static int step(void *producer, const struct timeline *t, const struct timeline_step *step,
		struct error *error)
{
	const struct trace_event *ev = step->event;
	struct producer *p = producer;

	(void)t;
	if (!ev)
		return 0;
	if (ev->type == EV_SYNC)
		stack_numbers__clear(&p->stacks);
	if (!trace_event__is_of_file(ev))
		return 0;
	if (rows__add(p->rows))
		return producer__out_of_memory(error);
	row__number(p->rows, TIME, ev->time);
	row__text(p->rows, TYPE, p->types[ev->type]);
	row__context(p->rows, THREAD, ev);
	if (p->semantics)
		put_semantics(p, ev);
	return 0;
}

static const struct producer_ops ops = { .create = create, .step = step, .destroy = destroy };

const struct table events_table = {
	.name = "events",
	.what = "an event of the trace",
	.columns = columns,
	.ncolumns = sizeof(columns) / sizeof(*columns),
	.ops = &ops,
};
