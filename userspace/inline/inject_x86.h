/* SPDX-License-Identifier: GPL-2.0 */
/* The registers of a traced thread, by their role in system calls. Used by inject*.c. */
#ifndef INLINE_INJECT_X86_H
#define INLINE_INJECT_X86_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

#define USER_CS 0x33 /* of 64-bit code: arch/x86/include/asm/segment.h */

static inline uint64_t regs__at(const struct user_regs_struct *regs)
{
	return regs->rip;
}

static inline bool regs__are_64_bit(const struct user_regs_struct *regs)
{
	return regs->cs == USER_CS;
}

/* The thread is to make this system call with the instruction at `at`. */
static inline void regs__set_call(struct user_regs_struct *regs, uint64_t at, long number,
				  const uint64_t arg[6])
{
	regs->rip = at;
	regs->rax = (unsigned long long)number;
	regs->rdi = arg[0];
	regs->rsi = arg[1];
	regs->rdx = arg[2];
	regs->r10 = arg[3];
	regs->r8 = arg[4];
	regs->r9 = arg[5];
}

#endif
