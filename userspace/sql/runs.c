// SPDX-License-Identifier: GPL-2.0
/*
 * The tables `runs`, one row per trace, and `losses`, what its recorder reported as lost.
 *
 * The counts are from analysis/statistics.h, as those of `gotrace stat`.
 */
#include <stdlib.h>

#include "analysis/statistics.h"
#include "lib/kinds.h"
#include "sql/tables.h"

enum {
	FORMAT,
	START,
	END,
	WALL,
	WALL_OFFSET,
	EVENTS,
	GOROUTINES,
	PRESENT,
	ENDED,
	MOST_ALIVE,
	THREADS,
	PROCS,
	GOMAXPROCS,
	GENERATIONS,
	KERNEL,
	LOST,
	COMMAND,
	BUILD,
	GO,
	TOOL,
	CLOCK_SYNCHRONIZED,
	CLOCK_MAX_ERROR,
	CLOCK_ERROR,
	CLOCK_SHIFT,
};

static const struct column run_columns[] = {
	[FORMAT] = { "format", "VARCHAR", "version of the trace format, such as go1.26" },
	[START] = { "start_ns", "BIGINT", "first event, clock of the trace" },
	[END] = { "end_ns", "BIGINT", "last event" },
	[WALL] = { "wall_ns", "BIGINT", "CLOCK_REALTIME of start_ns, since 1970; null: unknown" },
	[WALL_OFFSET] = { "wall_offset_ns", "BIGINT",
			  "to be added to a time of this trace for CLOCK_REALTIME" },
	[EVENTS] = { "events", "BIGINT", "rows of events" },
	[GOROUTINES] = { "goroutines", "BIGINT", "that were created or existed before" },
	[PRESENT] = { "present", "BIGINT", "of these: existed before" },
	[ENDED] = { "ended", "BIGINT", "of these: have ended" },
	[MOST_ALIVE] = { "most_alive", "BIGINT", "largest number of goroutines at a time" },
	[THREADS] = { "threads", "BIGINT", "with events" },
	[PROCS] = { "procs", "BIGINT", "Ps with events" },
	[GOMAXPROCS] = { "gomaxprocs", "BIGINT", "null: unknown" },
	[GENERATIONS] = { "generations", "BIGINT", "0: a trace of Go 1.21 or older" },
	[KERNEL] = { "kernel_events", "BIGINT", "0: no kernel events were recorded" },
	[LOST] = { "lost", "BIGINT", "records that the recorder lost" },
	[COMMAND] = { "command", "VARCHAR", "command line of the program; null: unknown" },
	[BUILD] = { "build", "VARCHAR", "build ID of the program; null: unknown" },
	[GO] = { "go_version", "VARCHAR", "of the program; null: unknown" },
	[TOOL] = { "recorder", "VARCHAR", "null: Go's runtime wrote the trace" },
	[CLOCK_SYNCHRONIZED] = { "clock_synchronized", "BIGINT",
				 "1: the host's clock was, all the time; null: unknown, as below" },
	[CLOCK_MAX_ERROR] = { "clock_max_error_ns", "BIGINT",
			      "bound of its error, by its own estimate: the largest one" },
	[CLOCK_ERROR] = { "clock_error_ns", "BIGINT", "its estimated error: the largest one" },
	[CLOCK_SHIFT] = { "clock_shift_ns", "BIGINT",
			  "how much it was later than wall times here: the furthest from 0" },
};

enum { LOSS_KIND, LOSS_COUNT, LOSS_FROM, LOSS_TO };

static const struct column loss_columns[] = {
	[LOSS_KIND] = { "kind", "VARCHAR", "of the records" },
	[LOSS_COUNT] = { "count", "BIGINT", "of the records" },
	[LOSS_FROM] = { "from_ns", "BIGINT", "clock of the trace" },
	[LOSS_TO] = { "to_ns", "BIGINT", "clock of the trace" },
};

struct producer {
	struct rows *rows;
	const struct source *source;
	struct statistics statistics;
	unsigned int version;
};

static void *create(struct rows *rows, const struct source *source, const struct reader *reader)
{
	struct producer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->rows = rows;
	p->source = source;
	p->version = reader__version(reader);
	statistics__init(&p->statistics);
	return p;
}

static void destroy(void *producer)
{
	struct producer *p = producer;

	statistics__deinit(&p->statistics);
	free(p);
}

static int run_step(void *producer, const struct timeline *t, const struct timeline_step *step,
		    struct error *error)
{
	struct producer *p = producer;

	(void)t;
	if (step->event && statistics__event(&p->statistics, step->event))
		return producer__out_of_memory(error);
	return 0;
}

