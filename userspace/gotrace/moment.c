// SPDX-License-Identifier: GPL-2.0
/*
 * Points in time of the command line, as in --from T: see command.h.
 *
 * A wall-clock time is converted with the clocks that the syncs of the trace contain. A clock may be
 * adjusted during a trace, so the last sync before that time counts.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/opts.h"
#include "command.h"
#include "input_twice.h"

/* In the forms in which commands print times: with a unit, or in seconds without one. */
static bool parse_since_start(const char *text, uint64_t *ret)
{
	char seconds[64];

	if (text[strspn(text, "0123456789.")] || strlen(text) > sizeof(seconds) - 2)
		return opts__duration(text, ret);
	snprintf(seconds, sizeof(seconds), "%ss", text);
	return opts__duration(seconds, ret);
}

static bool parse(const char *text, struct moment *ret)
{
	bool absolute = text[0] == '@';
	bool before = text[0] == '-'; /* before the start: events --fixup can print such times */
	bool sign = before || text[0] == '+';
	uint64_t ns;

	if (opts__timestamp(text, &ret->ns)) {
		ret->clock = MOMENT_WALL;
		return true;
	}
	if (absolute ?
		    !opts__number(text + 1, 0, INT64_MAX, &ns) && !opts__duration(text + 1, &ns) :
		    !parse_since_start(text + sign, &ns))
		return false;
	*ret = (struct moment){ .clock = absolute ? MOMENT_TRACE : MOMENT_START,
				.ns = before ? -(int64_t)ns : (int64_t)ns };
	return true;
}

void moment__parse(const char *option, const char *text, struct moment *ret)
{
	if (parse(text, ret))
		return;
	if (strspn(text, "0123456789") == 4 && text[4] == '-')
		usage_error("invalid date '%s' for %s: expected a date and time by RFC 3339 with "
			    "the offset from UTC, such as 2026-11-26T04:58:10.5Z",
			    text, option);
	usage_error("invalid time '%s' for %s: expected seconds since the start (1.5), a time with "
		    "a unit (1500ms), @NANOSECONDS of the trace's clock, or a date "
		    "(2026-11-26T04:58:10Z)",
		    text, option);
}

int64_t moment__time(const struct moment *moment, int64_t start)
{
	int64_t time;

	if (moment->clock != MOMENT_START)
		return moment->ns;
	if (__builtin_add_overflow(start, moment->ns, &time))
		return moment->ns < 0 ? INT64_MIN : INT64_MAX;
	return time;
}

/* ---- wall-clock times ---- */

struct wall {
	int64_t wall, time; /* the same moment by both clocks, ns */
	bool known;
};

/* The clocks of a sync; false: it has none. */
static bool wall__of(const struct trace_sync *sync, struct wall *ret)
{
	*ret = (struct wall){ .time = sync->clock.time };
	ret->known = trace_clock__wall(&sync->clock, &ret->wall);
	return ret->known;
}

/* The first sync, or the last one before `ns` up to which all are before it. */
static void choose(struct wall *chosen, const struct wall *next, int64_t ns)
{
	if (!chosen->known || next->wall <= ns)
		*chosen = *next;
}

static void convert(struct moment *m, const struct wall *w)
{
	int64_t since;

	if (__builtin_sub_overflow(m->ns, w->wall, &since) ||
	    __builtin_add_overflow(w->time, since, &m->ns))
		m->ns = m->ns < w->wall ? INT64_MIN : INT64_MAX;
	m->clock = MOMENT_TRACE;
}

/*
 * Reads up to the first sync after the moments. An error ends the reading; that of the command
 * itself reports it.
 */
static int read_clocks(struct reader *r, struct trace_args *args)
{
	bool from = args->have_from && args->from.clock == MOMENT_WALL;
	bool to = args->have_to && args->to.clock == MOMENT_WALL;
	int64_t last = to && (!from || args->to.ns > args->from.ns) ? args->to.ns : args->from.ns;
	struct wall of_from = {}, of_to = {}, next;
	struct error unused = {};
	struct trace_event ev;

	while (reader__next(r, &ev, &unused) > 0) {
		if (ev.type != EV_SYNC || !wall__of(ev.sync, &next))
			continue;
		choose(&of_from, &next, args->from.ns);
		choose(&of_to, &next, args->to.ns);
		if (next.wall > last)
			break;
	}
	if (!of_from.known)
		return -ENODATA;
	if (from)
		convert(&args->from, &of_from);
	if (to)
		convert(&args->to, &of_to);
	return 0;
}

int trace_args__resolve(struct trace_args *args, struct error *error)
{
	struct reader *r;
	off_t start;
	int err;

	if ((!args->have_from || args->from.clock != MOMENT_WALL) &&
	    (!args->have_to || args->to.clock != MOMENT_WALL))
		return 0;
	err = input_twice__begin(args->path, &args->path, &start, error);
	if (!err)
		err = open_trace(args->path, &args->reader, &r, error);
	if (err)
		return err;
	err = read_clocks(r, args);
	reader__destroy(r);
	input_twice__again(args->path, start);
	return err ? error__set(error, err,
				"%s: the trace does not contain the time of day, as those of Go "
				"1.25 and later do; use a time since its start, such as 1.5s",
				args->name) :
		     0;
}

int trace_args__check_window(const struct trace_args *args, int64_t first, int64_t last,
			     struct error *error)
{
	if ((!args->have_from || moment__time(&args->from, first) <= last) &&
	    (!args->have_to || moment__time(&args->to, first) >= first))
		return 0;
	return error__set(error, -ENOENT,
			  "no events in the requested time; the length of the trace is %.3f s",
			  (double)((uint64_t)last - (uint64_t)first) / 1e9);
}
