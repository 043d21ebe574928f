// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace stat`: one line per figure, then a table of event types in descending order of bytes.
 *
 * Input: analysis/statistics.c. print.c writes to stdout. Text of the recorder is escaped as in
 * Go, so that a terminal shows it as plain characters.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/array.h"
#include "lib/kinds.h"
#include "print/print.h"
#include "stat.h"

#define GAPS_SHOWN    8
#define CHANGES_SHOWN 8

static void put_title(struct out *o, const char *title)
{
	out__format(o, "%-12s ", title);
}

/* "16.884s" */
static void put_duration(struct out *o, uint64_t ns)
{
	if (ns < 1000)
		out__format(o, "%" PRIu64 "ns", ns);
	else if (ns < 1000000)
		out__format(o, "%.3fus", (double)ns / 1e3);
	else if (ns < 1000000000)
		out__format(o, "%.3fms", (double)ns / 1e6);
	else
		out__format(o, "%.3fs", (double)ns / 1e9);
}

static void put_bytes(struct out *o, uint64_t bytes)
{
	if (bytes < 1024)
		out__format(o, "%" PRIu64 " bytes", bytes);
	else if (bytes < 1024 * 1024)
		out__format(o, "%.1f KiB", (double)bytes / 1024);
	else
		out__format(o, "%.1f MiB", (double)bytes / (1024 * 1024));
}

/* Such as "12345.678901234s", of a clock. */
static void put_seconds(struct out *o, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	out__format(o, "%s%" PRIu64 ".%09" PRIu64 "s", ns < 0 ? "-" : "", size / 1000000000,
		    size % 1000000000);
}

static void put_span(struct out *o, int64_t from, int64_t to)
{
	out__text(o, ", from ");
	put_seconds(o, from);
	out__text(o, " to ");
	put_seconds(o, to);
	out__char(o, '\n');
}

static void put_time(struct out *o, const struct statistics *s)
{
	out__text(o, "time         ");
	put_duration(o, (uint64_t)s->end - (uint64_t)s->start);
	put_span(o, s->start, s->end);
}

/* The relation of the trace's clock to the others. */
static void put_clock(struct out *o, const struct trace_clock *clock)
{
	time_t sec = (time_t)clock->sec;
	char wall[64];
	struct tm tm;

	out__text(o, "clock        ");
	put_seconds(o, clock->time);
	out__text(o, " is CLOCK_MONOTONIC ");
	put_seconds(o, (int64_t)clock->mono);
	out__text(o, ", wall time ");
	if (gmtime_r(&sec, &tm) && strftime(wall, sizeof(wall), "%Y-%m-%d %H:%M:%S", &tm))
		out__format(o, "%s.%09" PRIu64 " UTC\n", wall, clock->nsec);
	else
		out__format(o, "%" PRIu64 ".%09" PRIu64 "s\n", clock->sec, clock->nsec);
}

static int put_spread(struct out *o, const struct statistics *s, const char *title,
		      enum spread_of what, void (*put_one)(struct out *o, uint64_t value))
{
	struct spread spread;
	int err = spread__of(s, what, &spread);

	if (err)
		return err;
	out__format(o, "             %-6s ", title);
	put_one(o, spread.min);
	out__text(o, " minimum, ");
	put_one(o, spread.median);
	out__text(o, " median, ");
	put_one(o, spread.max);
	out__text(o, " maximum\n");
	return 0;
}

static int put_generations(struct out *o, const struct statistics *s)
{
	int err = 0;

	out__format(o, "generations  %zu\n", s->generations);
	if (s->generations)
		err = put_spread(o, s, "bytes", SPREAD_BYTES, put_bytes);
	if (s->generations && !err)
		err = put_spread(o, s, "events", SPREAD_EVENTS, out__u64);
	if (s->generations && !err)
		err = put_spread(o, s, "time", SPREAD_NS, put_duration);
	return err;
}

