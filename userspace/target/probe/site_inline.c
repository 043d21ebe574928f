// SPDX-License-Identifier: GPL-2.0
/*
 * Where to probe functions that the compiler inlined. A profile-guided build may inline casgstatus,
 * ready, goschedImpl, gdestroy, reentersyscall or runqput, so that not all callers pass their
 * entry.
 *
 * Upstream: site_find.c. Downstream: site.c. In an inlined body neither the order of instructions
 * nor the registers of values are known. But each transition of a goroutine is one compare-and-swap
 * of its status word: the base of the memory operand is the goroutine, the other operands are the
 * statuses. The probe is on the branch on its result, which the kernel can emulate. The cookie
 * gives the BPF program the goroutine's register and the zero flag of a successful swap, so failed
 * iterations of a loop do not count. The inline tree determines which function's transition it is.
 */
#include <stdio.h>
#include <string.h>

#include "target/probe/site_find.h"
#include "target/probe/site_impl.h"

#define GOPREEMPT      "runtime.gopreempt_m"
#define RUNQPUT	       "runtime.runqput"
#define IDLE_WORKER    3 /* runtime.gcMarkWorkerIdleMode, in all releases */
#define STW_START      "runtime.traceLocker.STWStart"
#define CAS_TO_PREEMPT "runtime.casGToPreemptScan"

struct chain finder__chain(const struct finder *f, const struct code *code, size_t at)
{
	struct chain c;

	c.n = pclntab__inlined_at(f->pt, code->insn[at].addr, c.name, CHAIN_MAX);
	c.name[c.n++] = code->func.name;
	return c;
}

static bool chain_has(const struct chain *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!strcmp(c->name[i], name))
			return true;
	}
	return false;
}

bool finder__owns(const struct finder *f, const struct row *row, const struct code *code, size_t at)
{
	struct chain c = finder__chain(f, code, at);

	for (size_t i = 0; i < c.n; i++) {
		if (row__is_func(c.name[i]))
			return !strcmp(c.name[i], row->func);
	}
	return false;
}

/* Further bits of the cookie for a change of status, by probe: see gotrace/kinds.h. */
static uint64_t cookie_of(const struct finder *f, const struct row *row, const struct code *code,
			  size_t at)
{
	struct chain c;

	if (row->probe == GT_PROBE_CAS_RUNNABLE &&
	    find__stored(code, at, f->layout->config.p_gc_mode, IDLE_WORKER))
		return GT_VIA_GC_WORKER;
	if (row->probe == GT_PROBE_GOSCHED) {
		c = finder__chain(f, code, at);
		return chain_has(&c, GOPREEMPT) ? GT_GOSCHED_PREEMPTED : GT_GOSCHED_YIELDS;
	}
	return row->cookie;
}

static bool may_equal(const struct code *code, size_t at, enum gpr reg, uint32_t status)
{
	int64_t value;

	return !find__constant(code, at, reg, &value) || (uint32_t)value == status;
}

static size_t add_status_calls(struct finder *f, const struct row *row, const struct code *code,
			       const char *callee)
{
	size_t added = 0, at = 0;
	struct go_func to;

	if (!pclntab__named(f->pt, callee, &to))
		return 0;
	for (; (at = find__call(code, to.entry, at)) != NO_INSN; at++) {
		uint64_t cookie = GT_SITE_CALL(row->old, row->new);

		if (!may_equal(code, at, GPR_ARG2, row->old) ||
		    !may_equal(code, at, GPR_ARG3, row->new) || !finder__owns(f, row, code, at))
			continue;
		added += finder__add(f, row, code, at, cookie | cookie_of(f, row, code, at));
	}
	return added;
}

size_t finder__add_cas(struct finder *f, const struct row *row, const struct code *code)
{
	int64_t status = f->layout->config.g_status;
	size_t added, at = 0;

	added = add_status_calls(f, row, code, CASGSTATUS);
	if (row->probe == GT_PROBE_PREEMPT_PARK)
		added += add_status_calls(f, row, code, CAS_TO_PREEMPT);
	for (; (at = find__cas(code, status, 4, at)) != NO_INSN; at++) {
		const struct insn *in = &code->insn[at];
		bool zero_flag;
		size_t done;

		if (!may_equal(code, at, GPR_CAS_OLD, row->old) ||
		    !may_equal(code, at, in->src, row->new) || !finder__owns(f, row, code, at))
			continue;
		done = find__cas_done(code, at, &zero_flag);
		if (done == NO_INSN)
			return 0; /* all of them or none */
		added += finder__add(f, row, code, done,
				     GT_SITE_CAS(in->base, in->src, zero_flag, row->old, row->new) |
					     cookie_of(f, row, code, at));
	}
	return added;
}

/*
 * Before the swap: afterwards other threads may take and run the goroutine before it is reported. A
 * failed iteration reports it again, which the sequencer ignores.
 */
size_t finder__add_runnext(struct finder *f, const struct row *row, const struct code *code)
{
	size_t added = 0, at = 0, before;

	for (; (at = find__cas(code, -1, 8, at)) != NO_INSN; at++) {
		struct chain c = finder__chain(f, code, at);

		if (!chain_has(&c, RUNQPUT) || !finder__owns(f, row, code, at))
			continue;
		before = find__before_cas(code, at);
		if (before == NO_INSN)
			return 0;
		added += finder__add(f, row, code, before, GT_SITE_OBJECT(code->insn[at].src));
	}
	return added;
}

