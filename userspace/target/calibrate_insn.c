// SPDX-License-Identifier: GPL-2.0
/*
 * Disassembles a runtime function for calibrate_flow.c: which operands each instruction has.
 *
 * First step of calibration. site_insn.c does the same for probe sites; there it matters where an
 * instruction is, here what it moves from where to where.
 */
#include "target/calibrate_code.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>

#define FUNCTION_MAX (1 << 16) /* bytes; newproc1 has 1,000, and 4,000 without optimization */

static uint8_t gpr_of(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return GPR_NONE;
	return (uint8_t)(whole - ZYDIS_REGISTER_RAX);
}

static enum step_op step_op(const ZydisDecodedInstruction *zi)
{
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
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		return STEP_MOVE;
	case ZYDIS_MNEMONIC_LEA:
		return STEP_LEA;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		return STEP_ADD;
	case ZYDIS_MNEMONIC_XOR:
		return STEP_ZERO;
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_TEST:
		return STEP_COMPARE;
	case ZYDIS_MNEMONIC_XCHG:
		return STEP_XCHG;
	case ZYDIS_MNEMONIC_XADD:
		return STEP_XADD;
	case ZYDIS_MNEMONIC_CMPXCHG:
		return STEP_CMPXCHG;
	case ZYDIS_MNEMONIC_PUSH:
		return STEP_PUSH;
	case ZYDIS_MNEMONIC_POP:
		return STEP_POP;
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
		return STEP_TRAP;
	default:
		return STEP_OTHER;
	}
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
		o.reg = gpr_of(op->reg.value);
		o.high = op->reg.value >= ZYDIS_REGISTER_AH && op->reg.value <= ZYDIS_REGISTER_BH;
		break;
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		o.kind = OPERAND_IMM;
		o.value = op->imm.value.s;
		break;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		o.kind = OPERAND_MEM;
		o.fs = op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS;
		o.reg = gpr_of(op->mem.base);
		o.index = gpr_of(op->mem.index);
		o.scale = op->mem.scale;
		o.value = op->mem.disp.value;
		o.rip = op->mem.base == ZYDIS_REGISTER_RIP;
		if (o.rip && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(zi, op, addr, &absolute)))
			o.value = (int64_t)absolute;
		break;
	default:
		break;
	}
	return o;
}

/* `inc` and `sub` are additions of a constant; what adds anything else is not followed. */
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

static struct step step_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op,
			   uint64_t addr)
{
	struct step s = { .addr = addr, .len = zi->length, .kind = (uint8_t)step_op(zi) };
	unsigned int visible = zi->operand_count_visible < 3 ? zi->operand_count_visible : 3;
	ZyanU64 target;

	for (unsigned int i = 0; i < zi->operand_count; i++) {
		bool written = op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER && written &&
		    gpr_of(op[i].reg.value) != GPR_NONE)
			s.writes |= 1u << gpr_of(op[i].reg.value);
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && written && i >= visible)
			s.scatters = s.kind == STEP_OTHER;
	}
	for (unsigned int i = 0; i < visible; i++)
		s.op[i] = operand_of(zi, &op[i], addr);
	if (s.kind == STEP_ADD)
		make_addition(&s, zi->mnemonic);
	if (s.kind == STEP_ZERO && (s.op[0].kind != OPERAND_REG || s.op[1].kind != OPERAND_REG ||
				    s.op[0].reg != s.op[1].reg || s.op[0].width < 4))
		s.kind = STEP_OTHER;
	if ((s.kind == STEP_CALL || s.kind == STEP_JMP || s.kind == STEP_JCC) &&
	    op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[0].imm.is_relative &&
	    ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(zi, &op[0], addr, &target)))
		s.target = target;
	return s;
}

static bool decode(struct steps *s, const unsigned char *bytes, size_t len)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;
	size_t at = 0, cap = 0;

	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return false;
	while (at < len) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes + at, len - at, &zi, op)))
			return false;
		if (s->n == cap) {
			struct step *more;

			cap = cap ? cap * 2 : 256;
			more = realloc(s->step, cap * sizeof(*more));
			if (!more)
				return false;
			s->step = more;
		}
		s->step[s->n++] = step_of(&zi, op, s->func.entry + at);
		at += zi.length;
	}
	return s->n;
}

bool steps__read(struct steps *ret, const struct elf_image *elf, const struct go_func *func)
{
	struct steps s = { .func = *func };
	size_t len = func->end - func->entry;
	unsigned char *bytes;
	bool ok;

	if (func->end <= func->entry || len > FUNCTION_MAX)
		return false;
	bytes = malloc(len);
	ok = bytes && elf_image__read(elf, func->entry, bytes, len) == len &&
	     decode(&s, bytes, len);
	free(bytes);
	if (ok)
		*ret = s;
	else
		steps__deinit(&s);
	return ok;
}

void steps__deinit(struct steps *s)
{
	free(s->step);
	s->step = NULL;
	s->n = 0;
}

size_t steps__at(const struct steps *s, uint64_t addr)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->step[mid].addr == addr)
			return mid;
		if (s->step[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return SIZE_MAX;
}
