// SPDX-License-Identifier: GPL-2.0
/*
 * Strings and stacks, each kept once: strings for the life of a recording, stacks until there are too many.
 *
 * Before it in an event's way: the sequencer, which turns symbols and stacks into ids as it
 * understands a record. After it: tables.c, which writes those that a generation's events name.
 *
 * Both kinds are byte strings to the table underneath: data in an arena that never moves, an item
 * an id, and an open-addressing index from hash to id.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "trace/intern.h"
#include "trace/spec.h"

#define BLOCK_SIZE 65536

struct block { /* of an arena; the newest comes first */
	struct block *next;
	size_t used;
	_Alignas(8) char data[];
};

struct item {
	const void *data;
	uint32_t len;  /* bytes */
	uint32_t hash; /* 0: a passing one, which is in no slot */
};

struct table {
	struct item *items; /* by id - 1 */
	uint32_t count, cap;
	uint32_t *slots; /* ids; 0: free. A power of two, at most half full */
	uint32_t mask;
	uint32_t *passing_id; /* ids that were ever given to passing ones, */
	uint32_t npassing, passing_cap;
	uint32_t passing_used; /* and how many of them are in this generation */
};

struct intern {
	struct block *blocks; /* of strings */
	struct table strings, stacks;
	struct block *stack_blocks;
	size_t stack_bytes, new_stack_bytes; /* of all that are there; of this generation's */
	struct block *passing;		     /* those of passing ones */
	size_t passing_bytes;
	size_t memory;
	uint32_t generation, epoch;
};

static void *arena__alloc(struct intern *in, struct block **blocks, size_t len)
{
	struct block *b = *blocks;
	size_t size = (len + 7) & ~(size_t)7;
	void *p;

	if (!b || BLOCK_SIZE - b->used < size) {
		b = malloc(sizeof(*b) + BLOCK_SIZE);
		if (!b)
			return NULL;
		b->next = *blocks;
		b->used = 0;
		*blocks = b;
		in->memory += sizeof(*b) + BLOCK_SIZE;
	}
	p = b->data + b->used;
	b->used += size;
	return p;
}

static uint32_t hash_bytes(const void *data, size_t len)
{
	return hash__bytes(data, len) >> 32 |
	       0x80000000u; /* a table's index is of the lower bits */
}

static int table__grow_items(struct intern *in, struct table *t)
{
	uint32_t cap = t->cap ? t->cap * 2 : 256;
	struct item *items = reallocarray(t->items, cap, sizeof(*items));

	if (!items)
		return -1;
	in->memory += (size_t)(cap - t->cap) * sizeof(*items);
	t->items = items;
	t->cap = cap;
	return 0;
}

static int table__grow_slots(struct intern *in, struct table *t)
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

static uint32_t table__add(struct intern *in, struct table *t, struct block **blocks,
			   const void *data, uint32_t len)
{
	uint32_t hash = hash_bytes(data, len), i;
	struct item *item;
	void *copy;

	if (t->count >= t->mask / 2 && table__grow_slots(in, t))
		return 0;
	for (i = hash & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
		item = &t->items[t->slots[i] - 1];
		if (item->hash == hash && item->len == len && !memcmp(item->data, data, len))
			return t->slots[i];
	}
	if (t->count == t->cap && table__grow_items(in, t))
		return 0;
	copy = arena__alloc(in, blocks, len);
	if (!copy)
		return 0;
	memcpy(copy, data, len);
	t->items[t->count++] = (struct item){ .data = copy, .len = len, .hash = hash };
	t->slots[i] = t->count;
	return t->count;
}

struct intern *intern__create(void)
{
	return calloc(1, sizeof(struct intern));
}

static void free_blocks(struct intern *in, struct block **blocks)
{
	struct block *b, *next;

	for (b = *blocks; b; b = next) {
		next = b->next;
		in->memory -= sizeof(*b) + BLOCK_SIZE;
		free(b);
	}
	*blocks = NULL;
}

static void free_table(struct table *t)
{
	free(t->items);
	free(t->slots);
	free(t->passing_id);
}

void intern__destroy(struct intern *in)
{
	if (!in)
		return;
	free_blocks(in, &in->blocks);
	free_blocks(in, &in->stack_blocks);
	free_blocks(in, &in->passing);
	free_table(&in->strings);
	free_table(&in->stacks);
	free(in);
}

/* Where to cut a string that is too long: not within a UTF-8 character, if it is UTF-8. */
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
	return len ? table__add(in, &in->strings, &in->blocks, s, cut_length(s, len)) : 0;
}

/* One more id for passing ones. */
static int add_passing_id(struct intern *in, struct table *t)
{
	uint32_t cap = t->passing_cap ? t->passing_cap * 2 : 256;
	uint32_t *ids;

	if (t->npassing == t->passing_cap) {
		ids = reallocarray(t->passing_id, cap, sizeof(*ids));
		if (!ids)
			return -1;
		in->memory += (size_t)(cap - t->passing_cap) * sizeof(*ids);
		t->passing_id = ids;
		t->passing_cap = cap;
	}
	if (t->count >= t->mask / 2 && table__grow_slots(in, t))
		return -1;
	if (t->count == t->cap && table__grow_items(in, t))
		return -1;
	t->items[t->count++] = (struct item){ 0 };
	t->passing_id[t->npassing++] = t->count;
	return 0;
}

static uint32_t table__add_passing(struct intern *in, struct table *t, const void *data,
				   uint32_t len)
{
	uint32_t id;
	void *copy;

	if (t->passing_used == t->npassing && add_passing_id(in, t))
		return 0;
	copy = arena__alloc(in, &in->passing, len);
	if (!copy)
		return 0;
	memcpy(copy, data, len);
	id = t->passing_id[t->passing_used++];
	t->items[id - 1] = (struct item){ .data = copy, .len = len };
	in->passing_bytes += len;
	return id;
}

uint32_t intern__passing(struct intern *in, const char *s, size_t len)
{
	return len ? table__add_passing(in, &in->strings, s, cut_length(s, len)) : 0;
}

size_t intern__passing_bytes(const struct intern *in)
{
	return in->passing_bytes;
}

static void forget_passing(struct table *t)
{
	uint32_t i;

	for (i = 0; i < t->passing_used; i++)
		t->items[t->passing_id[i] - 1] = (struct item){ 0 };
	t->passing_used = 0;
}

static void forget_stacks(struct intern *in)
{
	struct table *t = &in->stacks;

	in->memory -= t->cap * sizeof(*t->items);
	if (t->slots)
		in->memory -= ((size_t)t->mask + 1) * sizeof(*t->slots);
	free_table(t);
	*t = (struct table){ 0 };
	free_blocks(in, &in->stack_blocks);
	in->stack_bytes = 0;
	in->epoch++;
}

void intern__end_generation(struct intern *in)
{
	forget_passing(&in->strings);
	in->passing_bytes = 0;
	free_blocks(in, &in->passing);
	in->generation++;
	in->new_stack_bytes = 0;
	if (in->stack_bytes > INTERN_STACKS_KEPT)
		forget_stacks(in);
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

/* A caller may leave `pad` as it was; in the table equal stacks must be equal bytes. */
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
	id = table__add(in, &in->stacks, &in->stack_blocks, copy, len);
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
	return sizeof(*in) + in->memory;
}
