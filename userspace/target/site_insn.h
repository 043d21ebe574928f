/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One function's machine code as a list of instructions, for target/site.c alone.
 */
#ifndef TARGET_SITE_INSN_H
#define TARGET_SITE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/elf.h"
#include "target/pclntab.h"

/* General purpose registers, as bits of a set: in the order of their encoding. */
enum gpr {
	GPR_AX,
	GPR_CX,
	GPR_DX,
	GPR_BX,
	GPR_SP,
	GPR_BP,
	GPR_SI,
	GPR_DI,
	GPR_R8,
	GPR_R9,
	GPR_R10,
	GPR_R11,
	GPR_R12,
	GPR_R13,
	GPR_R14,
	GPR_R15,
	GPR_NONE = 31,
};

enum insn_kind {
	INSN_OTHER,
	INSN_CALL,
	INSN_JMP,
	INSN_JCC,
	INSN_RET,
	INSN_PUSH_BP,
	INSN_CMP,
	INSN_NOP,
	INSN_CAS,  /* lock cmpxchg [base + disp], src */
	INSN_SETZ, /* sete src */
	INSN_TEST, /* test src, src */
	INSN_XADD, /* lock xadd [base + disp], src */
	INSN_SUM
}; /* lea r, [base + src], add base, src: `writes` has the sum's */

struct insn {
	uint64_t addr;
	uint64_t target; /* of a direct call or jump, else 0 */
	uint8_t len;
	uint8_t kind;		/* enum insn_kind */
	bool emulated;		/* the kernel emulates it under a uprobe since Linux 4.x */
	bool stores;		/* writes memory at [register + disp] */
	bool stores_constant;	/* namely imm */
	bool jump_on_zero_flag; /* INSN_JCC: looks at the zero flag alone */
	uint8_t base;		/* of the memory operand: GPR_NONE if it has none */
	uint8_t src;		/* register read, where the kind has one */
	uint8_t width;		/* bytes of the memory operand */
	uint8_t set_reg;	/* set to a constant or an address, `imm`: GPR_NONE if not one */
	uint32_t writes;	/* set of registers written (a call: all) */
	int64_t imm;		/* constant source operand */
	int64_t disp;
};

struct code {
	struct go_func func;
	struct insn *insn;
	size_t n;
	unsigned char *bytes;
};

/* Decodes the whole function. False: unreadable, too large, or bytes that are no instruction. */
bool code__read(struct code *ret, const struct elf_image *elf, const struct go_func *func);
void code__deinit(struct code *code);
/* The instruction as people read it; a call names its target. */
void code__format(const struct code *code, size_t i, const struct pclntab *pt, char *ret,
		  size_t size);

#endif
