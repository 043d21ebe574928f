// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks of the tables: see table_impl.h.
 *
 * A stack is a list of PCs, which the dictionary may contain. The function, file and line of a PC
 * are those that it had before; the IDs of their strings are those of this segment.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/spec.h"
#include "lib/array.h"
#include "pack/table_impl.h"

static struct tables_frame *frame_of(struct table_coder *c, uint64_t pc)
{
	struct table_model *t = c->t;
	size_t found = (uintptr_t)map__get(&t->frame_by_pc, pc);

	if (found)
		return &t->frame[found - 1];
	if (array__grow(&t->frame, t->nframes, &t->frames_cap, sizeof(*t->frame)) ||
	    map__put(&t->frame_by_pc, pc, (void *)((uintptr_t)t->nframes + 1))) {
		c->err = -ENOMEM;
		return NULL;
	}
	t->frame[t->nframes] = (struct tables_frame){};
	return &t->frame[t->nframes++];
}

/* The ID of a string of a frame. *text is the index + 1 of its text, 0 if that is not known. */
static uint64_t code_frame_text(struct table_coder *c, unsigned int kind, uint64_t *text,
				uint64_t near, uint64_t id)
{
	const struct tables_text *known = *text ? &c->t->text[*text - 1] : NULL;
	uint64_t *by_near = predictor__guess(&c->p, TABLE_CONTEXT(kind), near);
	uint64_t *max = predictor__guess(&c->p, TABLE_CONTEXT(kind), kind);
	bool is_known = known && known->segment == c->t->segment;
	uint64_t candidate[] = { is_known ? known->id : *by_near, *by_near, *max + 1, *max };
	uint64_t a = pack__hash(TABLE_CONTEXT(kind), is_known);

	id = predictor__candidate(&c->p, a, pack__hash(a, *by_near == *max),
				  TABLE_MIXER + kind % 8 * 64, candidate, 4, id);
	*by_near = id;
	if (id > *max)
		*max = id;
	*text = (uintptr_t)map__get(&c->text_by_id, id);
	return id;
}

static void code_frame(struct table_coder *c, uint64_t pc)
{
	struct tables_frame *f = frame_of(c, pc);
	uint64_t id[3] = {}, known, *by_func;

	if (!f)
		return;
	known = f->func && f->file;
	for (unsigned int i = 0; i < 3 && !c->decode; i++)
		id[i] = buf__uleb(&c->in);
	id[0] = code_frame_text(c, TABLE_FUNC, &f->func, pc, id[0]);
	id[1] = code_frame_text(c, TABLE_FILE, &f->file, pack__hash(id[0], 0), id[1]);
	by_func = predictor__guess(&c->p, TABLE_CONTEXT(TABLE_LINE), id[0]);
	id[2] = predictor__candidate(&c->p, pack__hash(TABLE_CONTEXT(TABLE_LINE), known),
				     TABLE_CONTEXT(TABLE_LINE) + 1, TABLE_MIXER + 600,
				     known ? &f->line : by_func, 1, id[2]);
	f->line = *by_func = id[2];
	for (unsigned int i = 0; i < 3; i++)
		table_coder__put_number(c, id[i]);
}

static uint64_t hash_pcs(const uint64_t *pc, size_t n)
{
	return hash__bytes(pc, n * sizeof(*pc));
}

/* Adds a stack to the dictionary, whose n PCs were appended already. */
static void add_stack(struct table_coder *c, size_t n)
{
	struct table_model *t = c->t;
	size_t at = t->npcs - n;

	if (array__grow(&t->stack, t->nstacks, &t->stacks_cap, sizeof(*t->stack)) ||
	    (!c->decode && map__put(&t->stack_by_hash, hash_pcs(t->pc + at, n),
				    (void *)((uintptr_t)t->nstacks + 1)))) {
		c->err = -ENOMEM;
		return;
	}
	c->stack = t->nstacks;
	t->stack[t->nstacks++] = (struct tables_stack){ at, n };
}

