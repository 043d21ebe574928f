// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel events of scheduling: the target's threads, on which CPU they are, and why on none.
 *
 * An object of its own with syscall.bpf.c, loaded only on request
 * (userspace/capture/kernel_probes.c), with the maps of the probes' object. These programs run at
 * each context switch and wake-up of the machine: for other processes they end after two loads, and
 * outside of the initial PID namespace after eight.
 * Downstream: userspace/sequence/kernel_events.c.
 */
#include "task.bpf.h"
#include "slot.bpf.h"
#include "waits.bpf.h"

struct ids {
	u32 tid, tgid;
};

struct bpf_iter__task {
	void *meta;
	struct task_struct *task;
};

/* Contains the preemption count of a CPU in 6.2 to 6.14: see below. */
struct pcpu_hot {
	int preempt_count;
} __attribute__((preserve_access_index));

/*
 * Distance from a CPU's run queue to its pcpu_hot or, on kernels without that, its __preempt_count:
 * kernel_probes.c finds it in the kernel's BTF. 0: unknown, and no wake-up counts as an
 * interrupt's.
 */
const volatile long preempt_count_from_rq = 0;

#define HARD_INTERRUPT 0xff0000 /* NMIs and interrupts */
#define SOFT_INTERRUPT 0x000100 /* a soft interrupt is being served */

/*
 * The variable's symbol is unavailable on a kernel without CONFIG_KALLSYMS_ALL. The current
 * thread's run queue is this CPU's.
 *
 * Data that a thread sends to a socket of this machine wakes the reader in a soft interrupt within
 * its own system call: that is the thread's wake-up, not an interrupt's. A device's soft interrupt
 * that runs just then looks the same.
 */
static __always_inline bool in_interrupt(void)
{
	struct task_struct *current = bpf_get_current_task_btf();
	long place = preempt_count_from_rq;
	int count = 0;

	if (!place || !bpf_core_field_exists(current->se.cfs_rq))
		return false;
	if (bpf_core_field_exists(struct pcpu_hot, preempt_count))
		place += bpf_core_field_offset(struct pcpu_hot, preempt_count);
	bpf_probe_read_kernel(&count, sizeof(count), (char *)current->se.cfs_rq->rq + place);
	if (count & HARD_INTERRUPT)
		return true;
	return count & SOFT_INTERRUPT &&
	       (current->flags & PF_KTHREAD || !syscall__sends(task__syscall(current)));
}

/*
 * Up to 6.14 `state` is stale when a signal keeps a thread from sleeping; the thread's own is not.
 * A thread that is preempted on its way to user mode calls schedule() like one that yields: only
 * the system call distinguishes them.
 */
static __always_inline enum gt_off off_reason(struct task_struct *prev, bool preempt,
					      unsigned int state)
{
	if (state && !preempt && prev->__state)
		return task__sleep_reason(prev, state);
	if (task__throttled(prev))
		return GT_OFF_THROTTLED;
	return !preempt && task__syscall(prev) == SYS_SCHED_YIELD ? GT_OFF_YIELDED :
								    GT_OFF_PREEMPTED;
}

/*
 * Threads of the target that have begun to end, by their number in the initial PID namespace: a
 * thread that has been released has no number in another one, and is switched once more. The map
 * exists only outside of the initial namespace.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct ids);
} ending SEC(".maps");

/* NULL: the thread still has its numbers, or is not of the target. */
static __always_inline const struct ids *ids_of_ending(struct task_struct *task)
{
	u32 key = task->pid;

	return pid_ns.level && task->exit_state ? bpf_map_lookup_elem(&ending, &key) : NULL;
}

static __always_inline u32 tid_of(struct task_struct *task)
{
	const struct ids *known = ids_of_ending(task);

	return known ? known->tid : TASK_TID(task);
}

static __always_inline u32 tgid_of(struct task_struct *task)
{
	const struct ids *known = ids_of_ending(task);

	return known ? known->tgid : TASK_TGID(task);
}

/*
 * The goroutine of a thread for which no probe keeps a slot (inline probes), by the register that
 * contains it or, in the scheduler and in the kernel, g0; 0: none, or other code is running.
 */
