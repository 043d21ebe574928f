// SPDX-License-Identifier: GPL-2.0
/*
 * Interned strings and stacks: equal ones get one id. See intern.h.
 *
 * Upstream: sequence/, which interns symbols and stacks while it handles records; rewrite/,
 * reader/start_functions.c, analysis/ and align/. Downstream: writer/tables.c, which writes those
 * that the events of a generation use.
 *
 * Strings and stacks share one implementation for byte strings: the bytes in an arena that never
 * moves, an item per id, and an open-addressing table from hash to id.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/array.h"
#include "lib/hash.h"
#include "writer/intern.h"

#define BLOCK_SIZE 65536

struct intern_item {
	const void *data;
	uint32_t len;  /* bytes */
	uint32_t hash; /* 0: transient, not in any slot */
};

struct intern_table {
	struct intern_item *items; /* by id - 1 */
	uint32_t count;
	size_t cap;
	uint32_t *slots; /* ids; 0: free; size is a power of 2, at most half is used */
	uint32_t mask;
	uint32_t *transient_id; /* ids reserved for transient items, */
	size_t ntransient, transient_cap;
	uint32_t transient_used; /* and how many of them this generation uses */
};

struct intern {
	struct intern_table strings, stacks;
	struct arena string_data, stack_data, transient_data;
	size_t stack_bytes, new_stack_bytes; /* all; those new in this generation */
	size_t transient_bytes;
	size_t memory; /* of the tables */
	uint32_t generation, epoch;
};

static uint32_t hash_bytes(const void *data, size_t len)
{
	return hash__bytes(data, len) >> 32 |
	       0x80000000u; /* tables are indexed by the lower bits */
}

static int table__grow_items(struct intern *in, struct intern_table *t)
{
	size_t before = t->cap;
	int err = array__grow(&t->items, t->count, &t->cap, sizeof(*t->items));

	in->memory += (t->cap - before) * sizeof(*t->items);
	return err;
}

static int table__grow_slots(struct intern *in, struct intern_table *t)
{
	uint32_t size = t->slots ? (t->mask + 1) * 2 : 512;
	uint32_t *slots = calloc(size, sizeof(*slots));
	uint32_t id, i;

	if (!slots)
		return -1;
	for (id = 1; id <= t->count; id++) {
		if (!t->items[id - 1].hash)
			continue;
		for (i = t->items[id - 1].hash & (size - 1); slots[i]; i = (i + 1) & (size - 1))
			;
		slots[i] = id;
	}
	in->memory += (size_t)size * sizeof(*slots) / (t->slots ? 2 : 1);
	free(t->slots);
	t->slots = slots;
	t->mask = size - 1;
	return 0;
}

static uint32_t table__add(struct intern *in, struct intern_table *t, struct arena *arena,
			   const void *data, uint32_t len)
{
	uint32_t hash = hash_bytes(data, len), i;
	struct intern_item *item;
	void *copy;

	if (t->count >= t->mask / 2 && table__grow_slots(in, t))
		return 0;
	for (i = hash & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
		item = &t->items[t->slots[i] - 1];
		if (item->hash == hash && item->len == len && !memcmp(item->data, data, len))
			return t->slots[i];
	}
	if (table__grow_items(in, t))
		return 0;
	copy = arena__alloc(arena, len);
	if (!copy)
		return 0;
	memcpy(copy, data, len);
	t->items[t->count++] = (struct intern_item){ .data = copy, .len = len, .hash = hash };
	t->slots[i] = t->count;
	return t->count;
}

struct intern *intern__create(void)
{
	struct intern *in = calloc(1, sizeof(*in));

	if (in)
		in->string_data.block = in->stack_data.block = in->transient_data.block =
			BLOCK_SIZE;
	return in;
}

static void free_table(struct intern_table *t)
{
	free(t->items);
	free(t->slots);
	free(t->transient_id);
}

void intern__destroy(struct intern *in)
{
	if (!in)
		return;
	arena__deinit(&in->string_data);
	arena__deinit(&in->stack_data);
	arena__deinit(&in->transient_data);
	free_table(&in->strings);
	free_table(&in->stacks);
	free(in);
}

/* Length of a string after truncation, which does not split a UTF-8 character. */
static size_t cut_length(const char *s, size_t len)
{
	size_t cut = TRACE_STRING_MAX;

	if (len <= TRACE_STRING_MAX)
		return len;
	while (cut > TRACE_STRING_MAX - 4 && ((unsigned char)s[cut] & 0xc0) == 0x80)
		cut--;
	return ((unsigned char)s[cut] & 0xc0) == 0x80 ? TRACE_STRING_MAX : cut;
}

uint32_t intern__string(struct intern *in, const char *s, size_t len)
{
	return len ? table__add(in, &in->strings, &in->string_data, s, cut_length(s, len)) : 0;
}

int intern__text(struct intern *in, struct trace_string s, uint32_t *ret)
{
	uint32_t id = intern__string(in, s.data, s.len);

	if (!id && s.len)
		return -ENOMEM;
	*ret = id;
	return 0;
}

