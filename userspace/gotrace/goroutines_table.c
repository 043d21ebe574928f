// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of `gotrace goroutines`. Names are in the last column, because they may be long.
 *
 * Input: goroutines.c, which sorts; table.c formats cells, print.c writes to stdout.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "goroutines.h"
#include "print/screen.h"
#include "print/table.h"

static const char *const titles[COLUMN_TIMES] = {
	[COLUMN_EXEC] = "EXEC",	      [COLUMN_SCHED] = "SCHED",	    [COLUMN_SYNC] = "SYNC",
	[COLUMN_NETWORK] = "NETWORK", [COLUMN_SYSCALL] = "SYSCALL", [COLUMN_GC] = "GC",
	[COLUMN_OTHER] = "OTHER",     [COLUMN_TOTAL] = "TOTAL",	    [COLUMN_GC_WORK] = "GC WORK",
	[COLUMN_LOST] = "LOST",
};

static struct columns make_columns(const struct goroutines *all)
{
	size_t n = summary__has_gaps(all->summary) ? COLUMN_TIMES : COLUMN_LOST;

	return (struct columns){ .n = n, .titles = titles, .first = 8 };
}

/* Columns that are shown even if they are empty, or the terminal is narrow. */
static uint32_t kept(const struct goroutines *all)
{
	uint32_t sort = all->sort < COLUMN_TIMES ? 1u << all->sort : 0;

	return 1u << COLUMN_EXEC | 1u << COLUMN_TOTAL | 1u << COLUMN_LOST | sort;
}

static void sum_columns(struct columns *c, const struct goroutines *all,
			const struct summary_stats *stats)
{
	for (unsigned int i = 0; i < c->n; i++)
		c->sum[i] += (double)column__of(all, stats, i);
}

static void put_times(struct out *o, const struct columns *c, const struct goroutines *all,
		      uint64_t first, const struct summary_stats *stats)
{
	out__format(o, "%8" PRIu64, first);
	for (unsigned int i = 0; i < c->n; i++)
		columns__time(c, o, i, column__of(all, stats, i));
	out__text(o, "  ");
}

static void put_row(struct out *o, const struct columns *c, const struct goroutines *all,
		    uint64_t first, const struct summary_stats *stats, struct trace_string name)
{
	put_times(o, c, all, first, stats);
	screen__function(o, name, NO_STACK, columns__used(c));
	out__char(o, '\n');
}

int table__groups(const struct goroutines *all)
{
	struct out *o = out__table();
	struct columns c = make_columns(all);
	size_t n;
	const struct group **groups = groups__sorted(all, &n);

	if (!groups)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sum_columns(&c, all, &groups[i]->stats);
	columns__fit(&c, o, kept(all));
	columns__head(&c, o, "COUNT", all->select->by_label ? "LABEL" : "START FUNCTION");
	for (size_t i = 0; i < n; i++)
		put_row(o, &c, all, groups[i]->count, &groups[i]->stats,
			group__name(all, groups[i]));
	columns__note(&c, o);
	free(groups);
	out__flush(o);
	return 0;
}

/* The lines; or, without `o`, their sums. */
static int put_goroutines(struct out *o, const struct goroutines *all, struct columns *c)
{
	struct summary_goroutine g;
	int err = 0;

	for (size_t i = 0; i < record_store__count(all->store) && !err; i++) {
		err = summary__unpack(record_store__get(all->store, i), &g);
		if (err)
			break;
		if (o)
			put_row(o, c, all, g.id, &g.stats, summary__name(all->summary, g.name));
		else
			sum_columns(c, all, &g.stats);
		summary_stats__deinit(&g.stats);
	}
	return err;
}

int table__goroutines(const struct goroutines *all)
{
	struct out *o = out__table();
	struct columns c = make_columns(all);
	int err = o->screen.width ? put_goroutines(NULL, all, &c) : 0;

	if (err)
		return err;
	columns__fit(&c, o, kept(all));
	columns__head(&c, o, "ID", "START FUNCTION");
	err = put_goroutines(o, all, &c);
	columns__note(&c, o);
	out__flush(o);
	return err;
}

