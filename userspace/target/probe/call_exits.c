// SPDX-License-Identifier: GPL-2.0
/*
 * Where the calls of a function end: see call_exits.h.
 *
 * The simple answer is every return, and every jump out of the function. But the kernel single-steps
 * a return, and emulates jumps and nops. So it is better to probe, in place of a return, the last
 * emulated instructions on all ways that lead to it, if only harmless instructions follow them:
 * nothing that calls, faults, waits or takes long. Then the region ends a few nanoseconds early.
 *
 * The ways are followed backwards from the return. An emulated nop or jump ends one. So does a
 * conditional jump, but its probe is hit whichever way it goes, so both ways must lead to such a
 * return. If a call or the function's entry is on a way, the return itself is probed, which is the
 * usual case.
 */
#include "target/probe/call_exits.h"

#include <stdlib.h>

#include "lib/array.h"
#include "target/probe/site_find.h"

#define WAYS_MAX 64 /* instructions that are followed backwards from one return */
#define CUTS_MAX 256

/* A jump of the function to one of its instructions. */
struct jump {
	size_t to, from;
};

/* A way crosses it from `from` to `to`, and then leads to exit number `exit` only. */
struct cut {
	size_t from, to, exit;
};

struct search {
	const struct code *code;
	const struct pclntab *pt;
	size_t begin;
	struct jump *jump; /* in order of `to` */
	size_t njumps, jumps_cap;
	size_t exit[CALL_EXITS_MAX], nexits;
	bool replaced[CALL_EXITS_MAX]; /* by its cuts */
	struct cut cut[CUTS_MAX];
	size_t ncuts;
};

/* Whether the instruction after it may be executed next. */
static bool falls_through(const struct insn *in)
{
	return in->kind != INSN_JMP && in->kind != INSN_RET;
}

static int by_address(const void *a, const void *b)
{
	const struct insn *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Index of the instruction at `addr`; NO_INSN: none begins there. */
static size_t index_of(const struct code *code, uint64_t addr)
{
	const struct insn key = { .addr = addr };
	const struct insn *found =
		bsearch(&key, code->insn, code->n, sizeof(*code->insn), by_address);

	return found ? (size_t)(found - code->insn) : NO_INSN;
}

static int by_target(const void *a, const void *b)
{
	const struct jump *x = a, *y = b;

	return (x->to > y->to) - (x->to < y->to);
}

/* False if the function has jumps whose targets are unknown, such as those of a jump table. */
static bool find_jumps(struct search *s)
{
	for (size_t i = 0; i < s->code->n; i++) {
		const struct insn *in = &s->code->insn[i];
		size_t to;

		if ((in->kind != INSN_JMP && in->kind != INSN_JCC) || code__is_exit(s->code, in))
			continue;
		to = in->target ? index_of(s->code, in->target) : NO_INSN;
		if (to == NO_INSN ||
		    array__grow(&s->jump, s->njumps, &s->jumps_cap, sizeof(*s->jump)))
			return false;
		s->jump[s->njumps++] = (struct jump){ to, i };
	}
	array__sort(s->jump, s->njumps, sizeof(*s->jump), by_target);
	return true;
}

/* The first jump to instruction `to` or a later one. */
static size_t first_jump(const struct search *s, size_t to)
{
	size_t low = 0, high = s->njumps;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->jump[mid].to < to)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The ways to an exit that are still to be followed backwards. */
struct ways {
	size_t insn[WAYS_MAX], n, done;
};

/*
 * Follows the ways to `exit` that come from `from` to `to` backwards. False if a call or the entry is
 * on one of them, or if they are too many.
 */
static bool follow(struct search *s, struct ways *ways, size_t exit, size_t from, size_t to)
{
	const struct insn *in = &s->code->insn[from];

	if (from <= s->begin || !in->harmless)
		return false;
	if (in->emulated || in->kind == INSN_JCC) {
		if (!in->emulated || s->ncuts == CUTS_MAX ||
		    (in->kind != INSN_JCC && in->kind != INSN_JMP && in->kind != INSN_NOP))
			return false;
		s->cut[s->ncuts++] = (struct cut){ from, to, exit };
		return true;
	}
	for (size_t i = 0; i < ways->n; i++) {
		if (ways->insn[i] == from)
			return true;
	}
	if (ways->n == WAYS_MAX)
		return false;
	ways->insn[ways->n++] = from;
	return true;
}

/* Finds the last emulated instructions on all ways to an exit, and adds them to the cuts. */
static bool cut_ways(struct search *s, size_t exit)
{
	struct ways ways = { .insn = { s->exit[exit] }, .n = 1 };

	while (ways.done < ways.n) {
		size_t to = ways.insn[ways.done++], jump = first_jump(s, to);
		bool reached = false;

		for (; jump < s->njumps && s->jump[jump].to == to; jump++) {
			if (!follow(s, &ways, exit, s->jump[jump].from, to))
				return false;
			reached = true;
		}
		if (to && falls_through(&s->code->insn[to - 1])) {
			if (!follow(s, &ways, exit, to - 1, to))
				return false;
			reached = true;
		}
		if (!reached)
			return false;
	}
	return true;
}

/* Whether the way from `from` to `to` leads to an exit that its cuts replace. */
static bool is_cut(const struct search *s, size_t from, size_t to)
{
	for (size_t i = 0; i < s->ncuts; i++) {
		const struct cut *cut = &s->cut[i];

		if (cut->from == from && cut->to == to)
			return s->replaced[cut->exit];
	}
	return false;
}

/* Whether both ways of a conditional jump are cut, or it is none. */
static bool is_cut_both_ways(const struct search *s, size_t from)
{
	const struct insn *in = &s->code->insn[from];

	return in->kind != INSN_JCC ||
	       (is_cut(s, from, from + 1) && is_cut(s, from, index_of(s->code, in->target)));
}

/* Does not replace the exits of which one cut would also be hit by calls that do not end. */
static void keep_exits(struct search *s)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < s->ncuts; i++) {
			bool *replaced = &s->replaced[s->cut[i].exit];

			if (*replaced && !is_cut_both_ways(s, s->cut[i].from)) {
				*replaced = false;
				changed = true;
			}
		}
	}
}

