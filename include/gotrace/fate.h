/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The record that bpf/fate.bpf.c sends to userspace/capture/fate.c: a signal was delivered to the
 * process, or the process has ended.
 */
#ifndef GOTRACE_FATE_H
#define GOTRACE_FATE_H

#include "record.h"

struct gt_fate {
	gt_u64 time; /* CLOCK_MONOTONIC, ns */
	gt_u32 tid;
	gt_u32 signal; /* its number; 0: the process has ended */
	gt_u32 status; /* as of wait(), if it has ended */
	gt_u32 pad;
};

#endif
