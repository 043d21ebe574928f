// SPDX-License-Identifier: GPL-2.0
/*
 * The tables `goroutines` and `slices`: the time of each goroutine in parts, in sum and one by one.
 *
 * Both are from analysis/latency.h, as `gotrace latency`. It needs 240 bytes per goroutine that is
 * alive, or twice as much for one that does more than wait. So a reader of both tables and of
 * `requests` has it once: the producer of slices fills both, and passes goroutines that end on to
 * requests.
 */
#include <stdlib.h>

#include "analysis/durations.h"
#include "analysis/latency.h"
#include "analysis/requests.h"
#include "sql/parts.h"

enum { G, FUNCTION, PC, CREATED, ENDED, PARTS, LONGEST = PARTS + PARTS_COLUMNS, MIGRATIONS };

static const struct column goroutine_columns[] = {
	[G] = { "g", "BIGINT", "the goroutine" },
	[FUNCTION] = { "function", "VARCHAR", "its start function; null: unknown" },
	[PC] = { "pc", "BIGINT", "address of that function" },
	[CREATED] = { "created_ns", "BIGINT",
		      "when it was created, or the first generation with it began" },
	[ENDED] = { "ended_ns", "BIGINT", "null: it is alive when the trace ends" },
	[PARTS] = PARTS_LIST,
	[LONGEST] = { "longest_delay_ns", "BIGINT",
		      "its longest wait in a run queue of the kernel" },
	[MIGRATIONS] = { "migrations", "BIGINT", "how often its thread came back on another CPU" },
};

enum {
	SLICE_G,
	SLICE_FUNCTION,
	SLICE_START,
	SLICE_NS,
	SLICE_STATE,
	SLICE_PART,
	SLICE_REASON,
	SLICE_THREAD,
	SLICE_UNKNOWN
};

static const char *const part_names[LATENCY_PARTS] = { LATENCY_PART_NAMES };

static const char *part_name(unsigned int i)
{
	return part_names[i];
}

static const char *state_name(unsigned int i)
{
	return semantics__state(RESOURCE_GOROUTINE, (uint8_t)i);
}

static const struct column slice_columns[] = {
	[SLICE_G] = { "g", "BIGINT", "the goroutine" },
	[SLICE_FUNCTION] = { "function", "VARCHAR",
			     "its start function, as far as it is known then" },
	[SLICE_START] = { "start_ns", "BIGINT", "clock of the trace" },
	[SLICE_NS] = { "ns", "BIGINT", "duration" },
	[SLICE_STATE] = { "state", "VARCHAR", "for Go: Running, Runnable, Waiting, Syscall",
			  GO_STATE_SYSCALL + 1, state_name },
	[SLICE_PART] = { "part", "VARCHAR",
			 "oncpu, go-runnable, kernel-runnable, throttled, kernel-blocked, "
			 "syscall-blocked or go-blocked",
			 LATENCY_PARTS, part_name },
	[SLICE_REASON] = { "reason", "VARCHAR",
			   "why it was blocked, or why its thread was waiting" },
	[SLICE_THREAD] = { "thread", "BIGINT", "while it runs or is in a system call" },
	[SLICE_UNKNOWN] = { "unknown", "BIGINT", "1: the state of its thread is unknown" },
};

struct producer {
	struct rows *rows;
	struct latency *latency;
	bool shared; /* of goroutines: it is that of slices, which fills this table */
	/* of slices: those that it is shared with, or NULL */
	struct producer *goroutines;
	struct requests *requests;
	struct text_cache names, reasons;
	struct duckdb_text parts[LATENCY_PARTS], states[GO_STATE_SYSCALL + 1];
};

static struct duckdb_text name_of(struct producer *p, uint32_t name)
{
	if (text_cache__has(&p->names, name))
		return p->names.at[name];
	return text_cache__get(&p->names, p->rows, name, latency__name(p->latency, name));
}

/* Reasons are few: the part in the upper half of a kind does not matter for the text. */
static struct duckdb_text reason_of(struct producer *p, uint32_t reason)
{
	if (text_cache__has(&p->reasons, reason))
		return p->reasons.at[reason];
	return text_cache__get(&p->reasons, p->rows, reason, latency__reason(p->latency, reason));
}

