/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values for x86-64 and Go's conventions on it. Only arch.h includes it, and describes the names.
 */
#ifndef TARGET_ARCH_X86_H
#define TARGET_ARCH_X86_H

#define ARCH_GO		 "amd64"
#define ARCH_MACHINE	 "x86_64"
#define ARCH_ELF	 EM_X86_64
#define ARCH_RELATIVE	 R_X86_64_RELATIVE
#define ARCH_USER_MAX	 (1ull << 47) /* without five-level page tables, which Go does not use */
#define ARCH_PC_QUANTUM	 1
#define ARCH_INSN_MAX	 15
#define ARCH_BREAKPOINT	 0xcc
#define ARCH_CALL_PUSHES 8
#define ARCH_FP_PUSHED	 8

/* clang-format off */
#define ARCH_REGISTERS(X) \
	X(AX) X(CX) X(DX) X(BX) X(SP) X(BP) X(SI) X(DI) \
	X(R8) X(R9) X(R10) X(R11) X(R12) X(R13) X(R14) X(R15)
/* clang-format on */

#define ARCH_GPR(name)	 GPR_##name,
enum gpr {
	ARCH_REGISTERS(ARCH_GPR) GPR_COUNT,
	GPR_NONE = 31,
	GPR_ARG1 = GPR_AX,
	GPR_ARG2 = GPR_BX,
	GPR_ARG3 = GPR_CX,
	GPR_ARG4 = GPR_DI,
	GPR_ARG5 = GPR_SI,
	GPR_ARG6 = GPR_R8,
	GPR_ARG7 = GPR_R9,
	GPR_ARG8 = GPR_R10,
	GPR_ARG9 = GPR_R11,
	GPR_G = GPR_R14,
	GPR_FP = GPR_BP,
	GPR_GOBUF = GPR_BX,
	GPR_CAS_OLD = GPR_AX,
	GPR_BARRIER_TO = GPR_DI,
};
#undef ARCH_GPR

#define NAME_ARG1	 "AX"
#define NAME_ARG2	 "BX"
#define NAME_ARG3	 "CX"
#define NAME_ARG4	 "DI"
#define NAME_G		 "R14"
#define NAME_SP		 "SP"
#define NAME_FP		 "BP"

/* Registers that runtime.gcWriteBarrier changes, and those that duffzero and duffcopy change. */
#define BARRIER_CLOBBERS (1u << GPR_R11)
#define DUFF_CLOBBERS	 (1u << GPR_DI | 1u << GPR_SI)

/* Further kinds of instructions: see insn.h. */
/* clang-format off */
#define ARCH_SYSCALL_SIZE 2 /* bytes of the instruction */

#define ARCH_INSN_KINDS \
	INSN_PUSH_BP, \
	INSN_SETZ, /* sete src */ \
	INSN_TEST, /* test src, src */ \
	INSN_SYSCALL, \
	INSN_XADD, /* lock xadd [base + disp], src */ \
	INSN_SUM   /* lea r, [base + src], add base, src; the sum's register is in `writes` */
/* clang-format on */

#endif