static void put_meta(struct rows *r, const struct statistics *s)
{
	static const struct {
		const char *name;
		unsigned int column;
	} members[] = {
		{ "command", COMMAND },
		{ "build_id", BUILD },
		{ "go_version", GO },
		{ "tool", TOOL },
	};
	struct buf data = buf__make(s->meta, s->meta_len);
	struct private_pair pair;

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		row__text(r, members[i].column, text__null());
	while (private_read__pair(&data, &pair))
		for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
			if (trace_string__equals(pair.name, members[i].name))
				row__copy(r, members[i].column, pair.value);
}

static void put_times(struct rows *r, const struct statistics *s, int64_t wall)
{
	bool known = wall != ROW_NULL;

	row__number(r, START, s->start);
	row__number(r, END, s->end);
	row__number(r, WALL, wall);
	row__number(r, WALL_OFFSET,
		    known ? (int64_t)((uint64_t)wall - (uint64_t)s->start) : ROW_NULL);
}

static void put_counts(struct rows *r, const struct statistics *s)
{
	row__number(r, EVENTS, (int64_t)s->events);
	row__number(r, GOROUTINES, (int64_t)(s->created + s->present));
	row__number(r, PRESENT, (int64_t)s->present);
	row__number(r, ENDED, (int64_t)s->ended);
	row__number(r, MOST_ALIVE, (int64_t)s->most_alive);
	row__number(r, THREADS, (int64_t)s->threads.n);
	row__number(r, PROCS, (int64_t)s->ps.n);
	row__number(r, GOMAXPROCS, s->gomaxprocs ? (int64_t)s->gomaxprocs : ROW_NULL);
	row__number(r, GENERATIONS, (int64_t)s->generations);
	row__number(r, KERNEL, (int64_t)s->kernel.items);
	row__number(r, LOST, (int64_t)s->lost);
}

/* How exact the wall-clock times are, compared with traces of other hosts. */
static void put_clock(struct rows *r, const struct statistics_host_clock *c)
{
	bool known = c->generations;

	row__number(r, CLOCK_SYNCHRONIZED, known ? c->worst.synchronized : ROW_NULL);
	row__number(r, CLOCK_MAX_ERROR, known ? (int64_t)c->worst.max_error : ROW_NULL);
	row__number(r, CLOCK_ERROR, known ? (int64_t)c->worst.error : ROW_NULL);
	row__number(r, CLOCK_SHIFT, known ? c->worst.shift : ROW_NULL);
}

static int run_finish(void *producer, struct error *error)
{
	struct producer *p = producer;
	struct rows *r = p->rows;
	char format[24];
	int len = p->version ? snprintf(format, sizeof(format), "go1.%u", p->version) :
			       snprintf(format, sizeof(format), "gotrace");

	if (rows__add(r))
		return producer__out_of_memory(error);
	row__copy(r, FORMAT, (struct trace_string){ format, (uint32_t)len });
	put_times(r, &p->statistics, p->source->wall_ns);
	put_counts(r, &p->statistics);
	put_meta(r, &p->statistics);
	put_clock(r, &p->statistics.host_clock);
	return 0;
}

static int add_losses(struct producer *p, const struct timeline *t, struct buf data)
{
	struct rows *r = p->rows;
	struct private_loss loss;

	while (private_read__loss(&data, &loss)) {
		if (rows__add(r))
			return -ENOMEM;
		row__text(r, LOSS_KIND,
			  text__static(kind__name(
				  loss.kind < GT_KIND_END ? (unsigned int)loss.kind : 0)));
		row__number(r, LOSS_COUNT, (int64_t)loss.count);
		row__number(r, LOSS_FROM, timeline__time(t, loss.from));
		row__number(r, LOSS_TO, timeline__time(t, loss.to));
	}
	return 0;
}

static int loss_step(void *producer, const struct timeline *t, const struct timeline_step *step,
		     struct error *error)
{
	const struct trace_event *ev = step->event;
	struct private_record record;
	struct private_reader reader;
	int err = 0;

	if (!ev || ev->type != EV_SYNC || !ev->dictionary || !ev->sync->generation)
		return 0;
	private_reader__init(&reader, ev->dictionary);
	while (err >= 0 && (err = private_reader__next(&reader, &record)) > 0)
		if (record.kind == PRIVATE_LOSSES)
			err = add_losses(producer, t, record.data);
	private_reader__deinit(&reader);
	return err ? producer__out_of_memory(error) : 0;
}

static const struct producer_ops run_ops = {
	.create = create,
	.step = run_step,
	.finish = run_finish,
	.destroy = destroy,
};

static const struct producer_ops loss_ops = {
	.create = create,
	.step = loss_step,
	.destroy = destroy,
};

const struct table runs_table = {
	.name = "runs",
	.what = "a trace",
	.columns = run_columns,
	.ncolumns = sizeof(run_columns) / sizeof(*run_columns),
	.ops = &run_ops,
};

const struct table losses_table = {
	.name = "losses",
	.what = "records of one kind that were lost in a stretch of time",
	.columns = loss_columns,
	.ncolumns = sizeof(loss_columns) / sizeof(*loss_columns),
	.ops = &loss_ops,
};
