/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps the stack of a uprobe's program on the kernel's stack.
 *
 * Since 6.13 the kernel may place it in memory that belongs to the CPU ("private stack": for programs
 * of type kprobe whose functions need 64 bytes or more). That requires that a program does not begin
 * again on a CPU before it has ended. The kernel ensures it for kprobes, but not for uprobes: on a
 * kernel with preemption, which 7.x always has, two threads then write to one stack. With Debian's
 * 7.3.4 records vanished, and the kernel oopsed in stack__send() and killed the target's thread.
 *
 * A program that contains a tail call never gets such a stack. This one is not executed, and the
 * verifier removes it; before 6.13 it changes nothing but a few instructions of calls.
 */
#ifndef BPF_KERNEL_STACK_H
#define BPF_KERNEL_STACK_H

#include "maps.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} no_programs __weak SEC(".maps");

/* To be called by each program of a uprobe. */
static __always_inline void use_kernel_stack(void *ctx)
{
	if (config.never)
		bpf_tail_call(ctx, &no_programs, 0);
}

#endif
