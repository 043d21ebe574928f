// SPDX-License-Identifier: GPL-2.0
/*
 * The table `gc`: what the garbage collector does, and stop-the-world pauses, whatever their
 * reason.
 *
 * The runtime permits one GC cycle and one pause at a time; sweeps are by P, mark assists by
 * goroutine.
 */
#include <stdlib.h>

#include "analysis/durations.h"
#include "analysis/goroutine_tracker.h"
#include "sql/tables.h"

enum { KIND, NAME, START, END, NS, G, P };

static const struct column columns[] = {
	[KIND] = { "kind", "VARCHAR", "gc (mark phase), stw, sweep or assist" },
	[NAME] = { "name", "VARCHAR", "with the reason of a stop-the-world pause" },
	[START] = { "start_ns", "BIGINT",
		    "clock of the trace; null: before the trace, or unknown" },
	[END] = { "end_ns", "BIGINT", "null: it goes on when the trace ends" },
	[NS] = { "ns", "BIGINT", "duration; null: unknown" },
	[G] = { "g", "BIGINT", "that stopped the world, or assists" },
	[P] = { "p", "BIGINT", "that sweeps" },
};

enum range_kind { RANGE_GC, RANGE_STW, RANGE_SWEEP, RANGE_ASSIST, RANGE_KINDS };

static const char *const kind_names[RANGE_KINDS] = {
	[RANGE_GC] = "gc",
	[RANGE_STW] = "stw",
	[RANGE_SWEEP] = "sweep",
	[RANGE_ASSIST] = "assist",
};

struct open_range {
	uint64_t id;	 /* of the P or goroutine */
	int64_t begin;	 /* ROW_NULL: unknown */
	uint64_t reason; /* string of a pause */
};

struct producer {
	struct rows *rows;
	struct map open[RANGE_KINDS]; /* by P or goroutine; 0 for GC cycles and pauses */
	int64_t lost_to;	      /* what began before is uncertain */
	struct duckdb_text kinds[RANGE_KINDS];
};

static void *create(struct rows *rows, const struct source *source, const struct reader *reader)
{
	struct producer *p = calloc(1, sizeof(*p));

	(void)source;
	(void)reader;
	if (!p)
		return NULL;
	p->rows = rows;
	p->lost_to = INT64_MIN;
	for (unsigned int i = 0; i < RANGE_KINDS; i++)
		p->kinds[i] = text__static(kind_names[i]);
	return p;
}

static void destroy(void *producer)
{
	struct producer *p = producer;

	for (unsigned int i = 0; i < RANGE_KINDS; i++)
		map__free(&p->open[i]);
	free(p);
}

static enum range_kind kind_of(const struct trace_event *ev, const struct semantics *m)
{
	if (m->resource == RESOURCE_NONE)
		return RANGE_GC;
	if (m->resource == RESOURCE_PROC)
		return RANGE_SWEEP;
	return range__is_mark_assist(ev) ? RANGE_ASSIST : RANGE_STW;
}

/* `end` is ROW_NULL if it goes on. The caller sets the name. */
static int add_row(struct producer *p, enum range_kind kind, uint64_t id, int64_t begin,
		   int64_t end)
{
	bool known = begin != ROW_NULL && begin >= p->lost_to;
	struct rows *r = p->rows;

	if (rows__add(r))
		return -ENOMEM;
	row__text(r, KIND, p->kinds[kind]);
	row__number(r, START, known ? begin : ROW_NULL);
	row__number(r, END, end);
	row__number(r, NS, known && end != ROW_NULL ? time_sub(end, begin) : ROW_NULL);
	row__id(r, G, kind == RANGE_STW || kind == RANGE_ASSIST ? id : TRACE_NO_G);
	row__id(r, P, kind == RANGE_SWEEP ? id : TRACE_NO_P);
	return 0;
}

static int begin_range(struct producer *p, enum range_kind kind, const struct trace_event *ev,
		       const struct semantics *m)
{
	uint64_t key = kind == RANGE_STW || kind == RANGE_GC ? 0 : m->id;
	struct open_range *range = map__get(&p->open[kind], key);

	if (range && m->kind == SEMANTICS_RANGE_ACTIVE)
		return 0;
	if (!range)
		range = map__put_new(&p->open[kind], key, sizeof(*range));
	if (!range)
		return -ENOMEM;
	range->id = kind == RANGE_STW ? ev->g : m->id;
	range->reason = ev->arg[0];
	range->begin = m->kind == SEMANTICS_RANGE_ACTIVE ? ROW_NULL : ev->time;
	return 0;
}

/* The end of a pause has the same reason as its begin, which the reader checks. */
static int end_range(struct producer *p, enum range_kind kind, const struct trace_event *ev,
		     const struct semantics *m)
{
	uint64_t key = kind == RANGE_STW || kind == RANGE_GC ? 0 : m->id;
	uint64_t id = kind == RANGE_STW ? ev->g : m->id;
	struct open_range *range = map__get(&p->open[kind], key);
	int64_t begin = ROW_NULL;
	int err;

	if (range && (kind != RANGE_STW || (range->id == id && range->reason == ev->arg[0]))) {
		begin = range->begin;
		free(map__remove(&p->open[kind], key));
	}
	err = add_row(p, kind, id, begin, ev->time);
	if (!err)
		row__name(p->rows, NAME, m);
	return err;
}

static int step(void *producer, const struct timeline *t, const struct timeline_step *step,
		struct error *error)
{
	const struct trace_event *ev = step->event;
	struct producer *p = producer;
	struct semantics m;
	enum range_kind kind;
	int err;

	if (!ev)
		return 0;
	semantics__of(ev, &m);
	if (m.kind < SEMANTICS_RANGE_BEGIN || m.kind > SEMANTICS_RANGE_END)
		return 0;
	p->lost_to = timeline__go_lost_to(t);
	kind = kind_of(ev, &m);
	err = m.kind == SEMANTICS_RANGE_END ? end_range(p, kind, ev, &m) :
					      begin_range(p, kind, ev, &m);
	return err ? producer__out_of_memory(error) : 0;
}

static int put_open(struct producer *p, enum range_kind kind)
{
	static const char *const names[RANGE_KINDS] = {
		[RANGE_GC] = "GC concurrent mark phase",
		[RANGE_STW] = "stop-the-world",
		[RANGE_SWEEP] = "GC incremental sweep",
		[RANGE_ASSIST] = "GC mark assist",
	};
	const struct open_range *range;
	struct map_slot *slots;
	size_t n;
	int err = 0;

	slots = map__sorted(&p->open[kind], &n);
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; !err && i < n; i++) {
		range = slots[i].value;
		err = add_row(p, kind, range->id, range->begin, ROW_NULL);
		if (!err)
			row__text(p->rows, NAME, text__static(names[kind]));
	}
	free(slots);
	return err;
}

static int finish(void *producer, struct error *error)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < RANGE_KINDS; i++)
		err = put_open(producer, (enum range_kind)i);
	return err ? producer__out_of_memory(error) : 0;
}

static const struct producer_ops ops = {
	.create = create,
	.step = step,
	.finish = finish,
	.destroy = destroy,
};

const struct table gc_table = {
	.name = "gc",
	.what = "a GC cycle, a stop-the-world pause, a sweep or a mark assist",
	.columns = columns,
	.ncolumns = sizeof(columns) / sizeof(*columns),
	.ops = &ops,
};
