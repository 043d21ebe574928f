// SPDX-License-Identifier: GPL-2.0
/* Recognizes the kinds of probe sites whose shape depends on x86-64: see site_find.h. */
#include "target/probe/site_find.h"

#define PROLOGUE_MAX	 10 /* instructions before `push rbp` */
#define AFTER_CAS_MAX	 5
#define AFTER_XADD_MAX	 8

/* Scratch registers of large frames, which a prologue may write before `push rbp`. */
#define PROLOGUE_SCRATCH (1u << GPR_R12)

/*
 * Up to 1.20 a prologue has no push: cmp rsp, [r14 + 16]; jbe; sub rsp, N; mov [rsp + M], rbp; lea
 * rbp, [rsp + M]. The kernel emulates the jump. It is executed once per call if the stack cannot
 * grow, which is true on g0; for functions of goroutines see gt_config.entry_at_check.
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

		if (in->kind == INSN_PUSH_BP) /* followed by `mov rbp, rsp` */
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

/* Follows the sum's register from the `lock xadd` at `at` up to a branch. */
static size_t find_sum(const struct code *code, size_t at, enum gpr *ret_sum)
{
	uint8_t old = code->insn[at].src;
	uint32_t sum = 0;

	for (size_t i = at + 1; i < code->n && i <= at + AFTER_XADD_MAX; i++) {
		const struct insn *in = &code->insn[i];

		if (code__is_jumped_to(code, in->addr))
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

uint64_t find__counter(const struct code *code, size_t at)
{
	int64_t counter;

	while (code->insn[--at].kind != INSN_XADD)
		;
	if (code->insn[at].base == GPR_NONE ||
	    !find__constant(code, at, (enum gpr)code->insn[at].base, &counter))
		return 0;
	return (uint64_t)(counter + code->insn[at].disp);
}

/*
 * lock cmpxchg [g + status], new; then the branch, or more often sete r; (nop); test r, r; and the
 * branch, where the zero flag is inverted.
 */
size_t find__cas_done(const struct code *code, size_t cas, bool *ret_zero_flag)
{
	const struct insn *op = &code->insn[cas];
	uint32_t kept = 1u << GPR_AX | 1u << op->base | 1u << op->src;
	uint8_t result = GPR_NONE;
	bool zero_flag = true;
	size_t next = cas + 1;

	if (next >= code->n || code__is_jumped_to(code, code->insn[next].addr))
		return NO_INSN;
	for (size_t i = next; i < code->n && i <= cas + AFTER_CAS_MAX; i++) {
		const struct insn *in = &code->insn[i];

		if ((in->writes & kept) || code__is_jumped_to(code, in->addr))
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