static __always_inline u64 current_goroutine(u64 g)
{
	u64 m, curg, back = 0;

	if (go_read(&m, sizeof(m), g + config.g_m) ||
	    go_read(&curg, sizeof(curg), m + config.m_curg) || !curg)
		return 0;
	if (curg != g && (go_read(&back, sizeof(back), curg + config.g_m) || back != m))
		return 0;
	return curg;
}

/*
 * A thread of the target is about to lose its CPU. Only reads: a program of a probe may have been
 * preempted while it changes the slot. (Those that sleep have had a hit or a system call just now.)
 */
static __always_inline enum gt_off_at off_at(struct task_struct *prev, u32 tid)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(prev);
	const struct gt_slot *slot;
	u64 g;

	if (config.syscall_at && REGS_PC(regs) == config.syscall_at && task__syscall(prev) >= 0)
		return GT_OFF_AT_CALL;
	slot = slot__find(tid);
	if (!slot)
		return GT_OFF_AT_UNKNOWN;
	if (config.derives && slot__has_left(slot))
		return GT_OFF_AT_LEFT;
	if (slot->call != GT_CALL_NONE || !config.syscall_at)
		return GT_OFF_AT_UNKNOWN;
	if (!config.derives)
		g = current_goroutine(REGS_G(regs));
	else if (go_read(&g, sizeof(g), slot->m + config.m_curg))
		g = 0;
	return g && status_of(g) == STATUS_SYSCALL ? GT_OFF_AT_BEGIN : GT_OFF_AT_UNKNOWN;
}

static __always_inline void tell_off(struct gt_off_cpu *off, struct task_struct *prev, u32 tid,
				     struct task_struct *next, u32 tgid, enum gt_off why)
{
	__builtin_memset(off, 0, sizeof(*off));
	off->next_tgid = tgid;
	off->why = why;
	if (why == GT_OFF_PREEMPTED || why == GT_OFF_THROTTLED)
		off->at = off_at(prev, tid);
	else
		off->sleep = task__sleep(prev, prev->__state, why);
	if (next->pid)
		bpf_probe_read_kernel(off->next_comm, COMM_SIZE, next->comm);
}

/*
 * Both records of a switch between two target threads have one time, taken after both slots were
 * reserved: a CPU always has a thread. Older verifiers (6.1) forget that a slot was checked, and
 * report a leak at a second check: so each is checked once.
 */
static __always_inline void emit_switch(struct emission *off, struct task_struct *from, u32 prev,
					struct task_struct *next, struct ids ids, bool to,
					enum gt_off why)
{
	EMIT_ROOM(room, 0);
	struct emission on = emit__none(0);

	tell_off((void *)(off->rec + 1), from, prev, next, ids.tgid, why);
	if (to)
		on = emit__begin(GT_CPU_ON, prev, 0, ids.tid, 0, room);
	if (on.rec) {
		emit__stamp(on.rec);
		off->rec->time = on.rec->time;
		off->rec->cpu = on.rec->cpu;
		emit__put(off);
		emit__put(&on);
	} else {
		emit__put(off);
	}
}

/* The fourth argument is the last one since 5.19; before, the state was read from the thread. */
SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	struct ids old = { .tgid = tgid_of(prev) }, new = { .tgid = tgid_of(next) };
	bool from = old.tgid == config.tgid, to = new.tgid == config.tgid;
	EMIT_ROOM(room, sizeof(struct gt_off_cpu));
	struct emission off = emit__none(sizeof(struct gt_off_cpu));
	enum gt_off why = GT_OFF_END;

	if (!from && !to) {
		waits__switched(next);
		return 0;
	}
	old.tid = tid_of(prev);
	new.tid = tid_of(next);
	if (from) {
		why = off_reason(prev, preempt, prev_state);
		off = emit__begin(GT_CPU_OFF, new.tid, 0, old.tid, sizeof(struct gt_off_cpu), room);
	}
	if (off.rec)
		emit_switch(&off, prev, old.tid, next, new, to, why);
	else if (to)
		emit_plain(GT_CPU_ON, old.tid, 0, new.tid);
	waits__note(next, to);
	if (to)
		waits__end(next);
	if (why == GT_OFF_PREEMPTED || why == GT_OFF_YIELDED)
		waits__begin(prev, bpf_get_smp_processor_id());
	if (why == GT_OFF_DEAD) {
		waits__thread_ended(prev);
		task__emit(GT_THREAD_ENDED, 0, old.tid, prev->comm);
	}
	return 0;
}

