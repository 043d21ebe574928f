/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The record that bpf/follow.bpf.c sends to userspace/capture/tracker.c: a followed or selected process
 * has executed a program.
 */
#ifndef GOTRACE_FOLLOW_H
#define GOTRACE_FOLLOW_H

#include "record.h"

#define GT_FOLLOWED_MAX	     16384 /* processes at the same time */
#define GT_WATCHED_NAMES     16
#define GT_WATCHED_NAME_SIZE 256 /* NAME_MAX and a NUL */

/* The file name of an executable, filled with zeros. */
struct gt_watched_name {
	char text[GT_WATCHED_NAME_SIZE];
};

enum gt_followed {
	GT_FOLLOWED = 1,   /* with the descendants that it has from then on */
	GT_FOLLOWED_ALONE, /* only this process */
};

struct gt_followed_exec {
	gt_u64 time;   /* CLOCK_MONOTONIC, ns */
	gt_u32 pid;    /* in the PID namespace of the recorder */
	gt_u32 held;   /* 1: held by the recorder that launched it (capture/launch.c) */
	char comm[16]; /* the program's name, cut to 15 bytes; any bytes, chosen by the target */
};

#endif
