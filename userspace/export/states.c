// SPDX-License-Identifier: GPL-2.0
/*
 * The table of states: see states.h.
 *
 * Any two colors of a theme, and each color and the background, are at least 18 apart in CIELAB, which
 * selftests/report/states.py checks: about 2 is the least difference that is visible.
 */
#include "export/states.h"

const struct state_row state_table[STATES] = {
	[STATE_RUNNING] = { "running", "running", "the goroutine has a P and a thread", "#2b9348",
			    "#4cc96b", "oncpu" },
	[STATE_RUNNABLE] = { "runnable", "runnable", "the goroutine waits for a P", "#f08c00",
			     "#ffa940", "go_runnable" },
	[STATE_WAITING] = { "waiting", "waiting",
			    "the goroutine is blocked, for example on a channel or a lock",
			    "#b9c2cc", "#4e5a66", "go_blocked" },
	[STATE_SYSCALL] = { "system call", "syscall", "the goroutine is in a system call",
			    "#1c7ed6", "#4aa8ff", "syscall_blocked" },
	[STATE_GC] = { "GC cycle", "gc", "the garbage collector marks", "#7048e8", "#a685ff" },
	[STATE_STW] = { "stop-the-world pause", "stw", "no goroutine may run", "#d00000",
			"#ff5252" },
	[STATE_TASK] = { "task", "task", "a task or request is open", "#0b8a9c", "#35c7dc" },
	[STATE_UNKNOWN] = { "unknown", "unknown", "events were lost", "#4a4f57", "#c3cad2",
			    "lost" },
	[STATE_ON_CPU] = { "on CPU", "kernel-running", "a thread of the program has the CPU",
			   "#94c11f", "#a0d911" },
	[STATE_CPU_WAIT] = { "waiting for a CPU", "cpu-wait",
			     "the thread is in a run queue of the kernel", "#e0418f", "#ff78b4",
			     "kernel_runnable" },
	[STATE_THROTTLED] = { "throttled", "kernel-throttled",
			      "the thread's cgroup has used up its CPU quota", "#8a4b16", "#b8763a",
			      "throttled" },
	[STATE_SLEEPING] = { "sleeping", "kernel-sleeping", "the thread sleeps until it is woken",
			     "#8ea6ec", "#34437f" },
	[STATE_BLOCKED] = { "uninterruptible", "kernel-blocked",
			    "the thread sleeps, for example for a disk, and signals do not wake it",
			    "#1b2f7a", "#4263ff", "kernel_blocked" },
	[STATE_STOPPED] = { "stopped", "kernel-stopped",
			    "a signal or a debugger stopped the thread", "#6b6b00", "#8f8f1a" },
	[STATE_OTHER_PROCESS] = { "another process", "kernel-other",
				  "a thread of another process has the CPU", "#f2cf2e", "#f7e46a" },
	[STATE_KERNEL_UNKNOWN] = { "unknown", "kernel-unknown",
				   "kernel events were lost, or do not show what the CPU ran",
				   "#4a4f57", "#c3cad2" },
};
