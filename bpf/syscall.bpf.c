// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's side: the target's system calls, those too that the runtime says nothing of, and, when
 * asked for, its page faults.
 *
 * With sched.bpf.c an object of its own. The kernel calls these programs for each system call of the
 * machine. After them: sequence/kernel.c.
 */
#include "task.bpf.h"

/* This thread of the target, or 0. */
static __always_inline u32 ours(void)
{
	u64 id = bpf_get_current_pid_tgid();

	return id >> 32 == config.tgid ? (u32)id : 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long number)
{
	u32 tid = ours();

	if (tid)
		emit_plain(GT_SYS_ENTER, number, 0, tid);
	return 0;
}

/*
 * A new thread's first one has no entry: its creator's is it. Of rt_sigreturn, and of a call that a tracer
 * has refused, the number is -1 by now: sequence/kernel.c knows which one began.
 */
SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long result)
{
	u32 tid = ours();

	if (tid)
		emit_value(GT_SYS_EXIT, regs->orig_ax, 0, tid, result);
	return 0;
}

/*
 * A page fault, of user mode or of a system call that touches the program's memory, by two of the
 * kernel's software events: "page-faults" counts it when it begins, before any lock is taken, and
 * "minor-faults" or "major-faults" when the page is there. One that ends in a signal has no end.
 * Tracepoints tell of the beginning only.
 */
SEC("perf_event")
int fault_begin(struct perf_sample *ctx)
{
	u32 tid = ours();

	if (tid)
		emit_plain(GT_FAULT_BEGIN, ctx->addr, 0, tid);
	return 0;
}

SEC("perf_event")
int fault_end(struct perf_sample *ctx)
{
	u32 tid = ours();

	if (tid)
		emit_plain(GT_FAULT_END, 0, 0, tid);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
