// SPDX-License-Identifier: GPL-2.0
/*
 * The string and stack tables of one generation: only what its events name.
 *
 * Before it in an event's way: generation.c names the ids in an event's arguments, and asks for
 * the tables when the generation closes. After it: file.c, which writes them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/spec.h"
#include "trace/tables.h"

#define PIECE_HEADER 2

void tables__init(struct tables *t, const struct intern *in)
{
	*t = (struct tables){ .in = in };
}

static void id_map__deinit(struct id_map *map)
{
	free(map->local);
	free(map->named);
}

void tables__deinit(struct tables *t)
{
	id_map__deinit(&t->strings);
	id_map__deinit(&t->stacks);
	free(t->private);
	tables__init(t, t->in);
}

static void id_map__clear(struct id_map *map)
{
	while (map->n)
		map->local[map->named[--map->n]] = 0;
}

void tables__reset(struct tables *t)
{
	id_map__clear(&t->strings);
	id_map__clear(&t->stacks);
	t->private_len = 0;
}

/* Room for ids up to `last`, the latest given, and as many again: they keep coming. */
static int id_map__grow(struct id_map *map, uint32_t last)
{
	uint32_t cap = last < UINT32_MAX / 2 - 64 ? 2 * last + 64 : UINT32_MAX;
	uint32_t *local = reallocarray(map->local, cap, sizeof(*local));

	if (!local)
		return -ENOMEM;
	memset(local + map->cap, 0, (cap - map->cap) * sizeof(*local));
	map->local = local;
	map->cap = cap;
	return 0;
}

static int id_map__name(struct id_map *map, uint64_t *id, uint32_t last)
{
	uint32_t *named, cap, local = id_map__get(map, *id);
	int err = 0;

	if (!*id || local) {
		*id = local;
		return 0;
	}
	if (*id > last)
		return -EINVAL;
	if (*id >= map->cap)
		err = id_map__grow(map, last);
	if (!err && map->n == map->named_cap) {
		cap = map->named_cap ? 2 * map->named_cap : 256;
		named = reallocarray(map->named, cap, sizeof(*named));
		if (!named)
			return -ENOMEM;
		map->named = named;
		map->named_cap = cap;
	}
	if (err)
		return err;
	map->named[map->n++] = *id;
	map->local[*id] = map->n;
	*id = map->n;
	return 0;
}

int tables__name_string(struct tables *t, uint64_t *id)
{
	return id_map__name(&t->strings, id, intern__strings(t->in));
}

int tables__name_stack(struct tables *t, uint64_t *id)
{
	return id_map__name(&t->stacks, id, intern__stacks(t->in));
}

int tables__add_private(struct tables *t, const void *data, size_t len)
{
	size_t need = t->private_len + PIECE_HEADER + len, cap;
	uint16_t piece = len;
	uint8_t *p;

	if (!len || len > TRACE_STRING_MAX)
		return -EINVAL;
	if (need > t->private_cap) {
		cap = need < 4096 ? 4096 : need * 2;
		p = realloc(t->private, cap);
		if (!p)
			return -ENOMEM;
		t->private = p;
		t->private_cap = cap;
	}
	p = t->private + t->private_len;
	memcpy(p, &piece, PIECE_HEADER);
	memcpy(p + PIECE_HEADER, data, len);
	t->private_len = need;
	return 0;
}

static int write_string(struct stream *s, uint64_t id, const void *data, size_t len)
{
	int err = stream__room(s, 1 + 2 * LEB_MAX + len);

	if (err)
		return err;
	*s->pos++ = EV_STRING;
	s->pos = leb__put(s->pos, id);
	s->pos = leb__put(s->pos, len);
	memcpy(s->pos, data, len);
	s->pos += len;
	return 0;
}

static int write_stack(struct tables *t, struct stream *s, uint32_t local)
{
	const struct intern_frame *f;
	uint64_t func, file;
	size_t n = 0, i;
	int err;

	f = intern__stack_at(t->in, t->stacks.named[local - 1], &n);
	err = stream__room(s, 1 + (2 + 4 * n) * LEB_MAX);
	if (err)
		return err;
	*s->pos++ = EV_STACK;
	s->pos = leb__put(s->pos, local);
	s->pos = leb__put(s->pos, n);
	for (i = 0; i < n; i++, f++) {
		func = f->func;
		file = f->file;
		err = tables__name_string(t, &func);
		err = err ?: tables__name_string(t, &file);
		if (err)
			return err;
		s->pos = leb__put(s->pos, f->pc);
		s->pos = leb__put(s->pos, func);
		s->pos = leb__put(s->pos, file);
		s->pos = leb__put(s->pos, f->line);
	}
	return 0;
}

static int write_stacks(struct tables *t, struct stream *s)
{
	uint32_t local;
	int err = 0;

	for (local = 1; local <= t->stacks.n && !err; local++)
		err = write_stack(t, s, local);
	return err;
}

static int write_strings(struct tables *t, struct stream *s)
{
	const char *string;
	uint32_t local;
	size_t len = 0;
	int err = 0;

	for (local = 1; local <= t->strings.n && !err; local++) {
		string = intern__string_at(t->in, t->strings.named[local - 1], &len);
		err = write_string(s, local, string, len);
	}
	return err;
}

/* Private strings get the ids after the last one named, which no event can name. */
static int write_private(struct tables *t, struct stream *s)
{
	const uint8_t *p = t->private, *end = p + t->private_len;
	uint64_t id = t->strings.n;
	uint16_t len;
	int err;

	for (; p < end; p += PIECE_HEADER + len) {
		memcpy(&len, p, PIECE_HEADER);
		err = write_string(s, ++id, p + PIECE_HEADER, len);
		if (err)
			return err;
	}
	return 0;
}

int tables__write(struct tables *t, struct stream *strings, struct stream *stacks)
{
	int err = write_stacks(t, stacks); /* names the frames' strings */

	err = err ?: write_strings(t, strings);
	err = err ?: write_private(t, strings);
	stream__end(strings);
	stream__end(stacks);
	return err;
}
