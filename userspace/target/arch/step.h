/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Machine code as a list of steps with their data flow: source and destination of each.
 *
 * Downstream: target/infer/. insn.h is the equivalent for target/probe/, which needs addresses.
 */
#ifndef TARGET_STEP_H
#define TARGET_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/arch/arch.h"

/* clang-format off */
enum step_op {
	STEP_OTHER, STEP_MOVE, STEP_LEA, STEP_ADD, STEP_ZERO, STEP_COMPARE, STEP_XCHG, STEP_XADD,
	STEP_CMPXCHG, STEP_PUSH, STEP_POP, STEP_CALL, STEP_JMP, STEP_JCC, STEP_RET, STEP_TRAP,
};
/* clang-format on */

enum operand_kind { OPERAND_NONE, OPERAND_REG, OPERAND_MEM, OPERAND_IMM };

struct operand {
	uint8_t kind;	      /* enum operand_kind */
	uint8_t width;	      /* bytes */
	uint8_t reg;	      /* enum gpr: the register, or the base register of memory */
	uint8_t index, scale; /* index register and scale, of memory */
	bool tls;	      /* thread-local storage */
	bool absolute;	      /* `value` is the address */
	bool high;	      /* of a register: bits 8 to 15 (AH) */
	bool read, written;
	int64_t value; /* constant, displacement or address */
};

struct step {
	uint64_t addr;
	uint64_t target; /* of a direct jump or call */
	struct operand op[3];
	uint32_t writes; /* bit set of registers, for STEP_OTHER */
	uint8_t kind;	 /* enum step_op */
	uint8_t len;
	bool scatters; /* writes memory that is not an operand, as string instructions do */
};

/* As insns__decode(), but returns steps. */
struct step *steps__decode(const unsigned char *bytes, size_t len, uint64_t addr, size_t *ret_n);

#endif
