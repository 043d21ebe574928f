// SPDX-License-Identifier: GPL-2.0
/*
 * Data-flow analysis of a runtime function: which memory it reads and writes, with which values.
 *
 * Second step of inference. Upstream: calibrate_insn.c. Downstream: calibrate_places.c,
 * calibrate_shape.c. Interprets the basic blocks until nothing changes; where paths merge,
 * locations that had equal values on each path have equal values afterwards. A value
 * represents the origin of data, not its current content: enough to distinguish a g from an m.
 * Work is bounded: at a block, a location changes at most once for each other location.
 */
#include <stdlib.h>
#include <string.h>

#include "target/infer/calibrate_run.h"

#define BLOCKS_MAX 4096
#define VISITS_MAX 64 /* per block, on average */
#define RUNS_MAX   8

/* Prefixes of the names of functions that do not return. */
static const char *const no_return[] = {
	"runtime.throw",   "runtime.fatal",	"runtime.panic",    "runtime.goPanic",
	"runtime.gopanic", "runtime.morestack", "runtime.badmcall", "runtime.badsystemstack",
	"runtime.block",   "runtime.goexit0",	"runtime.abort",
};

static bool returns(const char *name)
{
	for (size_t i = 0; name && i < sizeof(no_return) / sizeof(no_return[0]); i++) {
		if (!strncmp(name, no_return[i], strlen(no_return[i])))
			return false;
	}
	return true;
}

/*
 * Merges the state of another path into the block. Locations that are equal on both paths remain
 * equal; all others become new values of the block.
 */
static bool merge_state(struct run *r, struct block *b)
{
	value_id old[NLOC], incoming[NLOC];
	uint32_t number = (uint32_t)(b - r->block);
	bool changed = false;

	memcpy(old, b->in, sizeof(old));
	memcpy(incoming, r->loc, sizeof(incoming));
	for (size_t i = 0; i < NLOC; i++) {
		const struct value *v = value__of(&r->f->values, old[i]);
		bool is_join = v->kind == VALUE_JOIN && v->base == number, keep = is_join;
		value_id fresh = 0;

		if (old[i] == incoming[i] || !old[i])
			continue;
		if (!incoming[i]) {
			b->in[i] = 0;
			changed = true;
			continue;
		}
		for (size_t j = 0; j < NLOC; j++) {
			if (old[j] != old[i])
				continue;
			if (j < i && incoming[j] == incoming[i])
				fresh = b->in[j]; /* same value as location j */
			else if (incoming[j] == old[j] || (j < i && incoming[j]))
				keep = false; /* the other locations keep the value */
		}
		if (!fresh && keep)
			continue;
		if (!fresh)
			fresh = values__get(&r->f->values, VALUE_JOIN, number, (int64_t)++r->joins,
					    0);
		changed |= fresh != b->in[i];
		b->in[i] = fresh;
	}
	return changed;
}

static void enter_block(struct run *r, size_t step)
{
	struct block *b;

	if (step >= r->f->steps.n)
		return;
	b = &r->block[r->block_of[step] - 1];
	if (!b->visited) {
		memcpy(b->in, r->loc, sizeof(r->loc));
		b->visited = b->dirty = true;
	} else if (merge_state(r, b)) {
		b->dirty = true;
	}
}

static void leave_block(struct run *r, const struct block *b)
{
	const struct step *last = &r->f->steps.step[b->end - 1];
	const struct go_func *func = &r->f->steps.func;
	struct go_func to;

	if ((last->kind == STEP_JMP || last->kind == STEP_JCC) && last->target >= func->entry &&
	    last->target < func->end) {
		size_t at = steps__at(&r->f->steps, last->target);

		if (at == SIZE_MAX)
			r->failed = true;
		enter_block(r, at);
	}
	if (last->kind == STEP_JMP && !last->target)
		r->indirect = true;
	if (last->kind == STEP_JMP || last->kind == STEP_RET || last->kind == STEP_TRAP ||
	    (last->kind == STEP_CALL && !returns(run__callee(r, last, &to))))
		return;
	enter_block(r, b->end);
}

static void run_block(struct run *r, struct block *b)
{
	b->dirty = false;
	memcpy(r->loc, b->in, sizeof(r->loc));
	for (uint32_t i = b->first; i < b->end; i++)
		run__step(r, &r->f->steps.step[i]);
}

