// SPDX-License-Identifier: GPL-2.0
/*
 * Names of the kinds of records: enum gt_kind of gotrace/record.h, in lower case.
 */
#include "lib/kinds.h"

#include "gotrace/record.h"

static const char *const names[GT_KIND_END] = {
	[GT_EXECUTE] = "execute",
	[GT_PARK] = "park",
	[GT_READY] = "ready",
	[GT_YIELD] = "yield",
	[GT_PREEMPT_PARK] = "preempt_park",
	[GT_CREATE] = "create",
	[GT_CREATE_BLOCKED] = "create_blocked",
	[GT_DESTROY] = "destroy",
	[GT_SWITCH] = "switch",
	[GT_SYSCALL_ENTER] = "syscall_enter",
	[GT_SYSCALL_BLOCK] = "syscall_block",
	[GT_SYSCALL_EXIT] = "syscall_exit",
	[GT_SYSCALL_TRY_EXIT] = "syscall_try_exit",
	[GT_SYSCALL_LOST] = "syscall_lost",
	[GT_SYSCALL_NO_P] = "syscall_no_p",
	[GT_CREATE_SYSCALL] = "create_syscall",
	[GT_DESTROY_SYSCALL] = "destroy_syscall",
	[GT_P_START] = "p_start",
	[GT_P_STOP] = "p_stop",
	[GT_P_HANDOFF] = "p_handoff",
	[GT_STW_BEGIN] = "stw_begin",
	[GT_STW_END] = "stw_end",
	[GT_GC_BEGIN] = "gc_begin",
	[GT_TASK_BEGIN] = "task_begin",
	[GT_TASK_END] = "task_end",
	[GT_REGION] = "region",
	[GT_LOG] = "log",
	[GT_TEXT] = "text",
	[GT_GC_END] = "gc_end",
	[GT_PROCS] = "procs",
	[GT_EXEC] = "exec",
	[GT_ASSIST_BEGIN] = "assist_begin",
	[GT_ASSIST_END] = "assist_end",
	[GT_SWEEP_BEGIN] = "sweep_begin",
	[GT_SWEEP_SPAN] = "sweep_span",
	[GT_SWEEP_END] = "sweep_end",
	[GT_SWEEP_LEFT] = "sweep_left",
	[GT_HEAP_ALLOC] = "heap_alloc",
	[GT_HEAP_GOAL] = "heap_goal",
	[GT_STACK] = "stack",
	[GT_SAMPLE] = "sample",
	[GT_CPU_ON] = "cpu_on",
	[GT_CPU_OFF] = "cpu_off",
	[GT_WAKING] = "waking",
	[GT_SYS_ENTER] = "sys_enter",
	[GT_SYS_EXIT] = "sys_exit",
	[GT_THREAD] = "thread",
	[GT_FAULT_BEGIN] = "fault_begin",
	[GT_FAULT_END] = "fault_end",
};

const char *kind__name(unsigned int kind)
{
	return kind < GT_KIND_END && names[kind] ? names[kind] : "unknown";
}
