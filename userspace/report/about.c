// SPDX-License-Identifier: GPL-2.0
/*
 * Command line, release and wall-clock start: see about.h.
 */
#include "report/about.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "format/private_read.h"

/* Null bytes between the arguments, as /proc/PID/cmdline has them, become spaces. */
static void set(char to[ABOUT_TEXT_MAX + 1], struct trace_string text)
{
	static const char more[] = "...";
	size_t len = text.len;
	bool cut;

	while (len && !text.data[len - 1])
		len--;
	cut = len > ABOUT_TEXT_MAX;
	len = cut ? ABOUT_TEXT_MAX - strlen(more) : len;
	for (size_t i = 0; i < len; i++)
		to[i] = text.data[i] ?: ' ';
	strcpy(to + len, cut ? more : "");
}

static void read_meta(struct about *a, struct buf data)
{
	struct private_pair pair;

	while (private_read__pair(&data, &pair)) {
		if (trace_string__equals(pair.name, "command"))
			set(a->command, pair.value);
		else if (trace_string__equals(pair.name, "go_version"))
			set(a->go_version, pair.value);
	}
}

/* A trace of gotrace-bpf has the time of the generation by CLOCK_MONOTONIC, which is its clock. */
static void read_ticks(struct about *a, struct buf data, int64_t time)
{
	struct private_ticks ticks;
	int64_t since;

	if (a->has_wall || !private_read__ticks(&data, &ticks) || ticks.wall_ns > INT64_MAX ||
	    ticks.start_ns > INT64_MAX)
		return;
	a->has_wall = !__builtin_sub_overflow(time, (int64_t)ticks.start_ns, &since) &&
		      !__builtin_add_overflow((int64_t)ticks.wall_ns, since, &a->wall);
}

int about__sync(struct about *a, const struct trace_event *sync)
{
	const struct trace_clock *clock = &sync->sync->clock;
	struct private_record record;
	struct private_reader r;
	int64_t wall, since;
	int more = 0;

	a->has_wall = trace_clock__wall(clock, &wall) &&
		      !__builtin_sub_overflow(sync->time, clock->time, &since) &&
		      !__builtin_add_overflow(wall, since, &a->wall);
	if (!sync->dictionary) /* the end of an empty trace */
		return 0;
	private_reader__init(&r, sync->dictionary);
	while ((more = private_reader__next(&r, &record)) > 0) {
		if (record.kind == PRIVATE_META)
			read_meta(a, record.data);
		else if (record.kind == PRIVATE_TICKS)
			read_ticks(a, record.data, sync->time);
	}
	private_reader__deinit(&r);
	return more;
}

void about__print(const struct about *a, struct json *j)
{
	char date[32], text[64];
	time_t seconds = a->wall / 1000000000;
	struct tm tm;

	json__string(j, "program", a->command[0] ? a->command : NULL);
	json__string(j, "go_version", a->go_version[0] ? a->go_version : NULL);
	if (!a->has_wall || a->wall < 0 || !gmtime_r(&seconds, &tm) ||
	    !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm)) {
		json__null(j, "start_wall");
		return;
	}
	snprintf(text, sizeof(text), "%s.%09" PRId64 "Z", date, a->wall % 1000000000);
	json__string(j, "start_wall", text);
}
