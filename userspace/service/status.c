// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a recording: see status.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/clock.h"
#include "lib/json.h"
#include "lib/printable.h"
#include "service/channel.h"
#include "service/status.h"

#define SECOND 1e9
#define HIT_NS 1000000000ull /* more than any trap takes */

/* ---- reading ---- */

/* Each sum only grows, so that a rate is never negative. */
static bool is_ordered(const struct status_counts *a, const struct status_counts *b)
{
	const uint64_t *x = (const uint64_t *)a, *y = (const uint64_t *)b;

	for (size_t i = 0; i < sizeof(*a) / sizeof(*x); i++)
		if (x[i] > y[i] || y[i] > INT64_MAX)
			return false;
	return true;
}

static bool is_valid(const struct status *s)
{
	if (s->magic != STATUS_MAGIC || s->pid <= 0 || !memchr(s->name, 0, sizeof(s->name)))
		return false;
	if (s->state != STATUS_RECORDING)
		return s->state < STATUS_STATES;
	return s->recorder > 0 && s->is_flight <= 1 && s->has_stacks <= 1 && s->trap_ns <= HIT_NS &&
	       s->started <= s->first.time && is_ordered(&s->first, &s->last) &&
	       is_ordered(&s->last, &s->now) && s->window_from <= s->window_to;
}

bool status__parse(const void *data, size_t size, struct status *ret)
{
	if (size != sizeof(*ret))
		return false;
	memmove(ret, data, size);
	if (!is_valid(ret))
		return false;
	status__set_name(ret, ret->name);
	return true;
}

int status__read(int memory, struct status **ret, size_t *n)
{
	struct status *s;
	void *data;
	size_t size;
	int err = channel__get(memory, STATUS_TARGETS * sizeof(*s), &data, &size);

	if (err)
		return err == -EFBIG ? -EBADMSG : err;
	s = data;
	*n = size / sizeof(*s);
	if (size % sizeof(*s))
		err = -EBADMSG;
	for (size_t i = 0; !err && i < *n; i++)
		err = status__parse(&s[i], sizeof(s[i]), &s[i]) ? 0 : -EBADMSG;
	if (err)
		free(s);
	else
		*ret = s;
	return err;
}

void status__set_name(struct status *s, const char *name)
{
	size_t len = strnlen(name, sizeof(s->name) - 1);

	memmove(s->name, name, len);
	s->name[len] = '\0';
	printable__clean(s->name, sizeof(s->name));
}

const char *status__state(const struct status *s)
{
	static const char *const names[] = { "recording", "attaching", "not answering" };

	return names[s->state];
}

/* ---- printing ---- */

double status__rate(const struct status *s, uint64_t first, uint64_t last)
{
	uint64_t ns = s->last.time - s->first.time;

	return ns ? (double)(last - first) * SECOND / (double)ns : 0;
}

/* By the wall clock of now, as other programs write it in a log. */
static void print_since(struct json *j, const struct status *s, uint64_t now)
{
	uint64_t wall = clock__wall_at(s->started);
	time_t seconds = (time_t)(wall / 1000000000);
	char text[40] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	json__string(j, "since", text);
	json__double(j, "age_s", now > s->started ? (double)(now - s->started) / SECOND : 0);
}

static void print_rate(struct json *j, const char *name, const struct status *s, uint64_t first,
		       uint64_t last)
{
	if (s->last.time > s->first.time)
		json__double(j, name, status__rate(s, first, last));
	else
		json__null(j, name);
}

/* CPU time per time, of one CPU. */
static void print_percent(struct json *j, const char *name, const struct status *s, uint64_t first,
			  uint64_t last)
{
	if (s->last.time > s->first.time)
		json__double(j, name, 100 * status__rate(s, first, last) / SECOND);
	else
		json__null(j, name);
}

static uint64_t hits(const struct status_counts *c)
{
	return c->probes + c->stepped;
}

static uint64_t tracepoints(const struct status_counts *c)
{
	return 2 * c->calls + c->switches + c->wakes;
}

static void print_cost(struct json *j, const struct status *s)
{
	const struct status_counts *first = &s->first, *last = &s->last, *now = &s->now;

	json__u64(j, "hits", hits(now));
	print_rate(j, "hits_per_s", s, hits(first), hits(last));
	json__u64(j, "tracepoint_hits", tracepoints(now));
	print_rate(j, "tracepoint_hits_per_s", s, tracepoints(first), tracepoints(last));
	json__u64(j, "inline_events", now->inlined);
	if (s->trap_ns) {
		json__u64(j, "trap_ns", s->trap_ns);
		json__u64(j, "cost_ns", now->cost_ns);
		print_percent(j, "cost_cpu_percent", s, first->cost_ns, last->cost_ns);
	} else {
		json__null(j, "trap_ns");
		json__null(j, "cost_ns");
		json__null(j, "cost_cpu_percent");
	}
	json__u64(j, "target_cpu_ns", now->target_cpu_ns);
	print_percent(j, "target_cpu_percent", s, first->target_cpu_ns, last->target_cpu_ns);
}

static void print_recorder(struct json *j, const struct status *s)
{
	json__open(j, "recorder", '{');
	json__i64(j, "pid", s->recorder);
	json__u64(j, "cpu_ns", s->now.cpu_ns);
	print_percent(j, "cpu_percent", s, s->first.cpu_ns, s->last.cpu_ns);
	json__u64(j, "memory_bytes", s->memory);
	json__u64(j, "ring_bytes", s->ring_bytes);
	json__u64(j, "kernel_memory_bytes", s->kernel_memory);
	json__close(j, '}');
}

/* Null unless there is a flight recorder. */
static void print_window(struct json *j, const struct status *s)
{
	if (!s->is_flight) {
		json__null(j, "window");
		return;
	}
	json__open(j, "window", '{');
	json__u64(j, "bytes", s->window_bytes);
	json__u64(j, "events", s->window_events);
	json__double(j, "length_s", (double)(s->window_to - s->window_from) / SECOND);
	json__u64(j, "causes", s->causes);
	json__u64(j, "snapshots", s->snapshots);
	json__close(j, '}');
}

static void print_figures(struct json *j, const struct status *s, uint64_t now)
{
	print_since(j, s, now);
	json__u64(j, "events", s->now.events);
	print_rate(j, "events_per_s", s, s->first.events, s->last.events);
	json__u64(j, "bytes", s->now.bytes);
	print_rate(j, "bytes_per_s", s, s->first.bytes, s->last.bytes);
	json__u64(j, "lost", s->now.lost);
	print_rate(j, "lost_per_s", s, s->first.lost, s->last.lost);
	json__double(j, "rates_over_s", (double)(s->last.time - s->first.time) / SECOND);
	print_cost(j, s);
	print_recorder(j, s);
	print_window(j, s);
}

static void print_target(struct json *j, const struct status *s, uint64_t now)
{
	json__open(j, NULL, '{');
	json__i64(j, "pid", s->pid);
	json__string(j, "name", s->name);
	json__string(j, "state", status__state(s));
	if (s->state == STATUS_RECORDING)
		print_figures(j, s, now);
	json__close(j, '}');
}

void status__print_json(FILE *out, const struct status *s, size_t n, uint64_t now)
{
	struct json j;

	json__init(&j, out, false);
	json__open(&j, NULL, '[');
	for (size_t i = 0; i < n; i++)
		print_target(&j, &s[i], now);
	json__close(&j, ']');
}
