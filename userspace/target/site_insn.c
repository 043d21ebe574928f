// SPDX-License-Identifier: GPL-2.0
/*
 * Disassembles the functions that are to be probed, and says what matters about each instruction.
 *
 * Before target/site.c chooses. Everything is decoded from the function's first byte on, so that
 * what is chosen is an instruction's first byte: a breakpoint anywhere else corrupts the program.
 */
#include "target/site_insn.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTION_MAX (1 << 18) /* bytes; findRunnable has about 5,000 */

static uint32_t gpr_bit(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return 0;
	return 1u << (whole - ZYDIS_REGISTER_RAX);
}

/*
 * What arch/x86/kernel/uprobes.c emulates in every kernel from 6.1: push of a register, one-byte
 * nop, jmp, call and jcc with an immediate. An operand size prefix stops it but for nop. (Newer
 * ones emulate long nops, too.)
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

/* lea r, [a + b] or add a, b, of whole registers. */
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

/* A register's number, GPR_NONE for what is no general purpose register. */
static uint8_t gpr_number(ZydisRegister reg)
{
	return (uint8_t)__builtin_ctz(gpr_bit(reg) | 1u << GPR_NONE);
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

	for (size_t i = 0; i < zi->operand_count; i++) {
		bool written = op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER && written)
			in->writes |= gpr_bit(op[i].reg.value);
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

static struct insn describe(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op,
			    const unsigned char *bytes, uint64_t addr)
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
	describe_operands(&in, zi, op);
	if (zi->mnemonic == ZYDIS_MNEMONIC_LEA && op[1].mem.base == ZYDIS_REGISTER_RIP &&
	    ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(zi, &op[1], addr, &target))) {
		in.set_reg = gpr_number(op[0].reg.value);
		in.imm = (int64_t)target;
	}
	in.jump_on_zero_flag =
		zi->mnemonic == ZYDIS_MNEMONIC_JZ || zi->mnemonic == ZYDIS_MNEMONIC_JNZ;
	if (in.kind == INSN_CALL)
		in.writes = 0xffff; /* ABIInternal: no register survives a call */
	if ((in.kind == INSN_CALL || in.kind == INSN_JMP || in.kind == INSN_JCC) &&
	    op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[0].imm.is_relative &&
	    ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(zi, &op[0], addr, &target)))
		in.target = target;
	return in;
}

static bool decode(struct code *code, size_t len)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;
	size_t at = 0;

	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return false;
	code->insn = calloc(len, sizeof(*code->insn)); /* one a byte at most; trimmed below */
	while (code->insn && at < len) {
		if (!ZYAN_SUCCESS(
			    ZydisDecoderDecodeFull(&decoder, code->bytes + at, len - at, &zi, op)))
			return false;
		code->insn[code->n++] = describe(&zi, op, code->bytes + at, code->func.entry + at);
		at += zi.length;
	}
	return code->insn;
}

bool code__read(struct code *ret, const struct elf_image *elf, const struct go_func *func)
{
	size_t len = func->end - func->entry;
	struct code code = { .func = *func };
	struct insn *fit;

	if (func->end <= func->entry || len > FUNCTION_MAX)
		return false;
	code.bytes = malloc(len);
	if (!code.bytes || elf_image__read(elf, func->entry, code.bytes, len) != len ||
	    !decode(&code, len)) {
		code__deinit(&code);
		return false;
	}
	fit = realloc(code.insn, code.n * sizeof(*fit));
	if (fit)
		code.insn = fit;
	*ret = code;
	return true;
}

void code__deinit(struct code *code)
{
	free(code->bytes);
	free(code->insn);
	code->bytes = NULL;
	code->insn = NULL;
	code->n = 0;
}

void code__format(const struct code *code, size_t i, const struct pclntab *pt, char *ret,
		  size_t size)
{
	const struct insn *in = &code->insn[i];
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	ZydisFormatter formatter;
	ZydisDecoder decoder;
	struct go_func to;

	snprintf(ret, size, "?");
	if (in->kind == INSN_CALL && in->target && pclntab__find(pt, in->target, &to)) {
		snprintf(ret, size, "call %s", to.name);
		return;
	}
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
	if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(
		    &decoder, code->bytes + (in->addr - code->func.entry), in->len, &zi, op)))
		ZydisFormatterFormatInstruction(&formatter, &zi, op, zi.operand_count_visible, ret,
						size, in->addr, NULL);
}
