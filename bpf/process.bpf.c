// SPDX-License-Identifier: GPL-2.0
/*
 * Probe of the process: it replaced its program by exec, which ends the recording. Downstream:
 * emit.bpf.h, userspace/capture/recorder.c.
 */
#include "emit.bpf.h"

/* Runs in the thread that called exec: by now it is the only one, and the leader. */
static __always_inline int ended_by_exec(void)
{
	u64 id = pid__current();

	if (id >> 32 == config.tgid && (u32)id == config.tgid)
		emit_plain(GT_EXEC, 0, 0, id);
	return 0;
}

/* For sessions of the module, whose functions a program of the type below may not call. */
SEC("tp_btf/sched_process_exec")
int process_exec_session(u64 *ctx)
{
	return ended_by_exec();
}

SEC("raw_tp/sched_process_exec")
int process_exec(u64 *ctx)
{
	return ended_by_exec();
}

char LICENSE[] SEC("license") = "GPL";
