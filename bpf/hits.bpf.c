// SPDX-License-Identifier: GPL-2.0
/*
 * Counts how often the probes and kernel events of a recording would fire, and does nothing else:
 * for `doctor --measure`, which computes from it what a recording costs.
 *
 * An object of its own. Upstream and downstream: userspace/capture/hits.c.
 */
#include "goabi.bpf.h"
#include "gotrace/hits.h"
#include "pid.bpf.h"

#include <bpf/bpf_tracing.h>

struct task_struct {
	int tgid;
} __attribute__((preserve_access_index));

const volatile struct gt_pid_ns pid_ns = {};
const volatile gt_u32 target = 0; /* TGID */

/* By GT_HITS_OF() and enum gt_hits. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GT_HITS_COUNT);
	__type(key, u32);
	__type(value, u64);
} hits SEC(".maps");

static __always_inline void count(u32 what)
{
	u64 *n = bpf_map_lookup_elem(&hits, &what);

	if (n)
		++*n;
}

/* The cookie is the number of the counter. */
SEC("uprobe.multi")
int count_hit(struct pt_regs *ctx)
{
	if (pid__current_of(target))
		count(bpf_get_attach_cookie(ctx));
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(count_call)
{
	if (pid__current_of(target))
		count(GT_HITS_CALLS);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(count_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	if (TASK_TGID(prev) == target)
		count(GT_HITS_LEAVES);
	if (TASK_TGID(next) == target)
		count(GT_HITS_GETS);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(count_wake, struct task_struct *task)
{
	if (TASK_TGID(task) == target)
		count(GT_HITS_WAKES);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
