// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of `gotrace latency` for people: parts first, then why, then the collector's workers.
 *
 * After latency_sort.c; table.c makes the cells, print.c takes what is put here to stdout.
 */
#include <errno.h>
#include <stdlib.h>

#include "latency.h"
#include "table.h"

#define TIME_WIDTH 9
#define NO_STACK   "(unknown: no stack seen)"

static const struct {
	const char *title, *text;
} parts[LATENCY_PARTS] = {
	[PART_ONCPU] = { "ON CPU", "on CPU" },
	[PART_GO_RUNNABLE] = { "GO RUN", "Go-runnable: waiting for a P" },
	[PART_KERNEL_RUNNABLE] = { "KERN RUN", "kernel-runnable: " },
	[PART_THROTTLED] = { "THROTTLED", "throttled: its cgroup has used up its time" },
	[PART_KERNEL_BLOCKED] = { "KERN BLK", "kernel-blocked: " },
	[PART_SYSCALL_BLOCKED] = { "SYSC BLK", "syscall-blocked: " },
	[PART_GO_BLOCKED] = { "GO BLK", "Go-blocked: " },
};

static void put_head(struct out *o, const char *first)
{
	table__padded(o, first, 8);
	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		table__padded(o, parts[i].title, TIME_WIDTH + 1);
	table__padded(o, "TOTAL", TIME_WIDTH + 1);
	out__text(o, "  START FUNCTION\n");
}

static void put_row(struct out *o, uint64_t first, const struct latency_stats *stats,
		    struct trace_string name)
{
	table__count(o, first, 8);
	for (unsigned int i = 0; i < LATENCY_PARTS; i++) {
		out__char(o, ' ');
		table__time(o, stats->part[i], TIME_WIDTH);
	}
	out__char(o, ' ');
	table__time(o, stats->total, TIME_WIDTH);
	out__text(o, "  ");
	table__name(o, name, NO_STACK);
	out__char(o, '\n');
}

/* A line of where its time went, with its share. */
static void put_part(struct out *o, int64_t ns, const struct latency_stats *stats, const char *what,
		     struct trace_string why)
{
	if (!ns)
		return;
	table__time(o, ns, TIME_WIDTH + 2);
	table__share(o, ns, stats->total);
	out__text(o, "  ");
	out__text(o, what);
	out__unicode(o, why.data, why.len);
	out__char(o, '\n');
}

/* The reasons of a part; unless the whole is wanted, small ones together. */
static int put_reasons(struct out *o, const struct latencies *all,
		       const struct latency_stats *stats, bool whole, enum latency_part part)
{
	static const struct trace_string untold = { "(no reason told)", 16 };
	static const struct trace_string others = { "(others)", 8 };
	struct trace_string reason;
	struct amount *reasons;
	int64_t rest = 0;
	size_t n;

	reasons = reasons__sorted(stats, part, &n);
	if (!reasons)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!whole && reasons[i].ns < stats->part[part] / 100) {
			rest = time_add(rest, reasons[i].ns);
			continue;
		}
		reason = latency__reason(all->latency, reasons[i].kind);
		put_part(o, reasons[i].ns, stats, parts[part].text, reason.len ? reason : untold);
	}
	put_part(o, rest, stats, parts[part].text, others);
	free(reasons);
	return 0;
}

static void put_delays(struct out *o, const struct latency_stats *stats)
{
	uint64_t n = latency_stats__delays(stats);

	if (n) {
		out__text(o, "  run queue: ");
		out__u64(o, n);
		out__text(o, n == 1 ? " wait, p50 " : " waits, p50 ");
		table__time(o, latency_stats__delay(stats, 0.5), 0);
		out__text(o, ", p99 ");
		table__time(o, latency_stats__delay(stats, 0.99), 0);
		out__text(o, ", longest ");
		table__time(o, stats->longest, 0);
		out__char(o, '\n');
	}
	if (stats->migrations) {
		out__text(o, "  came back on another core: ");
		out__u64(o, stats->migrations);
		out__text(o, stats->migrations == 1 ? " time\n" : " times\n");
	}
}

/* Unless the whole is wanted, without parts that are less than a thousandth. */
static int put_details(struct out *o, const struct latencies *all,
		       const struct latency_stats *stats, bool whole)
{
	static const struct trace_string nothing = { "", 0 };
	int err = 0;

	for (unsigned int i = 0; i < LATENCY_PARTS && !err; i++) {
		if (!whole && stats->part[i] < stats->total / 1000)
			continue;
		if (i == PART_ONCPU || i == PART_GO_RUNNABLE || i == PART_THROTTLED)
			put_part(o, stats->part[i], stats, parts[i].text, nothing);
		else
			err = put_reasons(o, all, stats, whole, i);
	}
	put_part(o, stats->syscall_oncpu, stats, "of it on CPU in system calls", nothing);
	put_part(o, stats->gc_assist, stats, "of it on CPU in mark assists", nothing);
	if (all->has_kernel && (whole || stats->unknown > stats->total / 1000))
		put_part(o, stats->unknown, stats,
			 "of it as Go says: the thread's state is not known", nothing);
	put_delays(o, stats);
	return err;
}

