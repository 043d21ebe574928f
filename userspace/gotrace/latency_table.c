// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of a time with their reasons, as lines of `gotrace latency` and `gotrace requests`.
 *
 * Used by views/latency_tables.c and requests_table.c. Input: latency_sort.c. table.c formats cells,
 * print.c writes to stdout.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/durations.h"
#include "analysis/latency_cause.h"
#include "latency.h"
#include "print/table.h"

#define SHOWN_PLACES 5

const char *const latency_part_texts[LATENCY_PARTS] = {
	[PART_ONCPU] = "on CPU",
	[PART_GO_RUNNABLE] = "Go-runnable: waiting for a P",
	[PART_KERNEL_RUNNABLE] = "kernel-runnable: ",
	[PART_THROTTLED] = "throttled: the cgroup has exhausted its CPU quota",
	[PART_KERNEL_BLOCKED] = "kernel-blocked: ",
	[PART_SYSCALL_BLOCKED] = "syscall-blocked: ",
	[PART_GO_BLOCKED] = "Go-blocked: ",
};

#define PLACE_TEXT (2 * TRACE_STRING_MAX + 64)

/* "main.(*server).save (server.go:41)"; the length. */
static uint32_t format_place(char text[PLACE_TEXT], const struct place_frame *frame)
{
	struct trace_string file = frame->file, function = frame->function;
	const char *slash = file.len ? memrchr(file.data, '/', file.len) : NULL;
	int len;

	if (slash) {
		file.len -= (uint32_t)(slash + 1 - file.data);
		file.data = slash + 1;
	}
	len = snprintf(text, PLACE_TEXT, "%.*s", (int)function.len, function.data);
	if (file.len)
		len += snprintf(text + len, PLACE_TEXT - (size_t)len, " (%.*s:%" PRIu64 ")",
				(int)file.len, file.data, frame->line);
	return (uint32_t)len;
}

static void put_place(struct out *o, const struct latency_place *at, int64_t ns, int64_t total)
{
	char text[PLACE_TEXT];
	uint32_t len = format_place(text, &at->frame);

	table__part(o, ns, total, "  at ", (struct trace_string){ text, len });
}

void latency_cause__split(const struct latency_cause *cause, int64_t total, char ret[SPLIT_TEXT])
{
	const int64_t *split = cause->split;
	const struct {
		int64_t ns;
		const char *text;
	} parts[] = {
		{ time_add(split[PART_SYSCALL_BLOCKED], split[PART_KERNEL_BLOCKED]), "blocked" },
		{ split[PART_KERNEL_RUNNABLE], "waiting for a CPU" },
		{ split[PART_THROTTLED], "throttled by the CPU quota" },
		{ split[PART_ONCPU], "on a CPU" },
	};
	size_t len = 0;
	double share;

	ret[0] = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		share = 100 * (double)parts[i].ns / (double)(total ? total : 1);
		if (share >= 0.05)
			len += (size_t)snprintf(ret + len, SPLIT_TEXT - len, "%s%.1f %% %s",
						len ? ", " : "", share, parts[i].text);
	}
}

static const char *cause_text(const struct latency_cause *cause)
{
	if (cause->assist)
		return "GC mark assists";
	return cause->call ? "system call " : latency_part_texts[cause->part];
}

void latency_table__top_cause(struct out *o, const struct latency *l,
			      const struct latency_stats *stats)
{
	struct latency_cause cause;
	char text[PLACE_TEXT], split[SPLIT_TEXT];
	uint32_t len;

	if (!latency__top_cause(l, stats, &cause))
		return;
	out__format(o, "top cause, %.1f%% of the critical path: %s",
		    100 * (double)cause.ns / (double)(stats->total ? stats->total : 1),
		    cause_text(&cause));
	if (cause.part == PART_KERNEL_RUNNABLE)
		out__text(o, "mostly ");
	out__unicode(o, cause.reason.data, cause.reason.len);
	if (cause.call) {
		latency_cause__split(&cause, stats->total, split);
		out__format(o, " (%s)", split);
	}
	len = format_place(text, &cause.place);
	if (len) {
		out__text(o, ", at ");
		out__unicode(o, text, len);
	}
	out__char(o, '\n');
}

/* Where the time of a reason was spent that is `ns`: the longest ones, if any is known. */
static int put_places(struct out *o, const struct latency *l, const struct latency_stats *stats,
		      uint32_t reason, int64_t ns)
{
	static const struct trace_string nothing = { "", 0 };
	struct latency_place at;
	struct duration *places;
	int64_t rest = ns;
	size_t n, shown = 0;

	places = places__sorted(l, stats, latency_reason__part(reason), &n);
	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < n && shown < SHOWN_PLACES && places[i].ns >= ns / 20; i++) {
		at = latency__place(l, places[i].kind);
		if (at.kind != reason || !at.frame.function.len)
			continue;
		put_place(o, &at, places[i].ns, stats->total);
		rest = time_sub(rest, places[i].ns);
		shown++;
	}
	if (shown)
		table__part(o, rest, stats->total, "  at other places", nothing);
	free(places);
	return 0;
}

