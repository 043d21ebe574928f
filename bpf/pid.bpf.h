/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The numbers of threads and processes in the recorder's PID namespace. In the initial namespace
 * the verifier removes everything but one load. Elsewhere a number takes 3 or 4 reads of kernel
 * memory. userspace/capture/pid_ns.c sets pid_ns.
 */
#ifndef BPF_PID_H
#define BPF_PID_H

#include "goabi.bpf.h"
#include "gotrace/pid_ns.h"

extern const volatile struct gt_pid_ns pid_ns;

/* The members of struct upid (include/linux/pid.h). */
struct pid_number {
	int nr;
	u64 ns;
};

static __always_inline u64 pid__read(u64 from)
{
	u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (const void *)from);
	return value;
}

static __always_inline u32 pid__read_int(u64 from)
{
	u32 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (const void *)from);
	return value;
}

/* Returns 0 if `pid` is NULL, or has no number in the namespace. */
static __always_inline u32 pid__number(u64 pid)
{
	struct pid_number number = {};

	if (!pid || pid__read_int(pid + pid_ns.pid_level) < pid_ns.level ||
	    bpf_probe_read_kernel(&number, sizeof(number), (void *)(pid + pid_ns.pid_number)))
		return 0;
	return number.ns == pid_ns.address ? number.nr : 0;
}

/* `at` is the address of the number in the initial namespace, which is 0 for the idle thread. */
static __always_inline u32 pid__outside(u64 at)
{
	u32 whole = pid__read_int(at);

	return whole ? GT_PID_OUTSIDE + whole : 0;
}

/* `task` is the address of a struct task_struct. */
static __always_inline u32 pid__tid(u64 task)
{
	return pid__number(pid__read(task + pid_ns.task_pid)) ?:
								pid__outside(task + pid_ns.task_tid);
}

static __always_inline u32 pid__tgid(u64 task)
{
	u64 signal = pid__read(task + pid_ns.task_signal);

	return pid__number(pid__read(signal + pid_ns.signal_pid)) ?:
		       pid__outside(task + pid_ns.task_tgid);
}

/* Returns the TID of the current thread if it belongs to that process, else 0. */
static __always_inline u32 pid__current_of(u32 tgid)
{
	u64 task, id;

	if (!pid_ns.level) {
		id = bpf_get_current_pid_tgid();
		return id >> 32 == tgid ? (u32)id : 0;
	}
	task = bpf_get_current_task();
	return pid__tgid(task) == tgid ? pid__tid(task) : 0;
}

/* Returns what bpf_get_current_pid_tgid() does in the initial namespace. */
static __always_inline u64 pid__current(void)
{
	u64 task;

	if (!pid_ns.level)
		return bpf_get_current_pid_tgid();
	task = bpf_get_current_task();
	return (u64)pid__tgid(task) << 32 | pid__tid(task);
}

/* For programs that know the type of `task`, a pointer. */
#define TASK_TID(task)	(pid_ns.level ? pid__tid((u64)(task)) : (u32)(task)->pid)
#define TASK_TGID(task) (pid_ns.level ? pid__tgid((u64)(task)) : (u32)(task)->tgid)

#endif
