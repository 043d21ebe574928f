/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Machine code as a list of instructions with their addresses and kinds.
 *
 * Downstream: target/probe/. step.h is the equivalent for target/infer/, which needs the data flow.
 */
#ifndef TARGET_INSN_H
#define TARGET_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/arch/arch.h"

enum insn_kind {
	INSN_OTHER,
	INSN_CALL,
	INSN_JMP,
	INSN_JCC,
	INSN_RET,
	INSN_CMP,
	INSN_NOP,
	INSN_CAS, /* atomic compare-and-swap of [base + disp], new value in src */
	ARCH_INSN_KINDS
};

struct insn {
	uint64_t addr;
	uint64_t target; /* of a direct call or jump, else 0 */
	uint8_t len;
	uint8_t kind;		/* enum insn_kind */
	bool emulated;		/* the kernel emulates it under a uprobe (Linux 6.1 and later) */
	bool stores;		/* writes memory at [register + disp] */
	bool stores_constant;	/* and the value is imm */
	bool harmless;		/* cannot fault, no memory but that at the stack pointer or of the
				   program's data, neither locked nor repeated */
	bool jump_on_zero_flag; /* INSN_JCC: depends only on the zero flag */
	uint8_t base;		/* of the memory operand; GPR_NONE: it has none */
	uint8_t src;		/* register read, where the kind has one */
	uint8_t width;		/* bytes of the memory operand */
	uint8_t set_reg;	/* set to a constant or an address, `imm`; GPR_NONE: none */
	uint32_t writes;	/* bit set of registers written (a call: all) */
	int64_t imm;		/* constant source operand */
	int64_t disp;
};

/*
 * Decodes `len` bytes, whose address is `addr`, from the first one on. Returns an array of *ret_n
 * instructions, which the caller frees; NULL: invalid instruction, or no memory.
 */
struct insn *insns__decode(const unsigned char *bytes, size_t len, uint64_t addr, size_t *ret_n);
/* Formats the instruction with these bytes in Intel syntax; "?" if it is invalid. */
void insn__format(const struct insn *in, const unsigned char *bytes, char *ret, size_t size);

#endif
