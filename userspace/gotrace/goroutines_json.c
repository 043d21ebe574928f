// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace goroutines --json`: one object with all figures in nanoseconds. Without --all it
 * contains the goroutines by start function, otherwise each of them with its regions, and the
 * tasks.
 *
 * Input: analysis/record_store.c. lib/json.c writes to stdout.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/json.h"
#include "goroutines.h"

static void put_string(struct json *j, const char *name, struct trace_string s)
{
	json__bytes(j, name, s.data, s.len);
}

static void put_time(struct json *j, const char *name, int64_t time, int64_t never)
{
	if (time == never)
		json__null(j, name);
	else
		json__i64(j, name, time);
}

/* A list, not an object: names in a corrupt trace need not be unique. */
static void put_durations(struct json *j, const char *name, const struct summary *s,
			  const struct durations *a)
{
	json__open(j, name, '[');
	for (uint32_t i = 0; i < a->n; i++) {
		if (!a->at[i].ns)
			continue;
		json__open(j, NULL, '{');
		put_string(j, "name", summary__kind(s, a->at[i].kind));
		json__i64(j, "time", a->at[i].ns);
		json__close(j, '}');
	}
	json__close(j, ']');
}

static void put_stats(struct json *j, const struct summary *s, const struct summary_stats *stats)
{
	json__i64(j, "exec", stats->exec);
	json__i64(j, "sched_wait", stats->sched_wait);
	json__i64(j, "syscall", stats->syscall);
	json__i64(j, "syscall_block", stats->syscall_block);
	json__i64(j, "unknown", summary_stats__unknown(stats));
	if (summary__has_gaps(s))
		json__i64(j, "lost_ns", stats->lost);
	json__i64(j, "total", stats->total);
	json__i64(j, "gc_work", stats->gc_work);
	put_durations(j, "block", s, &stats->block);
	put_durations(j, "ranges", s, &stats->ranges);
}

static void open_report(struct json *j, const struct goroutines *all)
{
	json__init(j, stdout, false);
	json__open(j, NULL, '{');
	json__i64(j, "start", all->start);
	json__i64(j, "end", all->end);
	json__u64(j, "count", all->count);
}

static void put_value(struct json *j, const struct goroutines *all, struct trace_string name)
{
	struct trace_string value;

	if (!all->select->by_label)
		return;
	if (labels__value(all->select, name, &value))
		put_string(j, "value", value);
	else
		json__null(j, "value");
}

int json__groups(const struct goroutines *all)
{
	size_t n;
	const struct group **groups = groups__sorted(all, &n);
	struct json j;

	if (!groups)
		return -ENOMEM;
	open_report(&j, all);
	json__open(&j, "groups", '[');
	for (size_t i = 0; i < n; i++) {
		json__open(&j, NULL, '{');
		put_string(&j, "name", group__name(all, groups[i]));
		put_value(&j, all, group__name(all, groups[i]));
		json__u64(&j, "count", groups[i]->count);
		put_stats(&j, all->summary, &groups[i]->stats);
		json__close(&j, '}');
	}
	json__close(&j, ']');
	json__close(&j, '}');
	free(groups);
	return 0;
}

static int put_regions(struct json *j, const struct summary *s, const struct summary_goroutine *g)
{
	struct summary_region *regions, *r;
	size_t n;
	int err = regions__sorted(g, &regions, &n);

	if (err)
		return err;
	json__open(j, "regions", '[');
	for (r = regions; r < regions + n; r++) {
		json__open(j, NULL, '{');
		json__u64(j, "task", r->task);
		put_string(j, "name", summary__name(s, r->name));
		put_time(j, "start", r->start, SUMMARY_NEVER);
		put_time(j, "end", r->end, SUMMARY_NEVER);
		put_stats(j, s, &r->stats);
		json__close(j, '}');
	}
	json__close(j, ']');
	regions__free(regions, n);
	return 0;
}

static int put_goroutine(struct json *j, const struct summary *s, const struct summary_goroutine *g)
{
	int err;

	json__open(j, NULL, '{');
	json__u64(j, "id", g->id);
	put_string(j, "name", summary__name(s, g->name));
	json__u64(j, "pc", g->pc);
	put_time(j, "created", g->created, 0);
	put_time(j, "started", g->started, 0);
	put_time(j, "ended", g->ended, 0);
	put_stats(j, s, &g->stats);
	err = put_regions(j, s, g);
	json__close(j, '}');
	return err;
}

static void put_list(struct json *j, const char *name, const struct summary_list *list, bool ids)
{
	json__open(j, name, '[');
	for (size_t i = 0; i < list->n; i++) {
		if (ids)
			json__u64(j, NULL, (uint64_t)list->at[i]);
		else
			put_time(j, NULL, list->at[i], SUMMARY_NEVER);
	}
	json__close(j, ']');
}

static void put_task(struct json *j, const struct summary *s, const struct summary_task *t)
{
	json__open(j, NULL, '{');
	json__u64(j, "id", t->id);
	put_string(j, "name", summary__name(s, t->name));
	if (t->parent == TRACE_NO_TASK)
		json__null(j, "parent");
	else
		json__u64(j, "parent", t->parent);
	put_time(j, "start", t->start, SUMMARY_NEVER);
	put_time(j, "end", t->end, SUMMARY_NEVER);
	put_list(j, "children", &t->children, true);
	put_list(j, "goroutines", &t->goroutines, true);
	put_list(j, "regions", &t->regions, false);
	put_list(j, "logs", &t->logs, false);
	json__close(j, '}');
}

int json__goroutines(const struct goroutines *all)
{
	const struct summary_task *t;
	struct summary_goroutine g;
	struct json j;
	int err = 0;

	open_report(&j, all);
	json__open(&j, "goroutines", '[');
	for (size_t i = 0; i < record_store__count(all->store) && !err; i++) {
		err = summary__unpack(record_store__get(all->store, i), &g);
		if (err)
			break;
		err = put_goroutine(&j, all->summary, &g);
		summary_stats__deinit(&g.stats);
	}
	json__close(&j, ']');
	json__open(&j, "tasks", '[');
	for (size_t i = 0; (t = summary__task(all->summary, i)); i++)
		if (task__is_shown(all, t))
			put_task(&j, all->summary, t);
	json__close(&j, ']');
	json__close(&j, '}');
	return err;
}
