/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The PID namespace of the recorder, by whose numbers all records name threads and processes, and
 * where the kernel stores these numbers. bpf/pid_ns.bpf.c finds them.
 */
#ifndef GOTRACE_PID_NS_H
#define GOTRACE_PID_NS_H

#include "record.h"

/* All zero in the initial namespace. Offsets are in bytes from the struct's start. */
struct gt_pid_ns {
	gt_u64 address;	    /* of the kernel's struct pid_namespace */
	gt_u32 level;	    /* how many namespaces are above it */
	gt_u32 task_tid;    /* task_struct.pid: the TID in the initial namespace */
	gt_u32 task_tgid;   /* task_struct.tgid */
	gt_u32 task_pid;    /* task_struct.thread_pid; NULL once the thread has been released */
	gt_u32 task_signal; /* task_struct.signal */
	gt_u32 signal_pid;  /* signal_struct.pids[PIDTYPE_TGID] */
	gt_u32 pid_level;   /* pid.level: that of the namespace in which the thread was created */
	gt_u32 pid_number;  /* pid.numbers[level], a struct upid */
};

/*
 * A thread outside of the namespace has no number in it. It is named by its number in the initial
 * one plus this, the kernel's PID_MAX_LIMIT: no thread has that number.
 */
#define GT_PID_OUTSIDE 0x400000u

#endif