/* Runs in the waker, or in the thread that the waking interrupt stopped. */
SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	u64 waker;

	if (TASK_TGID(task) != config.tgid)
		return 0;
	waker = pid__current();
	emit (rec, GT_WAKING, (u32)waker, 0, TASK_TID(task), sizeof(struct gt_waking)) {
		struct gt_waking *waking = (void *)(rec + 1);

		waking->tgid = waker >> 32;
		waking->interrupt = in_interrupt();
	}
	return 0;
}

/* Runs when the thread is in a run queue, which may be later than sched_waking on another CPU. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *task)
{
	if (TASK_TGID(task) == config.tgid)
		waits__woken(task);
	return 0;
}

/* A new thread is in a run queue for the first time. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *task)
{
	if (TASK_TGID(task) == config.tgid)
		waits__woken(task);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrate_task, struct task_struct *task, int cpu)
{
	if (TASK_TGID(task) == config.tgid)
		waits__moved(task, cpu, TASK_TID(task));
	return 0;
}

/* Unlike sched_process_fork it also reports threads of io_uring. Runs before their first switch. */
SEC("tp_btf/task_newtask")
int BPF_PROG(task_newtask, struct task_struct *task)
{
	if (TASK_TGID(task) == config.tgid)
		task__emit(GT_THREAD_CREATED, (u32)pid__current(), TASK_TID(task), task->comm);
	return 0;
}

/* Runs while the thread still has its numbers. Not loaded in the initial PID namespace. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(thread_ends, struct task_struct *task)
{
	struct ids ids = { TASK_TID(task), TASK_TGID(task) };
	u32 key = task->pid;

	if (ids.tgid == config.tgid)
		bpf_map_update_elem(&ending, &key, &ids, 0);
	else /* another thread had the number before */
		bpf_map_delete_elem(&ending, &key);
	return 0;
}

/* Runs before the name is set. */
SEC("tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *task, const char *comm)
{
	if (TASK_TGID(task) == config.tgid)
		task__emit(GT_THREAD_NAMED, 0, TASK_TID(task), comm);
	return 0;
}

static __always_inline void describe(struct task_struct *task, struct gt_record *rec)
{
	struct gt_thread *thread = (void *)(rec + 1);
	unsigned int state = task->__state;

	rec->cpu = task->thread_info.cpu;
	thread->on_cpu = bpf_core_field_exists(task->on_cpu) ? !!task->on_cpu : 0;
	if (thread->on_cpu)
		return;
	if (state & (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE | TASK_HELD | TASK_RTLOCK_WAIT)) {
		thread->why = task__sleep_reason(task, state);
		thread->sleep = task__sleep(task, state, thread->why);
		if (thread->why != GT_OFF_STOPPED && !(task->flags & PF_IO_WORKER))
			rec->object = task__syscall(task) + 1;
	} else {
		thread->why = task__throttled(task) ? GT_OFF_THROTTLED : GT_OFF_PREEMPTED;
	}
}

/*
 * Once for each of the target's threads, when everything else is attached. The time is taken before
 * the thread is inspected: a change in between has a record of its own, with a later time.
 */
SEC("iter/task")
int present(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task || task->exit_state || TASK_TGID(task) != config.tgid)
		return 0;
	emit (rec, GT_THREAD, 0, 0, TASK_TID(task), sizeof(struct gt_thread)) {
		struct gt_thread *thread = (void *)(rec + 1);

		emit__stamp(rec);
		__builtin_memset(thread, 0, sizeof(*thread));
		thread->what = GT_THREAD_PRESENT;
		thread->waits = 1;
		bpf_probe_read_kernel_str(thread->comm, COMM_SIZE, task->comm);
		describe(task, rec);
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