/* Index + 1; 0: not in the dictionary. */
static size_t find_stack(const struct table_model *t, const uint64_t *pc, size_t n)
{
	size_t found = (uintptr_t)map__get(&t->stack_by_hash, hash_pcs(pc, n));

	if (!found || t->stack[found - 1].n != n ||
	    (n && memcmp(t->pc + t->stack[found - 1].at, pc, n * sizeof(*pc))))
		return 0;
	return found;
}

/* The PCs of a new stack: callers of the same PC are often the same. */
static void code_pcs(struct table_coder *c, uint64_t *pc, size_t n)
{
	uint64_t before[2] = {}, *near, *far;

	for (size_t i = 0; i < n; i++) {
		far = predictor__guess(&c->p, TABLE_CONTEXT(TABLE_PC),
				       pack__hash(before[0], before[1]));
		near = predictor__guess(&c->p, TABLE_CONTEXT(TABLE_PC) + 1, before[0]);
		uint64_t candidate[] = { *far, *near, before[0] };

		pc[i] = predictor__candidate(&c->p, TABLE_CONTEXT(TABLE_PC),
					     TABLE_CONTEXT(TABLE_PC) + (*far == *near),
					     TABLE_MIXER + 640, candidate, 2, pc[i]);
		*far = *near = pc[i];
		before[1] = before[0];
		before[0] = pc[i];
	}
}

static void take_pcs(struct buf frames, uint64_t *ret, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ret[i] = buf__uleb(&frames);
		for (unsigned int other = 0; other < 3; other++)
			buf__uleb(&frames);
	}
}

/* A stack of the dictionary; stores its PCs. Returns their number. */
static size_t code_known_stack(struct table_coder *c, uint64_t *pc, uint64_t index)
{
	uint64_t candidate[] = { c->stack + 1 };
	const struct tables_stack *stack;

	index = predictor__candidate(&c->p, TABLE_CONTEXT(TABLE_STACK) + 2,
				     TABLE_CONTEXT(TABLE_STACK) + 3, TABLE_MIXER + 684, candidate,
				     1, index);
	if (index >= c->t->nstacks) {
		c->bad = true;
		return 0;
	}
	c->stack = index;
	stack = &c->t->stack[index];
	if (stack->n)
		memcpy(pc, c->t->pc + stack->at, stack->n * sizeof(*pc));
	return stack->n;
}

static size_t code_new_stack(struct table_coder *c, uint64_t *pc, uint64_t n)
{
	n = predictor__value(&c->p, TABLE_CONTEXT(TABLE_FRAMES), 0, 0, n);
	if (n > TRACE_STACK_MAX) {
		c->bad = true;
		return 0;
	}
	code_pcs(c, pc, n);
	for (size_t i = 0; i < n; i++) {
		if (array__grow(&c->t->pc, c->t->npcs, &c->t->pcs_cap, sizeof(*c->t->pc))) {
			c->err = -ENOMEM;
			return 0;
		}
		c->t->pc[c->t->npcs++] = pc[i];
	}
	add_stack(c, n);
	return n;
}

void table_coder__stack(struct table_coder *c)
{
	uint64_t pc[TRACE_STACK_MAX], id = 0, n = 0, known = 0;

	if (!c->decode) {
		buf__u8(&c->in);
		id = buf__uleb(&c->in);
		n = buf__uleb(&c->in);
		take_pcs(c->in, pc, n);
		known = find_stack(c->t, pc, n);
	}
	table_coder__put_bytes(c, (const uint8_t[]){ EV_STACK }, 1);
	table_coder__put_number(c, table_coder__id(c, &c->stack_id, id));
	if (coder__bit(c->p.coder, TABLE_CONTEXT(TABLE_STACK), TABLE_CONTEXT(TABLE_STACK) + 1,
		       TABLE_MIXER + 680, known))
		n = code_known_stack(c, pc, known - 1);
	else
		n = code_new_stack(c, pc, n);
	table_coder__put_number(c, n);
	for (size_t i = 0; i < n && !c->bad && !c->err; i++) {
		if (!c->decode)
			buf__uleb(&c->in);
		table_coder__put_number(c, pc[i]);
		code_frame(c, pc[i]);
	}
}
