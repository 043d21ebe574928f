// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace stat --json`: all figures, times in nanoseconds.
 *
 * Input: analysis/statistics.c. lib/json.c writes to stdout.
 */
#include <stdio.h>

#include "lib/json.h"
#include "lib/kinds.h"
#include "stat.h"

static void put_clock(struct json *j, const struct trace_clock *clock)
{
	json__open(j, "clock", '{');
	json__i64(j, "time", clock->time);
	json__u64(j, "mono", clock->mono);
	json__u64(j, "wall_sec", clock->sec);
	json__u64(j, "wall_nsec", clock->nsec);
	json__close(j, '}');
}

static void put_generations(struct json *j, const struct statistics *s)
{
	const struct statistics_generation *g;

	json__open(j, "generations", '[');
	for (g = s->generation; g < s->generation + s->generations; g++) {
		json__open(j, NULL, '{');
		json__u64(j, "number", g->number);
		json__u64(j, "offset", g->offset);
		json__u64(j, "bytes", g->bytes);
		json__u64(j, "events", g->events);
		json__i64(j, "start", g->start);
		json__i64(j, "end", g->end);
		json__u64(j, "strings", g->strings);
		json__u64(j, "stacks", g->stacks);
		if (g->clock.known)
			put_clock(j, &g->clock);
		json__close(j, '}');
	}
	json__close(j, ']');
}

static void put_goroutines(struct json *j, const struct statistics *s)
{
	json__open(j, "goroutines", '{');
	json__u64(j, "seen", s->created + s->present);
	json__u64(j, "present", s->present);
	json__u64(j, "created", s->created);
	json__u64(j, "ended", s->ended);
	json__u64(j, "most_alive", s->most_alive);
	json__close(j, '}');
}

static void put_procs(struct json *j, const struct statistics *s)
{
	const struct statistics_procs *change = s->procs_change;

	json__open(j, "gomaxprocs_changes", '[');
	for (; change < s->procs_change + s->procs_changes; change++) {
		json__open(j, NULL, '{');
		json__i64(j, "time", change->time);
		json__u64(j, "gomaxprocs", change->gomaxprocs);
		json__close(j, '}');
	}
	json__close(j, ']');
}

static void put_types(struct json *j, const struct stat_report *r)
{
	const struct statistics_type *type = r->counts.type;

	if (r->has_bytes)
		json__u64(j, "header_bytes", type[EV_NONE].bytes);
	json__open(j, "types", '[');
	for (unsigned int i = EV_NONE + 1; i < EV_END; i++) {
		if (!type[i].events)
			continue;
		json__open(j, NULL, '{');
		json__string(j, "name", spec__event(i)->name);
		json__u64(j, "type", i);
		json__u64(j, "count", type[i].events);
		if (r->has_bytes)
			json__u64(j, "bytes", type[i].bytes);
		json__close(j, '}');
	}
	json__close(j, ']');
}

/* A list of pairs, because the recorder chooses the names. */
static void put_meta(struct json *j, const struct statistics *s)
{
	struct buf data = buf__make(s->meta, s->meta_len);
	struct private_pair pair;

	json__open(j, "meta", '[');
	while (private_read__pair(&data, &pair)) {
		json__open(j, NULL, '{');
		json__bytes(j, "name", pair.name.data, pair.name.len);
		json__bytes(j, "value", pair.value.data, pair.value.len);
		json__close(j, '}');
	}
	json__close(j, ']');
}

static void put_losses(struct json *j, const struct statistics *s)
{
	json__u64(j, "lost", s->lost);
	json__open(j, "losses", '[');
	for (unsigned int i = 0; i < GT_KIND_END; i++) {
		if (!s->loss[i].count)
			continue;
		json__open(j, NULL, '{');
		json__string(j, "kind", kind__name(i));
		json__u64(j, "count", s->loss[i].count);
		json__u64(j, "from", s->loss[i].from);
		json__u64(j, "to", s->loss[i].to);
		json__close(j, '}');
	}
	json__close(j, ']');
	json__open(j, "gaps", '[');
	for (size_t i = 0; i < s->gaps; i++) {
		json__open(j, NULL, '{');
		json__u64(j, "from", s->gap[i].from);
		json__u64(j, "to", s->gap[i].to);
		json__u64(j, "count", s->gap[i].count);
		json__close(j, '}');
	}
	json__close(j, ']');
}

static void put_changes(struct json *j, const struct statistics *s)
{
	json__open(j, "recorded", '[');
	for (size_t i = 0; i < s->changes; i++) {
		const struct private_recorded *r = &s->recorded[i];

		json__open(j, NULL, '{');
		json__u64(j, "time", r->time);
		json__bytes(j, "sets", r->sets, strlen(r->sets));
		json__u64(j, "cost_ppm", r->cost);
		json__u64(j, "budget_ppm", r->budget);
		json__close(j, '}');
	}
	json__close(j, ']');
}

static void put_plugins(struct json *j, const struct statistics *s)
{
	json__open(j, "plugins", '[');
	for (size_t i = 0; i < s->plugins; i++) {
		const struct statistics_plugin *p = &s->plugin[i];

		json__open(j, NULL, '{');
		json__bytes(j, "file", p->file, strlen(p->file));
		json__bool(j, "recorded", p->recorded);
		json__u64(j, "missing_from", p->from);
		json__u64(j, "missing_to", p->to);
		json__bytes(j, "why", p->why, strlen(p->why));
		json__close(j, '}');
	}
	json__close(j, ']');
}

