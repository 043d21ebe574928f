// SPDX-License-Identifier: GPL-2.0
/*
 * Which set of events a probe belongs to.
 *
 * capture/session.c attaches by it what record --events asks for; probes and doctor name it.
 */
#include "target/site.h"

enum site_set site__set(enum gt_probe probe)
{
	switch (probe) {
	case GT_PROBE_SYSCALL_ENTER:
	case GT_PROBE_SYSCALL_BLOCK:
	case GT_PROBE_SYSCALL_EXIT:
	case GT_PROBE_SYSCALL_TRY_EXIT:
	case GT_PROBE_SYSCALL_LOST:
	case GT_PROBE_SYSCALL_NO_P:
		return SITE_SYSCALL;
	case GT_PROBE_STW_BEGIN:
	case GT_PROBE_STW_END:
	case GT_PROBE_GC_BEGIN:
	case GT_PROBE_GC_END:
	case GT_PROBE_ASSIST_BEGIN:
	case GT_PROBE_ASSIST_END:
		return SITE_GC;
	case GT_PROBE_TASK_BEGIN:
	case GT_PROBE_TASK_END:
	case GT_PROBE_REGION:
	case GT_PROBE_LOG:
		return SITE_USER;
	case GT_PROBE_HEAP_ALLOC:
	case GT_PROBE_HEAP_GOAL:
		return SITE_HEAP;
	case GT_PROBE_SWEEP_BEGIN:
	case GT_PROBE_SWEEP_SPAN:
	case GT_PROBE_SWEEP_LEFT:
	case GT_PROBE_SWEEP_END:
		return SITE_SWEEP;
	default:
		return SITE_SCHED;
	}
}

const char *site_set__name(enum site_set set)
{
	static const char *const names[SITE_SETS] = {
		"sched", "syscall", "gc", "heap", "user", "kernel", "sweep", "cpu", "fault",
	};

	return (unsigned int)set < SITE_SETS ? names[set] : "?";
}
