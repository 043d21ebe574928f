// SPDX-License-Identifier: GPL-2.0
/*
 * Disassembles x86-64 code, with Zydis, which no other file uses.
 *
 * Downstream: target/probe/ (insn.h), target/infer/ (step.h). Functions are decoded from their
 * first byte on, so each address starts an instruction: a breakpoint elsewhere corrupts the
 * program.
 */
#include "target/arch/insn.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/array.h"
#include "target/arch/step.h"

/* Describes one instruction: `bytes` at address `addr`. */
typedef void describe_fn(void *ret, const ZydisDecodedInstruction *zi,
			 const ZydisDecodedOperand *op, const unsigned char *bytes, uint64_t addr);

/* The number of a register; GPR_NONE if it is not a general purpose register. */
static uint8_t gpr_number(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return GPR_NONE;
	return (uint8_t)(whole - ZYDIS_REGISTER_RAX);
}

/* The bit set of the registers that the instruction writes. */
static uint32_t registers_written(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	uint32_t set = 0;

	for (size_t i = 0; i < zi->operand_count; i++) {
		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			set |= 1u << gpr_number(op[i].reg.value);
	}
	return set & ~(1u << GPR_NONE);
}

/* The target of a direct call or jump; 0: it has none. */
static uint64_t branch_target(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op,
			      uint64_t addr)
{
	ZyanU64 target;

	return op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[0].imm.is_relative &&
			       ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(zi, &op[0], addr, &target)) ?
		       target :
		       0;
}

/*
 * Whether arch/x86/kernel/uprobes.c of every kernel from 6.1 emulates it: push of a register,
 * one-byte nop, jmp, call and jcc with an immediate. An operand size prefix prevents it except for
 * nop. (Newer kernels emulate long nops, too.)
 */
static bool emulated(const unsigned char *p, size_t len)
{
	size_t i = 0;

	if (len == 2 && p[0] == 0x66 && p[1] == 0x90)
		return true;
	if (p[0] == 0x41 && len == 2)
		i = 1; /* REX.B: push r8..r15 */
	if (p[i] >= 0x50 && p[i] <= 0x57)
		return true;
	return p[0] == 0x90 || p[0] == 0xeb || p[0] == 0xe9 || p[0] == 0xe8 ||
	       (p[0] >= 0x70 && p[0] <= 0x7f) || (p[0] == 0x0f && p[1] >= 0x80 && p[1] <= 0x8f);
}

/* Whether it is lea r, [a + b] or add a, b, of whole registers. */
static bool is_sum(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	if (zi->operand_width != 64 || zi->operand_count < 2 ||
	    op[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	if (zi->mnemonic == ZYDIS_MNEMONIC_ADD)
		return op[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
	return zi->mnemonic == ZYDIS_MNEMONIC_LEA && op[1].mem.scale == 1 &&
	       op[1].mem.index != ZYDIS_REGISTER_NONE && !op[1].mem.disp.value;
}

static enum insn_kind kind_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return INSN_CALL;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return INSN_JMP;
	case ZYDIS_CATEGORY_COND_BR:
		return INSN_JCC;
	case ZYDIS_CATEGORY_RET:
		return INSN_RET;
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return INSN_NOP;
	case ZYDIS_CATEGORY_SYSCALL:
		return zi->mnemonic == ZYDIS_MNEMONIC_SYSCALL ? INSN_SYSCALL : INSN_OTHER;
	default:
		break;
	}
	if (zi->mnemonic == ZYDIS_MNEMONIC_CMP)
		return INSN_CMP;
	if (zi->mnemonic == ZYDIS_MNEMONIC_CMPXCHG && (zi->attributes & ZYDIS_ATTRIB_HAS_LOCK))
		return INSN_CAS;
	if (zi->mnemonic == ZYDIS_MNEMONIC_XADD && (zi->attributes & ZYDIS_ATTRIB_HAS_LOCK))
		return INSN_XADD;
	if (is_sum(zi, op))
		return INSN_SUM;
	if (zi->mnemonic == ZYDIS_MNEMONIC_SETZ && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
		return INSN_SETZ;
	if (zi->mnemonic == ZYDIS_MNEMONIC_TEST && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].reg.value == op[1].reg.value)
		return INSN_TEST;
	if (zi->mnemonic == ZYDIS_MNEMONIC_PUSH && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    op[0].reg.value == ZYDIS_REGISTER_RBP)
		return INSN_PUSH_BP;
	return INSN_OTHER;
}

static void describe_sum(struct insn *in, const ZydisDecodedInstruction *zi,
			 const ZydisDecodedOperand *op)
{
	bool lea = zi->mnemonic == ZYDIS_MNEMONIC_LEA;

	in->base = gpr_number(lea ? op[1].mem.base : op[0].reg.value);
	in->src = gpr_number(lea ? op[1].mem.index : op[1].reg.value);
}

static void describe_operands(struct insn *in, const ZydisDecodedInstruction *zi,
			      const ZydisDecodedOperand *op)
{
	bool moves = zi->mnemonic == ZYDIS_MNEMONIC_MOV;

	in->writes = registers_written(zi, op);
	for (size_t i = 0; i < zi->operand_count; i++) {
		bool written = op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && written && !i) {
			in->stores = true;
			in->disp = op[i].mem.disp.value;
			in->base = op[i].mem.index == ZYDIS_REGISTER_NONE ?
					   gpr_number(op[i].mem.base) :
					   GPR_NONE;
			in->width = (uint8_t)(op[i].size / 8);
		}
		if (op[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && moves && i == 1) {
			in->imm = op[i].imm.value.s;
			in->stores_constant = in->stores;
			if (op[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
				in->set_reg = gpr_number(op[0].reg.value);
		}
	}
	if (zi->mnemonic == ZYDIS_MNEMONIC_XOR && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].reg.value == op[1].reg.value)
		in->set_reg = gpr_number(op[0].reg.value);
	if (in->kind == INSN_CAS || in->kind == INSN_XADD)
		in->src = gpr_number(op[1].reg.value);
	else if (in->kind == INSN_SUM)
		describe_sum(in, zi, op);
	else if (in->kind == INSN_SETZ || in->kind == INSN_TEST)
		in->src = gpr_number(op[0].reg.value);
}

static bool is_harmless(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	if (zi->attributes & (ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
			      ZYDIS_ATTRIB_HAS_REPNE) ||
	    zi->mnemonic == ZYDIS_MNEMONIC_DIV || zi->mnemonic == ZYDIS_MNEMONIC_IDIV)
		return false;
	for (size_t i = 0; i < zi->operand_count; i++) {
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    op[i].mem.type == ZYDIS_MEMOP_TYPE_MEM &&
		    op[i].mem.base != ZYDIS_REGISTER_RSP && op[i].mem.base != ZYDIS_REGISTER_RIP)
			return false;
	}
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_STRINGOP:
		return false;
	default:
		return zi->mnemonic != ZYDIS_MNEMONIC_UD2 && zi->mnemonic != ZYDIS_MNEMONIC_HLT;
	}
}

