// SPDX-License-Identifier: GPL-2.0
/*
 * The state and the detail of a span, from the slice of a viewer that export/export.c makes. A detail
 * is a string, except on lanes of Ps and threads.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/lanes_impl.h"

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

static uint64_t kernel_detail(struct report_lanes *l, const struct export_event *ev)
{
	const struct export_arg *call = find_arg(ev, "system call");

	call = call ?: find_arg(ev, "in");
	return call ? report_lanes__intern(l, call->text) : numbered_detail(l, ev, "CPU");
}

static uint64_t goroutine_detail(struct report_lanes *l, const struct export_event *ev)
{
	switch (ev->state) {
	case STATE_RUNNING:
		return numbered_detail(l, ev, "P");
	case STATE_WAITING:
	case STATE_SYSCALL:
		return wait_detail(l, ev);
	default:
		return 0;
	}
}

/* The detail of a P or thread is the ID of the goroutine, which gets its name in the end. */
static uint64_t runner_detail(const struct export_event *ev)
{
	const struct export_arg *goroutine = find_arg(ev, "goroutine");

	return goroutine ? goroutine->number : 0;
}

void lane__open(struct report_lanes *l, const struct report_lane *lane, struct lane_track *track,
		const struct export_event *ev)
{
	track->since = report_lanes__time(l, ev->time);
	track->state = (uint8_t)ev->state;
	if (track == &lane->kernel)
		track->detail = kernel_detail(l, ev);
	else if (lane->group == EXPORT_GOROUTINES)
		track->detail = goroutine_detail(l, ev);
	else if (lane->group == EXPORT_PROCS || lane->group == EXPORT_THREADS)
		track->detail = runner_detail(ev);
	else
		track->detail = report_lanes__intern(l, ev->name);
}
