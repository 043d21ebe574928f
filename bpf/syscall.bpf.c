// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel events of the target's system calls, also those that the runtime does not report, and
 * optionally its page faults.
 *
 * An object of its own with sched.bpf.c. The kernel calls these programs for each system call of
 * the machine. Downstream: userspace/sequence/kernel_events.c.
 */
#include "task.bpf.h"

/* The TID of this thread of the target, or 0. */
static __always_inline u32 target_tid(void)
{
	u64 id = bpf_get_current_pid_tgid();

	return id >> 32 == config.tgid ? (u32)id : 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long number)
{
	u32 tid = target_tid();

	if (tid)
		emit_plain(GT_SYS_ENTER, number, 0, tid);
	return 0;
}

/*
 * The first exit of a new thread has no entry: its creator's counts. For rt_sigreturn, and a call
 * that a tracer rejected, the number is -1: userspace/sequence/kernel_events.c resolves it.
 */
SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long result)
{
	u32 tid = target_tid();

	if (tid)
		emit_value(GT_SYS_EXIT, REGS_SYSCALL(regs), 0, tid, result);
	return 0;
}

/*
 * A page fault, of user mode or of a system call that accesses the program's memory, by two
 * software events of the kernel: "page-faults" at its begin, before any lock is taken, and
 * "minor-faults" or "major-faults" when the page is there. A fault that ends in a signal has no
 * end. Tracepoints report only the begin.
 */
SEC("perf_event")
int fault_begin(struct perf_sample *ctx)
{
	u32 tid = target_tid();

	if (tid)
		emit_plain(GT_FAULT_BEGIN, ctx->addr, 0, tid);
	return 0;
}

SEC("perf_event")
int fault_end(struct perf_sample *ctx)
{
	u32 tid = target_tid();

	if (tid)
		emit_plain(GT_FAULT_END, 0, 0, tid);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
