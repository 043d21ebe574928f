// SPDX-License-Identifier: GPL-2.0
/*
 * Names of what the kernel's side of a trace has as numbers: system calls, states, reasons.
 *
 * System calls as the headers of the machine that built this have them (the Makefile makes
 * trace/syscalls.h), and those that kernels newer than that have added. A trace brings the names of
 * those that are in it.
 */
#include "gotrace/record.h"
#include "trace/kernel.h"

static const char *const calls[] = {
#include "trace/syscalls.h"
};

static const char *const newer[] = {
	[335] = "uretprobe",	     [336] = "uprobe",
	[451] = "cachestat",	     [452] = "fchmodat2",
	[453] = "map_shadow_stack",  [454] = "futex_wake",
	[455] = "futex_wait",	     [456] = "futex_requeue",
	[457] = "statmount",	     [458] = "listmount",
	[459] = "lsm_get_self_attr", [460] = "lsm_set_self_attr",
	[461] = "lsm_list_modules",  [462] = "mseal",
	[463] = "setxattrat",	     [464] = "getxattrat",
	[465] = "listxattrat",	     [466] = "removexattrat",
	[467] = "open_tree_attr",    [468] = "file_getattr",
	[469] = "file_setattr",
};

const char *kernel__syscall(uint32_t number)
{
	if (number < sizeof(calls) / sizeof(calls[0]) && calls[number])
		return calls[number];
	return number < sizeof(newer) / sizeof(newer[0]) ? newer[number] : NULL;
}

const char *kernel__item(uint8_t kind)
{
	static const char *const names[KERNEL_KIND_END] = {
		[KERNEL_ON] = "on_cpu",
		[KERNEL_OFF] = "off_cpu",
		[KERNEL_WAKING] = "waking",
		[KERNEL_SYS_ENTER] = "sys_enter",
		[KERNEL_SYS_EXIT] = "sys_exit",
		[KERNEL_CREATED] = "created",
		[KERNEL_ENDED] = "ended",
		[KERNEL_NAMED] = "named",
		[KERNEL_FAULT_BEGIN] = "fault_begin",
		[KERNEL_FAULT_END] = "fault_end",
		[KERNEL_CORE] = "core",
	};

	return kind < KERNEL_KIND_END && names[kind] ? names[kind] : "unknown";
}

const char *kernel__why(uint8_t why)
{
	static const char *const names[GT_OFF_END] = {
		[GT_OFF_PREEMPTED] = "preempted", [GT_OFF_YIELDED] = "yielded",
		[GT_OFF_THROTTLED] = "throttled", [GT_OFF_SLEEPING] = "sleeping",
		[GT_OFF_DISK] = "disk",		  [GT_OFF_STOPPED] = "stopped",
		[GT_OFF_DEAD] = "dead",
	};

	return why < GT_OFF_END ? names[why] : "unknown";
}

const char *kernel__run(uint8_t run)
{
	static const char *const names[KERNEL_GONE + 1] = {
		[KERNEL_UNKNOWN] = "unknown",	[KERNEL_RUNNING] = "running",
		[KERNEL_RUNNABLE] = "runnable", [KERNEL_THROTTLED] = "throttled",
		[KERNEL_SLEEPING] = "sleeping", [KERNEL_BLOCKED] = "blocked",
		[KERNEL_STOPPED] = "stopped",	[KERNEL_GONE] = "gone",
	};

	return run <= KERNEL_GONE ? names[run] : "unknown";
}
