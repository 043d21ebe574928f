// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace events`: one line per event, in columns similar to those of perf script.
 *
 *     0.000125000 m123457  p0   g12      GoBlock             Running->Waiting (chan receive)  f a.go:3
 *
 * The time is in seconds since the start of the trace; m, p and g are where the event occurred. The
 * object is printed if it differs from these. Then the innermost frame, or with --stacks the whole
 * stack on lines of its own. Input: reader/semantics.c. print.c writes to stdout.
 */
#include "reader/semantics.h"
#include "print.h"

/* Exceeds the width of the columns, which are reserved at once so that they can be measured. */
#define COLUMNS_MAX 256

enum { COLUMN_M = 16, COLUMN_P = 25, COLUMN_G = 30, COLUMN_EVENT = 39, COLUMN_DETAILS = 59 };

/* At least one space, up to the given column of the line that begins at `line`. */
static void put_column(struct out *o, size_t line, size_t column)
{
	size_t at = o->len - line, n = at < column ? column - at : 1;

	memset(out__room(o, n), ' ', n);
	o->len += n;
}

static void put_time(struct out *o, int64_t time, int64_t start)
{
	bool before = time < start; /* possible for CPU samples with --fixup */
	uint64_t ns = before ? (uint64_t)start - (uint64_t)time : (uint64_t)time - (uint64_t)start;
	uint64_t s = ns / 1000000000;

	for (uint64_t wider = before ? 1000 : 10000; wider > s && wider > 1; wider /= 10)
		out__char(o, ' ');
	if (before)
		out__char(o, '-');
	out__u64(o, s);
	out__char(o, '.');
	out__nine(o, ns % 1000000000);
}

/* Such as m12; m- for none. */
static void put_id(struct out *o, char what, uint64_t id)
{
	out__char(o, what);
	if (id == UINT64_MAX)
		out__char(o, '-');
	else
		out__u64(o, id);
}

static void put_string_id(struct out *o, const struct dictionary *dictionary, uint64_t id,
			  bool base)
{
	struct trace_string s = {};
	const char *slash;

	dictionary__string(dictionary, id, &s);
	slash = base && s.len ? memrchr(s.data, '/', s.len) : NULL;
	if (slash)
		s = (struct trace_string){ slash + 1, s.len - (uint32_t)(slash + 1 - s.data) };
	out__unicode(o, s.data, s.len);
}

/* The innermost frame of a stack, if it has one. */
static void put_top(struct out *o, const struct dictionary *dictionary, uint64_t stack)
{
	const struct trace_frame *frame;

	if (!stack || !dictionary__frames(dictionary, stack))
		return;
	frame = dictionary__frame(dictionary, stack, 0);
	if (o->len && o->data[o->len - 1] != ' ') /* there were details */
		out__text(o, "  ");
	put_string_id(o, dictionary, frame->func, false);
	out__char(o, ' ');
	put_string_id(o, dictionary, frame->file, true);
	out__char(o, ':');
	out__u64(o, frame->line);
}

static void put_stack(struct out *o, const struct dictionary *dictionary, uint64_t stack)
{
	size_t n = stack ? dictionary__frames(dictionary, stack) : 0;
	const struct trace_frame *frame;

	for (size_t i = 0; i < n; i++) {
		frame = dictionary__frame(dictionary, stack, i);
		out__char(o, '\t');
		for (uint64_t wider = 1ull << 60; wider > frame->pc && wider > 1; wider >>= 4)
			out__char(o, ' ');
		out__hex(o, frame->pc);
		out__char(o, ' ');
		put_string_id(o, dictionary, frame->func, false);
		out__text(o, " (");
		put_string_id(o, dictionary, frame->file, false);
		out__char(o, ':');
		out__u64(o, frame->line);
		out__text(o, ")\n");
	}
	if (n)
		out__char(o, '\n');
}

/* Whether the start function of the new goroutine is known, not only where it was created. */
static bool has_start(const struct semantics *m)
{
	return m->transition_stack && m->transition_stack != m->stack;
}

static void put_quoted(struct out *o, struct trace_string s)
{
	out__char(o, '"');
	out__unicode(o, s.data, s.len);
	out__char(o, '"');
}

static void put_reason(struct out *o, const struct semantics *m, const struct trace_event *ev)
{
	if (m->name.len) {
		out__text(o, " (");
		out__unicode(o, m->name.data, m->name.len);
		out__char(o, ')');
	} else if (ev->type == EV_PROC_STEAL && ev->old != PROC_ABANDONED) {
		out__text(o, " (from ");
		put_id(o, 'm', ev->arg[2]);
		out__char(o, ')');
	} else if (has_start(m) && dictionary__frames(ev->dictionary, m->transition_stack)) {
		out__text(o, " (");
		put_string_id(o, ev->dictionary,
			      dictionary__frame(ev->dictionary, m->transition_stack, 0)->func,
			      false);
		out__char(o, ')');
	}
}

