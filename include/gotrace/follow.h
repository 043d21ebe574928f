/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What bpf/follow.bpf.c says to userspace/capture/tracker.c: one process of those that are followed
 * has executed a program.
 */
#ifndef GOTRACE_FOLLOW_H
#define GOTRACE_FOLLOW_H

#include "record.h"

#define GT_FOLLOWED_MAX 16384 /* processes at once */

struct gt_followed_exec {
	gt_u64 time;   /* CLOCK_MONOTONIC, ns */
	gt_u32 pid;    /* in the initial PID namespace */
	gt_u32 held;   /* 1: by the recorder that launched it (capture/launch.c) */
	char comm[16]; /* the program's name, cut to 15 bytes; any bytes, as the target chose */
};

#endif