static void put_workers(struct out *o, const struct latencies *all)
{
	struct latency_worker w;

	for (size_t i = 0; latency__worker(all->latency, i, &w); i++) {
		if (!i) {
			out__text(o, "\nGC WORKERS ");
			table__padded(o, "WALL", TIME_WIDTH + 1);
			table__padded(o, "ON CPU", TIME_WIDTH + 1);
			out__text(o, "  MODE\n           ");
		} else {
			out__text(o, "           ");
		}
		out__char(o, ' ');
		table__time(o, w.wall, TIME_WIDTH);
		out__char(o, ' ');
		table__time(o, w.oncpu, TIME_WIDTH);
		out__text(o, "  ");
		out__unicode(o, w.label.data, w.label.len);
		out__char(o, '\n');
	}
}

/* How much of it is no more than what Go says, if that is worth a line. */
static void put_note(struct out *o, const struct latencies *all, int64_t unknown, int64_t total)
{
	if (!all->has_kernel) {
		out__text(
			o,
			"\nThe trace has no kernel's side (record by gotrace-bpf without --events, "
			"or add perf's with gotrace\nalign): who runs for Go counts as on CPU, "
			"who is in a system call as blocked in it.\n");
	} else if (unknown > total / 10000) {
		out__text(o, "\nOf ");
		table__time(o, unknown, 0);
		out__text(o, " the thread's state is not known: who runs for Go counts as on CPU, "
			     "who is in a\nsystem call as blocked in it.\n");
	}
}

static int put_functions(struct out *o, const struct latencies *all,
			 const struct function **functions, size_t n)
{
	const struct function *f;
	int64_t unknown = 0, total = 0;
	int err = 0;

	put_head(o, "COUNT");
	for (size_t i = 0; i < n; i++) {
		f = functions[i];
		unknown = time_add(unknown, f->stats.unknown);
		total = time_add(total, f->stats.total);
		put_row(o, f->count, &f->stats, latency__name(all->latency, f->name));
	}
	for (size_t i = 0; i < n && !err; i++) {
		f = functions[i];
		out__char(o, '\n');
		table__name(o, latency__name(all->latency, f->name), NO_STACK);
		out__char(o, '\n');
		err = put_details(o, all, &f->stats, false);
	}
	put_workers(o, all);
	put_note(o, all, unknown, total);
	return err;
}

static int end_table(struct out *o, int err)
{
	out__flush(o);
	free(o);
	return err;
}

int latency_table__functions(const struct latencies *all)
{
	struct out *o = calloc(1, sizeof(*o));
	const struct function **functions;
	size_t n;
	int err;

	functions = o ? functions__sorted(all, &n) : NULL;
	if (!functions) {
		free(o);
		return -ENOMEM;
	}
	err = put_functions(o, all, functions, n);
	free(functions);
	return end_table(o, err);
}

int latency_table__goroutines(const struct latencies *all)
{
	struct out *o = calloc(1, sizeof(*o));
	struct latency_goroutine g;
	int64_t unknown = 0, total = 0;
	int err = o ? 0 : -ENOMEM;

	if (err)
		return err;
	put_head(o, "ID");
	for (size_t i = 0; i < record_store__count(all->goroutines) && !err; i++) {
		err = latency__unpack(record_store__get(all->goroutines, i), &g);
		if (err)
			break;
		unknown = time_add(unknown, g.stats.unknown);
		total = time_add(total, g.stats.total);
		put_row(o, g.id, &g.stats, latency__name(all->latency, g.name));
		latency_stats__deinit(&g.stats);
	}
	put_note(o, all, unknown, total);
	return end_table(o, err);
}

int latency_table__goroutine(const struct latencies *all)
{
	static const struct trace_string nothing = { "", 0 };
	struct out *o = calloc(1, sizeof(*o));
	struct latency_goroutine g;
	int err = o ? latency__unpack(record_store__get(all->goroutines, 0), &g) : -ENOMEM;

	if (err) {
		free(o);
		return err;
	}
	out__text(o, "goroutine ");
	out__u64(o, g.id);
	out__text(o, ": ");
	table__name(o, latency__name(all->latency, g.name), NO_STACK);
	out__text(o, "\n\n");
	put_part(o, g.stats.total, &g.stats, "in all", nothing);
	err = put_details(o, all, &g.stats, true);
	put_note(o, all, g.stats.unknown, g.stats.total);
	latency_stats__deinit(&g.stats);
	return end_table(o, err);
}