static void put_corrections(struct json *j, const struct statistics *s)
{
	json__open(j, "corrections", '{');
	json__u64(j, "count", s->corrections);
	json__u64(j, "from", s->corrected.from);
	json__u64(j, "to", s->corrected.to);
	json__u64(j, "goroutines", s->corrected.goroutines);
	json__u64(j, "threads", s->corrected.threads);
	json__u64(j, "events", s->corrected.events);
	json__close(j, '}');
}

static void put_kernel(struct json *j, const struct statistics_kernel *k)
{
	json__open(j, "kernel", '{');
	json__u64(j, "threads", k->threads.n);
	json__u64(j, "items", k->items);
	json__bool(j, "waits", k->waits);
	json__u64(j, "bytes", k->bytes);
	json__open(j, "kinds", '{');
	for (unsigned int kind = 0; kind < KERNEL_KIND_END; kind++)
		if (k->item[kind])
			json__u64(j, kernel__item((uint8_t)kind), k->item[kind]);
	json__close(j, '}');
	json__close(j, '}');
}

static void put_short(struct json *j, const struct private_short *sum)
{
	json__open(j, "short_calls", '{');
	json__u64(j, "min_ns", sum->min_ns);
	json__u64(j, "calls", sum->calls);
	json__u64(j, "calls_ns", sum->calls_ns);
	json__u64(j, "kernel", sum->kernel);
	json__u64(j, "kernel_ns", sum->kernel_ns);
	json__close(j, '}');
}

static void put_causes(struct json *j, const struct statistics *s)
{
	const struct statistics_cause *cause = statistics__cause(s, 0);

	if (!cause)
		return;
	json__bytes(j, "cause", cause->text, strlen(cause->text));
	json__u64(j, "cause_time", cause->time);
	json__open(j, "causes", '[');
	for (uint64_t i = 0; (cause = statistics__cause(s, i)); i++) {
		json__open(j, NULL, '{');
		json__bytes(j, "text", cause->text, strlen(cause->text));
		json__u64(j, "time", cause->time);
		json__close(j, '}');
	}
	json__close(j, ']');
}

static void put_host_clock(struct json *j, const struct statistics_host_clock *c)
{
	json__open(j, "host_clock", '{');
	json__u64(j, "generations", c->generations);
	json__bool(j, "synchronized", c->worst.synchronized);
	json__u64(j, "max_error_ns", c->worst.max_error);
	json__u64(j, "error_ns", c->worst.error);
	json__i64(j, "shift_ns", c->worst.shift);
	json__close(j, '}');
}

static void put_cpu_samples(struct json *j, const struct private_cpu_samples *samples)
{
	json__open(j, "cpu_samples", '{');
	json__u64(j, "period_ns", samples->period_ns);
	json__u64(j, "throttles", samples->throttles);
	json__u64(j, "throttled_ns", samples->throttled_ns);
	json__close(j, '}');
}

static void put_private(struct json *j, const struct statistics *s)
{
	json__open(j, "private", '{');
	json__u64(j, "records", s->private_records);
	json__u64(j, "unknown", s->private_unknown);
	json__u64(j, "bad", s->private_bad);
	json__bool(j, "describes", s->describes);
	if (s->ticks.tick_ns)
		json__u64(j, "tick", s->ticks.tick_ns);
	put_meta(j, s);
	put_losses(j, s);
	put_causes(j, s);
	if (s->changes)
		put_changes(j, s);
	if (s->plugins)
		put_plugins(j, s);
	if (s->clock_error)
		json__u64(j, "clock_error_ns", s->clock_error);
	if (s->host_clock.generations)
		put_host_clock(j, &s->host_clock);
	if (s->cpu_samples.period_ns)
		put_cpu_samples(j, &s->cpu_samples);
	if (s->shorts.min_ns)
		put_short(j, &s->shorts);
	if (s->heap_sampled)
		json__u64(j, "heap_sampled_from", s->heap_sampled);
	if (s->corrections)
		put_corrections(j, s);
	json__close(j, '}');
}

int stat__print_json(const struct stat_report *r)
{
	const struct statistics *s = &r->counts;
	struct json j;

	json__init(&j, stdout, false);
	json__open(&j, NULL, '{');
	json__string(&j, "file", r->path);
	json__string(&j, "format", r->format);
	if (r->has_bytes)
		json__u64(&j, "bytes", s->bytes);
	json__i64(&j, "start", s->start);
	json__i64(&j, "end", s->end);
	json__u64(&j, "duration", (uint64_t)s->end - (uint64_t)s->start);
	json__u64(&j, "events", s->events);
	json__string(&j, "left_out", r->left_out[0] ? r->left_out : NULL);
	put_goroutines(&j, s);
	json__u64(&j, "threads", s->threads.n);
	json__u64(&j, "procs", s->ps.n);
	json__u64(&j, "gomaxprocs", s->gomaxprocs);
	put_procs(&j, s);
	json__u64(&j, "strings", s->strings);
	json__u64(&j, "stacks", s->stacks);
	json__u64(&j, "samples", s->type[EV_CPU_SAMPLE].events);
	put_generations(&j, s);
	put_types(&j, r);
	if (s->kernel.bytes)
		put_kernel(&j, &s->kernel);
	put_private(&j, s);
	json__close(&j, '}');
	return 0;
}
