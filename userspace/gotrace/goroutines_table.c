// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of `gotrace goroutines` for people: names last, since they may be long.
 *
 * After goroutines.c, which sorts; table.c makes the cells, print.c takes what is put here to stdout.
 */
#include <errno.h>
#include <stdlib.h>

#include "goroutines.h"
#include "table.h"

#define TIME_WIDTH 9
#define NO_STACK   "(unknown: no stack seen)"

static const char *const titles[COLUMN_TIMES] = {
	[COLUMN_EXEC] = "EXEC",	      [COLUMN_SCHED] = "SCHED",	    [COLUMN_SYNC] = "SYNC",
	[COLUMN_NETWORK] = "NETWORK", [COLUMN_SYSCALL] = "SYSCALL", [COLUMN_GC] = "GC",
	[COLUMN_OTHER] = "OTHER",     [COLUMN_TOTAL] = "TOTAL",	    [COLUMN_GC_WORK] = "GC WORK",
};

static void put_head(struct out *o, const char *first, const char *last)
{
	table__padded(o, first, 8);
	for (unsigned int i = 0; i < COLUMN_TIMES; i++)
		table__padded(o, titles[i], TIME_WIDTH + 1);
	out__text(o, "  ");
	out__text(o, last);
	out__char(o, '\n');
}

static void put_row(struct out *o, const struct goroutines *all, uint64_t first,
		    const struct summary_stats *stats, struct trace_string name)
{
	table__count(o, first, 8);
	for (unsigned int i = 0; i < COLUMN_TIMES; i++) {
		out__char(o, ' ');
		table__time(o, column__of(all, stats, i), TIME_WIDTH);
	}
	out__text(o, "  ");
	table__name(o, name, NO_STACK);
	out__char(o, '\n');
}

static void end_table(struct out *o)
{
	out__flush(o);
	free(o);
}

int table__groups(const struct goroutines *all)
{
	struct out *o = calloc(1, sizeof(*o));
	const struct group **groups;
	size_t n;

	groups = o ? groups__sorted(all, &n) : NULL;
	if (!groups) {
		free(o);
		return -ENOMEM;
	}
	put_head(o, "COUNT", "START FUNCTION");
	for (size_t i = 0; i < n; i++)
		put_row(o, all, groups[i]->count, &groups[i]->stats, group__name(all, groups[i]));
	free(groups);
	end_table(o);
	return 0;
}

int table__goroutines(const struct goroutines *all)
{
	struct out *o = calloc(1, sizeof(*o));
	struct summary_goroutine g;
	int err = o ? 0 : -ENOMEM;

	if (err)
		return err;
	put_head(o, "ID", "START FUNCTION");
	for (size_t i = 0; i < summary_store__count(all->store) && !err; i++) {
		err = summary_store__get(all->store, i, &g);
		if (err)
			break;
		put_row(o, all, g.id, &g.stats, summary__name(all->summary, g.name));
		summary_stats__deinit(&g.stats);
	}
	end_table(o);
	return err;
}

/* A moment, as seconds since the trace's start. */
static void put_moment(struct out *o, const struct goroutines *all, int64_t time)
{
	uint64_t ns = (uint64_t)time - (uint64_t)all->start;

	out__u64(o, ns / 1000000000);
	out__char(o, '.');
	out__nine(o, ns % 1000000000);
	out__char(o, 's');
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

/* A line of where its time went, with its share. */
static void put_part(struct out *o, int64_t ns, int64_t total, const char *what,
		     struct trace_string detail)
{
	if (!ns)
		return;
	table__time(o, ns, TIME_WIDTH + 2);
	table__share(o, ns, total);
	out__text(o, "  ");
	out__text(o, what);
	out__unicode(o, detail.data, detail.len);
	out__char(o, '\n');
}

static void put_parts(struct out *o, const struct goroutines *all,
		      const struct summary_stats *stats)
{
	static const struct trace_string nothing = { "", 0 };
	const struct amount *a;

	put_part(o, stats->total, 0, "in all", nothing);
	put_part(o, stats->exec, stats->total, "running", nothing);
	put_part(o, stats->sched_wait, stats->total, "runnable, waiting for a P", nothing);
	put_part(o, stats->syscall, stats->total, "in system calls", nothing);
	put_part(o, stats->syscall_block, stats->total, "in system calls that cost it its P",
		 nothing);
	for (a = stats->block.at; a < stats->block.at + stats->block.n; a++)
		put_part(o, a->ns, stats->total, "blocked: ", summary__kind(all->summary, a->kind));
	put_part(o, summary_stats__unknown(stats), stats->total, "not known", nothing);
	put_part(o, stats->gc_work, stats->total, "of running: in mark assists and sweeps",
		 nothing);
	for (a = stats->ranges.at; a < stats->ranges.at + stats->ranges.n; a++)
		put_part(o, a->ns, stats->total, "from begin to end, waits included: ",
			 summary__kind(all->summary, a->kind));
}

static int put_regions(struct out *o, const struct goroutines *all,
		       const struct summary_goroutine *g)
{
	struct summary_region *regions, *r;
	size_t n;
	int err = regions__sorted(g, &regions, &n);

	if (err)
		return err;
	if (n) {
		out__text(o, "\nregions:\n");
		put_head(o, "TASK", "NAME, FROM - TO");
	}
	for (r = regions; r < regions + n; r++) {
		table__count(o, r->task, 8);
		for (unsigned int i = 0; i < COLUMN_TIMES; i++) {
			out__char(o, ' ');
			table__time(o, column__of(all, &r->stats, i), TIME_WIDTH);
		}
		out__text(o, "  ");
		table__name(o, summary__name(all->summary, r->name), "(its creator's)");
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
		table__count(o, t->id, 8);
		out__text(o, "  ");
		table__name(o, summary__name(all->summary, t->name),
			    t->id ? "(unknown: its begin was not seen)" : "(the background task)");
		out__char(o, '\n');
	}
}

int table__goroutine(const struct goroutines *all)
{
	struct out *o = calloc(1, sizeof(*o));
	struct summary_goroutine g;
	int err = o ? summary_store__get(all->store, 0, &g) : -ENOMEM;

	if (err) {
		free(o);
		return err;
	}
	out__text(o, "goroutine ");
	out__u64(o, g.id);
	out__text(o, ": ");
	table__name(o, summary__name(all->summary, g.name), NO_STACK);
	out__text(o, "\n\n");
	put_when(o, all, "created  ", g.created == all->start ? 0 : g.created, "before the trace");
	put_when(o, all, "started  ", g.started, "not in this trace");
	put_when(o, all, "ended    ", g.ended, "not in this trace");
	out__char(o, '\n');
	put_parts(o, all, &g.stats);
	err = put_regions(o, all, &g);
	put_tasks(o, all);
	summary_stats__deinit(&g.stats);
	end_table(o);
	return err;
}
