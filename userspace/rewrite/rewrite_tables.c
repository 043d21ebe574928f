// SPDX-License-Identifier: GPL-2.0
/*
 * Converts strings, stacks and private data from ids of the input's generation to those of the
 * output's.
 *
 * Upstream: rewrite.c. Downstream: writer/intern.c, which assigns ids, and writer/tables.c, which
 * writes the tables. Both tables start empty with each generation, so memory depends on the largest
 * one and ids remain short.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "rewrite/rewrite_impl.h"
#include "writer/private_write.h"

#define KEPT_MAX (1u << 20) /* bytes; a recorder needs a few thousand for a file */

void rw_tables__deinit(struct rewrite *r)
{
	rw_tables__begin(r);
	for (size_t i = 0; i < r->nkept; i++)
		free((void *)r->kept[i].data);
	free(r->kept);
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
			.func = convert_string(r, f->func),
			.file = convert_string(r, f->file),
			.line = f->line < UINT32_MAX ? (uint32_t)f->line : UINT32_MAX,
		};
	}
	to = intern__stack(r->in, frames, n);
	if (n && !to)
		rw__set_error(r, -ENOMEM);
	add_id(r, &r->tables.stacks, id, to);
	return to;
}

void rw_tables__args(struct rewrite *r, enum ev type, uint64_t *arg)
{
	const struct ev_spec *spec = spec__event(type);

	for (unsigned int i = 0; i + 1 < spec->nargs; i++) {
		if (spec->arg[i + 1].type == ARG_STRING)
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

/* private data */

static bool is_about_file(uint64_t kind)
{
	return kind == PRIVATE_META || kind == PRIVATE_TABLE || kind == PRIVATE_ALIGNMENT;
}

/* rewrite_kernel.c writes those that are in the part. */
static bool is_kernel_kind(uint64_t kind)
{
	return kind == PRIVATE_THREADS || kind == PRIVATE_KERNEL || kind == PRIVATE_MACHINE;
}

int rw_tables__use(struct rewrite *r, const struct dictionary *from)
{
	struct private_record record;
	struct private_reader in;
	int err;

	r->tables.from = from;
	r->tables.ticks = (struct private_ticks){};
	private_reader__init(&in, from);
	while ((err = private_reader__next(&in, &record)) > 0)
		if (record.kind == PRIVATE_TICKS &&
		    !private_read__ticks(&record.data, &r->tables.ticks))
			r->tables.ticks = (struct private_ticks){};
	private_reader__deinit(&in);
	return err;
}

int rw_tables__private(struct rewrite *r, bool whole)
{
	const struct private_ticks *t = &r->tables.ticks;
	const struct trace_string *s;
	uint64_t kind;
	int err = 0;

	if (t->tick_ns) /* the output's tick is always 1 ns */
		err = private__ticks(r->writer, 1, t->start_ns, t->wall_ns);
	for (size_t i = 0; !err && i < dictionary__nstrings(r->tables.from); i++) {
		s = &r->tables.from->strings[i];
		kind = private_read__kind(s);
		if (kind && kind != PRIVATE_TICKS && !is_kernel_kind(kind) &&
		    (whole || !is_about_file(kind)))
			err = writer__private(r->writer, s->data, s->len);
	}
	return err ?: rw_kernel__write(r);
}

int rewrite__keep_private(struct rewrite *r, const struct dictionary *from)
{
	const struct trace_string *s;
	size_t bytes = 0;
	char *copy;

	if (r->nkept) /* the caller has passed them before the first generation's events */
		return 0;
	for (size_t i = 0; i < dictionary__nstrings(from); i++) {
		s = &from->strings[i];
		if (!is_about_file(private_read__kind(s)) || bytes + s->len > KEPT_MAX)
			continue;
		if (array__grow(&r->kept, r->nkept, &r->kept_cap, sizeof(*r->kept)))
			return -ENOMEM;
		copy = malloc(s->len);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, s->data, s->len);
		r->kept[r->nkept++] = (struct trace_string){ copy, s->len };
		bytes += s->len;
	}
	return 0;
}

int rw_tables__write_kept(struct rewrite *r)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->nkept; i++)
		err = writer__private(r->writer, r->kept[i].data, r->kept[i].len);
	return err;
}
