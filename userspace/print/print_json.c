// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace events --json`: one object per event and line. Times are nanoseconds of the trace's
 * clock. Unknown members are omitted, except m, p and g of the context, which are null then.
 *
 * Input: reader/semantics.c. lib/json.c writes to stdout.
 */
#include "reader/semantics.h"
#include "print.h"

#define NAME_MAX_LEN (TRACE_STRING_MAX + 32) /* a name with its decoration */

static void put_id(struct json *j, const char *name, uint64_t id)
{
	if (id == UINT64_MAX)
		json__null(j, name);
	else
		json__u64(j, name, id);
}

static void put_string(struct json *j, const char *name, struct trace_string s)
{
	json__bytes(j, name, s.data, s.len);
}

static void put_name(struct json *j, const char *name, const struct semantics *m)
{
	size_t len = m->name.len < TRACE_STRING_MAX ? m->name.len : TRACE_STRING_MAX;
	char text[NAME_MAX_LEN];
	size_t before = strlen(m->before), after = strlen(m->after);

	if (!before) {
		put_string(j, name, m->name);
		return;
	}
	memcpy(text, m->before, before);
	memcpy(text + before, m->name.data, len);
	memcpy(text + before + len, m->after, after);
	json__bytes(j, name, text, before + len + after);
}

static void put_string_id(struct json *j, const char *name, const struct dictionary *dictionary,
			  uint64_t id)
{
	struct trace_string s = {};

	dictionary__string(dictionary, id, &s);
	put_string(j, name, s);
}

static void put_frame(struct json *j, const char *name, const struct trace_event *ev,
		      const struct trace_frame *frame)
{
	json__open(j, name, '{');
	put_string_id(j, "func", ev->dictionary, frame->func);
	put_string_id(j, "file", ev->dictionary, frame->file);
	json__u64(j, "line", frame->line);
	json__u64(j, "pc", frame->pc);
	json__close(j, '}');
}

static void put_stack(struct json *j, const char *name, const struct trace_event *ev,
		      uint64_t stack)
{
	size_t n = dictionary__frames(ev->dictionary, stack);

	json__open(j, name, '[');
	for (size_t i = 0; i < n; i++)
		put_frame(j, NULL, ev, dictionary__frame(ev->dictionary, stack, i));
	json__close(j, ']');
}

static void put_stacks(struct json *j, const struct semantics *m, const struct trace_event *ev,
		       bool whole)
{
	const struct {
		const char *whole, *top;
		uint64_t stack;
	} stacks[] = {
		{ "stack", "frame", m->stack },
		{ "transition_stack", "transition_frame",
		  m->transition_stack == m->stack ? 0 : m->transition_stack },
	};

	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		if (!stacks[i].stack || !dictionary__frames(ev->dictionary, stacks[i].stack))
			continue;
		if (whole)
			put_stack(j, stacks[i].whole, ev, stacks[i].stack);
		else
			put_frame(j, stacks[i].top, ev,
				  dictionary__frame(ev->dictionary, stacks[i].stack, 0));
	}
}

static void put_sync(struct json *j, const struct trace_sync *sync)
{
	json__u64(j, "n", sync->n);
	if (sync->generation)
		json__u64(j, "generation", sync->generation);
	if (!sync->clock.known)
		return;
	json__open(j, "clock", '{');
	json__i64(j, "time", sync->clock.time);
	json__u64(j, "mono", sync->clock.mono);
	json__u64(j, "wall_sec", sync->clock.sec);
	json__u64(j, "wall_nsec", sync->clock.nsec);
	json__close(j, '}');
}

static void put_resource(struct json *j, const struct semantics *m)
{
	if (m->resource != RESOURCE_NONE)
		put_id(j, m->resource == RESOURCE_GOROUTINE ? "goroutine" : "proc", m->id);
}

static void put_transition(struct json *j, const struct semantics *m)
{
	put_resource(j, m);
	json__string(j, "from", semantics__state(m->resource, m->from));
	json__string(j, "to", semantics__state(m->resource, m->to));
	if (m->name.len)
		put_string(j, "reason", m->name);
}

static void put_annotation(struct json *j, const struct semantics *m)
{
	json__u64(j, "task", m->task);
	if (m->kind == SEMANTICS_TASK_BEGIN || m->kind == SEMANTICS_TASK_END)
		put_id(j, "parent", m->parent);
	put_name(j, m->kind == SEMANTICS_LOG ? "category" : "type", m);
	if (m->kind == SEMANTICS_LOG)
		put_string(j, "message", m->message);
}

static void put_values(struct json *j, const char *name, const struct semantics *m)
{
	json__open(j, name, '{');
	for (unsigned int i = 0; i < m->values; i++)
		json__u64(j, m->value[i].name, m->value[i].value);
	json__close(j, '}');
}

static void put_details(struct json *j, const struct semantics *m, const struct trace_event *ev)
{
	switch (m->kind) {
	case SEMANTICS_STATE_TRANSITION:
		put_transition(j, m);
		break;
	case SEMANTICS_SYNC:
		put_sync(j, ev->sync);
		break;
	case SEMANTICS_METRIC:
		put_name(j, "name", m);
		json__u64(j, "value", m->value[0].value);
		break;
	case SEMANTICS_LABEL:
		put_name(j, "label", m);
		put_resource(j, m);
		break;
	case SEMANTICS_RANGE_BEGIN:
	case SEMANTICS_RANGE_ACTIVE:
	case SEMANTICS_RANGE_END:
		put_name(j, "name", m);
		put_resource(j, m);
		if (m->values)
			put_values(j, "attributes", m);
		break;
	case SEMANTICS_EXPERIMENTAL:
		json__string(j, "experiment",
			     semantics__experiment(spec__event(ev->type)->experiment));
		put_values(j, "arguments", m);
		break;
	default:
		if (m->kind != SEMANTICS_STACK_SAMPLE)
			put_annotation(j, m);
	}
}

void print__json(struct printer *p, const struct trace_event *ev, int64_t time)
{
	struct json *j = &p->json;
	struct semantics m;

	semantics__of(ev, &m);
	semantics__add_reason(ev, &m);
	json__open(j, NULL, '{');
	json__i64(j, "time", time);
	put_id(j, "m", ev->m);
	put_id(j, "p", ev->p);
	put_id(j, "g", ev->g);
	json__string(j, "event", semantics__event(ev->type));
	json__string(j, "kind", semantics__kind(m.kind));
	put_details(j, &m, ev);
	put_stacks(j, &m, ev, p->stacks);
	json__close(j, '}');
}