/* The values of GOMAXPROCS, if it was changed. */
static void put_procs(struct out *o, const struct statistics *s)
{
	const struct statistics_procs *change = s->procs_change;

	if (s->procs_changes < 2)
		return;
	put_title(o, "GOMAXPROCS");
	out__u64(o, change->gomaxprocs);
	for (size_t i = 1; i < s->procs_changes && i < CHANGES_SHOWN; i++) {
		out__format(o, ", %" PRIu64 " from ", change[i].gomaxprocs);
		put_duration(o, (uint64_t)change[i].time - (uint64_t)s->start);
	}
	out__text(o, " after the start\n");
	if (s->procs_changes > CHANGES_SHOWN)
		out__format(o, "             and %zu more, at last %" PRIu64 " (see --json)\n",
			    s->procs_changes - CHANGES_SHOWN, s->gomaxprocs);
}

static void put_cpu_samples(struct out *o, const struct statistics *s)
{
	const struct private_cpu_samples *samples = &s->cpu_samples;

	if (!s->type[EV_CPU_SAMPLE].events && !samples->throttles)
		return;
	out__format(o, "CPU samples  %" PRIu64, s->type[EV_CPU_SAMPLE].events);
	if (!samples->period_ns) {
		out__text(o, ", rate unknown\n");
		return;
	}
	out__text(o, ", one per ");
	put_duration(o, samples->period_ns);
	out__text(o, " of CPU time\n");
	if (!samples->throttles)
		return;
	out__format(o, "             throttled by the kernel %" PRIu64 " times, for ",
		    samples->throttles);
	put_duration(o, samples->throttled_ns);
	out__format(o, ": at most %" PRIu64 " samples are missing\n",
		    samples->throttled_ns / samples->period_ns);
}

static void put_counts(struct out *o, const struct statistics *s)
{
	out__format(o,
		    "goroutines   %" PRIu64 ": %" PRIu64 " at the start, %" PRIu64 " created, "
		    "%" PRIu64 " ended; at most %" PRIu64 " at a time\n",
		    s->created + s->present, s->present, s->created, s->ended, s->most_alive);
	out__format(o, "threads      %zu, %zu Ps", s->threads.n, s->ps.n);
	if (s->gomaxprocs && s->procs_changes == 1)
		out__format(o, ", GOMAXPROCS %" PRIu64, s->gomaxprocs);
	out__char(o, '\n');
	put_procs(o, s);
	out__format(o, "tables       %" PRIu64 " strings, %" PRIu64 " stacks\n", s->strings,
		    s->stacks);
	put_cpu_samples(o, s);
}

static void put_kernel(struct out *o, const struct statistics_kernel *k)
{
	if (!k->bytes)
		return;
	out__format(o, "kernel       %zu threads, %" PRIu64 " events, ", k->threads.n, k->items);
	put_bytes(o, k->bytes);
	if (k->items)
		out__format(o, ", %.1f bytes each", (double)k->bytes / (double)k->items);
	out__char(o, '\n');
	for (unsigned int kind = 0; kind < KERNEL_KIND_END; kind++) {
		if (!k->item[kind])
			continue;
		out__format(o, "             %-12s %" PRIu64 "\n", kernel__item((uint8_t)kind),
			    k->item[kind]);
	}
}

/* The arguments of a command line are separated by NUL bytes. */
static void put_value(struct out *o, struct trace_string value)
{
	struct buf b = buf__make(value.data, value.len);
	const void *zero;
	size_t len;

	while (buf__left(&b)) {
		zero = memchr(b.pos, 0, buf__left(&b));
		len = zero ? (size_t)((const unsigned char *)zero - b.pos) : buf__left(&b);
		out__unicode(o, buf__take(&b, len), len);
		if (buf__left(&b) > 1)
			out__char(o, ' ');
		if (zero)
			buf__skip(&b, 1);
	}
}

