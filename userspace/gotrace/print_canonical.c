// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace events --canonical`: the form that can be compared byte by byte with what Go's reader
 * says (selftests/reference/CANONICAL.md has its definition).
 *
 * After trace/meaning.c in an event's way; print.c takes what is put here to stdout.
 */
#include "print.h"
#include "trace/meaning.h"

static void put_string(struct out *o, struct trace_string s)
{
	out__char(o, '"');
	out__ascii(o, s.data, s.len);
	out__char(o, '"');
}

static void put_name(struct out *o, const struct meaning *m)
{
	out__char(o, '"');
	out__text(o, m->before);
	out__ascii(o, m->name.data, m->name.len);
	out__text(o, m->after);
	out__char(o, '"');
}

static void put_string_id(struct out *o, const struct dictionary *words, uint64_t id)
{
	struct trace_string s = {};

	dictionary__string(words, id, &s);
	put_string(o, s);
}

static void put_stack(struct out *o, const struct dictionary *words, uint64_t stack)
{
	size_t n = stack ? dictionary__frames(words, stack) : 0;
	const struct trace_frame *frame;

	if (!n)
		out__char(o, '-');
	for (size_t i = 0; i < n; i++) {
		if (i)
			out__char(o, ';');
		frame = dictionary__frame(words, stack, i);
		put_string_id(o, words, frame->func);
		out__char(o, '@');
		put_string_id(o, words, frame->file);
		out__char(o, ':');
		out__u64(o, frame->line);
		out__char(o, '#');
		out__hex(o, frame->pc);
	}
}

/* Do both read alike? A frame is known by its PC. */
static bool same_stack(const struct dictionary *words, uint64_t a, uint64_t b)
{
	size_t n;

	if (a == b)
		return true;
	n = dictionary__frames(words, a);
	if (n != dictionary__frames(words, b))
		return false;
	for (size_t i = 0; i < n; i++)
		if (dictionary__frame(words, a, i)->pc != dictionary__frame(words, b, i)->pc)
			return false;
	return true;
}

static void put_resource(struct out *o, const struct meaning *m)
{
	static const char *const kinds[] = { "Global", "Goroutine(", "Proc(" };

	out__text(o, kinds[m->resource]);
	if (m->resource == RESOURCE_NONE)
		return;
	out__i64(o, (int64_t)m->id);
	out__char(o, ')');
}

/* Nanoseconds may be any number; those of a whole second count as seconds, before 1970 as well. */
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

static void put_values(struct out *o, const struct meaning *m)
{
	for (unsigned int i = 0; i < m->values; i++) {
		out__char(o, ' ');
		out__text(o, m->value[i].name);
		out__char(o, '=');
		out__u64(o, m->value[i].value);
	}
}

static void put_transition(struct out *o, const struct meaning *m, const struct dictionary *words)
{
	out__text(o, m->resource == RESOURCE_GOROUTINE ? "goroutine=" : "proc=");
	out__i64(o, (int64_t)m->id);
	out__char(o, ' ');
	out__text(o, meaning__state(m->resource, m->from));
	out__text(o, "->");
	out__text(o, meaning__state(m->resource, m->to));
	out__text(o, " reason=");
	put_name(o, m);
	if (!same_stack(words, m->transition_stack, m->stack)) {
		out__text(o, " transition_stack=[");
		put_stack(o, words, m->transition_stack);
		out__char(o, ']');
	}
}

/* Tasks, regions and log messages. */
static void put_annotation(struct out *o, const struct meaning *m)
{
	bool task = m->kind == MEANING_TASK_BEGIN || m->kind == MEANING_TASK_END;

	out__text(o, task ? "id=" : "task=");
	out__u64(o, m->task);
	if (task) {
		out__text(o, " parent=");
		out__u64(o, m->parent);
	}
	out__text(o, m->kind == MEANING_LOG ? " category=" : " type=");
	put_name(o, m);
	if (m->kind == MEANING_LOG) {
		out__text(o, " message=");
		put_string(o, m->message);
	}
}

static void put_named(struct out *o, const struct meaning *m, const struct trace_event *ev)
{
	out__text(o, m->kind == MEANING_LABEL ? "label=" : "name=");
	put_name(o, m);
	if (m->kind == MEANING_EXPERIMENTAL) {
		out__text(o, " experiment=\"");
		out__text(o, meaning__experiment(spec__event(ev->type)->experiment));
		out__char(o, '"');
	} else if (m->kind != MEANING_METRIC) {
		out__text(o, m->kind == MEANING_LABEL ? " resource=" : " scope=");
		put_resource(o, m);
	}
	put_values(o, m);
}

static void put_details(struct out *o, const struct meaning *m, const struct trace_event *ev)
{
	switch (m->kind) {
	case MEANING_STATE_TRANSITION:
		put_transition(o, m, ev->words);
		break;
	case MEANING_SYNC:
		put_sync(o, ev->sync);
		break;
	case MEANING_STACK_SAMPLE:
		break;
	case MEANING_TASK_BEGIN:
	case MEANING_TASK_END:
	case MEANING_REGION_BEGIN:
	case MEANING_REGION_END:
	case MEANING_LOG:
		put_annotation(o, m);
		break;
	default:
		put_named(o, m, ev);
	}
}

void print__canonical(struct printer *p, const struct trace_event *ev, int64_t time)
{
	struct out *o = &p->out;
	struct meaning m;

	meaning__of(ev, &m);
	out__i64(o, time);
	out__char(o, '\t');
	out__text(o, meaning__kind(m.kind));
	out__char(o, '\t');
	out__i64(o, (int64_t)ev->m);
	out__char(o, '\t');
	out__i64(o, (int64_t)ev->p);
	out__char(o, '\t');
	out__i64(o, (int64_t)ev->g);
	out__char(o, '\t');
	put_details(o, &m, ev);
	out__char(o, '\t');
	put_stack(o, ev->words, m.stack);
	out__char(o, '\n');
}
