// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace waits`: the longest waits as text, each with its stack, its end and its causes.
 *
 * Input: analysis/waits.c and waits_causes.c. path_print.c has the texts of causes, print.c writes
 * to stdout; waits_json.c is the JSON equivalent.
 */
#include <inttypes.h>

#include "analysis/durations.h"
#include "path_print.h"
#include "print/table.h"
#include "waits.h"

#define INDENT	   "              "
#define LINE_WIDTH 100 /* at most */

const char *wait__end(const struct longest_waits *l, const struct wait *wait)
{
	if (wait->goes_on || wait->kind != WAIT_BLOCK)
		return NULL;
	if (wait->by != TRACE_NO_G)
		return path__cause(PATH_CAUSE_GOROUTINE);
	return path__cause(path_cause__without_goroutine(waits__text(l->waits, wait->reason)));
}

static void put_text(struct out *o, const struct longest_waits *l, uint32_t text)
{
	struct trace_string s = waits__text(l->waits, text);

	out__unicode(o, s.data, s.len);
}

static void put_goroutine(struct out *o, const struct longest_waits *l, uint64_t id, uint32_t name)
{
	out__format(o, "g%" PRIu64, id);
	if (name) {
		out__char(o, ' ');
		put_text(o, l, name);
	}
}

static void put_end(struct out *o, const struct longest_waits *l, const struct wait *wait)
{
	const char *end = wait__end(l, wait);

	if (wait->goes_on) {
		out__text(o, INDENT "goes on at the end of the analysed time\n");
	} else if (wait->kind == WAIT_SCHED && wait->proc != TRACE_NO_P) {
		out__format(o, INDENT "ended when it got P %" PRIu64 "\n", wait->proc);
	} else if (wait->kind == WAIT_RUNQUEUE) {
		out__format(o, INDENT "ended when thread %" PRIu64 " was on a CPU\n", wait->thread);
	} else if (wait->by != TRACE_NO_G) {
		out__text(o, INDENT "ended by ");
		put_goroutine(o, l, wait->by, wait->by_function);
		out__char(o, '\n');
	} else if (end) {
		out__format(o, INDENT "ended by %s\n",
			    end == path__cause(PATH_CAUSE_SCHEDULER) ? "Go's scheduler" : end);
	}
}

/* The functions of the stack, in lines of at most `most` characters if names permit that. */
static void put_stack(struct out *o, const struct longest_waits *l, const struct wait *wait)
{
	size_t most =
		o->screen.width && o->screen.width < LINE_WIDTH ? o->screen.width : LINE_WIDTH;
	size_t width = 0;
	struct trace_string s;

	for (size_t i = 0; waits__frame(l->waits, wait->stack, i, &s); i++) {
		if (!i)
			out__text(o, INDENT "stack: ");
		else if (width + s.len + 2 > most)
			out__text(o, ",\n" INDENT "       ");
		else
			out__text(o, ", ");
		if (!i || width + s.len + 2 > most)
			width = sizeof(INDENT) - 1 + 7 + s.len;
		else
			width += s.len + 2;
		table__name(o, s, "(unknown)");
	}
	if (width)
		out__char(o, '\n');
}

static void put_holders(struct out *o, const struct longest_waits *l,
			const struct wait_causes *causes)
{
	bool any = false;

	if (!causes->known)
		return;
	for (unsigned int i = 0; i < PATH_HOLDERS && causes->holders[i] != PATH_NONE; i++) {
		out__text(o, any ? ",\n" INDENT "                " : INDENT "Ps were held by ");
		path__put_goroutine(o, l->history, causes->holders[i]);
		any = true;
	}
	if (causes->more_holders)
		out__text(o, ", and others");
	if (any)
		out__char(o, '\n');
}

static void put_causes(struct out *o, const struct longest_waits *l, const struct wait *wait,
		       const struct wait_causes *causes)
{
	int64_t whole = time_sub(wait->to, wait->from);

	for (uint32_t i = 0; i < causes->n; i++) {
		out__text(o, "   ");
		table__time(o, (int64_t)causes->at[i].ns, TABLE_TIME + 2);
		table__share(o, (int64_t)causes->at[i].ns, whole);
		out__text(o, "  ");
		path__put_cause(o, l->history, &causes->at[i].like);
		out__char(o, '\n');
	}
	if (!causes->others)
		return;
	out__text(o, "   ");
	table__time(o, (int64_t)causes->others_ns, TABLE_TIME + 2);
	table__share(o, (int64_t)causes->others_ns, whole);
	out__format(o, "  %zu other causes\n", causes->others);
}

static void put_before(struct out *o, int64_t ns)
{
	out__text(o, INDENT "began ");
	if (ns) {
		out__text(o, "at least ");
		table__time(o, ns, 0);
		out__char(o, ' ');
	}
	out__text(o, "before\n");
}

static void put_wait(struct out *o, const struct longest_waits *l, size_t i)
{
	const struct wait *wait = &l->at[i];

	out__char(o, '\n');
	table__time(o, time_sub(wait->to, wait->from), TABLE_TIME + 2);
	out__text(o, "  ");
	path__put_offset(o, wait->from, l->trace, 5);
	out__format(o, "  %-9s", wait_names[wait->kind]);
	put_goroutine(o, l, wait->goroutine, wait->function);
	if (wait->reason) {
		out__text(o, ": ");
		put_text(o, l, wait->reason);
	}
	out__char(o, '\n');
	if (wait->began_before)
		put_before(o, wait->before);
	if (wait->lost)
		out__text(o, INDENT "events were lost meanwhile: may be several waits\n");
	put_end(o, l, wait);
	put_stack(o, l, wait);
	if (wait->kind == WAIT_SCHED)
		put_holders(o, l, &l->causes[i]);
	put_causes(o, l, wait, &l->causes[i]);
}

void waits__print(const struct longest_waits *l)
{
	struct out *o = out__table();

	out__format(o, "%11s  %15s  %-9s%s\n", "DURATION", "SECONDS", "KIND", "GOROUTINE");
	for (size_t i = 0; i < l->n; i++)
		put_wait(o, l, i);
	out__flush(o);
}
