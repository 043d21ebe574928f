// SPDX-License-Identifier: GPL-2.0
/*
 * A window of gotrace top as JSON: see top.h. Times are in nanoseconds; "from" and "to" are those of
 * the trace's clock, as --from @N of other commands.
 */
#include <stdio.h>

#include "lib/json.h"
#include "top.h"

static const char *const states[GO_STATE_SYSCALL + 1] = {
	[GO_STATE_RUNNABLE] = "runnable",
	[GO_STATE_RUNNING] = "running",
	[GO_STATE_WAITING] = "waiting",
	[GO_STATE_SYSCALL] = "syscall",
};
static const char *const numbers[WINDOW_NUMBERS] = {
	[WINDOW_CREATED] = "created",
	[WINDOW_ENDED] = "ended",
	[WINDOW_EVENTS] = "events",
	[WINDOW_KERNEL_EVENTS] = "kernel_events",
	[WINDOW_LOST] = "lost",
	[WINDOW_GC_ASSIST] = "gc_assist_ns",
	[WINDOW_GC_UNKNOWN] = "gc_unknown",
};
static const char *const intervals[INTERVAL_KINDS] = {
	[INTERVAL_SCHED] = "sched",	[INTERVAL_RUNQUEUE] = "runqueue",
	[INTERVAL_SYSCALL] = "syscall", [INTERVAL_GC] = "gc",
	[INTERVAL_STW] = "stw",		[INTERVAL_BLOCK] = "block",
};

static void put_functions(struct json *j, const struct trace_window *w)
{
	json__open(j, "functions", '[');
	for (const struct window_function *f = w->function; f < w->function + w->functions; f++) {
		json__open(j, NULL, '{');
		json__bytes(j, "name", f->name.data, f->name.len);
		json__u64(j, "count", f->goroutines);
		json__i64(j, "total_ns", f->total);
		for (unsigned int i = 0; i < LATENCY_PARTS; i++)
			json__i64(j, latency_json_parts[i], f->part[i]);
		json__close(j, '}');
	}
	json__close(j, ']');
}

static void put_reasons(struct json *j, const struct trace_window *w)
{
	json__open(j, "reasons", '[');
	for (const struct window_reason *r = w->reason; r < w->reason + w->reasons; r++) {
		json__open(j, NULL, '{');
		json__string(j, "part", latency_orders[r->part]);
		json__bytes(j, "name", r->name.data, r->name.len);
		json__i64(j, "ns", r->ns);
		json__close(j, '}');
	}
	json__close(j, ']');
}

static void put_requests(struct json *j, const struct trace_window *w)
{
	json__open(j, "requests", '[');
	for (const struct window_request *r = w->request; r < w->request + w->requests; r++) {
		json__open(j, NULL, '{');
		json__bytes(j, "name", r->name.data, r->name.len);
		json__u64(j, "count", r->count);
		json__u64(j, "errors", r->failed);
		json__i64(j, "total_ns", r->ns);
		json__close(j, '}');
	}
	json__close(j, ']');
}

static void put_numbers(struct json *j, const struct trace_window *w)
{
	json__open(j, "goroutines", '{');
	for (unsigned int i = 0; i <= GO_STATE_SYSCALL; i++)
		if (states[i])
			json__u64(j, states[i], w->state[i]);
	json__close(j, '}');
	for (unsigned int i = 0; i < WINDOW_NUMBERS; i++)
		json__u64(j, numbers[i], w->number[i]);
	json__u64(j, "gomaxprocs", w->gomaxprocs);
	json__bool(j, "gc_in_progress", w->gc_open);
	json__u64(j, "heap", w->heap);
	json__u64(j, "heap_goal", w->heap_goal);
	json__open(j, "intervals", '{');
	for (unsigned int i = 0; i < INTERVAL_KINDS; i++) {
		json__open(j, intervals[i], '{');
		json__u64(j, "count", w->interval[i].count);
		json__u64(j, "sum_ns", w->interval[i].ns);
		json__close(j, '}');
	}
	json__close(j, '}');
}

void top__print_json(const struct trace_window *w)
{
	struct json j;

	json__init(&j, stdout, true);
	json__open(&j, NULL, '{');
	json__i64(&j, "from", w->from);
	json__i64(&j, "to", w->to);
	put_numbers(&j, w);
	put_functions(&j, w);
	put_reasons(&j, w);
	put_requests(&j, w);
	json__close(&j, '}');
}
