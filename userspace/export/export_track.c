// SPDX-License-Identifier: GPL-2.0
/*
 * Tracks of an export, and the slices on them: see export_impl.h.
 *
 * A hostile trace may contain any order of states, so each lane counts its open slices: an end
 * without a begin is not passed on, and what is still open is ended.
 */
#include <stdarg.h>
#include <stdio.h>

#include "export/export_impl.h"

const char *export_group__name(enum export_group group)
{
	static const char *const names[EXPORT_GROUPS] = {
		[EXPORT_COUNTERS] = "Counters",	    [EXPORT_GC] = "Garbage collector",
		[EXPORT_TASKS] = "Tasks",	    [EXPORT_CPUS] = "CPUs",
		[EXPORT_THREADS] = "Threads",	    [EXPORT_PROCS] = "Ps",
		[EXPORT_GOROUTINES] = "Goroutines",
	};

	return names[group];
}

uint64_t export__track(struct export *e, enum export_group group, uint64_t parent,
		       struct trace_string name, uint64_t rank)
{
	const struct export_track track = {
		.id = ++e->last_track,
		.parent = parent,
		.group = group,
		.name = name,
		.rank = rank,
	};

	e->sink->ops->track(e->sink, &track);
	return track.id;
}

void export__lane(struct export *e, struct lane *lane, enum export_group group, uint64_t parent,
		  uint64_t rank, const char *name, ...)
{
	char text[256];
	va_list ap;

	/* A goroutine's track has a parent, unless the goroutine is not selected. */
	if (lane->track || (group == EXPORT_GOROUTINES && !parent))
		return;
	va_start(ap, name);
	vsnprintf(text, sizeof(text), name, ap);
	va_end(ap);
	lane->group = group;
	lane->last = INT64_MIN;
	lane->track = export__track(e, group, parent, text_of(text), rank);
}

static void emit_event(struct export *e, struct lane *lane, struct export_event *ev, int64_t time)
{
	if (!lane->track)
		return;
	if (time > lane->last)
		lane->last = time;
	ev->group = lane->group;
	ev->track = lane->track;
	ev->time = lane->last;
	e->sink->ops->event(e->sink, ev);
}

void lane__begin(struct export *e, struct lane *lane, int64_t time, struct export_event *ev)
{
	ev->type = EXPORT_BEGIN;
	lane->depth++;
	emit_event(e, lane, ev, time);
}

void lane__end(struct export *e, struct lane *lane, int64_t time)
{
	struct export_event ev = { .type = EXPORT_END };

	if (!lane->depth)
		return;
	lane->depth--;
	emit_event(e, lane, &ev, time);
}

void lane__close(struct export *e, struct lane *lane, int64_t time)
{
	while (lane->depth)
		lane__end(e, lane, time);
}

void lane__instant(struct export *e, struct lane *lane, struct export_event *ev)
{
	ev->type = EXPORT_INSTANT;
	emit_event(e, lane, ev, e->now);
}