/* The frame at a cut is that of gopclntab, which must have none at the exit. */
static int32_t frame_at(const struct search *s, size_t insn)
{
	return pclntab__frame_size(s->pt, s->code->insn[insn].addr);
}

static void find_cuts(struct search *s)
{
	bool known = frame_at(s, s->begin) == 0 && find_jumps(s);

	for (size_t i = 0; known && i < s->nexits; i++) {
		size_t first = s->ncuts;

		s->replaced[i] = s->code->insn[s->exit[i]].kind == INSN_RET &&
				 frame_at(s, s->exit[i]) == 0 && cut_ways(s, i);
		for (size_t k = first; k < s->ncuts && s->replaced[i]; k++)
			s->replaced[i] = frame_at(s, s->cut[k].from) >= 0;
		if (!s->replaced[i])
			s->ncuts = first;
	}
	keep_exits(s);
}

static int by_place(const void *a, const void *b)
{
	const struct call_exit *x = a, *y = b;

	return (x->insn > y->insn) - (x->insn < y->insn);
}

/* A conditional jump has two cuts. The places may be more than the exits: then those are probed. */
static size_t collect(const struct search *s, struct call_exit ret[CALL_EXITS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < s->nexits; i++) {
		if (!s->replaced[i])
			ret[n++] = (struct call_exit){ s->exit[i], 0 };
	}
	for (size_t i = 0; i < s->ncuts; i++) {
		const struct cut *cut = &s->cut[i];
		bool is_new = s->replaced[cut->exit];

		for (size_t k = 0; k < n && is_new; k++)
			is_new = ret[k].insn != cut->from;
		if (!is_new)
			continue;
		if (n == CALL_EXITS_MAX)
			return 0;
		ret[n++] = (struct call_exit){ cut->from, (uint32_t)frame_at(s, cut->from) };
	}
	array__sort(ret, n, sizeof(*ret), by_place);
	return n;
}

size_t call_exits__find(const struct code *code, const struct pclntab *pt, size_t begin,
			struct call_exit ret[CALL_EXITS_MAX])
{
	struct search s = { .code = code, .pt = pt, .begin = begin };
	size_t n;

	for (size_t i = begin + 1; i < code->n; i++) {
		if (!code__is_exit(code, &code->insn[i]))
			continue;
		if (s.nexits == CALL_EXITS_MAX)
			return CALL_EXITS_MAX + 1;
		s.exit[s.nexits++] = i;
	}
	find_cuts(&s);
	n = collect(&s, ret);
	if (!n && s.nexits) {
		s.ncuts = 0;
		for (size_t i = 0; i < s.nexits; i++)
			s.replaced[i] = false;
		n = collect(&s, ret);
	}
	free(s.jump);
	return n;
}
