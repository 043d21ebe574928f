/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86-64 in BPF programs: registers, Go's calling convention, system calls.
 *
 * Included by goabi.bpf.h only; userspace/target/arch/ has the same for the analysis of programs.
 * ABIInternal passes integer arguments in AX BX CX DI SI R8 R9 R10 R11 and keeps the current g in
 * R14. At a function's `push rbp`, [rsp] is the return address and rbp still the caller's frame
 * pointer.
 */
#ifndef BPF_ARCH_X86_H
#define BPF_ARCH_X86_H

/* The same in all kernels for amd64: asm/ptrace.h of their UAPI. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

/* For the context of a program. */
#define GO_ARG1(ctx)	     REGISTER(ctx, ax)
#define GO_ARG2(ctx)	     REGISTER(ctx, bx)
#define GO_ARG3(ctx)	     REGISTER(ctx, cx)
#define GO_ARG4(ctx)	     REGISTER(ctx, di)
#define GO_ARG5(ctx)	     REGISTER(ctx, si)
#define GO_G(ctx)	     REGISTER(ctx, r14)
#define GO_PC(ctx)	     REGISTER(ctx, ip)
#define GO_SP(ctx)	     REGISTER(ctx, sp)
#define GO_FP(ctx)	     REGISTER(ctx, bp)
#define GO_CALL_SIZE	     5 /* bytes of a direct call */
#define GO_ZERO_FLAG(ctx)    (REGISTER(ctx, flags) & 0x40)
#define GO_BELOW_EQUAL(ctx)  (REGISTER(ctx, flags) & 0x41) /* jbe jumps */

/* By number in machine code; the stack pointer, 4, is never requested. */
/* clang-format off */
#define GO_REGISTERS(X) \
	X(0, ax) X(1, cx) X(2, dx) X(3, bx) X(5, bp) X(6, si) X(7, di) X(8, r8) \
	X(9, r9) X(10, r10) X(11, r11) X(12, r12) X(13, r13) X(14, r14) X(15, r15)
/* clang-format on */

/* For any struct pt_regs. */
#define REGS_G(regs)	     ((regs)->r14)
#define REGS_PC(regs)	     ((regs)->ip)
#define REGS_SP(regs)	     ((regs)->sp)
#define REGS_FP(regs)	     ((regs)->bp)
#define REGS_SYSCALL(regs)   ((regs)->orig_ax) /* its number */
#define REGS_USER_MODE(regs) (((regs)->cs & 3) == 3)

/* The return address of a function: at its first instruction or, `framed`, after its prologue. */
static __always_inline u64 go_return_address(const struct pt_regs *ctx, bool framed)
{
	return go_read_u64(framed ? ctx->bp + 8 : ctx->sp);
}

/* The caller's frame pointer, likewise. */
static __always_inline u64 go_caller_fp(const struct pt_regs *ctx, bool framed)
{
	return framed ? go_read_u64(ctx->bp) : ctx->bp;
}

/* The return address of a function that was left at its first instruction; sp: from there. */
static __always_inline u64 go_left_return(u64 sp)
{
	return go_read_u64(sp);
}

/* The frame pointer of a frame whose return address is at `sp`. */
static __always_inline u64 go_frame_at(u64 sp)
{
	return sp - 8;
}

/*
 * The return address of a function that has not set its frame pointer yet, if it has pushed
 * nothing, and if it has pushed its caller's: enum sym_pushed in userspace/target/symbols/symbolize.h
 * decides. 0: none.
 */
static __always_inline void sample__top(const struct pt_regs *regs, u64 ret[2])
{
	go_read(ret, 2 * sizeof(ret[0]), regs->sp);
	if (regs->bp == regs->sp)
		ret[1] = 0;
}

#define BREAKPOINT 0xcc /* the compiler also puts it between functions */

/* At a breakpoint whose instruction, a push of the frame pointer, has not run yet. */
static __always_inline bool sample__before_push(const struct pt_regs *regs)
{
	return go_read_u8(regs->ip - 1) == BREAKPOINT && go_read_u8(regs->ip) != BREAKPOINT &&
	       go_read_u64(regs->sp) != regs->bp;
}

#define SYS_SCHED_YIELD 24
#define SYS_NANOSLEEP	35

/* System calls that may deliver data on this machine, in a soft interrupt within the call. */
static __always_inline bool syscall__sends(long call)
{
	switch (call) {
	case 1:	  /* write */
	case 3:	  /* close */
	case 20:  /* writev */
	case 40:  /* sendfile */
	case 42:  /* connect */
	case 44:  /* sendto */
	case 46:  /* sendmsg */
	case 48:  /* shutdown */
	case 275: /* splice */
	case 307: /* sendmmsg */
		return true;
	}
	return false;
}

#endif
