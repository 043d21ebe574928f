// SPDX-License-Identifier: GPL-2.0
/*
 * Reports the programs that processes execute: those that descend from the first one (record
 * --follow), single ones (-p), and all whose executable or cgroup is selected (--exe, --cgroup).
 *
 * The last ones are filtered here, since any user can execute thousands of other programs per second.
 * An object of its own, because it outlives the probes of each recording. It neither stops processes nor
 * reads their memory. Upstream and downstream: userspace/capture/tracker.c, which loads it and reads
 * its map.
 */
#include "goabi.bpf.h"
#include "gotrace/follow.h"
#include "pid.bpf.h"

#include <bpf/bpf_tracing.h>

struct signal_struct {
	struct {
		int counter;
	} live; /* threads that have not begun to exit */
} __attribute__((preserve_access_index));

struct qstr {
	const unsigned char *name;
} __attribute__((preserve_access_index));

struct dentry {
	struct qstr d_name;
} __attribute__((preserve_access_index));

struct path {
	struct dentry *dentry;
} __attribute__((preserve_access_index));

struct file {
	struct path f_path;
} __attribute__((preserve_access_index));

struct linux_binprm {
	struct file *file; /* the executable; for a script, its interpreter */
} __attribute__((preserve_access_index));

struct task_struct {
	int pid, tgid;
	unsigned int ptrace;
	struct task_struct *parent; /* the tracer, if it is traced */
	struct signal_struct *signal;
} __attribute__((preserve_access_index));

/*
 * Live processes by PID: GT_FOLLOWED, or GT_FOLLOWED_ALONE. tracker.c adds the first. About 1 MiB.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GT_FOLLOWED_MAX);
	__type(key, u32);
	__type(value, u8);
} tree SEC(".maps");

/* File names of executables, without directories. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GT_WATCHED_NAMES);
	__type(key, struct gt_watched_name);
	__type(value, u8);
} names SEC(".maps");

/* The cgroup. Empty while it does not exist. */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} cgroup SEC(".maps");

/* Execs: a few per second, thousands at most. Reader: tracker.c, woken by each. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 17);
} execs SEC(".maps");

const volatile struct gt_pid_ns pid_ns = {};

gt_u32 launcher = 0;  /* the recorder that holds the command until it executes a Go program */
gt_u64 overflows = 0; /* processes or execs that did not fit */
/* Whether processes are reported if they have one of the names, and are in the cgroup */
gt_u32 watches_names = 0, watches_cgroup = 0;

SEC("tp_btf/sched_process_fork")
int BPF_PROG(followed_fork, struct task_struct *parent, struct task_struct *child)
{
	u32 from = TASK_TGID(parent), pid = TASK_TID(child);
	u8 followed = GT_FOLLOWED, *of_parent;

	if (child->tgid != child->pid)
		return 0;
	of_parent = bpf_map_lookup_elem(&tree, &from);
	if (!of_parent || *of_parent != GT_FOLLOWED)
		return 0;
	if (bpf_map_update_elem(&tree, &pid, &followed, 0))
		__sync_fetch_and_add(&overflows, 1);
	return 0;
}

/* By the name in the file system: comm is cut to 15 bytes, and processes can change it. */
static bool has_name(struct linux_binprm *program)
{
	struct gt_watched_name name = {};

	return bpf_probe_read_kernel_str(name.text, sizeof(name.text),
					 program->file->f_path.dentry->d_name.name) > 0 &&
	       bpf_map_lookup_elem(&names, &name);
}

static bool is_watched(struct linux_binprm *program)
{
	if (!watches_names && !watches_cgroup)
		return false;
	if (watches_cgroup && bpf_current_task_under_cgroup(&cgroup, 0) != 1)
		return false;
	return !watches_names || has_name(program);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(followed_exec, struct task_struct *task, int old_pid, struct linux_binprm *program)
{
	struct gt_followed_exec *e;
	u32 pid = TASK_TGID(task);

	if (!bpf_map_lookup_elem(&tree, &pid) && !is_watched(program))
		return 0;
	e = bpf_ringbuf_reserve(&execs, sizeof(*e), 0);
	if (!e) {
		__sync_fetch_and_add(&overflows, 1);
		return 0;
	}
	e->time = bpf_ktime_get_ns();
	e->pid = pid;
	e->held = task->ptrace && TASK_TGID(task->parent) == launcher;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(followed_exit, struct task_struct *task)
{
	u32 pid = TASK_TGID(task);

	if (task->signal->live.counter <= 0)
		bpf_map_delete_elem(&tree, &pid);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
