// SPDX-License-Identifier: GPL-2.0
/*
 * Converts strings and stacks from ids of the input's generation to those of the output's.
 *
 * Upstream: rewrite.c. Downstream: writer/intern.c, which assigns ids, and writer/tables.c, which
 * writes the tables. Both tables start empty with each generation, so memory depends on the largest
 * one and ids remain short.
 */
#include <errno.h>

#include "reader/semantics.h"
#include "rewrite/rewrite_impl.h"

void rw_tables__deinit(struct rewrite *r)
{
	rw_tables__begin(r);
}

void rw_tables__begin(struct rewrite *r)
{
	map__deinit(&r->tables.strings);
	map__deinit(&r->tables.stacks);
}

/* Finds the id in the output; false: not converted so far. */
static bool find_id(const struct map *map, uint64_t id, uint32_t *ret)
{
	void *value = map__get(map, id);

	if (value)
		*ret = (uint32_t)((uintptr_t)value - 1);
	return value;
}

static void add_id(struct rewrite *r, struct map *map, uint64_t from, uint32_t to)
{
	rw__set_error(r, map__put(map, from, (void *)((uintptr_t)to + 1)));
}

static uint32_t convert_string(struct rewrite *r, uint64_t id)
{
	struct trace_string s;
	uint32_t to = 0;

	if (!id || find_id(&r->tables.strings, id, &to))
		return id ? to : 0;
	if (!dictionary__string(r->tables.from, id, &s))
		return 0;
	rw__set_error(r, intern__text(r->in, s, &to));
	add_id(r, &r->tables.strings, id, to);
	return to;
}

static uint32_t intern(struct rewrite *r, struct trace_string s)
{
	uint32_t id = 0;

	rw__set_error(r, intern__text(r->in, s, &id));
	return id;
}

/* The names of a frame depend on each other. */
static void convert_frame(struct rewrite *r, const struct trace_frame *f, struct intern_frame *ret)
{
	struct trace_string function, file;

	if (!r->opts.names) {
		ret->func = convert_string(r, f->func);
		ret->file = convert_string(r, f->file);
		return;
	}
	function = rw_tables__string(r, f->func);
	file = rw_tables__string(r, f->file);
	anonymizer__frame(r->opts.names, &function, &file);
	ret->func = intern(r, function);
	ret->file = intern(r, file);
}

uint32_t rw_tables__stack(struct rewrite *r, uint64_t id)
{
	struct intern_frame frames[TRACE_STACK_MAX];
	const struct trace_frame *f;
	uint32_t to;
	size_t n;

	if (!id || find_id(&r->tables.stacks, id, &to))
		return id ? to : 0;
	n = dictionary__frames(r->tables.from, id);
	if (n > TRACE_STACK_MAX) /* v1 only */
		n = TRACE_STACK_MAX;
	for (size_t i = 0; i < n; i++) {
		f = dictionary__frame(r->tables.from, id, i);
		frames[i] = (struct intern_frame){
			.pc = f->pc,
			.line = f->line < UINT32_MAX ? (uint32_t)f->line : UINT32_MAX,
		};
		convert_frame(r, f, &frames[i]);
	}
	to = intern__stack(r->in, frames, n);
	if (n && !to)
		rw__set_error(r, -ENOMEM);
	add_id(r, &r->tables.stacks, id, to);
	return to;
}

/* The arguments of events that have names of the program. False: the event has none. */
static bool convert_names(struct rewrite *r, enum ev type, uint64_t *arg)
{
	struct anonymizer *names = r->opts.names;
	struct trace_string category, message;

	switch (type) {
	case EV_USER_TASK_BEGIN:
		category = rw_tables__string(r, arg[2]);
		arg[2] = intern(r, anonymizer__name(names, ANONYMOUS_TASK, category));
		return true;
	case EV_USER_REGION_BEGIN:
	case EV_USER_REGION_END:
		category = rw_tables__string(r, arg[1]);
		arg[1] = intern(r, anonymizer__name(names, ANONYMOUS_REGION, category));
		return true;
	case EV_GO_LABEL:
		message = rw_tables__string(r, arg[0]);
		if (!semantics__is_worker_mode(message))
			rw__set_error(r, anonymizer__labels(names, &message));
		arg[0] = intern(r, message);
		return true;
	case EV_USER_LOG:
		category = rw_tables__string(r, arg[1]);
		message = rw_tables__string(r, arg[2]);
		rw__set_error(r, anonymizer__log(names, &category, &message));
		arg[1] = intern(r, category);
		arg[2] = intern(r, message);
		return true;
	default:
		return false;
	}
}

void rw_tables__args(struct rewrite *r, enum ev type, uint64_t *arg)
{
	const struct ev_spec *spec = spec__event(type);
	bool named = r->opts.names && convert_names(r, type, arg);

	for (unsigned int i = 0; i + 1 < spec->nargs; i++) {
		if (spec->arg[i + 1].type == ARG_STRING && !named)
			arg[i] = convert_string(r, arg[i]);
		else if (spec->arg[i + 1].type == ARG_STACK)
			arg[i] = rw_tables__stack(r, arg[i]);
	}
}

struct trace_string rw_tables__string(const struct rewrite *r, uint64_t id)
{
	struct trace_string s = { "", 0 };

	dictionary__string(r->tables.from, id, &s);
	return s;
}
