/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The record that bpf/follow.bpf.c sends to userspace/capture/tracker.c: a followed process has
 * executed a program.
 */
#ifndef GOTRACE_FOLLOW_H
#define GOTRACE_FOLLOW_H

#include "record.h"

#define GT_FOLLOWED_MAX 16384 /* processes at the same time */

struct gt_followed_exec {
	gt_u64 time;   /* CLOCK_MONOTONIC, ns */
	gt_u32 pid;    /* in the initial PID namespace */
	gt_u32 held;   /* 1: held by the recorder that launched it (capture/launch.c) */
	char comm[16]; /* the program's name, cut to 15 bytes; any bytes, chosen by the target */
};

#endif
