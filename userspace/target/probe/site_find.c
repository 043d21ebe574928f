// SPDX-License-Identifier: GPL-2.0
/*
 * Recognizes the kinds of probe sites in disassembled code that look the same on each architecture.
 *
 * Upstream: code.c. Downstream: site.c, site_inline.c, site_heap.c; site_find_x86.c has the other
 * kinds. Each function knows one shape of code that Go's compiler generates (checked for 1.19 to
 * 1.27) and finds nothing in any other, so code of a new compiler is rejected, not probed wrongly.
 */
#include "target/probe/site_find.h"

#define LOOK_BACK_MAX  64
#define AFTER_CALL_MAX 6
#define BEFORE_CAS_MAX 24
#define GUARD_MAX      12

size_t find__call(const struct code *code, uint64_t target, size_t from)
{
	for (size_t i = from; i < code->n; i++) {
		if (code->insn[i].kind == INSN_CALL && code->insn[i].target == target)
			return i;
	}
	return NO_INSN;
}

bool code__is_jumped_to(const struct code *code, uint64_t addr)
{
	for (size_t i = 0; i < code->n; i++) {
		if ((code->insn[i].kind == INSN_JMP || code->insn[i].kind == INSN_JCC) &&
		    code->insn[i].target == addr)
			return true;
	}
	return false;
}

bool code__is_exit(const struct code *code, const struct insn *in)
{
	return in->kind == INSN_RET ||
	       (in->kind == INSN_JMP && in->target &&
		(in->target < code->func.entry || in->target >= code->func.end));
}

size_t find__after_call(const struct code *code, size_t call, uint32_t results)
{
	if (call + 1 >= code->n)
		return NO_INSN;
	for (size_t i = call + 1; i < code->n && i <= call + AFTER_CALL_MAX; i++) {
		const struct insn *in = &code->insn[i];

		if (code__is_jumped_to(code, in->addr))
			break; /* also reached on other paths */
		if (in->emulated)
			return i;
		if ((in->writes & results) || in->kind == INSN_JMP || in->kind == INSN_JCC)
			break;
	}
	return code__is_jumped_to(code, code->insn[call + 1].addr) ? NO_INSN : call + 1;
}

size_t find__trace_test(const struct code *code, size_t call, uint64_t acquire)
{
	size_t low = call > LOOK_BACK_MAX ? call - LOOK_BACK_MAX : 0;
	size_t i = call;
	uint64_t slow, end;

	while (i > low && !(code->insn[i].kind == INSN_CALL && code->insn[i].target == acquire))
		i--;
	if (code->insn[i].kind != INSN_CALL || code->insn[i].target != acquire)
		return NO_INSN;
	/* jne slow; <tracer off>; jmp on; slow: (nop); call traceAcquireEnabled */
	end = code->insn[i].addr;
	while (i > low && code->insn[i - 1].kind == INSN_NOP)
		i--;
	slow = code->insn[i].addr;
	while (i > low) {
		const struct insn *in = &code->insn[--i];

		if (in->kind == INSN_JCC)
			return in->target >= slow && in->target <= end ? i : NO_INSN;
		if (in->kind == INSN_CALL || in->kind == INSN_RET)
			break;
	}
	return NO_INSN;
}

static bool jumps_around(const struct code *code, size_t jump, size_t call)
{
	return code->insn[jump].kind == INSN_JCC && code->insn[jump].emulated &&
	       code->insn[jump].target > code->insn[call].addr;
}

size_t find__guard(const struct code *code, size_t call, bool over_calls)
{
	size_t low = call > GUARD_MAX ? call - GUARD_MAX : 0, guard = NO_INSN;
	const struct insn *in;

	for (size_t i = call; i > low;) {
		in = &code->insn[--i];
		if ((in->kind == INSN_CALL && !over_calls) || in->kind == INSN_RET ||
		    in->kind == INSN_JMP)
			break;
		if (in->kind != INSN_JCC)
			continue;
		if (!jumps_around(code, i, call) ||
		    (guard != NO_INSN && in->target != code->insn[guard].target))
			break;
		guard = i;
	}
	return guard;
}

size_t find__cas(const struct code *code, int64_t disp, unsigned int width, size_t from)
{
	for (size_t i = from; i < code->n; i++) {
		const struct insn *in = &code->insn[i];

		if (in->kind == INSN_CAS && in->width == width && in->base < GPR_NONE &&
		    in->base != GPR_SP && in->src < GPR_NONE && (disp < 0 || in->disp == disp))
			return i;
	}
	return NO_INSN;
}

/* Whether a jump from before `cas` leads behind `from` and not behind `cas`. */
static bool is_entered(const struct code *code, size_t from, size_t cas)
{
	for (size_t i = 0; i < cas; i++) {
		const struct insn *in = &code->insn[i];

		if ((in->kind == INSN_JMP || in->kind == INSN_JCC) &&
		    in->target > code->insn[from].addr && in->target <= code->insn[cas].addr)
			return true;
	}
	return false;
}

size_t find__before_cas(const struct code *code, size_t cas)
{
	size_t nearest = NO_INSN;

	for (size_t i = cas; i > 0 && cas - i < BEFORE_CAS_MAX;) {
		const struct insn *in = &code->insn[--i];

		if ((in->writes & 1u << code->insn[cas].src) || in->kind == INSN_CALL ||
		    in->kind == INSN_RET || in->kind == INSN_JMP || in->kind == INSN_JCC ||
		    is_entered(code, i, cas))
			break;
		if (in->emulated && in->kind == INSN_NOP)
			return i;
		if (nearest == NO_INSN && in->kind != INSN_CAS)
			nearest = i;
	}
	return nearest;
}

size_t find__cleared(const struct code *code, int64_t disp, size_t from)
{
	for (size_t i = from; i < code->n; i++) {
		const struct insn *in = &code->insn[i];

		if (in->stores && in->kind == INSN_OTHER && in->width == 8 && in->disp == disp &&
		    in->base < GPR_NONE && in->base != GPR_SP && in->stores_constant && !in->imm)
			return i;
	}
	return NO_INSN;
}

bool find__constant(const struct code *code, size_t at, enum gpr reg, int64_t *ret)
{
	for (size_t n = 0; at > 0 && n < LOOK_BACK_MAX; n++) {
		const struct insn *in = &code->insn[--at];

		if (in->set_reg == reg) {
			*ret = in->imm;
			return true;
		}
		if (in->writes & (1u << reg))
			return false;
	}
	return false;
}

bool find__stored(const struct code *code, size_t at, int64_t disp, int64_t value)
{
	uint64_t callee = code->insn[at].target;

	for (size_t n = 0; at > 0 && n < LOOK_BACK_MAX; n++) {
		const struct insn *in = &code->insn[--at];

		if (in->stores && in->disp == disp && in->imm == value)
			return true;
		if (in->kind == INSN_RET || in->kind == INSN_CAS ||
		    (callee && in->kind == INSN_CALL && in->target == callee))
			return false;
	}
	return false;
}