/* The reason passed to the tracer function at `call`: the argument after its receiver's two. */
static bool stw_cookie(const struct code *code, size_t call, uint64_t *ret)
{
	int64_t reason;

	if (!find__constant(code, call, GPR_ARG3, &reason) || reason < 0 || reason > 254)
		return false;
	*ret = GT_STW_REASON(reason);
	return true;
}

/* Without optimization (-N -l) the test is a call: the last one before the tracer function. */
static size_t find_trace_call(const struct finder *f, const struct code *code, size_t call)
{
	struct go_func acquire;
	size_t last = NO_INSN, at = 0;

	if (!pclntab__named(f->pt, "runtime.traceAcquire", &acquire))
		return NO_INSN;
	for (; (at = find__call(code, acquire.entry, at)) < call; at++)
		last = at;
	return last;
}

size_t finder__add_trace_tests(struct finder *f, const struct row *row, const struct code *code,
			       uint64_t callee)
{
	size_t added = 0, test;
	struct go_func acquire;
	uint64_t cookie = row->cookie;

	if (!pclntab__named(f->pt, "runtime.traceAcquireEnabled", &acquire))
		return 0;
	for (size_t at = 0; (at = find__call(code, callee, at)) != NO_INSN; at++) {
		if (!finder__owns(f, row, code, at))
			continue;
		test = find__trace_test(code, at, acquire.entry);
		if (test == NO_INSN)
			test = find_trace_call(f, code, at);
		if (test == NO_INSN ||
		    (row->inlined == BY_STW_REASON && !stw_cookie(code, at, &cookie)))
			return 0;
		if (GT_COOKIE_IS_PLACE(row->probe))
			cookie = finder__behind(code, at, test);
		added += finder__add(f, row, code, test, cookie);
	}
	return added;
}

/* At the store into m.p itself: the probe reads the P there. */
static size_t add_p_cleared(struct finder *f, const struct row *row, const struct code *code)
{
	int64_t m_p = f->layout->config.m_p;
	size_t added = 0;

	for (size_t at = 0; (at = find__cleared(code, m_p, at)) != NO_INSN; at++)
		added += finder__owns(f, row, code, at) && finder__add(f, row, code, at, 0);
	return added;
}

static size_t add_caller(struct finder *f, const struct row *row, const struct code *code)
{
	bool closure = strstr(code->func.name, ".func");
	size_t at;

	if (row->inlined == BY_CALLER ?
		    !closure || strncmp(code->func.name, row->caller, strlen(row->caller)) :
		    strcmp(code->func.name, row->caller))
		return 0;
	at = find__entry(code);
	return at != NO_INSN && finder__add(f, row, code, at, row->caller_cookie);
}

/*
 * handoffp: only a P taken out of a system call matters, by retake and forEachP; others released
 * it.
 */
static size_t add_p_taken(struct finder *f, const struct row *row, const struct code *code)
{
	size_t added = 0, at = 0, done;
	bool zero_flag;

	for (; (at = find__cas(code, f->layout->p_status, 4, at)) != NO_INSN; at++) {
		const struct insn *in = &code->insn[at];

		if (!may_equal(code, at, in->src, 0))
			continue;
		done = find__cas_done(code, at, &zero_flag);
		if (done == NO_INSN)
			return 0;
		added += finder__add(f, row, code, done, GT_SITE_OPERAND(in->base, zero_flag));
	}
	if (added)
		return added;
	/* 1.26: see GT_PROBE_P_HANDOFF's other row; other functions released the P before */
	return f->layout->version.minor >= 26 ||
	       (strcmp(code->func.name, "runtime.retake") &&
		strncmp(code->func.name, "runtime.forEachP", 16) &&
		strcmp(code->func.name, "runtime.sysmon"));
}

size_t finder__add_inlined(struct finder *f, const struct row *row, const struct go_func *into,
			   char *reason)
{
	struct go_func callee = { 0 };
	struct code code;
	size_t added = 0;

	snprintf(reason, REASON_SIZE, "the compiler inlined %s into %s", row->func, into->name);
	if (row->inlined == UNSEEN || !code__read(&code, f->elf, into))
		return 0;
	if (row->caller)
		added = add_caller(f, row, &code);
	if (!added && row->inlined == BY_CAS)
		added = finder__add_cas(f, row, &code);
	else if (row->inlined == BY_P_CLEARED)
		added = add_p_cleared(f, row, &code);
	else if (row->inlined == BY_P_TAKEN)
		added = add_p_taken(f, row, &code);
	else if (row->how == TRACE_GUARD)
		added = finder__add_trace_guards(f, row, &code);
	else if (row->inlined == BY_ADDED)
		added = finder__add_added(f, row, &code);
	else if (row->inlined == BY_TRACE_TEST && pclntab__named(f->pt, row->callee, &callee))
		added = finder__add_trace_tests(f, row, &code, callee.entry);
	else if (row->inlined == BY_STW_REASON && pclntab__named(f->pt, STW_START, &callee))
		added = finder__add_trace_tests(f, row, &code, callee.entry);
	code__deinit(&code);
	return added;
}
