/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The windows through which the probes read stacks: see bpf/stack.bpf.h, which also writes them.
 *
 * A BPF per-CPU array of GT_WINDOWS elements, which capture/rings.c creates, so that all objects
 * share it. A walk that another one preempted or interrupted keeps its window: each takes the first
 * free one of its CPU.
 *
 *      0        8                 4104
 *      +--------+-------//--------+
 *      |  busy  | bytes of stack  |
 *      +--------+-------//--------+
 */
#ifndef GOTRACE_WINDOW_H
#define GOTRACE_WINDOW_H

#include "record.h"

#define GT_WINDOWS	4
#define GT_WINDOW_BYTES 4096

struct gt_window {
	gt_u64 busy; /* 1: a walk uses it */
	gt_u64 bytes[GT_WINDOW_BYTES / 8];
};

#ifndef __cplusplus
_Static_assert(sizeof(struct gt_window) == 4104, "8-byte members only");
#endif

#endif
