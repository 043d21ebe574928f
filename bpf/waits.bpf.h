/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which thread has a CPU while a thread of the target waits for it: the one that follows a preempted
 * thread is often gone after microseconds, and another has the CPU for the rest of the wait.
 *
 * A record is sent for each thread that gets such a CPU, and when a wait begins, if the records so far
 * do not show which one has it. Switches on other CPUs cost one load. A CPU's state is changed under the
 * lock of its run queue, which the tracepoints hold, except when a thread is moved to it.
 */
#ifndef BPF_WAITS_H
#define BPF_WAITS_H

#include "task.bpf.h"

/*
 * Records of a CPU in 100 ms at most: two neighbours that wake each other would otherwise fill the rings.
 * What has the CPU is unknown for the rest of the 100 ms.
 */
#define WAITS_WINDOW 100000000
#define WAITS_MAX    5000

struct rq {
	struct task_struct *curr;
} __attribute__((preserve_access_index));

struct waited_cpu {
	u32 waiting; /* threads of the target in its run queue */
	u32 known; /* 1 + the thread that has it, by the records so far; 0: they do not show that */
	u32 sent;  /* records in the window */
	u64 window;   /* when it began, ns */
	bool is_ours; /* the known thread is one of the target, whose switches are all sent */
};

/* By CPU. userspace/capture/kernel_probes.c sets the number of entries, and clears both maps. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct waited_cpu);
} waited_cpus SEC(".maps");

/*
 * The CPU that each thread of the target waits for, plus 1; 0: none. By thread, as the kernel numbers
 * them. If it is full, no record is sent because of the other threads' waits.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, u32);
} waiting_for SEC(".maps");

static __always_inline struct waited_cpu *waits__cpu(u32 cpu)
{
	return bpf_map_lookup_elem(&waited_cpus, &cpu);
}

/* tid 0: the idle thread. */
static __always_inline void waits__emit(enum gt_thread_what what, u64 cpu, u32 tid, u32 tgid,
					const char *comm)
{
	task__emit(what, cpu << 32 | tgid, tid ?: GT_IDLE_THREAD, comm);
}

/* What has the CPU is unknown: from now on, or since an unknown time; unless the target has it. */
static __always_inline void waits__forget(struct waited_cpu *c, u32 cpu, enum gt_thread_what what)
{
	if (c->is_ours)
		return;
	c->known = 0;
	waits__emit(what, cpu, GT_NO_THREAD, 0, NULL);
}

/* `next`, a thread of another process or the idle one, gets this CPU from one like it. */
static __always_inline void waits__switched(struct task_struct *next)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct waited_cpu *c = waits__cpu(cpu);
	u64 now;

	if (!c || !c->waiting)
		return;
	c->is_ours = false; /* even if the kernel has not reported that ours left it */
	now = bpf_ktime_get_ns();
	if (now - c->window >= WAITS_WINDOW) {
		c->window = now;
		c->sent = 0;
	}
	if (c->sent >= WAITS_MAX) {
		if (c->known)
			waits__forget(c, cpu, GT_THREAD_HAS_CPU);
		return;
	}
	c->sent++;
	c->known = next->pid + 1;
	waits__emit(GT_THREAD_HAS_CPU, cpu, next->pid ? TASK_TID(next) : 0,
		    next->pid ? TASK_TGID(next) : 0, next->pid ? next->comm : NULL);
}

/* A record of the switch to `next` on this CPU has been sent. */
static __always_inline void waits__note(const struct task_struct *next, bool is_ours)
{
	struct waited_cpu *c = waits__cpu(bpf_get_smp_processor_id());

	if (!c)
		return;
	c->known = next->pid + 1;
	c->is_ours = is_ours;
}

/* The thread is in the run queue of a CPU from now on, unless it was there. NULL: it was, or unknown. */
static __always_inline struct waited_cpu *waits__begin(const struct task_struct *task, u32 cpu)
{
	u32 pid = task->pid, at = cpu + 1, *before = bpf_map_lookup_elem(&waiting_for, &pid);
	struct waited_cpu *c = waits__cpu(cpu);

	if (!c || (before && *before))
		return NULL;
	if (before)
		*before = at;
	else if (bpf_map_update_elem(&waiting_for, &pid, &at, BPF_ANY))
		return NULL;
	__sync_fetch_and_add(&c->waiting, 1);
	return c;
}

static __always_inline void waits__end(const struct task_struct *task)
{
	u32 pid = task->pid, *at = bpf_map_lookup_elem(&waiting_for, &pid);
	struct waited_cpu *c;

	if (!at || !*at)
		return;
	c = waits__cpu(*at - 1);
	*at = 0;
	if (c)
		__sync_fetch_and_add(&c->waiting, -1);
}

static __always_inline void waits__thread_ended(const struct task_struct *task)
{
	u32 pid = task->pid;

	bpf_map_delete_elem(&waiting_for, &pid);
}

/* Sends which thread has the CPU for which one begins to wait. `curr`: address of the former. */
static __always_inline void waits__found(struct waited_cpu *c, u32 cpu, struct task_struct *curr)
{
	u32 pid = BPF_CORE_READ(curr, pid), tid = pid, tgid;

	if (c->known == pid + 1)
		return;
	c->known = pid + 1;
	tgid = BPF_CORE_READ(curr, tgid);
	if (pid && pid_ns.level) {
		tid = pid__tid((u64)curr);
		tgid = pid__tgid((u64)curr);
	}
	c->is_ours = tgid == config.tgid;
	waits__emit(GT_THREAD_HAD_CPU, cpu, tid, tgid, pid ? curr->comm : NULL);
}

/* The thread of the target has been put into a run queue, whose lock is held. */
static __always_inline void waits__woken(struct task_struct *task)
{
	u32 cpu = task->thread_info.cpu;
	struct task_struct *curr = NULL;
	struct waited_cpu *c;

	if (bpf_core_field_exists(task->on_cpu) && task->on_cpu)
		return; /* it has not left its CPU yet, and will not */
	c = waits__begin(task, cpu);
	if (!c)
		return;
	if (bpf_core_field_exists(task->se.cfs_rq) && bpf_core_field_exists(struct rq, curr))
		curr = BPF_CORE_READ(task, se.cfs_rq, rq, curr);
	if (curr)
		waits__found(c, cpu, curr);
	else
		waits__forget(c, cpu, GT_THREAD_HAD_CPU);
}

/* The thread of the target is put into the run queue of another CPU; the lock of its own is held. */
static __always_inline void waits__moved(struct task_struct *task, u32 cpu, u32 tid)
{
	u32 pid = task->pid, *at = bpf_map_lookup_elem(&waiting_for, &pid), from;
	struct waited_cpu *c;

	if (!at || !*at || *at == cpu + 1)
		return;
	from = *at - 1;
	waits__end(task);
	c = waits__cpu(from);
	if (c && !c->waiting)
		waits__forget(c, from, GT_THREAD_HAS_CPU);
	waits__emit(GT_THREAD_MOVED, from, tid, cpu, NULL);
	c = waits__begin(task, cpu);
	if (c && bpf_get_smp_processor_id() == cpu)
		waits__found(c, cpu, bpf_get_current_task_btf());
	else if (c && c->waiting == 1)
		waits__forget(c, cpu, GT_THREAD_HAD_CPU);
}

#endif