static int add_goroutine(void *context, const struct latency_goroutine *g)
{
	struct producer *p = context;
	struct rows *r = p->rows;

	if (rows__add(r))
		return -ENOMEM;
	row__id(r, G, g->id);
	row__text(r, FUNCTION, name_of(p, g->name));
	row__number(r, PC, g->pc ? (int64_t)g->pc : ROW_NULL);
	row__number(r, CREATED, g->created);
	row__number(r, ENDED, g->state == GO_STATE_NOT_EXIST ? g->ended : ROW_NULL);
	row__parts(r, PARTS, &g->stats);
	row__number(r, LONGEST, g->stats.longest);
	row__number(r, MIGRATIONS, g->stats.migrations);
	return 0;
}

static int add_slice(void *context, const struct latency_slice *s)
{
	struct producer *p = context;
	struct rows *r = p->rows;

	if (s->lost)
		return 0;
	if (rows__add(r))
		return -ENOMEM;
	row__id(r, SLICE_G, s->id);
	row__text(r, SLICE_FUNCTION, name_of(p, s->name));
	row__number(r, SLICE_START, s->from);
	row__number(r, SLICE_NS, time_sub(s->to, s->from));
	row__text(r, SLICE_STATE, p->states[s->state]);
	row__text(r, SLICE_PART, p->parts[s->part]);
	row__text(r, SLICE_REASON, reason_of(p, s->reason));
	row__id(r, SLICE_THREAD, s->m);
	row__number(r, SLICE_UNKNOWN, s->unknown);
	return 0;
}

static int pass_goroutine(void *context, const struct latency_goroutine *g)
{
	const struct producer *p = context;
	int err = p->requests ? requests__goroutine_done(p->requests, g) : 0;

	return !err && p->goroutines ? add_goroutine(p->goroutines, g) : err;
}

static void destroy(void *producer)
{
	struct producer *p = producer;

	if (!p->shared)
		latency__destroy(p->latency);
	text_cache__deinit(&p->names);
	text_cache__deinit(&p->reasons);
	free(p);
}

static struct producer *create(struct rows *rows, bool slices)
{
	struct producer *p = calloc(1, sizeof(*p));
	const struct latency_opts opts = {
		.from = INT64_MIN,
		.to = INT64_MAX,
		.done = slices ? pass_goroutine : add_goroutine,
		.slice = slices ? add_slice : NULL,
		.context = p,
	};

	if (!p)
		return NULL;
	p->rows = rows;
	p->latency = latency__create(&opts);
	if (!p->latency) {
		destroy(p);
		return NULL;
	}
	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		p->parts[i] = text__static(part_names[i]);
	for (uint8_t i = 0; i <= GO_STATE_SYSCALL; i++)
		p->states[i] = text__static(semantics__state(RESOURCE_GOROUTINE, i));
	return p;
}

static void *create_goroutines(struct rows *rows, const struct source *source,
			       const struct reader *reader)
{
	(void)source;
	(void)reader;
	return create(rows, false);
}

static void *create_slices(struct rows *rows, const struct source *source,
			   const struct reader *reader)
{
	(void)source;
	(void)reader;
	return create(rows, true);
}

static int step(void *producer, const struct timeline *t, const struct timeline_step *step,
		struct error *error)
{
	const struct producer *p = producer;
	int err = p->requests ? requests__pass(p->requests, t, step, error) : 0;

	return err || p->shared ? err : latency__step(p->latency, t, step, error);
}

static int finish(void *producer, struct error *error)
{
	const struct producer *p = producer;

	return p->shared ? 0 : latency__finish(p->latency, error);
}

void slices__share(void *slices, void *goroutines, void *requests)
{
	struct producer *s = slices, *g = goroutines;

	latency__destroy(g->latency);
	g->latency = s->latency; /* for names */
	g->shared = true;
	s->goroutines = g;
	s->requests = requests_producer__requests(requests);
	requests__share(s->requests, s->latency);
}

static const struct producer_ops goroutine_ops = {
	.create = create_goroutines,
	.step = step,
	.finish = finish,
	.destroy = destroy,
};

static const struct producer_ops slice_ops = {
	.create = create_slices,
	.step = step,
	.finish = finish,
	.destroy = destroy,
};

const struct table goroutines_table = {
	.name = "goroutines",
	.what = "a goroutine of a trace, with the sum of its time in each part",
	.columns = goroutine_columns,
	.ncolumns = sizeof(goroutine_columns) / sizeof(*goroutine_columns),
	.ops = &goroutine_ops,
};

const struct table slices_table = {
	.name = "slices",
	.what = "time that a goroutine spent in one part, for one reason, without interruption",
	.columns = slice_columns,
	.ncolumns = sizeof(slice_columns) / sizeof(*slice_columns),
	.ops = &slice_ops,
};