/* A point in time, in seconds since the start of the trace. */
static void put_moment(struct out *o, const struct goroutines *all, int64_t time)
{
	uint64_t ns = (uint64_t)time - (uint64_t)all->trace;

	out__format(o, "%" PRIu64 ".%09" PRIu64 "s", ns / 1000000000, ns % 1000000000);
}

static void put_when(struct out *o, const struct goroutines *all, const char *what, int64_t time,
		     const char *never)
{
	out__text(o, what);
	if (time)
		put_moment(o, all, time);
	else
		out__text(o, never);
	out__char(o, '\n');
}

static void put_parts(struct out *o, const struct goroutines *all,
		      const struct summary_stats *stats)
{
	static const struct trace_string nothing = { "", 0 };
	const struct duration *a;

	table__part(o, stats->total, 0, "total", nothing);
	table__part(o, stats->exec, stats->total, "running", nothing);
	table__part(o, stats->sched_wait, stats->total, "runnable, waiting for a P", nothing);
	table__part(o, stats->syscall, stats->total, "in system calls", nothing);
	table__part(o, stats->syscall_block, stats->total, "in system calls, without a P", nothing);
	for (a = stats->block.at; a < stats->block.at + stats->block.n; a++)
		table__part(o, a->ns, stats->total,
			    "blocked: ", summary__kind(all->summary, a->kind));
	table__part(o, summary_stats__unknown(stats), stats->total, "unknown", nothing);
	table__part(o, stats->lost, stats->total, "lost: records are missing", nothing);
	table__part(o, stats->gc_work, stats->total, "included in running: mark assists and sweeps",
		    nothing);
	for (a = stats->ranges.at; a < stats->ranges.at + stats->ranges.n; a++)
		table__part(o, a->ns, stats->total, "from beginning to end, including waits: ",
			    summary__kind(all->summary, a->kind));
}

static int put_regions(struct out *o, const struct goroutines *all,
		       const struct summary_goroutine *g)
{
	struct columns c = make_columns(all);
	struct summary_region *regions, *r;
	size_t n;
	int err = regions__sorted(g, &regions, &n);

	if (err)
		return err;
	for (r = regions; r < regions + n; r++)
		sum_columns(&c, all, &r->stats);
	columns__fit(&c, o, kept(all));
	if (n) {
		out__text(o, "\nregions:\n");
		columns__head(&c, o, "TASK", "NAME, FROM - TO");
	}
	for (r = regions; r < regions + n; r++) {
		put_times(o, &c, all, r->task, &r->stats);
		table__name(o, summary__name(all->summary, r->name),
			    "(inherited from the creator)");
		out__text(o, ", ");
		if (r->start != SUMMARY_NEVER)
			put_moment(o, all, r->start);
		out__text(o, " - ");
		if (r->end != SUMMARY_NEVER)
			put_moment(o, all, r->end);
		out__char(o, '\n');
	}
	regions__free(regions, n);
	return 0;
}

static void put_tasks(struct out *o, const struct goroutines *all)
{
	const struct summary_task *t;
	bool any = false;

	for (size_t i = 0; (t = summary__task(all->summary, i)); i++) {
		if (!task__is_shown(all, t))
			continue;
		if (!any)
			out__text(o, "\ntasks:\n");
		any = true;
		out__format(o, "%8" PRIu64 "  ", t->id);
		table__name(o, summary__name(all->summary, t->name),
			    t->id ? "(unknown: began before the trace)" : "(the background task)");
		out__char(o, '\n');
	}
}

int table__goroutine(const struct goroutines *all)
{
	struct out *o = out__table();
	struct summary_goroutine g;
	int err = summary__unpack(record_store__get(all->store, 0), &g);

	if (err)
		return err;
	out__format(o, "goroutine %" PRIu64 ": ", g.id);
	table__name(o, summary__name(all->summary, g.name), NO_STACK);
	out__text(o, "\n\n");
	put_when(o, all, "created  ", g.created == all->trace ? 0 : g.created, "before the trace");
	put_when(o, all, "started  ", g.started, "not in this trace");
	put_when(o, all, "ended    ", g.ended, "not in this trace");
	out__char(o, '\n');
	put_parts(o, all, &g.stats);
	err = put_regions(o, all, &g);
	put_tasks(o, all);
	summary_stats__deinit(&g.stats);
	out__flush(o);
	return err;
}
