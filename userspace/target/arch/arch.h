/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Everything that depends on the architecture of the traced program, which is the recorder's own.
 *
 * Other files use only these names; arch_x86.h has their values for x86-64, and files named *_x86.c
 * contain the functions declared here, in insn.h, in step.h and in probe/site_find.h. The Makefile
 * compiles the files of one architecture. bpf/arch_x86.bpf.h is the equivalent for BPF programs.
 *
 *	ARCH_GO			its name in Go (GOARCH)
 *	ARCH_MACHINE		its name in uname(2)
 *	ARCH_ELF		e_machine of its programs
 *	ARCH_RELATIVE		type of a relocation that adds the load address
 *	ARCH_USER_MAX		addresses of user space are below it
 *	ARCH_PC_QUANTUM	size of instructions, in gopclntab: a multiple of this, in bytes
 *	ARCH_INSN_MAX		largest size of an instruction, in bytes
 *	ARCH_BREAKPOINT	first byte of the instruction that a uprobe writes
 *	ARCH_CALL_PUSHES	bytes that a call pushes: the return address
 *	ARCH_FP_PUSHED		size of a frame, in gopclntab, after the prologue has pushed its caller's
 *				frame pointer and before it sets its own
 *
 *	enum gpr		general purpose registers, numbered as in machine code
 *	GPR_COUNT, GPR_NONE	number of registers; a value that is not a register
 *	GPR_ARG1...ARG9	arguments of a Go function (ABIInternal), and its results
 *	GPR_G, GPR_SP, GPR_FP	the current g, stack pointer, frame pointer
 *	GPR_GOBUF		argument of the assembly function gogo
 *	GPR_CAS_OLD		the old value of a compare-and-swap
 *	NAME_ARG1..., NAME_G	the names of these registers
 *	ARCH_REGISTERS(X)	X(name) of each register, in the order of enum gpr
 */
#ifndef TARGET_ARCH_H
#define TARGET_ARCH_H

#include <stdint.h>

#if defined(__x86_64__)
#include "target/arch/arch_x86.h"
#else
#error "this architecture is not supported: docs/adding.md lists what it needs"
#endif

/* Name of a system call that only this architecture has and headers may lack; NULL: unknown. */
const char *arch__syscall(uint32_t number);
/*
 * The register whose value runtime.gcWriteBarrier`suffix` of Go up to 1.20 stores at the address in
 * GPR_BARRIER_TO, on behalf of its caller. GPR_NONE: it stores none.
 */
enum gpr arch__barrier_value(const char *suffix);
/*
 * Does nothing, for measuring a uprobe: its instruction at arch__trap_at is one that the kernel
 * emulates, and that it does not optimize (a 5-byte nop, since 6.18).
 */
void arch__trapped(void);
extern const char arch__trap_at[];
/* The same, with one instruction at arch__step_at that the kernel single-steps. */
void arch__stepped(void);
extern const char arch__step_at[];

#endif
