// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the recorder's PID namespace in the kernel's memory: run once, by the recorder itself, and
 * only outside of the initial namespace.
 *
 * An object of its own, because it needs the kernel's types (BTF), which the probes do without. userspace/capture/pid_ns.c runs it.
 */
#include "goabi.bpf.h"
#include "gotrace/pid_ns.h"

#include <bpf/bpf_core_read.h>

#define PIDTYPE_TGID 1 /* include/linux/pid_types.h, since 4.19 */

struct pid_namespace;

struct upid {
	int nr;
	struct pid_namespace *ns;
} __attribute__((preserve_access_index));

struct pid {
	unsigned int level;
	struct upid numbers[1];
} __attribute__((preserve_access_index));

struct signal_struct {
	struct pid *pids[4];
} __attribute__((preserve_access_index));

struct task_struct {
	int pid, tgid;
	struct pid *thread_pid;
	struct signal_struct *signal;
} __attribute__((preserve_access_index));

struct gt_pid_ns found = {};

SEC("syscall")
int find(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct pid *pid = task->thread_pid;
	struct upid number = {};

	found.level = pid->level;
	found.task_tid = bpf_core_field_offset(struct task_struct, pid);
	found.task_tgid = bpf_core_field_offset(struct task_struct, tgid);
	found.task_pid = bpf_core_field_offset(struct task_struct, thread_pid);
	found.task_signal = bpf_core_field_offset(struct task_struct, signal);
	found.signal_pid = bpf_core_field_offset(struct signal_struct, pids) +
			   PIDTYPE_TGID * sizeof(struct pid *);
	found.pid_level = bpf_core_field_offset(struct pid, level);
	found.pid_number = bpf_core_field_offset(struct pid, numbers) +
			   found.level * bpf_core_type_size(struct upid);
	if (bpf_probe_read_kernel(&number, sizeof(number), (char *)pid + found.pid_number))
		return -1;
	found.address = (u64)number.ns;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
