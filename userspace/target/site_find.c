// SPDX-License-Identifier: GPL-2.0
/*
 * The kinds of places where a probe can stand, recognised in disassembled code.
 *
 * Each function here knows one shape of code that Go's compiler makes (1.19 to 1.27 looked at) and
 * finds nothing in any other, so that a compiler that changes leads to a refusal, not to a probe in
 * the wrong place.
 */
#include "target/site_find.h"

#define PROLOGUE_MAX	 10 /* instructions before `push rbp` */
#define LOOK_BACK_MAX	 64
#define AFTER_CALL_MAX	 6
#define AFTER_CAS_MAX	 5
#define BEFORE_CAS_MAX	 24
#define GUARD_MAX	 12
#define AFTER_XADD_MAX	 8

/* Of the registers that a prologue may write before `push rbp`: the large frames' scratch. */
#define PROLOGUE_SCRATCH (1u << GPR_R12)

/*
 * Up to 1.20 a prologue has no push: cmp rsp, [r14 + 16]; jbe; sub rsp, N; mov [rsp + M], rbp;
 * lea rbp, [rsp + M]. Of these the kernel emulates the jump. It is hit once a call where the stack
 * cannot grow, which is so on g0, where all that is probed by its entry runs.
 */
static bool is_stack_check(const struct code *code, size_t i)
{
	const struct insn *in = &code->insn[i];

	return i > 0 && i + 3 < code->n && in[-1].kind == INSN_CMP && in->kind == INSN_JCC &&
	       in->emulated && in[1].writes == 1u << GPR_SP && in[2].stores &&
	       in[3].writes == 1u << GPR_BP;
}

size_t find__entry(const struct code *code)
{
	for (size_t i = 0; i < code->n && i < PROLOGUE_MAX; i++) {
		const struct insn *in = &code->insn[i];

		if (in->kind == INSN_PUSH_BP) /* and then `mov rbp, rsp` */
			return i + 1 < code->n && code->insn[i + 1].writes == 1u << GPR_BP ?
				       i :
				       NO_INSN;
		if (is_stack_check(code, i))
			return i;
		if ((in->kind != INSN_CMP && in->kind != INSN_JCC && in->kind != INSN_NOP &&
		     in->kind != INSN_OTHER) ||
		    in->stores || (in->writes & ~PROLOGUE_SCRATCH))
			return NO_INSN;
	}
	return NO_INSN;
}

size_t find__call(const struct code *code, uint64_t target, size_t from)
{
	for (size_t i = from; i < code->n; i++) {
		if (code->insn[i].kind == INSN_CALL && code->insn[i].target == target)
			return i;
	}
	return NO_INSN;
}

/* Does some jump of the function lead to the instruction? */
static bool is_jumped_to(const struct code *code, uint64_t addr)
{
	for (size_t i = 0; i < code->n; i++) {
		if ((code->insn[i].kind == INSN_JMP || code->insn[i].kind == INSN_JCC) &&
		    code->insn[i].target == addr)
			return true;
	}
	return false;
}

size_t find__after_call(const struct code *code, size_t call, uint32_t results)
{
	if (call + 1 >= code->n)
		return NO_INSN;
	for (size_t i = call + 1; i < code->n && i <= call + AFTER_CALL_MAX; i++) {
		const struct insn *in = &code->insn[i];

		if (is_jumped_to(code, in->addr))
			break; /* hit on other ways, too */
		if (in->emulated)
			return i;
		if ((in->writes & results) || in->kind == INSN_JMP || in->kind == INSN_JCC)
			break;
	}
	return is_jumped_to(code, code->insn[call + 1].addr) ? NO_INSN : call + 1;
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

/* The register that has the sum, from behind the `lock xadd` at `at` up to a branch. */
static size_t find_sum(const struct code *code, size_t at, enum gpr *ret_sum)
{
	uint8_t old = code->insn[at].src;
	uint32_t sum = 0;

	for (size_t i = at + 1; i < code->n && i <= at + AFTER_XADD_MAX; i++) {
		const struct insn *in = &code->insn[i];

		if (is_jumped_to(code, in->addr))
			break;
		if (in->kind == INSN_JCC && sum && in->emulated) {
			*ret_sum = (enum gpr)__builtin_ctz(sum);
			return i;
		}
		if (in->kind == INSN_SUM && !sum && (in->base == old || in->src == old))
			sum = in->writes & 0xffff;
		else if ((in->writes & (sum ? sum : 1u << old)) || in->kind == INSN_CALL ||
			 in->kind == INSN_JMP || in->kind == INSN_JCC || in->kind == INSN_RET)
			break;
	}
	return NO_INSN;
}

size_t find__added(const struct code *code, size_t from, enum gpr *ret_sum)
{
	for (size_t i = from; i < code->n; i++) {
		size_t at;

		if (code->insn[i].kind != INSN_XADD || code->insn[i].width != 8 ||
		    code->insn[i].src == GPR_NONE)
			continue;
		at = find_sum(code, i, ret_sum);
		if (at != NO_INSN)
			return at;
	}
	return NO_INSN;
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

/*
 * lock cmpxchg [g + status], new; then the branch, or more often
 * sete r; (nop); test r, r; and then the branch: there the zero flag is the opposite.
 */
size_t find__cas_done(const struct code *code, size_t cas, bool *ret_zero_flag)
{
	const struct insn *op = &code->insn[cas];
	uint32_t kept = 1u << GPR_AX | 1u << op->base | 1u << op->src;
	uint8_t result = GPR_NONE;
	bool zero_flag = true;
	size_t next = cas + 1;

	if (next >= code->n || is_jumped_to(code, code->insn[next].addr))
		return NO_INSN;
	for (size_t i = next; i < code->n && i <= cas + AFTER_CAS_MAX; i++) {
		const struct insn *in = &code->insn[i];

		if ((in->writes & kept) || is_jumped_to(code, in->addr))
			break;
		if (in->kind == INSN_JCC && in->jump_on_zero_flag) {
			*ret_zero_flag = zero_flag;
			return i;
		}
		if (in->kind == INSN_SETZ && zero_flag)
			result = in->src;
		else if (in->kind == INSN_TEST && in->src == result && result != GPR_NONE)
			zero_flag = false;
		else if (in->kind != INSN_NOP)
			break;
	}
	*ret_zero_flag = true;
	return next;
}

/* Does a jump from before instruction `cas` lead behind instruction `from` and not behind `cas`? */
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
