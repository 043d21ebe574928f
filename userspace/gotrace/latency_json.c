// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace latency --json`: the parts of each function, and of each goroutine if requested, in
 * nanoseconds that add up to the total.
 *
 * Input: latency_sort.c. lib/json.c writes to stdout.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json.h"
#include "analysis/latency_cause.h"
#include "latency.h"

const char *const latency_json_parts[LATENCY_PARTS] = {
	[PART_ONCPU] = "oncpu_ns",
	[PART_GO_RUNNABLE] = "go_runnable_ns",
	[PART_KERNEL_RUNNABLE] = "kernel_runnable_ns",
	[PART_THROTTLED] = "throttled_ns",
	[PART_KERNEL_BLOCKED] = "kernel_blocked_ns",
	[PART_SYSCALL_BLOCKED] = "syscall_blocked_ns",
	[PART_GO_BLOCKED] = "go_blocked_ns",
};

/* An element of a list of what the time of a part was spent on */
static void put_named(struct json *j, struct trace_string name, int64_t ns)
{
	json__open(j, NULL, '{');
	json__bytes(j, "name", name.data, name.len);
	json__i64(j, "ns", ns);
	json__close(j, '}');
}

static int put_reasons(struct json *j, const struct latency *l, const struct latency_stats *stats,
		       const char *name, enum latency_part part)
{
	struct duration *reasons;
	size_t n;

	reasons = reasons__sorted(stats, part, &n);
	if (!reasons)
		return -ENOMEM;
	json__open(j, name, '[');
	for (size_t i = 0; i < n; i++)
		put_named(j, latency__reason(l, reasons[i].kind), reasons[i].ns);
	json__close(j, ']');
	free(reasons);
	return 0;
}

/* What held the CPUs while the thread waited for one. */
static int put_tasks(struct json *j, const struct latency *l, const struct latency_stats *stats)
{
	struct duration *tasks;
	size_t n;

	if (!latency__has_tasks(l))
		return 0;
	tasks = tasks__sorted(stats, &n);
	if (!tasks)
		return -ENOMEM;
	json__open(j, "cpu_held_by", '[');
	for (size_t i = 0; i < n; i++)
		put_named(j, latency__task(l, tasks[i].kind), tasks[i].ns);
	json__close(j, ']');
	free(tasks);
	return 0;
}

static void put_frame(struct json *j, const struct place_frame *frame)
{
	json__bytes(j, "function", frame->function.data, frame->function.len);
	json__bytes(j, "file", frame->file.data, frame->file.len);
	json__u64(j, "line", frame->line);
}

/* The parts of a system call, from entry to exit */
static void put_split(struct json *j, const struct latency_cause *cause)
{
	json__open(j, "split", '{');
	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		if (i != PART_GO_RUNNABLE && i != PART_GO_BLOCKED)
			json__i64(j, latency_json_parts[i], cause->split[i]);
	json__close(j, '}');
}

void latency_json__top_cause(struct json *j, const struct latency *l,
			     const struct latency_stats *stats)
{
	struct latency_cause cause;
	const char *kind;

	if (!latency__top_cause(l, stats, &cause)) {
		json__null(j, "top_cause");
		return;
	}
	kind = cause.assist ? "gc_assist_ns" :
	       cause.call   ? "syscall_ns" :
			      latency_json_parts[cause.part];
	json__open(j, "top_cause", '{');
	json__bytes(j, "kind", kind, strlen(kind) - strlen("_ns"));
	json__bytes(j, "reason", cause.reason.data, cause.reason.len);
	put_frame(j, &cause.place);
	json__i64(j, "ns", cause.ns);
	if (cause.call)
		put_split(j, &cause);
	json__close(j, '}');
}

/* The function of an unknown place is "", that of places beyond the limit null. */
static int put_places(struct json *j, const struct latency *l, const struct latency_stats *stats,
		      const char *name, enum latency_part part)
{
	struct latency_place at;
	struct duration *places;
	size_t n;

	places = places__sorted(l, stats, part, &n);
	if (!places)
		return -ENOMEM;
	json__open(j, name, '[');
	for (size_t i = 0; i < n; i++) {
		at = latency__place(l, places[i].kind);
		json__open(j, NULL, '{');
		if (part != PART_ONCPU)
			json__bytes(j, "reason", at.reason.data, at.reason.len);
		if (at.others)
			json__null(j, "function");
		else
			put_frame(j, &at.frame);
		json__i64(j, "ns", places[i].ns);
		json__close(j, '}');
	}
	json__close(j, ']');
	free(places);
	return 0;
}

int latency_json__places(struct json *j, const struct latency *l, const struct latency_stats *stats)
{
	int err;

	json__open(j, "by_place", '{');
	err = put_places(j, l, stats, "go_blocked", PART_GO_BLOCKED);
	if (!err)
		err = put_places(j, l, stats, "syscall_blocked", PART_SYSCALL_BLOCKED);
	if (!err)
		err = put_places(j, l, stats, "gc_assist", PART_ONCPU);
	json__close(j, '}');
	return err;
}

