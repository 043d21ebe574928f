// SPDX-License-Identifier: GPL-2.0
/*
 * Where to probe events of the heap: marking, sweeping, size.
 *
 * Upstream: site_find.c. Downstream: site.c. All sites are where the runtime itself checks whether
 * it is traced, so the events are the runtime's own. Since 1.22 that check has one shape
 * (TRACE_TEST); before, it is a plain branch around a call of the tracer.
 */
#include <string.h>

#include "target/probe/site_find.h"
#include "target/probe/site_impl.h"

/* Whether the call at `at` enters the row's callee, or belongs to an inlined copy of it. */
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
		/* a chunk is traced with the heap unlocked, which is a call */
		guard = find__guard(code, at, row->probe == GT_PROBE_SWEEP_SPAN);
		if (guard == NO_INSN)
			return 0; /* all of them or none */
		cookie = GT_COOKIE_IS_PLACE(row->probe) ? finder__behind(code, at, guard) :
							  row->cookie;
		added += finder__add(f, row, code, guard, cookie);
	}
	return added;
}

/* Without optimization (-N -l) it is a call that returns the sum: the tracer uses the first. */
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
		after = find__after_call(code, at, 1u << GPR_ARG1);
		return after != NO_INSN &&
		       finder__add(f, row, code, after, GT_SITE_OBJECT(GPR_ARG1));
	}
	return 0;
}

/*
 * Only one of a function's counters has its sum used: for the tracer. The cookie contains its
 * address, too, so that it can be sampled instead.
 */
size_t finder__add_added(struct finder *f, const struct row *row, const struct code *code)
{
	size_t added = 0;
	uint64_t cookie;
	enum gpr sum;

	for (size_t at = 0; (at = find__added(code, at, &sum)) != NO_INSN; at++) {
		if (!finder__owns(f, row, code, at))
			continue;
		cookie = GT_SITE_OBJECT(sum) | GT_SITE_COUNTER(find__counter(code, at));
		added += finder__add(f, row, code, at, cookie);
	}
	return added ? added : add_called(f, row, code);
}

/* The cookie is the address of gcController, the receiver, for its first member. */
size_t finder__add_goal(struct finder *f, const struct row *row, const struct code *code,
			uint64_t callee)
{
	size_t call = find__call(code, callee, 0), at;
	int64_t controller;
	uint64_t cookie = 0;

	if (call == NO_INSN || find__call(code, callee, call + 1) != NO_INSN)
		return 0;
	at = find__after_call(code, call, 1u << GPR_ARG2);
	if (at == NO_INSN)
		return 0;
	if (row->cookie) {
		if (f->plugin && f->controller) /* it has the address from its GOT */
			controller = (int64_t)f->controller;
		else if (!find__constant(code, call, GPR_ARG1, &controller))
			return 0;
		cookie = GT_SITE_PLACE((uint64_t)controller, code->insn[at].addr);
	}
	return finder__add(f, row, code, at, cookie);
}