struct trace_string latency_table__reason(const struct latency *l, uint32_t kind)
{
	static const struct trace_string unknown = { "(unknown reason)", 16 }, none = { "", 0 };
	struct trace_string text = latency__reason(l, kind);

	if (!latency_part__has_reasons(latency_reason__part(kind)))
		return none;
	return text.len ? text : unknown;
}

/* The reasons of a part. Unless `whole`, small ones are added up. */
static int put_reasons(struct out *o, const struct latency *l, const struct latency_stats *stats,
		       bool whole, enum latency_part part)
{
	static const struct trace_string others = { "(others)", 8 };
	struct duration *reasons;
	int64_t rest = 0;
	int err = 0;
	size_t n;

	reasons = reasons__sorted(stats, part, &n);
	if (!reasons)
		return -ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		if (!whole && reasons[i].ns < stats->part[part] / 100) {
			rest = time_add(rest, reasons[i].ns);
			continue;
		}
		table__part(o, reasons[i].ns, stats->total, latency_part_texts[part],
			    latency_table__reason(l, reasons[i].kind));
		err = put_places(o, l, stats, reasons[i].kind, reasons[i].ns);
	}
	table__part(o, rest, stats->total, latency_part_texts[part], others);
	free(reasons);
	return err;
}

/* What held the CPUs that the threads waited for. Unless `whole`, small ones are added up. */
static int put_tasks(struct out *o, const struct latency *l, const struct latency_stats *stats,
		     bool whole)
{
	static const struct trace_string others = { "(others)", 8 };
	static const char text[] = "  the CPU was held by: ";
	int64_t part = stats->part[PART_KERNEL_RUNNABLE], rest = 0;
	struct duration *tasks;
	size_t n;

	if (!latency__is_aligned(l))
		return 0;
	tasks = tasks__sorted(stats, &n);
	if (!tasks)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!whole && tasks[i].ns < part / 100)
			rest = time_add(rest, tasks[i].ns);
		else
			table__part(o, tasks[i].ns, stats->total, text,
				    latency__task(l, tasks[i].kind));
	}
	table__part(o, rest, stats->total, text, others);
	free(tasks);
	return 0;
}

static void put_delays(struct out *o, const struct latency_stats *stats)
{
	uint64_t n = latency_stats__delays(stats);

	if (n) {
		out__format(o, "  run queue: %" PRIu64 " wait%s, p50 ", n, n == 1 ? "" : "s");
		table__time(o, latency_stats__delay(stats, 0.5), 0);
		out__text(o, ", p99 ");
		table__time(o, latency_stats__delay(stats, 0.99), 0);
		out__text(o, ", max ");
		table__time(o, stats->longest, 0);
		out__char(o, '\n');
	}
	if (stats->migrations)
		out__format(o, "  continued on another CPU: %" PRIu64 " time%s\n",
			    (uint64_t)stats->migrations, stats->migrations == 1 ? "" : "s");
}

int latency_table__details(struct out *o, const struct latency *l, bool has_kernel,
			   const struct latency_stats *stats, bool whole)
{
	static const struct trace_string nothing = { "", 0 };
	int err = 0;

	for (unsigned int i = 0; i < LATENCY_PARTS && !err; i++) {
		if (!whole && stats->part[i] < stats->total / 1000)
			continue;
		if (!latency_part__has_reasons(i))
			table__part(o, stats->part[i], stats->total, latency_part_texts[i],
				    nothing);
		else
			err = put_reasons(o, l, stats, whole, i);
		if (!err && i == PART_KERNEL_RUNNABLE)
			err = put_tasks(o, l, stats, whole);
	}
	table__part(o, stats->lost, stats->total, "lost: records are missing", nothing);
	table__part(o, stats->syscall_oncpu, stats->total, "included: on CPU in system calls",
		    nothing);
	table__part(o, stats->gc_assist, stats->total, "included: on CPU in mark assists", nothing);
	if (!err)
		err = put_places(o, l, stats, (uint32_t)PART_ONCPU << 16, stats->gc_assist);
	if (has_kernel && (whole || stats->unknown > stats->total / 1000))
		table__part(o, stats->unknown, stats->total,
			    "included: state of the thread unknown", nothing);
	put_delays(o, stats);
	return err;
}

void latency_table__note(struct out *o, bool has_kernel, int64_t unknown, int64_t total)
{
	if (!has_kernel) {
		out__text(o, "\nThe trace has no kernel events (record it with event set kernel, a "
			     "default, or\nadd them with gotrace align): a running goroutine "
			     "counts as on CPU, a goroutine\nin a system call as blocked.\n");
	} else if (unknown > total / 10000) {
		out__text(o, "\nOf ");
		table__time(o, unknown, 0);
		out__text(o, " the state of the thread is unknown: a running goroutine counts as\n"
			     "on CPU, a goroutine in a system call as blocked.\n");
	}
}