/* The goroutine or P, if it is not the current one. */
static void put_resource(struct out *o, const struct semantics *m, const struct trace_event *ev)
{
	if (m->resource == RESOURCE_GOROUTINE && m->id != ev->g)
		put_id(o, 'g', m->id);
	else if (m->resource == RESOURCE_PROC && m->id != ev->p)
		put_id(o, 'p', m->id);
	else
		return;
	out__char(o, ' ');
}

static void put_transition(struct out *o, const struct semantics *m, const struct trace_event *ev)
{
	put_resource(o, m, ev);
	out__text(o, semantics__state(m->resource, m->from));
	out__text(o, "->");
	out__text(o, semantics__state(m->resource, m->to));
	put_reason(o, m, ev);
}

static void put_sync(struct out *o, const struct trace_event *ev)
{
	const struct trace_clock *clock = &ev->sync->clock;

	if (!ev->dictionary) {
		out__text(o, "end of the trace");
		return;
	}
	if (ev->sync->generation) {
		out__text(o, "generation ");
		out__u64(o, ev->sync->generation);
	}
	if (clock->known && clock->nsec < 1000000000) {
		out__text(o, ", wall clock ");
		out__u64(o, clock->sec);
		out__char(o, '.');
		out__nine(o, (uint32_t)clock->nsec);
	}
}

static void put_values(struct out *o, const struct semantics *m)
{
	for (unsigned int i = 0; i < m->values; i++) {
		if (i)
			out__char(o, ' ');
		out__text(o, m->value[i].name);
		out__char(o, '=');
		out__u64(o, m->value[i].value);
	}
}

static void put_annotation(struct out *o, const struct semantics *m)
{
	put_quoted(o, m->name);
	if (m->kind == SEMANTICS_LOG) {
		out__char(o, ' ');
		put_quoted(o, m->message);
	}
	if (m->task) { /* 0: the background task */
		out__text(o, " task ");
		out__u64(o, m->task);
	}
	if (m->parent && m->parent != TRACE_NO_TASK) {
		out__text(o, " of ");
		out__u64(o, m->parent);
	}
}

static void put_details(struct out *o, const struct semantics *m, const struct trace_event *ev)
{
	switch (m->kind) {
	case SEMANTICS_STATE_TRANSITION:
		put_transition(o, m, ev);
		break;
	case SEMANTICS_SYNC:
		put_sync(o, ev);
		break;
	case SEMANTICS_METRIC: /* "/gc/heap/goal:bytes": the unit follows the colon */
		out__u64(o, m->value[0].value);
		out__char(o, ' ');
		out__text(o, strchr(m->name.data, ':') + 1);
		break;
	case SEMANTICS_RANGE_BEGIN:
	case SEMANTICS_RANGE_ACTIVE:
	case SEMANTICS_RANGE_END:
		put_resource(o, m, ev);
		/* the type of any other event names its range */
		if (m->before[0])
			out__unicode(o, m->name.data, m->name.len);
		put_values(o, m);
		break;
	case SEMANTICS_LABEL:
		put_quoted(o, m->name);
		break;
	case SEMANTICS_EXPERIMENTAL:
		put_values(o, m);
		break;
	default:
		if (m->kind != SEMANTICS_STACK_SAMPLE)
			put_annotation(o, m);
	}
}

void print__columns(struct printer *p, int64_t time, uint64_t m, uint64_t proc, uint64_t g,
		    const char *what)
{
	struct out *o = &p->out;
	size_t line;

	if (OUT_SIZE - o->len < COLUMNS_MAX)
		out__flush(o);
	line = o->len;
	put_time(o, time, p->start);
	put_column(o, line, COLUMN_M);
	put_id(o, 'm', m);
	put_column(o, line, COLUMN_P);
	put_id(o, 'p', proc);
	put_column(o, line, COLUMN_G);
	put_id(o, 'g', g);
	put_column(o, line, COLUMN_EVENT);
	out__text(o, what);
	put_column(o, line, COLUMN_DETAILS);
}

void print__human(struct printer *p, const struct trace_event *ev, int64_t time)
{
	struct out *o = &p->out;
	struct semantics m;

	semantics__of(ev, &m);
	semantics__add_reason(ev, &m);
	print__columns(p, time, ev->m, ev->p, ev->g, semantics__event(ev->type));
	put_details(o, &m, ev);
	if (!p->stacks)
		put_top(o, ev->dictionary, m.stack);
	while (o->len && o->data[o->len - 1] == ' ') /* there are no details */
		o->len--;
	out__char(o, '\n');
	if (!p->stacks)
		return;
	put_stack(o, ev->dictionary, m.stack);
	if (has_start(&m))
		put_stack(o, ev->dictionary, m.transition_stack);
}
