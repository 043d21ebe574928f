// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace events --canonical`: a form that is compared byte by byte with the output of Go's
 * reader. selftests/reference/CANONICAL.md defines it.
 *
 * Input: reader/semantics.c. print.c writes to stdout.
 */
#include "reader/semantics.h"
#include "print.h"

static void put_string(struct out *o, struct trace_string s)
{
	out__char(o, '"');
	out__ascii(o, s.data, s.len);
	out__char(o, '"');
}

static void put_name(struct out *o, const struct semantics *m)
{
	out__char(o, '"');
	out__text(o, m->before);
	out__ascii(o, m->name.data, m->name.len);
	out__text(o, m->after);
	out__char(o, '"');
}

static void put_string_id(struct out *o, const struct dictionary *dictionary, uint64_t id)
{
	struct trace_string s = {};

	dictionary__string(dictionary, id, &s);
	put_string(o, s);
}

static void put_stack(struct out *o, const struct dictionary *dictionary, uint64_t stack)
{
	size_t n = stack ? dictionary__frames(dictionary, stack) : 0;
	const struct trace_frame *frame;

	if (!n)
		out__char(o, '-');
	for (size_t i = 0; i < n; i++) {
		if (i)
			out__char(o, ';');
		frame = dictionary__frame(dictionary, stack, i);
		put_string_id(o, dictionary, frame->func);
		out__char(o, '@');
		put_string_id(o, dictionary, frame->file);
		out__char(o, ':');
		out__u64(o, frame->line);
		out__char(o, '#');
		out__hex(o, frame->pc);
	}
}

/* Whether both print the same. A frame is identified by its PC. */
static bool same_stack(const struct dictionary *dictionary, uint64_t a, uint64_t b)
{
	size_t n;

	if (a == b)
		return true;
	n = dictionary__frames(dictionary, a);
	if (n != dictionary__frames(dictionary, b))
		return false;
	for (size_t i = 0; i < n; i++)
		if (dictionary__frame(dictionary, a, i)->pc !=
		    dictionary__frame(dictionary, b, i)->pc)
			return false;
	return true;
}

static void put_resource(struct out *o, const struct semantics *m)
{
	static const char *const kinds[] = { "Global", "Goroutine(", "Proc(" };

	out__text(o, kinds[m->resource]);
	if (m->resource == RESOURCE_NONE)
		return;
	out__i64(o, (int64_t)m->id);
	out__char(o, ')');
}

/* Nanoseconds beyond one second are carried to the seconds, also before 1970. */
static void put_wall(struct out *o, const struct trace_clock *clock)
{
	int64_t nsec = (int64_t)clock->nsec, carry = nsec / 1000000000, rest = nsec % 1000000000;

	if (rest < 0) {
		rest += 1000000000;
		carry--;
	}
	out__i64(o, (int64_t)(clock->sec + (uint64_t)carry));
	out__char(o, '.');
	out__nine(o, (uint32_t)rest);
}

static void put_sync(struct out *o, const struct trace_sync *sync)
{
	out__text(o, "n=");
	out__u64(o, sync->n);
	if (!sync->clock.known)
		return;
	out__text(o, " trace=");
	out__i64(o, sync->clock.time);
	out__text(o, " mono=");
	out__u64(o, sync->clock.mono);
	out__text(o, " wall=");
	put_wall(o, &sync->clock);
}

static void put_values(struct out *o, const struct semantics *m)
{
	for (unsigned int i = 0; i < m->values; i++) {
		out__char(o, ' ');
		out__text(o, m->value[i].name);
		out__char(o, '=');
		out__u64(o, m->value[i].value);
	}
}

static void put_transition(struct out *o, const struct semantics *m,
			   const struct dictionary *dictionary)
{
	out__text(o, m->resource == RESOURCE_GOROUTINE ? "goroutine=" : "proc=");
	out__i64(o, (int64_t)m->id);
	out__char(o, ' ');
	out__text(o, semantics__state(m->resource, m->from));
	out__text(o, "->");
	out__text(o, semantics__state(m->resource, m->to));
	out__text(o, " reason=");
	put_name(o, m);
	if (!same_stack(dictionary, m->transition_stack, m->stack)) {
		out__text(o, " transition_stack=[");
		put_stack(o, dictionary, m->transition_stack);
		out__char(o, ']');
	}
}

/* Tasks, regions and log messages. */
static void put_annotation(struct out *o, const struct semantics *m)
{
	bool task = m->kind == SEMANTICS_TASK_BEGIN || m->kind == SEMANTICS_TASK_END;

	out__text(o, task ? "id=" : "task=");
	out__u64(o, m->task);
	if (task) {
		out__text(o, " parent=");
		out__u64(o, m->parent);
	}
	out__text(o, m->kind == SEMANTICS_LOG ? " category=" : " type=");
	put_name(o, m);
	if (m->kind == SEMANTICS_LOG) {
		out__text(o, " message=");
		put_string(o, m->message);
	}
}

static void put_named(struct out *o, const struct semantics *m, const struct trace_event *ev)
{
	out__text(o, m->kind == SEMANTICS_LABEL ? "label=" : "name=");
	put_name(o, m);
	if (m->kind == SEMANTICS_EXPERIMENTAL) {
		out__text(o, " experiment=\"");
		out__text(o, semantics__experiment(spec__event(ev->type)->experiment));
		out__char(o, '"');
	} else if (m->kind != SEMANTICS_METRIC) {
		out__text(o, m->kind == SEMANTICS_LABEL ? " resource=" : " scope=");
		put_resource(o, m);
	}
	put_values(o, m);
}

static void put_details(struct out *o, const struct semantics *m, const struct trace_event *ev)
{
	switch (m->kind) {
	case SEMANTICS_STATE_TRANSITION:
		put_transition(o, m, ev->dictionary);
		break;
	case SEMANTICS_SYNC:
		put_sync(o, ev->sync);
		break;
	case SEMANTICS_STACK_SAMPLE:
		break;
	case SEMANTICS_TASK_BEGIN:
	case SEMANTICS_TASK_END:
	case SEMANTICS_REGION_BEGIN:
	case SEMANTICS_REGION_END:
	case SEMANTICS_LOG:
		put_annotation(o, m);
		break;
	default:
		put_named(o, m, ev);
	}
}

void print__canonical(struct printer *p, const struct trace_event *ev, int64_t time)
{
	struct out *o = &p->out;
	struct semantics m;

	semantics__of(ev, &m);
	out__i64(o, time);
	out__char(o, '\t');
	out__text(o, semantics__kind(m.kind));
	out__char(o, '\t');
	out__i64(o, (int64_t)ev->m);
	out__char(o, '\t');
	out__i64(o, (int64_t)ev->p);
	out__char(o, '\t');
	out__i64(o, (int64_t)ev->g);
	out__char(o, '\t');
	put_details(o, &m, ev);
	out__char(o, '\t');
	put_stack(o, ev->dictionary, m.stack);
	out__char(o, '\n');
}