static void put_meta(struct out *o, const struct statistics *s)
{
	struct buf data = buf__make(s->meta, s->meta_len);
	const struct statistics_cause *cause;
	struct private_pair pair;
	const char *title = "recorder";

	while (private_read__pair(&data, &pair)) {
		put_title(o, title);
		out__unicode(o, pair.name.data, pair.name.len);
		out__text(o, ": ");
		put_value(o, pair.value);
		out__char(o, '\n');
		title = "";
	}
	for (uint64_t i = 0; (cause = statistics__cause(s, i)); i++) {
		put_title(o, i ? "" : "snapshot");
		out__text(o, i ? "also " : "");
		out__unicode(o, cause->text, strlen(cause->text));
		out__text(o, ", at ");
		put_seconds(o, (int64_t)cause->time);
		out__char(o, '\n');
	}
	if (s->ticks.tick_ns) {
		put_title(o, title);
		out__format(o, "tick: %" PRIu64 "ns\n", s->ticks.tick_ns);
	}
}

static void put_plugins(struct out *o, const struct statistics *s)
{
	for (size_t i = 0; i < s->plugins; i++) {
		const struct statistics_plugin *p = &s->plugin[i];

		put_title(o, i ? "" : "plugins");
		out__unicode(o, p->file, strlen(p->file));
		if (p->recorded && p->to <= p->from) {
			out__text(o, ": recorded");
		} else if (p->recorded) {
			out__text(o, ": recorded, but not from ");
			put_seconds(o, (int64_t)p->from);
			out__text(o, " to ");
			put_seconds(o, (int64_t)p->to);
		} else {
			out__text(o, ": not recorded from ");
			put_seconds(o, (int64_t)p->from);
			out__text(o, " on");
		}
		if (p->why[0]) {
			out__text(o, ": ");
			out__unicode(o, p->why, strlen(p->why));
		}
		out__text(o, "\n");
	}
}

/* With what the recording cost, and might have cost, at that time. */
static void put_changes(struct out *o, const struct statistics *s)
{
	for (size_t i = 0; i < s->changes && i < CHANGES_SHOWN; i++) {
		const struct private_recorded *r = &s->recorded[i];

		put_title(o, i ? "" : "recorded");
		out__text(o, "from ");
		put_seconds(o, (int64_t)r->time);
		out__text(o, ": ");
		out__unicode(o, r->sets, strlen(r->sets));
		out__format(o, "%s (cost %.1f%% of a CPU, budget %.1f%%)\n",
			    r->sets[0] ? "" : "nothing", (double)r->cost / 1e4,
			    (double)r->budget / 1e4);
	}
	if (s->changes > CHANGES_SHOWN)
		out__format(o, "             and %zu more (see --json)\n",
			    s->changes - CHANGES_SHOWN);
}

static void put_gaps(struct out *o, const struct statistics *s)
{
	const char *title = "gaps";

	for (size_t i = 0; i < s->gaps && i < GAPS_SHOWN; i++) {
		put_title(o, title);
		if (s->gap[i].count)
			out__format(o, "%" PRIu64 " records", s->gap[i].count);
		else
			out__text(o, "not recorded");
		put_span(o, (int64_t)s->gap[i].from, (int64_t)s->gap[i].to);
		title = "";
	}
	if (s->gaps > GAPS_SHOWN)
		out__format(o, "             and %zu more (see --json)\n", s->gaps - GAPS_SHOWN);
}

static void put_short(struct out *o, const struct private_short *sum)
{
	out__format(o, "short calls  left out below ");
	put_duration(o, sum->min_ns);
	out__format(o, ": %" PRIu64 " system calls, in total ", sum->calls);
	put_duration(o, sum->calls_ns);
	out__format(o, "; kernel events of %" PRIu64 ", in total ", sum->kernel);
	put_duration(o, sum->kernel_ns);
	out__char(o, '\n');
}

/* For comparisons with traces of other hosts. */
static void put_host_clock(struct out *o, const struct private_host_clock *c)
{
	out__format(o, "host clock   %s, error at most ",
		    c->synchronized ? "synchronized" : "not synchronized");
	put_duration(o, c->max_error);
	out__text(o, " (estimated ");
	put_duration(o, c->error);
	out__format(o, "), shifted by %s", c->shift < 0 ? "-" : "");
	put_duration(o, c->shift < 0 ? -(uint64_t)c->shift : (uint64_t)c->shift);
	out__text(o, " since the start\n");
}

