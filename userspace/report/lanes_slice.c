// SPDX-License-Identifier: GPL-2.0
/*
 * The state and the detail of a span, from the slice of a viewer that export/export.c makes.
 *
 * Called by lanes.c for each slice that begins. The names are those of export.c and
 * export_threads.c; a detail is a string, except on lanes of Ps and threads.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/lanes_impl.h"

static bool equals(struct trace_string s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.data, text, s.len);
}

/* `names`: of successive states from `first` on; what is none of them is `other`. */
static uint8_t state_of(struct trace_string name, const char *const *names, size_t n, uint8_t first,
			uint8_t other)
{
	for (size_t i = 0; i < n; i++)
		if (equals(name, names[i]))
			return (uint8_t)(first + i);
	return other;
}

static const struct export_arg *find_arg(const struct export_event *ev, const char *name)
{
	for (unsigned int i = 0; i < ev->args; i++)
		if (!strcmp(ev->arg[i].name, name))
			return &ev->arg[i];
	return NULL;
}

uint64_t report_lanes__intern(struct report_lanes *l, struct trace_string text)
{
	uint32_t index = 0;

	report_lanes__fail(l, report_strings__get(l->strings, text, &index));
	return index;
}

/* A goroutine waits: why, and in which function. */
static uint64_t wait_detail(struct report_lanes *l, const struct export_event *ev)
{
	static const char prefix[] = "waiting: ";
	const struct export_arg *function = find_arg(ev, "function");
	struct trace_string why = {};
	char text[TRACE_STRING_MAX];
	int len;

	if (ev->name.len > strlen(prefix) && !memcmp(ev->name.data, prefix, strlen(prefix)))
		why = (struct trace_string){ ev->name.data + strlen(prefix),
					     ev->name.len - (uint32_t)strlen(prefix) };
	if (!function)
		return report_lanes__intern(l, why);
	len = snprintf(text, sizeof(text), "%.*s%sin %.*s", (int)why.len, why.data ?: "",
		       why.len ? " " : "", (int)function->text.len, function->text.data);
	return report_lanes__intern(
		l, (struct trace_string){ text, len < (int)sizeof(text) ?
							(uint32_t)len :
							(uint32_t)sizeof(text) - 1 });
}

static uint64_t numbered_detail(struct report_lanes *l, const struct export_event *ev,
				const char *name)
{
	const struct export_arg *arg = find_arg(ev, name);
	char text[64];
	int len;

	if (!arg)
		return 0;
	len = snprintf(text, sizeof(text), "%s %" PRIu64, name, arg->number);
	return report_lanes__intern(l, (struct trace_string){ text, (uint32_t)len });
}

static void open_kernel(struct report_lanes *l, struct lane_track *track,
			const struct export_event *ev)
{
	static const char *const names[] = { "on CPU",	 "waiting for a CPU", "throttled",
					     "sleeping", "uninterruptible",   "stopped" };
	const struct export_arg *call = find_arg(ev, "system call");

	call = call ?: find_arg(ev, "in");
	track->state = state_of(ev->name, names, 6, REPORT_ON_CPU, REPORT_STOPPED);
	track->detail = call ? report_lanes__intern(l, call->text) : numbered_detail(l, ev, "CPU");
}

static void open_goroutine(struct report_lanes *l, struct lane_track *track,
			   const struct export_event *ev)
{
	static const char *const names[] = { "running", "runnable" };

	track->state = state_of(ev->name, names, 2, REPORT_RUNNING, REPORT_WAITING);
	if (equals(ev->name, "system call"))
		track->state = REPORT_SYSCALL;
	track->detail = track->state == REPORT_RUNNING	? numbered_detail(l, ev, "P") :
			track->state == REPORT_RUNNABLE ? 0 :
							  wait_detail(l, ev);
}

/* The detail of a P or thread is the ID of the goroutine, which gets its name in the end. */
static void open_runner(struct lane_track *track, const struct export_event *ev)
{
	const struct export_arg *goroutine = find_arg(ev, "goroutine");

	track->state = find_arg(ev, "state") ? REPORT_SYSCALL : REPORT_RUNNING;
	track->detail = goroutine ? goroutine->number : 0;
}

void lane__open(struct report_lanes *l, const struct report_lane *lane, struct lane_track *track,
		const struct export_event *ev)
{
	track->since = report_lanes__time(l, ev->time);
	if (track == &lane->kernel) {
		open_kernel(l, track, ev);
		return;
	}
	switch (lane->group) {
	case EXPORT_GOROUTINES:
		open_goroutine(l, track, ev);
		return;
	case EXPORT_PROCS:
	case EXPORT_THREADS:
		open_runner(track, ev);
		return;
	case EXPORT_CPUS:
		track->state = find_arg(ev, "process") ? REPORT_OTHER_PROCESS : REPORT_ON_CPU;
		track->detail = report_lanes__intern(l, ev->name);
		return;
	case EXPORT_TASKS:
		track->state = REPORT_TASK;
		break;
	default: /* the ranks of export_ranges.c */
		track->state = lane->id == 2 ? REPORT_STW : REPORT_GC;
	}
	track->detail = report_lanes__intern(l, ev->name);
}