static void put_delays(struct json *j, const struct latency_stats *stats)
{
	json__open(j, "run_queue_delays", '{');
	json__u64(j, "count", latency_stats__delays(stats));
	json__i64(j, "p50_ns", latency_stats__delay(stats, 0.5));
	json__i64(j, "p99_ns", latency_stats__delay(stats, 0.99));
	json__i64(j, "max_ns", stats->longest);
	json__close(j, '}');
}

int latency_json__path(struct json *j, const struct latency *l, const struct latency_stats *stats)
{
	int err;

	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		json__i64(j, latency_json_parts[i], stats->part[i]);
	if (latency__has_gaps(l))
		json__i64(j, "lost_ns", stats->lost);
	json__i64(j, "total_ns", stats->total);
	json__open(j, "of_which", '{');
	json__i64(j, "syscall_oncpu_ns", stats->syscall_oncpu);
	json__i64(j, "gc_assist_ns", stats->gc_assist);
	json__close(j, '}');
	json__i64(j, "unknown_ns", stats->unknown);
	json__open(j, "by_reason", '{');
	err = put_reasons(j, l, stats, "go_blocked", PART_GO_BLOCKED);
	if (!err)
		err = put_reasons(j, l, stats, "syscall_blocked", PART_SYSCALL_BLOCKED);
	if (!err)
		err = put_reasons(j, l, stats, "kernel_blocked", PART_KERNEL_BLOCKED);
	if (!err)
		err = put_reasons(j, l, stats, "kernel_runnable", PART_KERNEL_RUNNABLE);
	json__close(j, '}');
	return err;
}

int latency_json__parts(struct json *j, const struct latency *l, const struct latency_stats *stats)
{
	return latency_json__path(j, l, stats) ?: put_tasks(j, l, stats);
}

static int put_stats(struct json *j, const struct latencies *all, const struct latency_stats *stats)
{
	int err = latency_json__parts(j, all->latency, stats);

	put_delays(j, stats);
	json__u64(j, "migrations", stats->migrations);
	return err;
}

static void put_name(struct json *j, const struct latencies *all, uint32_t id)
{
	struct trace_string name = latency__name(all->latency, id);

	json__bytes(j, "name", name.data, name.len);
}

static void put_value(struct json *j, const struct latencies *all, uint32_t id)
{
	struct trace_string value;

	if (!all->select->by_label)
		return;
	if (labels__value(all->select, latency__name(all->latency, id), &value))
		json__bytes(j, "value", value.data, value.len);
	else
		json__null(j, "value");
}

static int put_functions(struct json *j, const struct latencies *all)
{
	const struct function **functions;
	size_t n;
	int err = 0;

	functions = functions__sorted(all, &n);
	if (!functions)
		return -ENOMEM;
	json__open(j, "functions", '[');
	for (size_t i = 0; i < n && !err; i++) {
		json__open(j, NULL, '{');
		put_name(j, all, functions[i]->name);
		put_value(j, all, functions[i]->name);
		json__u64(j, "count", functions[i]->count);
		err = put_stats(j, all, &functions[i]->stats);
		json__close(j, '}');
	}
	json__close(j, ']');
	free(functions);
	return err;
}

static int put_goroutines(struct json *j, const struct latencies *all)
{
	struct latency_goroutine g;
	int err = 0;

	json__open(j, "goroutines", '[');
	for (size_t i = 0; i < record_store__count(all->goroutines) && !err; i++) {
		err = latency__unpack(record_store__get(all->goroutines, i), &g);
		if (err)
			break;
		json__open(j, NULL, '{');
		json__u64(j, "id", g.id);
		put_name(j, all, g.name);
		err = put_stats(j, all, &g.stats);
		json__close(j, '}');
		latency_stats__deinit(&g.stats);
	}
	json__close(j, ']');
	return err;
}

static void put_workers(struct json *j, const struct latencies *all)
{
	struct latency_worker w;

	json__open(j, "gc_workers", '[');
	for (size_t i = 0; latency__worker(all->latency, i, &w); i++) {
		json__open(j, NULL, '{');
		json__bytes(j, "mode", w.label.data, w.label.len);
		json__i64(j, "wall_ns", w.wall);
		json__i64(j, "oncpu_ns", w.oncpu);
		json__close(j, '}');
	}
	json__close(j, ']');
}

int latency_json__print(const struct latencies *all)
{
	struct json j;
	int err;

	json__init(&j, stdout, false);
	json__open(&j, NULL, '{');
	err = put_functions(&j, all);
	if (!err && all->goroutines)
		err = put_goroutines(&j, all);
	if (!err)
		put_workers(&j, all);
	json__i64(&j, "start", all->start);
	json__i64(&j, "end", all->end);
	json__u64(&j, "count", all->count);
	json__bool(&j, "kernel", all->has_kernel);
	json__close(&j, '}');
	return err;
}
