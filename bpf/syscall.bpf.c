// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel events of the target's system calls, also those that the runtime does not report, and
 * optionally its page faults. Those of Go's own system calls show also when a goroutine begins and
 * ends one (slot.h): the thread returns to the one instruction with which Go's code enters the
 * kernel, and its goroutine is in a system call.
 *
 * If system calls are recorded without kernel events (config.calls_only), or these are
 * left out for a while, only records of goroutines are sent.
 *
 * An object of its own with sched.bpf.c. The kernel calls these programs for each system call of
 * the machine. Downstream: userspace/sequence/kernel_events.c.
 */
#define MODULE_KSYMS
#include "task.bpf.h"
#include "slot.bpf.h"

/* Set by capture/kernel_probes.c while kernel events are left out: as config.calls_only. 8 bytes. */
gt_u64 calls_only_now SEC(".bss.calls");

static __always_inline bool calls_only(void)
{
	return config.calls_only || *(volatile gt_u64 *)&calls_only_now;
}

/* The TID of this thread of the target, or 0. */
static __always_inline u32 target_tid(void)
{
	return pid__current_of(config.tgid);
}

static __always_inline bool is_go_call(const struct pt_regs *regs)
{
	return config.syscall_at && REGS_PC(regs) == config.syscall_at;
}

/*
 * Whether the goroutine begins a system call for the trace: slot__g() is then what was read of it.
 * Without a slot the probes have not found the thread yet.
 */
static __always_inline bool go_begins(struct gt_slot *slot, u64 gp)
{
	struct g *g;

	if (!slot)
		return false;
	g = slot__g(slot);
	if (g__read(gp, g) || (g->status & ~STATUS_SCAN) != STATUS_SYSCALL) {
		slot->call = GT_CALL_NONE; /* a call that is not traced */
		return false;
	}
	if (slot->call == GT_CALL_PROBED)
		return false;
	if (slot->call == GT_CALL_RESTARTS) {
		slot->call = GT_CALL_BEGUN;
		return false;
	}
	slot->call = GT_CALL_BEGUN;
	g->leaf.second = 0;
	return true;
}

/* A function of its own: its record must not be on the stack while stacks are read (512 bytes, up to 6.1). */
static __noinline int emit_go_enter(u64 gp, u64 number, u32 stack, u32 tid, u64 begin)
{
	emit (rec, GT_GO_SYS_ENTER, gp, stack, tid, sizeof(struct gt_go_sys_enter)) {
		struct gt_go_sys_enter *payload = (void *)(rec + 1);
		u64 ns = (rec->time ?: bpf_ktime_get_ns()) - begin;

		payload->number = number;
		payload->since = ns <= GT_DERIVED_NS_MAX ? ns : GT_DERIVED_NS_MAX;
	}
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long number)
{
	u32 tid = target_tid(), stack;
	struct gt_slot *slot = NULL;
	bool is_go = is_go_call(regs);
	u64 begin = 0;

	if (!tid)
		return 0;
	if (is_go) {
		begin = bpf_ktime_get_ns();
		slot = slot__of_calls(tid);
	} else if (number == SYS_NANOSLEEP) {
		slot = slot__find(tid);
	}
	if (is_go && slot && go_begins(slot, REGS_G(regs))) {
		stack = stack__id_hot(&slot__g(slot)->leaf, tid);
		emit_go_enter(REGS_G(regs), number, stack, tid, begin);
	} else {
		/* the scheduler polls the network, or sleeps while it looks for work: the goroutine may have left */
		if (slot && slot->g0 == REGS_G(regs) && (is_go || slot__has_left(slot)))
			slot__flush_if_derived(slot->g0, tid);
		if (!calls_only())
			emit_plain(GT_SYS_ENTER, number, 0, tid);
	}
	return 0;
}

/* -ERESTARTSYS and its relatives: a signal comes first, and then maybe the same call again. */
static __always_inline bool may_restart(long result)
{
	return (result <= -512 && result >= -514) || result == -516;
}

/*
 * Whether the goroutine's system call ends. After a signal the thread returns by rt_sigreturn
 * (number -1): to the instruction behind the call, if it is not to be restarted; the call may have
 * ended before the signal, too. A call that seccomp denied has no entry: it begins now.
 */
static __always_inline bool go_ends(u64 gp, long number, long result, u32 tid)
{
	struct gt_slot *slot = slot__find(tid);
	u32 stack;

	if (!slot || slot->call == GT_CALL_PROBED)
		return false;
	if (slot->call == GT_CALL_NONE) {
		if (number == -1)
			return false;
		if (!go_begins(slot, gp)) {
			if (!slot__g(slot)->m) /* could be read neither at the entry nor now */
				emit__lose(GT_GO_SYS_ENTER);
			return false;
		}
		stack = stack__id(&slot__g(slot)->leaf, tid);
		emit_plain(GT_SYSCALL_ENTER, gp, stack, tid);
	} else if (number != -1 && may_restart(result)) {
		slot->call = GT_CALL_RESTARTS;
		return false;
	}
	slot->call = GT_CALL_NONE;
	return true;
}

/*
 * The first exit of a new thread has no entry: its creator's counts. For rt_sigreturn, and a call
 * that a tracer rejected, the number is -1: userspace/sequence/kernel_events.c resolves it.
 */
SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long result)
{
	long number = REGS_SYSCALL(regs);
	u32 tid = target_tid();

	if (!tid)
		return 0;
	if (!is_go_call(regs) || !go_ends(REGS_G(regs), number, result, tid) ||
	    config.exits_probed) {
		if (!calls_only())
			emit_value(GT_SYS_EXIT, number, 0, tid, result);
		return 0;
	}
	emit (rec, GT_GO_SYS_EXIT, REGS_G(regs), 0, tid, sizeof(struct gt_go_sys_exit)) {
		struct gt_go_sys_exit *payload = (void *)(rec + 1);

		payload->number = number;
		payload->result = result;
	}
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
