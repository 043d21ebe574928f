// SPDX-License-Identifier: GPL-2.0
/*
 * The traced program, its recorder and the wall-clock start of a trace: see about.h.
 */
#include "format/about.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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

static void set_program(char to[PATH_MAX], struct trace_string command)
{
	size_t len = 0;

	while (len < command.len && command.data[len] && command.data[len] != ' ')
		len++;
	if (len >= PATH_MAX)
		return;
	memcpy(to, command.data, len);
	to[len] = '\0';
}

static void read_meta(struct about *a, struct buf data)
{
	const struct {
		const char *name;
		char *to;
	} members[] = {
		{ "command", a->command },
		{ "build_id", a->build_id },
		{ "go_version", a->go_version },
		{ "tool", a->tool },
	};
	struct private_pair pair;

	while (private_read__pair(&data, &pair)) {
		for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
			if (trace_string__equals(pair.name, members[i].name))
				set(members[i].to, pair.value);
		if (trace_string__equals(pair.name, "command"))
			set_program(a->program, pair.value);
	}
}

int about__read(struct about *a, const struct dictionary *dictionary)
{
	struct private_record record;
	struct private_reader r;
	int more;

	private_reader__init(&r, dictionary);
	while ((more = private_reader__next(&r, &record)) > 0) {
		if (record.kind == PRIVATE_META)
			read_meta(a, record.data);
		else if (record.kind == PRIVATE_TICKS && !a->has_ticks)
			a->has_ticks = private_read__ticks(&record.data, &a->ticks);
	}
	private_reader__deinit(&r);
	return more;
}

/* `then`: `wall` by the clock of the trace. False: the time is invalid. */
static bool set_wall(struct about *a, int64_t wall, int64_t then, int64_t time)
{
	int64_t since;

	a->has_wall = !__builtin_sub_overflow(time, then, &since) &&
		      !__builtin_add_overflow(wall, since, &a->wall);
	return a->has_wall;
}

int about__sync(struct about *a, const struct trace_event *sync)
{
	const struct trace_clock *clock = &sync->sync->clock;
	const struct private_ticks *ticks = &a->ticks;
	int64_t wall;
	int err = 0;

	if (sync->dictionary) /* else: the end of an empty trace */
		err = about__read(a, sync->dictionary);
	if (trace_clock__wall(clock, &wall) && set_wall(a, wall, clock->time, sync->time))
		return err;
	/* A trace of gotrace-bpf has the time by CLOCK_MONOTONIC, which is its clock. */
	if (a->has_ticks && ticks->wall_ns && ticks->wall_ns <= INT64_MAX &&
	    ticks->start_ns <= INT64_MAX)
		set_wall(a, (int64_t)ticks->wall_ns, (int64_t)ticks->start_ns, sync->time);
	return err;
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
