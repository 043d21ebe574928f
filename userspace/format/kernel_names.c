// SPDX-License-Identifier: GPL-2.0
/*
 * Names for the numbers in kernel events: system calls, kinds of items, reasons.
 *
 * System calls come from the headers of the build machine (the Makefile generates
 * format/syscalls.h); those of newer kernels are listed here. A trace contains the names of the
 * calls that occur in it.
 */
#include "format/kernel.h"
#include "gotrace/record.h"
#include "target/arch/arch.h"

static const char *const calls[] = {
#include "format/syscalls.h"
};

static const char *const newer[] = {
	[451] = "cachestat",
	[452] = "fchmodat2",
	[454] = "futex_wake",
	[455] = "futex_wait",
	[456] = "futex_requeue",
	[457] = "statmount",
	[458] = "listmount",
	[459] = "lsm_get_self_attr",
	[460] = "lsm_set_self_attr",
	[461] = "lsm_list_modules",
	[462] = "mseal",
	[463] = "setxattrat",
	[464] = "getxattrat",
	[465] = "listxattrat",
	[466] = "removexattrat",
	[467] = "open_tree_attr",
	[468] = "file_getattr",
	[469] = "file_setattr",
};

const char *kernel__syscall(uint32_t number)
{
	if (number < sizeof(calls) / sizeof(calls[0]) && calls[number])
		return calls[number];
	if (number < sizeof(newer) / sizeof(newer[0]) && newer[number])
		return newer[number];
	return arch__syscall(number);
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
		[KERNEL_CPU] = "cpu",
		[KERNEL_OCCUPANT] = "occupant",
		[KERNEL_MOVED] = "moved",
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

const char *kernel__sleep(uint8_t sleep)
{
	static const char *const names[GT_SLEEP_END] = {
		[GT_SLEEP_FROZEN] = "frozen",
		[GT_SLEEP_TRACED] = "stopped by a debugger",
		[GT_SLEEP_EXIT] = "end of the thread",
		[GT_SLEEP_MEMORY] = "memory reclaim",
		[GT_SLEEP_DISK] = "disk",
		[GT_SLEEP_PAGE] = "page fault",
		[GT_SLEEP_USER] = "page fault or signal (see --events fault)",
	};

	return sleep < GT_SLEEP_END ? names[sleep] : NULL;
}
