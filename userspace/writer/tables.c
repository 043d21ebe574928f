// SPDX-License-Identifier: GPL-2.0
/*
 * The string and stack tables of one generation, with only the entries that its events use.
 *
 * Upstream: writer/writer.c, which adds the ids in arguments and requests the tables when the
 * generation is closed. Downstream: streams of format/encode.h, which writer/writer.c puts into the
 * file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/spec.h"
#include "lib/array.h"
#include "writer/tables.h"

#define PIECE_HEADER 2

void tables__init(struct tables *t, const struct intern *in)
{
	*t = (struct tables){ .in = in };
}

static void id_map__deinit(struct id_map *map)
{
	free(map->local);
	free(map->used);
}

void tables__deinit(struct tables *t)
{
	id_map__deinit(&t->strings);
	id_map__deinit(&t->stacks);
	outbuf__deinit(&t->private);
	tables__init(t, t->in);
}

static void id_map__clear(struct id_map *map)
{
	while (map->n)
		map->local[map->used[--map->n]] = 0;
}

void tables__reset(struct tables *t)
{
	id_map__clear(&t->strings);
	id_map__clear(&t->stacks);
	t->private.len = 0;
}

static int id_map__add(struct id_map *map, uint64_t *id, uint32_t last)
{
	uint32_t local = id_map__get(map, *id);
	int err;

	if (!*id || local) {
		*id = local;
		return 0;
	}
	if (*id > last)
		return -EINVAL;
	err = array__grow_cleared(&map->local, last, &map->cap, sizeof(*map->local));
	err = err ?: array__grow(&map->used, map->n, &map->used_cap, sizeof(*map->used));
	if (err)
		return err;
	map->used[map->n++] = *id;
	map->local[*id] = map->n;
	*id = map->n;
	return 0;
}

int tables__add_string(struct tables *t, uint64_t *id)
{
	return id_map__add(&t->strings, id, intern__strings(t->in));
}

int tables__add_stack(struct tables *t, uint64_t *id)
{
	return id_map__add(&t->stacks, id, intern__stacks(t->in));
}

int tables__add_private(struct tables *t, const void *data, size_t len)
{
	uint16_t piece = len;

	if (!len || len > TRACE_STRING_MAX)
		return -EINVAL;
	if (outbuf__room(&t->private, PIECE_HEADER + len, NULL)) /* for both or none */
		return -ENOMEM;
	outbuf__put(&t->private, &piece, PIECE_HEADER, NULL);
	return outbuf__put(&t->private, data, len, NULL);
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

	f = intern__stack_at(t->in, t->stacks.used[local - 1], &n);
	err = stream__room(s, 1 + (2 + 4 * n) * LEB_MAX);
	if (err)
		return err;
	*s->pos++ = EV_STACK;
	s->pos = leb__put(s->pos, local);
	s->pos = leb__put(s->pos, n);
	for (i = 0; i < n; i++, f++) {
		func = f->func;
		file = f->file;
		err = tables__add_string(t, &func);
		err = err ?: tables__add_string(t, &file);
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
		string = intern__string_at(t->in, t->strings.used[local - 1], &len);
		err = write_string(s, local, string, len);
	}
	return err;
}

/* Private strings get ids that no event uses, after the last one used. */
static int write_private(struct tables *t, struct stream *s)
{
	const char *p = t->private.data, *end = p + t->private.len;
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
	int err = write_stacks(t, stacks); /* also adds the strings of the frames */

	err = err ?: write_strings(t, strings);
	err = err ?: write_private(t, strings);
	stream__end(strings);
	stream__end(stacks);
	return err;
}
