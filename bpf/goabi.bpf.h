/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading the target's registers and memory. What depends on the architecture is in arch_x86.bpf.h.
 * Uses no types of the kernel (BTF), which libbpf needs 45 ms to read.
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

/*
 * The asm keeps loads apart: the compiler would merge two into one from a computed address, which
 * the verifier rejects for a context.
 */
#define REGISTER(ctx, name)                                                                        \
	({                                                                                         \
		u64 value_ = (ctx)->name;                                                          \
                                                                                                   \
		asm volatile("" : "+r"(value_));                                                   \
		value_;                                                                            \
	})

/* Reads `size` bytes of the target's memory: 0, or negative. About 35 ns for almost any size. */
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

#if defined(__TARGET_ARCH_x86)
#include "arch_x86.bpf.h"
#else
#error "this architecture is not supported: docs/adding.md lists what it needs"
#endif

/* struct bpf_perf_event_data */
struct perf_sample {
	struct pt_regs regs;
	u64 period, addr;
};

#endif
