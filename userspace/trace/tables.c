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

void tables__deinit(struct tables *t)
{
	free(t->strings.bits);
	free(t->stacks.bits);
	free(t->private);
	tables__init(t, t->in);
}

static void id_set__clear(struct id_set *set)
{
	if (set->words)
		memset(set->bits, 0, set->words * sizeof(*set->bits));
}

void tables__reset(struct tables *t)
{
	id_set__clear(&t->strings);
	id_set__clear(&t->stacks);
	t->private_len = 0;
}

static int id_set__add(struct id_set *set, uint64_t id, uint32_t last)
{
	uint32_t words;
	uint64_t *bits;

	if (id > last)
		return -EINVAL;
	if (id / 64 >= set->words) {
		/* Twice what there is now: ids keep coming while a recording goes on. */
		words = last / 32 + 64;
		bits = reallocarray(set->bits, words, sizeof(*bits));
		if (!bits)
			return -ENOMEM;
		memset(bits + set->words, 0, (words - set->words) * sizeof(*bits));
		set->bits = bits;
		set->words = words;
	}
	set->bits[id / 64] |= UINT64_C(1) << (id % 64);
	return 0;
}

int tables__add_string(struct tables *t, uint64_t id)
{
	if (!id || id_set__has(&t->strings, id))
		return 0;
	return id_set__add(&t->strings, id, intern__strings(t->in));
}

int tables__add_stack(struct tables *t, uint64_t id)
{
	if (!id || id_set__has(&t->stacks, id))
		return 0;
	return id_set__add(&t->stacks, id, intern__stacks(t->in));
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

static int write_stack(struct tables *t, struct stream *s, uint32_t id)
{
	const struct intern_frame *f;
	size_t n = 0, i;
	int err;

	f = intern__stack_at(t->in, id, &n);
	err = stream__room(s, 1 + (2 + 4 * n) * LEB_MAX);
	if (err)
		return err;
	*s->pos++ = EV_STACK;
	s->pos = leb__put(s->pos, id);
	s->pos = leb__put(s->pos, n);
	for (i = 0; i < n; i++, f++) {
		err = tables__add_string(t, f->func);
		err = err ?: tables__add_string(t, f->file);
		if (err)
			return err;
		s->pos = leb__put(s->pos, f->pc);
		s->pos = leb__put(s->pos, f->func);
		s->pos = leb__put(s->pos, f->file);
		s->pos = leb__put(s->pos, f->line);
	}
	return 0;
}

static int write_stacks(struct tables *t, struct stream *s)
{
	uint32_t word;
	uint64_t bits;
	int err;

	for (word = 0; word < t->stacks.words; word++) {
		for (bits = t->stacks.bits[word]; bits; bits &= bits - 1) {
			err = write_stack(t, s, word * 64 + __builtin_ctzll(bits));
			if (err)
				return err;
		}
	}
	return 0;
}

static int write_strings(struct tables *t, struct stream *s)
{
	const char *string;
	uint32_t word, id;
	uint64_t bits;
	size_t len = 0;
	int err;

	for (word = 0; word < t->strings.words; word++) {
		for (bits = t->strings.bits[word]; bits; bits &= bits - 1) {
			id = word * 64 + __builtin_ctzll(bits);
			string = intern__string_at(t->in, id, &len);
			err = write_string(s, id, string, len);
			if (err)
				return err;
		}
	}
	return 0;
}

/*
 * Private strings get the ids after the last one ever given, which no event can name. Close to the
 * others rather than far off, because Go's reader keeps dense ids in an array and others in a map.
 */
static int write_private(struct tables *t, struct stream *s)
{
	const uint8_t *p = t->private, *end = p + t->private_len;
	uint64_t id = intern__strings(t->in);
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
