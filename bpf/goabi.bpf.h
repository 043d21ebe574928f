/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Go's internal calling convention on amd64, and the few kernel types that the probes touch.
 *
 * ABIInternal passes integer arguments in AX BX CX DI SI R8 R9 R10 R11 and keeps the current g in
 * R14. At a function's `push rbp`, [rsp] is the return address and rbp still the caller's frame.
 * Nothing here needs the kernel's own types (BTF), which libbpf takes 45 ms to read.
 */
#ifndef BPF_GOABI_H
#define BPF_GOABI_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "gotrace/counters.h"

typedef gt_u8 u8;
typedef gt_u16 u16;
typedef gt_u32 u32;
typedef gt_u64 u64;

/* The same in all kernels for amd64: asm/ptrace.h of their userspace ABI has it. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

struct perf_sample { /* struct bpf_perf_event_data */
	struct pt_regs regs;
	u64 period, addr;
};

/*
 * Kept apart by the asm: the compiler would merge two loads into one of a computed address, which
 * the verifier forbids for a context.
 */
#define REGISTER(ctx, name)                                                                        \
	({                                                                                         \
		u64 value_ = (ctx)->name;                                                          \
                                                                                                   \
		asm volatile("" : "+r"(value_));                                                   \
		value_;                                                                            \
	})

#define GO_ARG1(ctx) REGISTER(ctx, ax)
#define GO_ARG2(ctx) REGISTER(ctx, bx)
#define GO_ARG3(ctx) REGISTER(ctx, cx)
#define GO_ARG4(ctx) REGISTER(ctx, di)
#define GO_ARG5(ctx) REGISTER(ctx, si)
#define GO_G(ctx)    REGISTER(ctx, r14)

/* Reads `size` bytes of the target's memory: 0, or negative. About 35 ns, nearly whatever size. */
static __always_inline long go_read(void *to, u32 size, u64 from)
{
	return bpf_probe_read_user(to, size, (const void *)from);
}

static __always_inline u64 go_read_u64(u64 from)
{
	u64 value = 0;

	go_read(&value, sizeof(value), from);
	return value;
}

static __always_inline u32 go_read_u32(u64 from)
{
	u32 value = 0;

	go_read(&value, sizeof(value), from);
	return value;
}

static __always_inline u8 go_read_u8(u64 from)
{
	u8 value = 0;

	go_read(&value, sizeof(value), from);
	return value;
}

#endif
