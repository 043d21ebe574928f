// SPDX-License-Identifier: GPL-2.0
/*
 * record --follow: reports processes that descend from the first one, and what they execute.
 *
 * An object of its own, because it outlives the probes of each recording. It neither stops
 * processes nor reads their memory. Upstream and downstream: userspace/capture/tracker.c, which
 * loads it and reads its map.
 */
#include "goabi.bpf.h"
#include "gotrace/follow.h"

#include <bpf/bpf_tracing.h>

struct signal_struct {
	struct {
		int counter;
	} live; /* threads that have not begun to exit */
} __attribute__((preserve_access_index));

struct task_struct {
	int pid, tgid;
	unsigned int ptrace;
	struct task_struct *parent; /* the tracer, if it is traced */
	struct signal_struct *signal;
} __attribute__((preserve_access_index));

/* Live processes by PID. tracker.c adds the first. About 1 MiB. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GT_FOLLOWED_MAX);
	__type(key, u32);
	__type(value, u8);
} tree SEC(".maps");

/* Execs: a few per second, thousands at most. Reader: tracker.c, woken by each. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 17);
} execs SEC(".maps");

gt_u32 launcher = 0;  /* the recorder that holds the command until it executes a Go program */
gt_u64 overflows = 0; /* processes or execs that did not fit */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(followed_fork, struct task_struct *parent, struct task_struct *child)
{
	u32 from = parent->tgid, pid = child->pid;
	u8 one = 1;

	if (child->tgid != child->pid || !bpf_map_lookup_elem(&tree, &from))
		return 0;
	if (bpf_map_update_elem(&tree, &pid, &one, 0))
		__sync_fetch_and_add(&overflows, 1);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(followed_exec, struct task_struct *task)
{
	struct gt_followed_exec *e;
	u32 pid = task->tgid;

	if (!bpf_map_lookup_elem(&tree, &pid))
		return 0;
	e = bpf_ringbuf_reserve(&execs, sizeof(*e), 0);
	if (!e) {
		__sync_fetch_and_add(&overflows, 1);
		return 0;
	}
	e->time = bpf_ktime_get_ns();
	e->pid = pid;
	e->held = task->ptrace && task->parent->tgid == launcher;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(followed_exit, struct task_struct *task)
{
	u32 pid = task->tgid;

	if (task->signal->live.counter <= 0)
		bpf_map_delete_elem(&tree, &pid);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
