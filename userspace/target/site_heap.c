// SPDX-License-Identifier: GPL-2.0
/*
 * Where to probe what the runtime tells of its heap: marking, sweeping, how large it is.
 *
 * Helps target/site.c, as site_inline.c does. All of it stands where the runtime itself asks whether
 * it is traced, so that the events are just its own. From 1.22 on that question has one shape
 * (TRACE_TEST); before, it is a plain branch around a call of the tracer.
 */
#include <string.h>

#include "target/site_find.h"
#include "target/site_impl.h"

/* Does the call at `at` enter the row's callee, or belong to a copy of it that was inlined here? */
static bool calls(const struct finder *f, const struct row *row, const struct code *code, size_t at)
{
	struct go_func to;
	struct chain c;

	if (pclntab__named(f->pt, row->callee, &to) && code->insn[at].target == to.entry)
		return true;
	c = finder__chain(f, code, at);
	return !strcmp(c.name[0], row->callee);
}

uint64_t finder__behind(const struct code *code, size_t call, size_t site)
{
	const struct insn *in = &code->insn[call];

	return GT_SITE_PLACE(in->addr + in->len, code->insn[site].addr);
}

size_t finder__add_trace_guards(struct finder *f, const struct row *row, const struct code *code)
{
	size_t added = 0, guard;
	uint64_t cookie;

	for (size_t at = 0; at < code->n; at++) {
		if (code->insn[at].kind != INSN_CALL || !calls(f, row, code, at) ||
		    !finder__owns(f, row, code, at))
			continue;
		/* a chunk is told of with the heap unlocked, which is a call */
		guard = find__guard(code, at, row->probe == GT_PROBE_SWEEP_SPAN);
		if (guard == NO_INSN)
			return 0; /* not all of them: none */
		cookie = GT_COOKIE_IS_PLACE(row->probe) ? finder__behind(code, at, guard) :
							  row->cookie;
		added += finder__add(f, row, code, guard, cookie);
	}
	return added;
}

/* Without optimization (-N -l) it is a call, and its result the sum: the first is the tracer's. */
static size_t add_called(struct finder *f, const struct row *row, const struct code *code)
{
	static const char add[] = "/atomic.(*Uint64).Add";
	struct go_func to;
	size_t after, len;

	for (size_t at = 0; at < code->n; at++) {
		if (code->insn[at].kind != INSN_CALL || !code->insn[at].target ||
		    !pclntab__find(f->pt, code->insn[at].target, &to))
			continue;
		len = strlen(to.name);
		if (len < sizeof(add) || strcmp(to.name + len - sizeof(add) + 1, add))
			continue;
		after = find__after_call(code, at, 1u << GPR_AX);
		return after != NO_INSN && finder__add(f, row, code, after, GT_SITE_OBJECT(GPR_AX));
	}
	return 0;
}

/* Of a function's counters the sum of one is used, which the tracer is to get. */
size_t finder__add_added(struct finder *f, const struct row *row, const struct code *code)
{
	size_t added = 0;
	enum gpr sum;

	for (size_t at = 0; (at = find__added(code, at, &sum)) != NO_INSN; at++) {
		if (finder__owns(f, row, code, at))
			added += finder__add(f, row, code, at, GT_SITE_OBJECT(sum));
	}
	return added ? added : add_called(f, row, code);
}

/* The cookie says where gcController is, whose method it is, for what its first member tells. */
size_t finder__add_goal(struct finder *f, const struct row *row, const struct code *code,
			uint64_t callee)
{
	size_t call = find__call(code, callee, 0), at;
	int64_t controller;
	uint64_t cookie = 0;

	if (call == NO_INSN || find__call(code, callee, call + 1) != NO_INSN)
		return 0;
	at = find__after_call(code, call, 1u << GPR_BX);
	if (at == NO_INSN)
		return 0;
	if (row->cookie) {
		if (!find__constant(code, call, GPR_AX, &controller))
			return 0;
		cookie = GT_SITE_PLACE((uint64_t)controller, code->insn[at].addr);
	}
	return finder__add(f, row, code, at, cookie);
}
