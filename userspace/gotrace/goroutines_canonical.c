// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace goroutines --canonical`: a form that is compared byte by byte with the output of Go's
 * summarizer. selftests/reference/CANONICAL.md defines it.
 *
 * Input: analysis/record_store.c. print.c writes to stdout.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "goroutines.h"
#include "lib/array.h"
#include "print/print.h"

static void put_string(struct out *o, struct trace_string s)
{
	out__char(o, '"');
	out__ascii(o, s.data, s.len);
	out__char(o, '"');
}

static void put_time(struct out *o, const char *name, int64_t time)
{
	out__text(o, name);
	out__i64(o, time == SUMMARY_NEVER ? -1 : time);
}

struct named {
	struct trace_string name;
	int64_t ns;
};

static int compare_names(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	uint32_t len = x->name.len < y->name.len ? x->name.len : y->name.len;
	int order = memcmp(x->name.data, y->name.data, len);

	return order ? order : (x->name.len > y->name.len) - (x->name.len < y->name.len);
}

static int put_durations(struct out *o, const char *what, const struct summary *s,
			 const struct durations *a)
{
	struct named *named = calloc(a->n + 1, sizeof(*named));
	size_t n = 0;

	if (!named)
		return -ENOMEM;
	for (uint32_t i = 0; i < a->n; i++)
		if (a->at[i].ns)
			named[n++] = (struct named){ summary__kind(s, a->at[i].kind), a->at[i].ns };
	array__sort(named, n, sizeof(*named), compare_names);
	out__text(o, what);
	for (size_t i = 0; i < n; i++) {
		if (i)
			out__char(o, ';');
		put_string(o, named[i].name);
		out__char(o, '=');
		out__i64(o, named[i].ns);
	}
	out__char(o, ']');
	free(named);
	return 0;
}

/* Includes what Go counts twice, see analysis/summary.h. */
static int put_stats(struct out *o, const struct summary *s, const struct summary_stats *stats)
{
	int64_t twice = stats->go_twice;
	int err;

	put_time(o, "\texec=", stats->exec);
	put_time(o, "\tsched_wait=", time_add(stats->sched_wait, twice));
	put_time(o, "\tsyscall=", time_add(stats->syscall, twice));
	put_time(o, "\tsyscall_block=", time_sub(stats->syscall_block, twice));
	put_time(o, "\ttotal=", stats->total);
	err = put_durations(o, "\tblock=[", s, &stats->block);
	if (!err)
		err = put_durations(o, "\tranges=[", s, &stats->ranges);
	out__char(o, '\n');
	return err;
}

static int put_region(struct out *o, const struct summary *s, uint64_t g,
		      const struct summary_region *r)
{
	out__format(o, "region\t%" PRId64 "\ttask=%" PRIu64 "\t", (int64_t)g, r->task);
	put_string(o, summary__name(s, r->name));
	put_time(o, "\tstart=", r->start);
	put_time(o, "\tend=", r->end);
	return put_stats(o, s, &r->stats);
}

static int put_regions(struct out *o, const struct summary *s, const struct summary_goroutine *g)
{
	struct summary_region *regions;
	size_t n;
	int err = regions__sorted(g, &regions, &n);

	if (err)
		return err;
	for (size_t i = 0; i < n && !err; i++)
		err = put_region(o, s, g->id, &regions[i]);
	regions__free(regions, n);
	return err;
}

static int put_goroutine(struct out *o, const struct summary *s, const struct summary_goroutine *g)
{
	int err;

	out__format(o, "goroutine\t%" PRId64 "\t", (int64_t)g->id);
	put_string(o, summary__name(s, g->name));
	out__format(o, "\tpc=%" PRIx64, g->pc);
	put_time(o, "\tcreated=", g->created);
	put_time(o, "\tstarted=", g->started);
	put_time(o, "\tended=", g->ended);
	err = put_stats(o, s, &g->stats);
	return err ? err : put_regions(o, s, g);
}

static void put_list(struct out *o, const char *what, const struct summary_list *list, bool ids)
{
	out__text(o, what);
	for (size_t i = 0; i < list->n; i++) {
		if (i)
			out__char(o, ';');
		if (ids)
			out__u64(o, (uint64_t)list->at[i]);
		else
			put_time(o, "", list->at[i]);
	}
	out__char(o, ']');
}

static void put_task(struct out *o, const struct summary *s, const struct summary_task *t)
{
	out__format(o, "task\t%" PRIu64 "\t", t->id);
	put_string(o, summary__name(s, t->last_name));
	out__format(o, "\tparent=%" PRIu64, t->parent);
	put_time(o, "\tstart=", t->start);
	put_time(o, "\tend=", t->last_end);
	put_list(o, "\tchildren=[", &t->children, true);
	put_list(o, "\tgoroutines=[", &t->goroutines, false);
	put_list(o, "\tregions=[", &t->regions, false);
	put_list(o, "\tlogs=[", &t->logs, false);
	out__char(o, '\n');
}

int canonical__goroutines(const struct goroutines *all)
{
	struct out *o = out__stdout();
	const struct summary_task *t;
	struct summary_goroutine g;
	int err = 0;

	for (size_t i = 0; i < record_store__count(all->store) && !err; i++) {
		err = summary__unpack(record_store__get(all->store, i), &g);
		if (err)
			break;
		err = put_goroutine(o, all->summary, &g);
		summary_stats__deinit(&g.stats);
	}
	for (size_t i = 0; !err && (t = summary__task(all->summary, i)); i++)
		put_task(o, all->summary, t);
	if (!err)
		out__flush(o);
	return err;
}