static void put_losses(struct out *o, const struct statistics *s)
{
	const char *title = "lost";

	for (unsigned int i = 0; i < GT_KIND_END; i++) {
		if (!s->loss[i].count)
			continue;
		put_title(o, title);
		out__format(o, "%" PRIu64 " %s", s->loss[i].count, kind__name(i));
		put_span(o, (int64_t)s->loss[i].from, (int64_t)s->loss[i].to);
		title = "";
	}
	put_gaps(o, s);
	put_changes(o, s);
	put_plugins(o, s);
	if (s->corrections) {
		out__format(o, "corrected    %" PRIu64 " times, the last at ", s->corrections);
		put_seconds(o, (int64_t)s->corrected.to);
		out__format(
			o, ": %" PRIu64 " goroutines, %" PRIu64 " threads, by %" PRIu64 " events\n",
			s->corrected.goroutines, s->corrected.threads, s->corrected.events);
	}
	if (s->heap_sampled) {
		out__text(o, "heap sizes   sampled, from ");
		put_seconds(o, (int64_t)s->heap_sampled);
		out__text(o, " on\n");
	}
	if (s->shorts.min_ns)
		put_short(o, &s->shorts);
	if (s->clock_error)
		out__format(o, "times        of inline probes: within %" PRIu64 " ns\n",
			    s->clock_error);
	if (s->host_clock.generations)
		put_host_clock(o, &s->host_clock.worst);
	if (s->private_records && !s->lost) {
		put_title(o, title);
		out__text(o, "nothing\n");
	}
	if (s->private_bad || s->private_unknown)
		out__format(o,
			    "private data %" PRIu64 " records skipped: %" PRIu64 " corrupt, "
			    "%" PRIu64 " of an unknown kind\n",
			    s->private_bad + s->private_unknown, s->private_bad,
			    s->private_unknown);
}

struct line {
	unsigned int type;
	struct statistics_type of;
};

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->of.bytes != y->of.bytes)
		return x->of.bytes > y->of.bytes ? -1 : 1;
	if (x->of.events != y->of.events)
		return x->of.events > y->of.events ? -1 : 1;
	return (x->type > y->type) - (x->type < y->type);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole * 100 : 0;
}

static void put_types(struct out *o, const struct stat_report *r)
{
	const struct statistics *s = &r->counts;
	struct line lines[EV_END], *line;
	uint64_t events = 0;
	size_t n = 0;

	for (unsigned int type = EV_NONE + 1; type < EV_END; type++) {
		events += s->type[type].events;
		if (s->type[type].events)
			lines[n++] = (struct line){ type, s->type[type] };
	}
	array__sort(lines, n, sizeof(*lines), compare_lines);
	out__format(o, "\n%-20s %12s %6s", "TYPE", "COUNT", "%");
	if (r->has_bytes)
		out__format(o, " %12s %6s %8s", "BYTES", "%", "EACH");
	out__char(o, '\n');
	for (line = lines; line < lines + n; line++) {
		out__format(o, "%-20s %12" PRIu64 " %5.1f%%", spec__event(line->type)->name,
			    line->of.events, percent(line->of.events, events));
		if (r->has_bytes)
			out__format(o, " %12" PRIu64 " %5.1f%% %8.1f", line->of.bytes,
				    percent(line->of.bytes, s->bytes),
				    (double)line->of.bytes / (double)line->of.events);
		out__char(o, '\n');
	}
}

static int put_report(struct out *o, const struct stat_report *r)
{
	const struct statistics *s = &r->counts;
	int err = 0;

	out__format(o, "format       %s", r->format);
	if (r->has_bytes)
		out__format(o, ", %" PRIu64 " bytes", s->bytes);
	out__format(o, ", %" PRIu64 " events\n", s->events);
	put_time(o, s);
	if (stat__clock(s))
		put_clock(o, stat__clock(s));
	if (r->has_bytes)
		err = put_generations(o, s);
	put_counts(o, s);
	put_kernel(o, &s->kernel);
	put_meta(o, s);
	put_losses(o, s);
	put_types(o, r);
	return err;
}

int stat__print_table(const struct stat_report *r)
{
	struct out *o = out__table();
	int err = put_report(o, r);

	if (!err)
		out__flush(o);
	return err;
}