static void describe_insn(void *ret, const ZydisDecodedInstruction *zi,
			  const ZydisDecodedOperand *op, const unsigned char *bytes, uint64_t addr)
{
	struct insn in = {
		.addr = addr,
		.len = zi->length,
		.set_reg = GPR_NONE,
		.base = GPR_NONE,
		.src = GPR_NONE,
	};
	ZyanU64 target;

	in.kind = (uint8_t)kind_of(zi, op);
	in.emulated = emulated(bytes, zi->length);
	in.harmless = is_harmless(zi, op);
	describe_operands(&in, zi, op);
	if (zi->mnemonic == ZYDIS_MNEMONIC_LEA && op[1].mem.base == ZYDIS_REGISTER_RIP &&
	    ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(zi, &op[1], addr, &target))) {
		in.set_reg = gpr_number(op[0].reg.value);
		in.imm = (int64_t)target;
	}
	in.jump_on_zero_flag =
		zi->mnemonic == ZYDIS_MNEMONIC_JZ || zi->mnemonic == ZYDIS_MNEMONIC_JNZ;
	if (in.kind == INSN_CALL)
		in.writes = 0xffff; /* ABIInternal: no register is preserved */
	if (in.kind == INSN_CALL || in.kind == INSN_JMP || in.kind == INSN_JCC)
		in.target = branch_target(zi, op, addr);
	*(struct insn *)ret = in;
}

static enum step_op step_op(const ZydisDecodedInstruction *zi)
{
	static const struct {
		ZydisMnemonic mnemonic;
		enum step_op op;
	} by_mnemonic[] = {
		{ ZYDIS_MNEMONIC_MOV, STEP_MOVE },	  { ZYDIS_MNEMONIC_MOVZX, STEP_MOVE },
		{ ZYDIS_MNEMONIC_MOVSX, STEP_MOVE },	  { ZYDIS_MNEMONIC_MOVSXD, STEP_MOVE },
		{ ZYDIS_MNEMONIC_LEA, STEP_LEA },	  { ZYDIS_MNEMONIC_ADD, STEP_ADD },
		{ ZYDIS_MNEMONIC_SUB, STEP_ADD },	  { ZYDIS_MNEMONIC_INC, STEP_ADD },
		{ ZYDIS_MNEMONIC_DEC, STEP_ADD },	  { ZYDIS_MNEMONIC_XOR, STEP_ZERO },
		{ ZYDIS_MNEMONIC_CMP, STEP_COMPARE },	  { ZYDIS_MNEMONIC_TEST, STEP_COMPARE },
		{ ZYDIS_MNEMONIC_XCHG, STEP_XCHG },	  { ZYDIS_MNEMONIC_XADD, STEP_XADD },
		{ ZYDIS_MNEMONIC_CMPXCHG, STEP_CMPXCHG }, { ZYDIS_MNEMONIC_PUSH, STEP_PUSH },
		{ ZYDIS_MNEMONIC_POP, STEP_POP },	  { ZYDIS_MNEMONIC_UD2, STEP_TRAP },
		{ ZYDIS_MNEMONIC_HLT, STEP_TRAP },
	};

	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return STEP_CALL;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return STEP_JMP;
	case ZYDIS_CATEGORY_COND_BR:
		return STEP_JCC;
	case ZYDIS_CATEGORY_RET:
		return STEP_RET;
	case ZYDIS_CATEGORY_INTERRUPT:
		return STEP_TRAP;
	default:
		break;
	}
	for (size_t i = 0; i < sizeof(by_mnemonic) / sizeof(by_mnemonic[0]); i++) {
		if (by_mnemonic[i].mnemonic == zi->mnemonic)
			return by_mnemonic[i].op;
	}
	return STEP_OTHER;
}

