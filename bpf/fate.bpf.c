// SPDX-License-Identifier: GPL-2.0
/*
 * Reports signals when they are delivered, and how the process ends (flight --trigger signal, exit).
 *
 * An object of its own, because it is loaded only on request. It neither stops the process nor reads
 * its memory. If the default action of a signal ends the process, each thread receives SIGKILL
 * instead: the signal that was sent is in group_exit_code. Upstream and downstream:
 * userspace/capture/fate.c, which loads it and reads its map.
 */
#include "goabi.bpf.h"
#include "gotrace/fate.h"
#include "pid.bpf.h"

#include <bpf/bpf_tracing.h>

#define SIGKILL 9

struct signal_struct {
	struct {
		int counter;
	} live; /* threads that have not begun to exit */
	int group_exit_code;
} __attribute__((preserve_access_index));

struct task_struct {
	int pid, tgid, exit_code;
	struct signal_struct *signal;
} __attribute__((preserve_access_index));

#define FATES_SIZE (1 << 16) /* bytes */

/*
 * Usually a few records per second; signals are dropped when it is half full, so that there is room
 * for the end of the process. Polled by fate.c.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, FATES_SIZE);
} fates SEC(".maps");

const volatile struct gt_pid_ns pid_ns = {};

gt_u32 watched = 0;  /* PID */
gt_u64 signals = 0;  /* bits: 1 << number - 1 */
gt_u32 is_fatal = 0; /* a signal that ends the process was reported */
gt_u32 is_over = 0;  /* its end was reported: several threads can see themselves as the last */

static void send(struct task_struct *task, u32 signal, u32 status)
{
	struct gt_fate *f = bpf_ringbuf_reserve(&fates, sizeof(*f), 0);

	if (!f)
		return;
	*f = (struct gt_fate){ bpf_ktime_get_ns(), TASK_TID(task), signal, status, 0 };
	bpf_ringbuf_submit(f, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(fate_signal, int sig)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	if (TASK_TGID(task) != watched)
		return 0;
	if (sig == SIGKILL) { /* or another thread has ended the process without a signal */
		sig = task->signal->group_exit_code & 0x7f;
		if (!sig || __sync_lock_test_and_set(&is_fatal, 1))
			return 0;
	}
	if (sig >= 1 && sig <= 64 && signals >> (sig - 1) & 1 &&
	    bpf_ringbuf_query(&fates, BPF_RB_AVAIL_DATA) < FATES_SIZE / 2)
		send(task, (u32)sig, 0);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(fate_exit, struct task_struct *task)
{
	int group = task->signal->group_exit_code;

	if (TASK_TGID(task) == watched && task->signal->live.counter <= 0 &&
	    !__sync_lock_test_and_set(&is_over, 1))
		send(task, 0, (u32)(group ?: task->exit_code));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
