/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's own types that kernel events need, and what a thread without a CPU waits for. For
 * sched.bpf.c and syscall.bpf.c only: libbpf finds each member in the kernel's BTF (CO-RE).
 */
#ifndef BPF_TASK_H
#define BPF_TASK_H

#include "emit.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

struct thread_info {
	u32 cpu;
} __attribute__((preserve_access_index));

struct cfs_rq {
	struct rq *rq;	    /* with CONFIG_FAIR_GROUP_SCHED, as sched_entity.cfs_rq */
	int throttle_count; /* with CONFIG_CFS_BANDWIDTH: it or a parent has no time left */
} __attribute__((preserve_access_index));

struct sched_entity {
	struct cfs_rq *cfs_rq;
} __attribute__((preserve_access_index));

struct task_struct {
	int pid, tgid;
	unsigned int __state; /* since 5.14 */
	unsigned int flags;
	unsigned int
		on_cpu; /* with CONFIG_SMP; a byte since 7.3: libbpf adapts loads of unsigned members */
	int exit_state;
	unsigned int in_iowait : 1;
	unsigned int frozen : 1; /* in the trap of cgroup v2's freezer */
	bool throttled; /* since 6.18 each thread is throttled by itself, on its way to user mode */
	struct thread_info thread_info; /* since 5.16 it contains the CPU again on amd64 */
	struct sched_entity se;
	char comm[16];
} __attribute__((preserve_access_index));

#define COMM_SIZE	     16 /* TASK_COMM_LEN, of all kernels */

/* include/linux/sched.h; of all kernels that have task_struct.__state. */
#define TASK_INTERRUPTIBLE   0x1
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_ENDED	     (0x10 | 0x20 | 0x80) /* EXIT_DEAD, EXIT_ZOMBIE, TASK_DEAD */
#define TASK_TRACED	     0x8
#define TASK_FROZEN	     0x8000			       /* since 6.1 */
#define TASK_HELD	     (0x4 | TASK_TRACED | TASK_FROZEN) /* 0x4: stopped */
#define TASK_RTLOCK_WAIT     0x1000
#define PF_EXITING	     0x4
#define PF_MEMALLOC	     0x800
#define PF_IO_WORKER	     0x10 /* a thread of io_uring: never in user mode */

#define PF_KTHREAD	     0x200000

/* The thread's system call; negative: an interrupt or a fault instead. Stale in user mode. */
static __always_inline long task__syscall(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	return (long)REGS_SYSCALL(regs);
}

static __always_inline bool task__throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(task->throttled))
		return task->throttled;
	if (bpf_core_field_exists(task->se.cfs_rq) &&
	    bpf_core_field_exists(struct cfs_rq, throttle_count))
		return task->se.cfs_rq->throttle_count > 0;
	return false;
}

/* The freezer of cgroup v2 leaves a thread in an interruptible sleep; that of v1 has a state. */
static __always_inline bool task__is_frozen(struct task_struct *task)
{
	return bpf_core_field_exists(task->frozen) && BPF_CORE_READ_BITFIELD_PROBED(task, frozen);
}

/* `comm`: an address in the kernel, or NULL: the record has no name. */
static __always_inline void task__emit(enum gt_thread_what what, u64 object, u32 tid,
				       const char *comm)
{
	emit (rec, GT_THREAD, object, 0, tid, sizeof(struct gt_thread)) {
		struct gt_thread *thread = (void *)(rec + 1);

		__builtin_memset(thread, 0, sizeof(*thread));
		thread->what = what;
		if (comm)
			bpf_probe_read_kernel_str(thread->comm, COMM_SIZE, comm);
	}
}

/* Why a thread that is not runnable has no CPU. */
static __always_inline enum gt_off task__sleep_reason(struct task_struct *task, unsigned int state)
{
	if (state & TASK_ENDED)
		return GT_OFF_DEAD;
	if (state & TASK_HELD || (state & TASK_INTERRUPTIBLE && task__is_frozen(task)))
		return GT_OFF_STOPPED;
	if (state & (TASK_UNINTERRUPTIBLE | TASK_RTLOCK_WAIT))
		return GT_OFF_DISK;
	return GT_OFF_SLEEPING;
}

/*
 * What is known of that sleep beyond the reason. `frozen` does not distinguish the freezer: it is set in
 * each stop, by a signal, too.
 */
static __always_inline enum gt_sleep task__sleep(struct task_struct *task, unsigned int state,
						 enum gt_off why)
{
	bool in_call = task__syscall(task) >= 0;

	if (why == GT_OFF_STOPPED)
		return state & TASK_TRACED			  ? GT_SLEEP_TRACED :
		       state & (TASK_FROZEN | TASK_INTERRUPTIBLE) ? GT_SLEEP_FROZEN :
								    GT_SLEEP_PLAIN;
	if ((why != GT_OFF_SLEEPING && why != GT_OFF_DISK) || task->flags & PF_IO_WORKER)
		return GT_SLEEP_PLAIN;
	if (task->flags & PF_EXITING)
		return GT_SLEEP_EXIT;
	if (task->flags & PF_MEMALLOC)
		return GT_SLEEP_MEMORY;
	if (BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait))
		return in_call ? GT_SLEEP_DISK : GT_SLEEP_PAGE;
	return in_call ? GT_SLEEP_PLAIN : GT_SLEEP_USER;
}

#endif
