// SPDX-License-Identifier: GPL-2.0
/*
 * Where to probe: the table of transitions, each with the function and the instruction that reveals
 * it, by release.
 *
 * Upstream: include/gotrace/kinds.h, which names the probes. Downstream: site.c tries the rows in
 * their order. Each probe has a BPF program in bpf/.
 */
#include <string.h>

#include "target/probe/site_impl.h"

/* clang-format off */
/* Where the runtime calls its own tracer, by both of its names; before 1.22 it may be inlined. */
#define TRACED(probe, cookie, func, event, why)                                                    \
	{ probe, cookie, TRACE_TEST, func, "runtime.traceLocker." event, 22, 0, OPTIONAL, why,     \
	  .inlined = BY_TRACE_TEST },                                                              \
	{ probe, cookie, TRACE_GUARD, func, "runtime.trace" event, 0, 21, OPTIONAL, why,           \
	  .inlined = BY_TRACE_TEST }

const struct row site_rows[] = {
	{ GT_PROBE_EXECUTE, 0, ENTRY, "runtime.execute", NULL, 0, 0, NEEDED,
	  "a goroutine starts to run" },
	{ GT_PROBE_PARK, 0, ENTRY, "runtime.park_m", NULL, 0, 0, NEEDED,
	  "a goroutine blocks" },
	{ GT_PROBE_READY, 0, ENTRY, "runtime.ready", NULL, 0, 0, NEEDED,
	  "a goroutine is made runnable", .inlined = BY_CAS, .old = 4, .new = 1 },

	/* Unblocking that bypasses ready(). */
	{ GT_PROBE_CAS_RUNNABLE, GT_VIA_SCHEDULER, CAS, "runtime.findRunnable",
	  CASGSTATUS, 0, 0, NEEDED, "the scheduler found a waiting goroutine ready",
	  .inlined = BY_CAS, .old = 4, .new = 1 },
	{ GT_PROBE_CAS_RUNNABLE, GT_VIA_SCHEDULER, CAS, "runtime.injectglist",
	  CASGSTATUS, 0, 0, NEEDED, "the network poller made goroutines runnable",
	  .inlined = BY_CAS, .old = 4, .new = 1 },
	{ GT_PROBE_CAS_RUNNABLE, GT_VIA_GC_WORKER, CAS,
	  "runtime.(*gcControllerState).findRunnableGCWorker",
	  CASGSTATUS, 0, 0, NEEDED, "the scheduler picked a mark worker",
	  .inlined = BY_CAS, .old = 4, .new = 1 },
	{ GT_PROBE_CAS_RUNNABLE, GT_VIA_REFUSED, CAS, "runtime.park_m",
	  CASGSTATUS, 0, 0, NEEDED, "the unlock function cancelled the park",
	  .inlined = BY_CAS, .old = 4, .new = 1 },

	{ GT_PROBE_GOSCHED, 0, ENTRY, "runtime.goschedImpl", NULL, 22, 0, NEEDED,
	  "a goroutine yields or is preempted", .inlined = BY_CAS, .old = 2, .new = 1 },
	/* Before 1.22 only goschedImpl's callers distinguish yield and preemption. */
	{ GT_PROBE_GOSCHED, GT_GOSCHED_YIELDS, CALL, "runtime.gosched_m", "runtime.goschedImpl",
	  0, 21, NEEDED, "a goroutine yields" },
	{ GT_PROBE_GOSCHED, GT_GOSCHED_YIELDS, ENTRY, "runtime.gosched_m", NULL, 0, 21, OR_ELSE,
	  "a goroutine yields" },
	{ GT_PROBE_GOSCHED, GT_GOSCHED_YIELDS, CALL, "runtime.goschedguarded_m",
	  "runtime.goschedImpl", 0, 21, IF_LINKED, "a goroutine yields" },
	{ GT_PROBE_GOSCHED, GT_GOSCHED_YIELDS, ENTRY, "runtime.goschedguarded_m", NULL, 0, 21,
	  OR_ELSE, "a goroutine yields" },
	{ GT_PROBE_GOSCHED, GT_GOSCHED_PREEMPTED, CALL, "runtime.gopreempt_m",
	  "runtime.goschedImpl", 0, 21, NEEDED, "a goroutine is preempted" },
	{ GT_PROBE_GOSCHED, GT_GOSCHED_PREEMPTED, ENTRY, "runtime.gopreempt_m", NULL, 0, 21,
	  OR_ELSE, "a goroutine is preempted" },
	{ GT_PROBE_GOYIELD, 0, ENTRY, "runtime.goyield_m", NULL, 0, 0, NEEDED,
	  "a goroutine yields to one that it made runnable" },
	{ GT_PROBE_PREEMPT_PARK, 0, ENTRY, "runtime.preemptPark", NULL, 0, 0, NEEDED,
	  "a goroutine is stopped for a stack scan", .inlined = BY_CAS, .old = 2, .new = 0x1009 },

	/* newproc1's own casgstatus precedes the assignment of the goid on old releases. */
	{ GT_PROBE_CREATE, 0, CALL, "runtime.newproc.func1", "runtime.runqput", 0, 0, NEEDED,
	  "a goroutine is created" },
	{ GT_PROBE_CREATE, 1, AFTER_CALL, "runtime.newproc.func1", "runtime.newproc1", 0, 0,
	  OR_ELSE, "a goroutine is created" },
	{ GT_PROBE_CREATE, 0, RUNNEXT, "runtime.newproc.func1", NULL, 0, 0, OR_ELSE,
	  "a goroutine is created" },
	{ GT_PROBE_CREATE_BLOCKED, 0, AFTER_CALL, "runtime.newcoro.func1", "runtime.newproc1", 23,
	  0, IF_LINKED, "a coroutine is created" },
	{ GT_PROBE_CREATE_BLOCKED, 0, CAS, "runtime.newcoro.func1", NULL, 24, 0, OR_ELSE,
	  "a coroutine is created", .old = 6, .new = 4 },

	/* A coroutine ends in GT_PROBE_SWITCH, others in goexit0, which calls it first. */
	{ GT_PROBE_DESTROY, 0, ENTRY, "runtime.gdestroy", NULL, 0, 0, NEEDED,
	  "a goroutine ends", .inliner_ok = "runtime.coroswitch_m",
	  .inlined = BY_CAS, .old = 2, .new = 6 },
	{ GT_PROBE_DESTROY, 0, ENTRY, "runtime.goexit0", NULL, 0, 0, OR_ELSE,
	  "a goroutine ends" },
	{ GT_PROBE_SWITCH, 0, ENTRY, "runtime.coroswitch_m", NULL, 23, 0, IF_LINKED,
	  "a coroutine switches to another" },

	{ GT_PROBE_SYSCALL_ENTER, 0, ENTRY, "runtime.reentersyscall", NULL, 21, 0, NEEDED,
	  "a goroutine enters a system call", .inlined = BY_CAS, .old = 2, .new = 3,
	  .caller = "runtime.entersyscall", .caller_cookie = GT_SYSCALL_OF_CALLER },
	{ GT_PROBE_SYSCALL_BLOCK, 0, ENTRY, "runtime.entersyscallblock", NULL, 21, 0, NEEDED,
	  "a goroutine enters a system call that is known to block" },
	/* Before 1.21 their prologues have no emulated instruction; their callers have one. */
	{ GT_PROBE_SYSCALL_ENTER, 0, CALL, "runtime.entersyscall", "runtime.reentersyscall", 0,
	  20, NEEDED, "a goroutine enters a system call" },
	{ GT_PROBE_SYSCALL_ENTER, 0, CALL, "runtime.cgocallbackg", "runtime.reentersyscall", 0,
	  20, IF_LINKED, "a goroutine returns from a callback to C" },
	{ GT_PROBE_SYSCALL_BLOCK, 1, CALL, "runtime.entersyscallblock", CASGSTATUS, 0, 20, NEEDED,
	  "a goroutine enters a system call that is known to block" },
	/* Here the P is decided. 1.26 uses a raw compare-and-swap: its entry is tentative. */
	{ GT_PROBE_SYSCALL_EXIT, 0, CAS, "runtime.exitsyscall", CASGSTATUS, 0, 25, NEEDED,
	  "a goroutine leaves a system call with a P", .old = 3, .new = 2 },
	{ GT_PROBE_SYSCALL_TRY_EXIT, 0, ENTRY, "runtime.exitsyscall", NULL, 26, 0, NEEDED,
	  "a goroutine leaves a system call" },
	{ GT_PROBE_SYSCALL_LOST, 0, ENTRY, "runtime.exitsyscallfast_pidle", NULL, 0, 25, NEEDED,
	  "the P was lost in a system call", .inlined = BY_CALLER,
	  .caller = "runtime.exitsyscall" },
	{ GT_PROBE_SYSCALL_LOST, 0, ENTRY, "runtime.exitsyscallTryGetP", NULL, 26, 0, NEEDED,
	  "the P was lost in a system call", .inlined = BY_CALLER,
	  .caller = "runtime.exitsyscall" },
	{ GT_PROBE_SYSCALL_NO_P, 0, ENTRY, "runtime.exitsyscall0", NULL, 0, 25, NEEDED,
	  "a goroutine leaves a system call and finds no P" },
	{ GT_PROBE_SYSCALL_NO_P, 0, ENTRY, "runtime.exitsyscallNoP", NULL, 26, 0, NEEDED,
	  "a goroutine leaves a system call and finds no P" },

	/* Not in a signal handler, which takes and returns an M without tracing it. */
	{ GT_PROBE_CREATE_SYSCALL, 0, TRACE_TEST, "runtime.needm",
	  "runtime.traceLocker.GoCreateSyscall", 22, 0, IF_LINKED, "a C thread enters Go",
	  .inlined = BY_TRACE_TEST },
	{ GT_PROBE_DESTROY_SYSCALL, 0, TRACE_TEST, "runtime.dropm",
	  "runtime.traceLocker.GoDestroySyscall", 22, 0, IF_LINKED,
	  "a C thread leaves Go permanently", .inlined = BY_TRACE_TEST },

	{ GT_PROBE_P_START, 0, ENTRY, "runtime.acquirep", NULL, 0, 25, NEEDED,
	  "a thread takes a P" },
	{ GT_PROBE_P_START, 0, ENTRY, "runtime.acquirepNoTrace", NULL, 26, 0, NEEDED,
	  "a thread takes a P" },
	{ GT_PROBE_P_STOP, 0, ENTRY, "runtime.releasepNoTrace", NULL, 22, 0, NEEDED,
	  "a thread gives up its P", .inlined = BY_P_CLEARED },
	{ GT_PROBE_P_STOP, 0, ENTRY, "runtime.releasep", NULL, 0, 21, NEEDED,
	  "a thread gives up its P", .inlined = BY_P_CLEARED },
	{ GT_PROBE_P_HANDOFF, 0, ENTRY, "runtime.handoffp", NULL, 0, 0, NEEDED,
	  "a P is handed off, possibly from a system call", .inlined = BY_P_TAKEN },
	/* The runtime's own ProcSteal; the other thread may continue before handoffp. */
	{ GT_PROBE_P_HANDOFF, 1, ENTRY, "runtime.syscallingThread.releaseP", NULL, 26, 0, OPTIONAL,
	  "a P is retaken from a system call" },
	{ GT_PROBE_P_HANDOFF, 1, ENTRY, "runtime.syscallingThread.gcstopP", NULL, 26, 0, OR_ELSE,
	  "a stop-the-world pause retakes a P from a system call" },

	{ GT_PROBE_STW_BEGIN, 0, ENTRY, "runtime.stopTheWorldWithSema", NULL, 0, 0, OPTIONAL,
	  "a stop-the-world pause begins", .inlined = BY_STW_REASON },
	/* Its first instruction would be too early by the time of procresize and the poller. */
	{ GT_PROBE_STW_END, 0, TRACE_TEST, "runtime.startTheWorldWithSema",
	  "runtime.traceLocker.STWDone", 0, 0, OPTIONAL, "a stop-the-world pause ends",
	  .inlined = BY_TRACE_TEST },
	{ GT_PROBE_STW_END, 0, CALL, "runtime.startTheWorldWithSema", "runtime.wakep", 0, 0,
	  OR_ELSE, "a stop-the-world pause ends" },
	{ GT_PROBE_STW_END, 0, ENTRY, "runtime.startTheWorldWithSema", NULL, 0, 0, OR_ELSE,
	  "a stop-the-world pause is about to end" },
	/* Not gcStart's first instruction: another thread may have started the GC already. */
	{ GT_PROBE_GC_BEGIN, 1, TRACE_TEST, "runtime.gcStart", "runtime.traceLocker.GCStart", 0, 0,
	  OPTIONAL, "a garbage collection begins", .inlined = BY_TRACE_TEST },
	{ GT_PROBE_GC_BEGIN, 1, CALL, "runtime.gcStart", "runtime.gcBgMarkStartWorkers", 0, 0,
	  OR_ELSE, "a garbage collection begins" },
	{ GT_PROBE_GC_END, 0, TRACE_TEST, "runtime.gcMarkTermination", "runtime.traceLocker.GCDone",
	  0, 0, OPTIONAL, "the mark phase of a garbage collection ends", .inlined = BY_TRACE_TEST },
	{ GT_PROBE_GC_END, 0, CALL_MARK_DONE, "runtime.gcMarkTermination", CASGSTATUS, 0, 0,
	  OR_ELSE, "the mark phase of a garbage collection ends" },
	{ GT_PROBE_PROCS, 0, ENTRY, "runtime.procresize", NULL, 0, 0, OPTIONAL,
	  "the number of Ps is set" },

	/* Functions of the runtime, under the names that package runtime/trace uses. */
	{ GT_PROBE_TASK_BEGIN, 0, ENTRY, "runtime/trace.userTaskCreate", NULL, 0, 0,
	  OPTIONAL_IF_LINKED, "the program begins a task" },
	{ GT_PROBE_TASK_END, 0, ENTRY, "runtime/trace.userTaskEnd", NULL, 0, 0,
	  OPTIONAL_IF_LINKED, "the program ends a task" },
	{ GT_PROBE_REGION, 0, ENTRY, "runtime/trace.userRegion", NULL, 0, 0,
	  OPTIONAL_IF_LINKED, "the program begins or ends a region" },
	{ GT_PROBE_LOG, 0, ENTRY, "runtime/trace.userLog", NULL, 0, 0,
	  OPTIONAL_IF_LINKED, "the program logs a message" },
	{ GT_PROBE_LABELS, GT_LABELS_MAP, ENTRY, "runtime/pprof.runtime_setProfLabel", NULL, 0, 23,
	  OPTIONAL_IF_LINKED, "the program sets labels of a goroutine" },
	{ GT_PROBE_LABELS, GT_LABELS_LIST, ENTRY, "runtime/pprof.runtime_setProfLabel", NULL, 24, 0,
	  OPTIONAL_IF_LINKED, "the program sets labels of a goroutine" },
	{ GT_PROBE_PLUGIN_MAPPED, 0, ENTRY, "plugin.lastmoduleinit", NULL, 0, 0,
	  OPTIONAL_IF_LINKED, "the program has mapped a plugin" },
	TRACED(GT_PROBE_ASSIST_BEGIN, 0, "runtime.gcAssistAlloc", "GCMarkAssistStart",
	       "a mark assist begins"),
	TRACED(GT_PROBE_ASSIST_END, 0, "runtime.gcAssistAlloc", "GCMarkAssistDone",
	       "a mark assist ends"),
	/* 1.19 adds without computing the sum, and reads it later. */
	{ GT_PROBE_HEAP_ALLOC, 0, ADDED, "runtime.(*gcControllerState).update", NULL, 20, 0,
	  OPTIONAL, "the heap grows or shrinks", .inlined = BY_ADDED },
	{ GT_PROBE_HEAP_ALLOC, GT_SITE_OBJECT(GPR_ARG2), ENTRY,
	  "runtime.(*gcControllerState).resetLive", NULL, 20, 0, OPTIONAL,
	  "the live heap is set to the marked size" },
	{ GT_PROBE_HEAP_GOAL, 0, GOAL, "runtime.gcControllerCommit",
	  "runtime.(*gcControllerState).trigger", 0, 24, OPTIONAL, "the heap goal changes" },
	{ GT_PROBE_HEAP_GOAL, 1, GOAL, "runtime.gcControllerCommit",
	  "runtime.(*gcControllerState).trigger", 25, 0, OPTIONAL, "the heap goal changes" },

	TRACED(GT_PROBE_SWEEP_BEGIN, 0, "runtime.(*mcentral).cacheSpan", "GCSweepStart",
	       "a sweep for an allocation begins"),
	TRACED(GT_PROBE_SWEEP_END, 0, "runtime.(*mcentral).cacheSpan", "GCSweepDone",
	       "a sweep for an allocation ends"),
	TRACED(GT_PROBE_SWEEP_BEGIN, 0, "runtime.deductSweepCredit", "GCSweepStart",
	       "proportional sweeping begins"),
	TRACED(GT_PROBE_SWEEP_END, 0, "runtime.deductSweepCredit", "GCSweepDone",
	       "proportional sweeping ends"),
	TRACED(GT_PROBE_SWEEP_BEGIN, 0, "runtime.(*mheap).reclaim", "GCSweepStart",
	       "an allocation of pages may sweep"),
	TRACED(GT_PROBE_SWEEP_END, 0, "runtime.(*mheap).reclaim", "GCSweepDone",
	       "an allocation of pages has swept"),
	{ GT_PROBE_SWEEP_SPAN, 0, ENTRY, "runtime.(*sweepLocked).sweep", NULL, 0, 0, OPTIONAL,
	  "a span is swept" },
	{ GT_PROBE_SWEEP_LEFT, 0, CALL, "runtime.(*sweepLocked).sweep",
	  "runtime.(*mspan).refillAllocCache", 0, 0, OPTIONAL, "a span was swept" },
	TRACED(GT_PROBE_SWEEP_SPAN, 1, "runtime.(*mheap).reclaimChunk", "GCSweepSpan",
	       "a chunk of the heap was swept"),
	{ GT_PROBE_SWEEP_LEFT, 1, AFTER_CALL, "runtime.(*mheap).reclaim",
	  "runtime.(*mheap).reclaimChunk", 0, 0, OPTIONAL, "pages of a chunk are freed" },
};
/* clang-format on */

#define NROWS (sizeof(site_rows) / sizeof(site_rows[0]))

_Static_assert(NROWS <= SITE_ROWS_MAX, "site.c has an array of all names");

const size_t site_nrows = NROWS;

bool row__is_func(const char *name)
{
	for (size_t i = 0; i < site_nrows; i++) {
		if (!strcmp(site_rows[i].func, name))
			return true;
	}
	return false;
}