static struct operand operand_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op,
				 uint64_t addr)
{
	struct operand o = { .width = (uint8_t)(op->size / 8), .reg = GPR_NONE, .index = GPR_NONE };
	ZyanU64 absolute;

	o.read = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	o.written = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	switch (op->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		o.kind = OPERAND_REG;
		o.reg = gpr_number(op->reg.value);
		o.high = op->reg.value >= ZYDIS_REGISTER_AH && op->reg.value <= ZYDIS_REGISTER_BH;
		break;
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		o.kind = OPERAND_IMM;
		o.value = op->imm.value.s;
		break;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		o.kind = OPERAND_MEM;
		o.tls = op->mem.segment == ZYDIS_REGISTER_FS ||
			op->mem.segment == ZYDIS_REGISTER_GS;
		o.reg = gpr_number(op->mem.base);
		o.index = gpr_number(op->mem.index);
		o.scale = op->mem.scale;
		o.value = op->mem.disp.value;
		o.absolute = op->mem.base == ZYDIS_REGISTER_RIP;
		if (o.absolute && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(zi, op, addr, &absolute)))
			o.value = (int64_t)absolute;
		break;
	default:
		break;
	}
	return o;
}

/* `inc`, `dec` and `sub` become additions of a constant; other additions are not followed. */
static void make_addition(struct step *s, ZydisMnemonic mnemonic)
{
	struct operand *by = &s->op[1];

	if (mnemonic == ZYDIS_MNEMONIC_INC || mnemonic == ZYDIS_MNEMONIC_DEC)
		*by = (struct operand){ .kind = OPERAND_IMM,
					.value = mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1 };
	else if (by->kind != OPERAND_IMM)
		s->kind = STEP_OTHER;
	else if (mnemonic == ZYDIS_MNEMONIC_SUB)
		by->value = (int64_t)(0 - (uint64_t)by->value);
}

static void describe_step(void *ret, const ZydisDecodedInstruction *zi,
			  const ZydisDecodedOperand *op, const unsigned char *bytes, uint64_t addr)
{
	struct step s = { .addr = addr, .len = zi->length, .kind = (uint8_t)step_op(zi) };
	unsigned int visible = zi->operand_count_visible < 3 ? zi->operand_count_visible : 3;

	for (unsigned int i = visible; i < zi->operand_count && s.kind == STEP_OTHER; i++)
		s.scatters |= op[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			      op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	s.writes = registers_written(zi, op);
	for (unsigned int i = 0; i < visible; i++)
		s.op[i] = operand_of(zi, &op[i], addr);
	if (s.kind == STEP_ADD)
		make_addition(&s, zi->mnemonic);
	if (s.kind == STEP_ZERO && (s.op[0].kind != OPERAND_REG || s.op[1].kind != OPERAND_REG ||
				    s.op[0].reg != s.op[1].reg || s.op[0].width < 4))
		s.kind = STEP_OTHER;
	if (s.kind == STEP_CALL || s.kind == STEP_JMP || s.kind == STEP_JCC)
		s.target = branch_target(zi, op, addr);
	*(struct step *)ret = s;
}

/* Decodes each instruction into an array element with `describe`. */
static void *decode(const unsigned char *bytes, size_t len, uint64_t addr, size_t size,
		    describe_fn *describe, size_t *ret_n)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;
	size_t at = 0, n = 0, cap = 0;
	char *array = NULL;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (at < len) {
		if (!ZYAN_SUCCESS(
			    ZydisDecoderDecodeFull(&decoder, bytes + at, len - at, &zi, op)) ||
		    array__grow(&array, n, &cap, size)) {
			free(array);
			return NULL;
		}
		describe(array + n++ * size, &zi, op, bytes + at, addr + at);
		at += zi.length;
	}
	*ret_n = n;
	return array;
}

struct insn *insns__decode(const unsigned char *bytes, size_t len, uint64_t addr, size_t *ret_n)
{
	return decode(bytes, len, addr, sizeof(struct insn), describe_insn, ret_n);
}

struct step *steps__decode(const unsigned char *bytes, size_t len, uint64_t addr, size_t *ret_n)
{
	return decode(bytes, len, addr, sizeof(struct step), describe_step, ret_n);
}

void insn__format(const struct insn *in, const unsigned char *bytes, char *ret, size_t size)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	ZydisFormatter formatter;
	ZydisDecoder decoder;

	snprintf(ret, size, "?");
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
	if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, in->len, &zi, op)))
		ZydisFormatterFormatInstruction(&formatter, &zi, op, zi.operand_count_visible, ret,
						size, in->addr, NULL);
}