static bool make_blocks(struct run *r)
{
	const struct steps *s = &r->f->steps;

	r->block_of = calloc(s->n + 1, sizeof(*r->block_of));
	if (!r->block_of)
		return false;
	r->block_of[0] = 1;
	for (size_t i = 0; i < s->n; i++) {
		size_t to = s->step[i].kind == STEP_JMP || s->step[i].kind == STEP_JCC ?
				    steps__at(s, s->step[i].target) :
				    SIZE_MAX;
		struct go_func callee;

		if (to != SIZE_MAX)
			r->block_of[to] = 1;
		if (s->step[i].kind == STEP_JMP || s->step[i].kind == STEP_JCC ||
		    s->step[i].kind == STEP_RET || s->step[i].kind == STEP_TRAP ||
		    (s->step[i].kind == STEP_CALL &&
		     !returns(run__callee(r, &s->step[i], &callee))))
			r->block_of[i + 1] = 1;
	}
	for (size_t i = 0; i < s->n; i++)
		r->nblock += r->block_of[i];
	if (r->nblock > BLOCKS_MAX)
		return false;
	r->block = calloc(r->nblock, sizeof(*r->block));
	r->states = malloc(r->nblock * NLOC * sizeof(*r->states));
	if (!r->block || !r->states)
		return false;
	r->nblock = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (r->block_of[i]) {
			r->block[r->nblock].first = (uint32_t)i;
			r->block[r->nblock].in = r->states + r->nblock * NLOC;
			r->block_of[i] = (uint32_t)++r->nblock;
		}
		r->block[r->nblock - 1].end = (uint32_t)i + 1;
	}
	return true;
}

static void enter(struct run *r)
{
	run__enter(r);
	for (size_t i = 0; i < r->nblock; i++)
		r->block[i].visited = r->block[i].dirty = false;
	enter_block(r, 0);
}

/* Interprets blocks until nothing changes. */
static bool run_to_fixpoint(struct run *r)
{
	size_t left = r->nblock * VISITS_MAX;
	bool again = true;

	enter(r);
	while (again) {
		again = false;
		for (size_t i = 0; i < r->nblock; i++) {
			if (!r->block[i].dirty)
				continue;
			if (!left-- || r->failed || r->f->values.full)
				return false;
			again = true;
			run_block(r, &r->block[i]);
			leave_block(r, &r->block[i]);
		}
	}
	return true;
}

/* False if an indirect jump, such as a jump table, may lead to code that was not reached. */
static bool all_reached(const struct run *r)
{
	for (size_t i = 0; r->indirect && i < r->nblock; i++) {
		const struct step *s = &r->f->steps.step[r->block[i].first];

		if (!r->block[i].visited && s->kind != STEP_TRAP)
			return false;
	}
	return true;
}

static bool run(struct run *r)
{
	int runs = 0;

	do { /* repeated when the address of a stack slot escapes */
		r->escapes = false;
		if (++runs > RUNS_MAX || !run_to_fixpoint(r))
			return false;
	} while (r->escapes);
	r->record = true;
	for (size_t i = 0; i < r->nblock; i++) {
		if (r->block[i].visited)
			run_block(r, &r->block[i]);
	}
	return !r->failed && !r->f->values.full && all_reached(r);
}

bool flow__read(struct flow *ret, const struct elf_image *elf, const struct pclntab *pt,
		const struct go_func *func, int64_t g_m)
{
	struct flow f = { .pt = pt, .g_m = g_m };
	struct run *r = calloc(1, sizeof(*r));
	bool ok = false;

	if (r) {
		r->f = &f;
		ok = steps__read(&f.steps, elf, func) && values__init(&f.values) &&
		     make_blocks(r) && run(r);
		free(r->block_of);
		free(r->block);
		free(r->states);
		free(r);
	}
	if (ok)
		*ret = f;
	else
		flow__deinit(&f);
	return ok;
}

void flow__deinit(struct flow *f)
{
	steps__deinit(&f->steps);
	values__deinit(&f->values);
	free(f->access);
	f->access = NULL;
	f->n = f->cap = 0;
}
