// SPDX-License-Identifier: GPL-2.0
/*
 * Strings, stacks and private data: from the ids of the input's generation to those of the
 * output's.
 *
 * Before it in an event's way: rewrite.c. After it: trace/intern.c, which gives each string and
 * stack its id once, and through the generation's writer its tables. Both begin anew with each
 * generation, so that memory follows the largest one and ids stay short.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "trace/rewrite_impl.h"

#define KEPT_MAX (1u << 20) /* bytes; what a recorder says of a file takes a few thousand */

void rw_words__deinit(struct rewrite *r)
{
	map__deinit(&r->words.strings);
	map__deinit(&r->words.stacks);
	for (size_t i = 0; i < r->nkept; i++)
		free((void *)r->kept[i].data);
	free(r->kept);
}

void rw_words__begin(struct rewrite *r)
{
	map__deinit(&r->words.strings);
	map__deinit(&r->words.stacks);
}

/* A known id's other one; false: not met yet. */
static bool known(const struct map *map, uint64_t id, uint32_t *ret)
{
	void *value = map__get(map, id);

	if (value)
		*ret = (uint32_t)((uintptr_t)value - 1);
	return value;
}

static void remember(struct rewrite *r, struct map *map, uint64_t from, uint32_t to)
{
	rw__note(r, map__put(map, from, (void *)((uintptr_t)to + 1)));
}

static uint32_t string_of(struct rewrite *r, uint64_t id)
{
	struct trace_string s;
	uint32_t to;

	if (!id || known(&r->words.strings, id, &to))
		return id ? to : 0;
	if (!dictionary__string(r->words.from, id, &s))
		return 0;
	to = intern__string(r->in, s.data, s.len);
	if (s.len && !to)
		rw__note(r, -ENOMEM);
	remember(r, &r->words.strings, id, to);
	return to;
}

uint32_t rw_words__stack(struct rewrite *r, uint64_t id)
{
	struct intern_frame frames[TRACE_STACK_MAX];
	const struct trace_frame *f;
	uint32_t to;
	size_t n;

	if (!id || known(&r->words.stacks, id, &to))
		return id ? to : 0;
	n = dictionary__frames(r->words.from, id);
	if (n > TRACE_STACK_MAX) /* v1 only */
		n = TRACE_STACK_MAX;
	for (size_t i = 0; i < n; i++) {
		f = dictionary__frame(r->words.from, id, i);
		frames[i] = (struct intern_frame){
			.pc = f->pc,
			.func = string_of(r, f->func),
			.file = string_of(r, f->file),
			.line = f->line < UINT32_MAX ? (uint32_t)f->line : UINT32_MAX,
		};
	}
	to = intern__stack(r->in, frames, n);
	if (n && !to)
		rw__note(r, -ENOMEM);
	remember(r, &r->words.stacks, id, to);
	return to;
}

void rw_words__args(struct rewrite *r, enum ev type, uint64_t *arg)
{
	const struct ev_spec *spec = spec__event(type);

	for (unsigned int i = 0; i + 1 < spec->nargs; i++) {
		if (spec->arg[i + 1].type == ARG_STRING)
			arg[i] = string_of(r, arg[i]);
		else if (spec->arg[i + 1].type == ARG_STACK)
			arg[i] = rw_words__stack(r, arg[i]);
	}
}

uint64_t rw_words__hash(const struct rewrite *r, uint64_t id)
{
	struct trace_string s;

	return dictionary__string(r->words.from, id, &s) ? hash__bytes(s.data, s.len) : 0;
}

/* private data */

/* The kind of a private string; 0: it is none, or broken. */
static uint64_t private_kind(const struct trace_string *s)
{
	struct buf b = buf__make(s->data, s->len);

	if (s->len < PRIVATE_PREFIX_LEN || memcmp(s->data, PRIVATE_PREFIX, PRIVATE_PREFIX_LEN))
		return 0;
	buf__skip(&b, PRIVATE_PREFIX_LEN);
	return buf__uleb(&b);
}

static bool of_file(uint64_t kind)
{
	return kind == PRIVATE_META || kind == PRIVATE_TABLE || kind == PRIVATE_ALIGNMENT;
}

/* What lies in a part is written anew: rewrite_kernel.c. */
static bool of_kernel(uint64_t kind)
{
	return kind == PRIVATE_THREADS || kind == PRIVATE_KERNEL || kind == PRIVATE_MACHINE;
}

int rw_words__use(struct rewrite *r, const struct dictionary *from)
{
	struct private_record record;
	struct private_reader in;
	int code;

	r->words.from = from;
	r->words.ticks = (struct private_ticks){};
	private_reader__init(&in, from);
	while ((code = private_reader__next(&in, &record)) > 0)
		if (record.kind == PRIVATE_TICKS &&
		    !private_read__ticks(&record.data, &r->words.ticks))
			r->words.ticks = (struct private_ticks){};
	private_reader__deinit(&in);
	return code;
}

int rw_words__private(struct rewrite *r, bool whole)
{
	const struct private_ticks *t = &r->words.ticks;
	const struct trace_string *s;
	uint64_t kind;
	int err = 0;

	if (t->tick_ns) /* a tick of the output is a nanosecond, whatever it was */
		err = private__ticks(r->writer, 1, t->start_ns, t->wall_ns);
	for (size_t i = 0; !err && i < dictionary__nstrings(r->words.from); i++) {
		s = &r->words.from->strings[i];
		kind = private_kind(s);
		if (kind && kind != PRIVATE_TICKS && !of_kernel(kind) && (whole || !of_file(kind)))
			err = writer__private(r->writer, s->data, s->len);
	}
	return err ?: rw_kernel__write(r);
}

int rw_words__keep(struct rewrite *r, const struct dictionary *from)
{
	const struct trace_string *s;
	struct trace_string *kept;
	size_t bytes = 0;
	char *copy;

	for (size_t i = 0; i < dictionary__nstrings(from); i++) {
		s = &from->strings[i];
		if (!of_file(private_kind(s)) || bytes + s->len > KEPT_MAX)
			continue;
		kept = reallocarray(r->kept, r->nkept + 1, sizeof(*kept));
		r->kept = kept ?: r->kept;
		copy = malloc(s->len);
		if (!kept || !copy) {
			free(copy);
			return -ENOMEM;
		}
		memcpy(copy, s->data, s->len);
		kept[r->nkept++] = (struct trace_string){ copy, s->len };
		bytes += s->len;
	}
	return 0;
}

int rw_words__write_kept(struct rewrite *r)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->nkept; i++)
		err = writer__private(r->writer, r->kept[i].data, r->kept[i].len);
	return err;
}