/* Reserves one more id for transient items. */
static int add_transient_id(struct intern *in, struct intern_table *t)
{
	size_t before = t->transient_cap;

	if (array__grow(&t->transient_id, t->ntransient, &t->transient_cap,
			sizeof(*t->transient_id)))
		return -1;
	in->memory += (t->transient_cap - before) * sizeof(*t->transient_id);
	if (t->count >= t->mask / 2 && table__grow_slots(in, t))
		return -1;
	if (table__grow_items(in, t))
		return -1;
	t->items[t->count++] = (struct intern_item){ 0 };
	t->transient_id[t->ntransient++] = t->count;
	return 0;
}

static uint32_t table__add_transient(struct intern *in, struct intern_table *t, const void *data,
				     uint32_t len)
{
	uint32_t id;
	void *copy;

	if (t->transient_used == t->ntransient && add_transient_id(in, t))
		return 0;
	copy = arena__alloc(&in->transient_data, len);
	if (!copy)
		return 0;
	memcpy(copy, data, len);
	id = t->transient_id[t->transient_used++];
	t->items[id - 1] = (struct intern_item){ .data = copy, .len = len };
	in->transient_bytes += len;
	return id;
}

uint32_t intern__transient(struct intern *in, const char *s, size_t len)
{
	return len ? table__add_transient(in, &in->strings, s, cut_length(s, len)) : 0;
}

uint32_t intern__reserve(struct intern *in)
{
	return table__add_transient(in, &in->strings, "", 0);
}

void intern__resolve(struct intern *in, uint32_t id, uint32_t as)
{
	struct intern_table *t = &in->strings;

	if (!id || id > t->count || t->items[id - 1].hash || !as || as > t->count)
		return;
	t->items[id - 1].data = t->items[as - 1].data;
	t->items[id - 1].len = t->items[as - 1].len;
	in->transient_bytes += t->items[id - 1].len;
}

size_t intern__transient_bytes(const struct intern *in)
{
	return in->transient_bytes;
}

static void discard_transient(struct intern_table *t)
{
	uint32_t i;

	for (i = 0; i < t->transient_used; i++)
		t->items[t->transient_id[i] - 1] = (struct intern_item){ 0 };
	t->transient_used = 0;
}

static void discard_stacks(struct intern *in)
{
	struct intern_table *t = &in->stacks;

	in->memory -= t->cap * sizeof(*t->items);
	if (t->slots)
		in->memory -= ((size_t)t->mask + 1) * sizeof(*t->slots);
	free_table(t);
	*t = (struct intern_table){ 0 };
	arena__deinit(&in->stack_data);
	in->stack_bytes = 0;
	in->epoch++;
}

void intern__end_generation(struct intern *in)
{
	discard_transient(&in->strings);
	in->transient_bytes = 0;
	arena__deinit(&in->transient_data);
	in->generation++;
	in->new_stack_bytes = 0;
	if (in->stack_bytes > INTERN_STACKS_KEPT)
		discard_stacks(in);
}

uint32_t intern__generation(const struct intern *in)
{
	return in->generation;
}

uint32_t intern__epoch(const struct intern *in)
{
	return in->epoch;
}

size_t intern__new_stack_bytes(const struct intern *in)
{
	return in->new_stack_bytes;
}

uint32_t intern__cstring(struct intern *in, const char *s)
{
	return intern__string(in, s, strlen(s));
}

/* Clears `pad`, which callers may leave undefined: equal stacks must have equal bytes. */
static uint32_t copy_frames(struct intern_frame *copy, const struct intern_frame *frames, size_t n)
{
	size_t i;

	if (n > TRACE_STACK_MAX)
		n = TRACE_STACK_MAX;
	for (i = 0; i < n; i++) {
		copy[i] = frames[i];
		copy[i].pad = 0;
	}
	return n * sizeof(*copy);
}

uint32_t intern__stack(struct intern *in, const struct intern_frame *frames, size_t n)
{
	struct intern_frame copy[TRACE_STACK_MAX];
	uint32_t before = in->stacks.count, len, id;

	if (!n)
		return 0;
	len = copy_frames(copy, frames, n);
	id = table__add(in, &in->stacks, &in->stack_data, copy, len);
	if (in->stacks.count != before) {
		in->stack_bytes += len;
		in->new_stack_bytes += len;
	}
	return id;
}

const char *intern__string_at(const struct intern *in, uint32_t id, size_t *ret_len)
{
	if (!id || id > in->strings.count)
		return NULL;
	*ret_len = in->strings.items[id - 1].len;
	return in->strings.items[id - 1].data;
}

struct trace_string intern__text_at(const struct intern *in, uint32_t id)
{
	size_t len = 0;
	const char *data = intern__string_at(in, id, &len);

	return (struct trace_string){ .data = data ? data : "", .len = (uint32_t)len };
}

const struct intern_frame *intern__stack_at(const struct intern *in, uint32_t id, size_t *ret_n)
{
	if (!id || id > in->stacks.count)
		return NULL;
	*ret_n = in->stacks.items[id - 1].len / sizeof(struct intern_frame);
	return in->stacks.items[id - 1].data;
}

uint32_t intern__strings(const struct intern *in)
{
	return in->strings.count;
}

uint32_t intern__stacks(const struct intern *in)
{
	return in->stacks.count;
}

size_t intern__memory(const struct intern *in)
{
	return sizeof(*in) + in->memory + in->string_data.memory + in->stack_data.memory +
	       in->transient_data.memory;
}
