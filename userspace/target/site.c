// SPDX-License-Identifier: GPL-2.0
/*
 * Where to probe: the table of transitions, and the choice of an instruction for each.
 *
 * First in an event's way. site_find.c recognises instructions, site_insn.c disassembles,
 * pclntab.c says where functions are and where they were inlined. capture/session.c attaches what
 * is chosen here, in bpf/ a program for each probe waits for it.
 *
 * A function that was inlined somewhere has transitions that its own code never sees
 * (profile-guided builds do that to casgstatus, gdestroy, reentersyscall, runqput). Then each place
 * that has a copy of it needs a site of its own (site_inline.c); where one has none an alternative
 * row is tried, else the program is refused, rather than recorded with holes.
 */
#include "target/site.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/site_find.h"
#include "target/site_impl.h"

#define CASGSTATUS "runtime.casgstatus"

/* Where the runtime calls its own tracer, by both of its names; before 1.22 it may be inlined. */
#define TRACED(probe, cookie, func, event, why)                                                    \
	{ probe, cookie, TRACE_TEST, func, "runtime.traceLocker." event,                           \
	  22,	 0,	 OPTIONAL,   why,  .inlined = BY_TRACE_TEST },                             \
	{                                                                                          \
		probe, cookie, TRACE_GUARD, func, "runtime.trace" event, 0, 21, OPTIONAL, why,     \
			.inlined = BY_TRACE_TEST                                                   \
	}

static const struct row rows[] = {
	{ GT_PROBE_EXECUTE, 0, ENTRY, "runtime.execute", NULL, 0, 0, NEEDED,
	  "a goroutine starts to run" },
	{ GT_PROBE_PARK, 0, ENTRY, "runtime.park_m", NULL, 0, 0, NEEDED, "a goroutine blocks" },
	{ GT_PROBE_READY, 0, ENTRY, "runtime.ready", NULL, 0, 0, NEEDED,
	  "a goroutine is made runnable", .inlined = BY_CAS, .old = 4, .new = 1 },

	/* Unblocks that bypass ready(). */
	{ GT_PROBE_CAS_RUNNABLE, GT_VIA_SCHEDULER, CAS, "runtime.findRunnable", CASGSTATUS, 0, 0,
	  NEEDED, "the scheduler found a waiting goroutine ready", .inlined = BY_CAS, .old = 4,
	  .new = 1 },
	{ GT_PROBE_CAS_RUNNABLE, GT_VIA_SCHEDULER, CAS, "runtime.injectglist", CASGSTATUS, 0, 0,
	  NEEDED, "the network poller made goroutines runnable", .inlined = BY_CAS, .old = 4,
	  .new = 1 },
	{ GT_PROBE_CAS_RUNNABLE, GT_VIA_GC_WORKER, CAS,
	  "runtime.(*gcControllerState).findRunnableGCWorker", CASGSTATUS, 0, 0, NEEDED,
	  "the scheduler picked a mark worker", .inlined = BY_CAS, .old = 4, .new = 1 },
	{ GT_PROBE_CAS_RUNNABLE, GT_VIA_REFUSED, CAS, "runtime.park_m", CASGSTATUS, 0, 0, NEEDED,
	  "the unlock function refused the park", .inlined = BY_CAS, .old = 4, .new = 1 },

	{ GT_PROBE_GOSCHED, 0, ENTRY, "runtime.goschedImpl", NULL, 22, 0, NEEDED,
	  "a goroutine yields or is preempted", .inlined = BY_CAS, .old = 2, .new = 1 },
	/* Before 1.22 only goschedImpl's callers know which of the two it is. */
	{ GT_PROBE_GOSCHED, GT_GOSCHED_YIELDS, CALL, "runtime.gosched_m", "runtime.goschedImpl", 0,
	  21, NEEDED, "a goroutine yields" },
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
	  "a goroutine yields to the one that it readied" },
	{ GT_PROBE_PREEMPT_PARK, 0, ENTRY, "runtime.preemptPark", NULL, 0, 0, NEEDED,
	  "a goroutine is stopped for a stack scan", .inlined = BY_CAS, .old = 2, .new = 0x1009 },

	/* newproc1's own casgstatus comes before the goid on old releases. */
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

	/* A coroutine's end is GT_PROBE_SWITCH's; others end in goexit0, whose first act it is. */
	{ GT_PROBE_DESTROY, 0, ENTRY, "runtime.gdestroy", NULL, 0, 0, NEEDED, "a goroutine ends",
	  .inliner_ok = "runtime.coroswitch_m", .inlined = BY_CAS, .old = 2, .new = 6 },
	{ GT_PROBE_DESTROY, 0, ENTRY, "runtime.goexit0", NULL, 0, 0, OR_ELSE, "a goroutine ends" },
	{ GT_PROBE_SWITCH, 0, ENTRY, "runtime.coroswitch_m", NULL, 23, 0, IF_LINKED,
	  "a coroutine hands its thread to another" },

	{ GT_PROBE_SYSCALL_ENTER, 0, ENTRY, "runtime.reentersyscall", NULL, 21, 0, NEEDED,
	  "a goroutine enters a system call", .inlined = BY_CAS, .old = 2, .new = 3,
	  .caller = "runtime.entersyscall", .caller_cookie = GT_SYSCALL_OF_CALLER },
	{ GT_PROBE_SYSCALL_BLOCK, 0, ENTRY, "runtime.entersyscallblock", NULL, 21, 0, NEEDED,
	  "a goroutine enters a system call that is known to block" },
	/* Before 1.21 their prologues have no instruction that is cheap: their callers have. */
	{ GT_PROBE_SYSCALL_ENTER, 0, CALL, "runtime.entersyscall", "runtime.reentersyscall", 0, 20,
	  NEEDED, "a goroutine enters a system call" },
	{ GT_PROBE_SYSCALL_ENTER, 0, CALL, "runtime.cgocallbackg", "runtime.reentersyscall", 0, 20,
	  IF_LINKED, "a goroutine goes back from a callback to C" },
	{ GT_PROBE_SYSCALL_BLOCK, 1, CALL, "runtime.entersyscallblock", CASGSTATUS, 0, 20, NEEDED,
	  "a goroutine enters a system call that is known to block" },
	/* Here the P is decided; 1.26 leaves by a raw compare-and-swap: its entry is tentative. */
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

	/* Not in a signal handler, which takes and gives back an M without the tracer's notice. */
	{ GT_PROBE_CREATE_SYSCALL, 0, TRACE_TEST, "runtime.needm",
	  "runtime.traceLocker.GoCreateSyscall", 22, 0, IF_LINKED, "a thread of C's enters Go",
	  .inlined = BY_TRACE_TEST },
	{ GT_PROBE_DESTROY_SYSCALL, 0, TRACE_TEST, "runtime.dropm",
	  "runtime.traceLocker.GoDestroySyscall", 22, 0, IF_LINKED,
	  "a thread of C's leaves Go for good", .inlined = BY_TRACE_TEST },

	{ GT_PROBE_P_START, 0, ENTRY, "runtime.acquirep", NULL, 0, 25, NEEDED,
	  "a thread takes a P" },
	{ GT_PROBE_P_START, 0, ENTRY, "runtime.acquirepNoTrace", NULL, 26, 0, NEEDED,
	  "a thread takes a P" },
	{ GT_PROBE_P_STOP, 0, ENTRY, "runtime.releasepNoTrace", NULL, 22, 0, NEEDED,
	  "a thread gives up its P", .inlined = BY_P_CLEARED },
	{ GT_PROBE_P_STOP, 0, ENTRY, "runtime.releasep", NULL, 0, 21, NEEDED,
	  "a thread gives up its P", .inlined = BY_P_CLEARED },
	{ GT_PROBE_P_HANDOFF, 0, ENTRY, "runtime.handoffp", NULL, 0, 0, NEEDED,
	  "a P is handed on, maybe out of a system call", .inlined = BY_P_TAKEN },
	/* The runtime's own ProcSteal; handoffp comes when the other thread may have gone on. */
	{ GT_PROBE_P_HANDOFF, 1, ENTRY, "runtime.syscallingThread.releaseP", NULL, 26, 0, OPTIONAL,
	  "a P is taken out of a system call" },
	{ GT_PROBE_P_HANDOFF, 1, ENTRY, "runtime.syscallingThread.gcstopP", NULL, 26, 0, OR_ELSE,
	  "a stop of the world takes a P out of a system call" },

	{ GT_PROBE_STW_BEGIN, 0, ENTRY, "runtime.stopTheWorldWithSema", NULL, 0, 0, OPTIONAL,
	  "the world is to stop", .inlined = BY_STW_REASON },
	/* Its first instruction would be early by what procresize and the poller take. */
	{ GT_PROBE_STW_END, 0, TRACE_TEST, "runtime.startTheWorldWithSema",
	  "runtime.traceLocker.STWDone", 0, 0, OPTIONAL, "the world runs again",
	  .inlined = BY_TRACE_TEST },
	{ GT_PROBE_STW_END, 0, CALL, "runtime.startTheWorldWithSema", "runtime.wakep", 0, 0,
	  OR_ELSE, "the world runs again" },
	{ GT_PROBE_STW_END, 0, ENTRY, "runtime.startTheWorldWithSema", NULL, 0, 0, OR_ELSE,
	  "the world is to run again" },
	/* Not gcStart's first instruction: it often finds that another thread was first. */
	{ GT_PROBE_GC_BEGIN, 1, TRACE_TEST, "runtime.gcStart", "runtime.traceLocker.GCStart", 0, 0,
	  OPTIONAL, "a garbage collection begins", .inlined = BY_TRACE_TEST },
	{ GT_PROBE_GC_BEGIN, 1, CALL, "runtime.gcStart", "runtime.gcBgMarkStartWorkers", 0, 0,
	  OR_ELSE, "a garbage collection begins" },
	{ GT_PROBE_GC_END, 0, TRACE_TEST, "runtime.gcMarkTermination", "runtime.traceLocker.GCDone",
	  0, 0, OPTIONAL, "a garbage collection has marked everything", .inlined = BY_TRACE_TEST },
	{ GT_PROBE_GC_END, 0, CALL_MARK_DONE, "runtime.gcMarkTermination", CASGSTATUS, 0, 0,
	  OR_ELSE, "a garbage collection has marked everything" },
	{ GT_PROBE_PROCS, 0, ENTRY, "runtime.procresize", NULL, 0, 0, OPTIONAL,
	  "the number of Ps is set" },

	/* The runtime's, under the names by which package runtime/trace knows them. */
	{ GT_PROBE_TASK_BEGIN, 0, ENTRY, "runtime/trace.userTaskCreate", NULL, 0, 0,
	  OPTIONAL_IF_LINKED, "the program begins a task" },
	{ GT_PROBE_TASK_END, 0, ENTRY, "runtime/trace.userTaskEnd", NULL, 0, 0, OPTIONAL_IF_LINKED,
	  "the program ends a task" },
	{ GT_PROBE_REGION, 0, ENTRY, "runtime/trace.userRegion", NULL, 0, 0, OPTIONAL_IF_LINKED,
	  "the program begins or ends a region" },
	{ GT_PROBE_LOG, 0, ENTRY, "runtime/trace.userLog", NULL, 0, 0, OPTIONAL_IF_LINKED,
	  "the program logs a message" },
	TRACED(GT_PROBE_ASSIST_BEGIN, 0, "runtime.gcAssistAlloc", "GCMarkAssistStart",
	       "a goroutine begins to help marking"),
	TRACED(GT_PROBE_ASSIST_END, 0, "runtime.gcAssistAlloc", "GCMarkAssistDone",
	       "a goroutine has helped marking"),
	/* 1.19 adds without a sum, and reads it later. */
	{ GT_PROBE_HEAP_ALLOC, 0, ADDED, "runtime.(*gcControllerState).update", NULL, 20, 0,
	  OPTIONAL, "the heap grows or shrinks", .inlined = BY_ADDED },
	{ GT_PROBE_HEAP_ALLOC, GT_SITE_OBJECT(GPR_BX), ENTRY,
	  "runtime.(*gcControllerState).resetLive", NULL, 20, 0, OPTIONAL,
	  "the heap is what was marked" },
	{ GT_PROBE_HEAP_GOAL, 0, GOAL, "runtime.gcControllerCommit",
	  "runtime.(*gcControllerState).trigger", 0, 24, OPTIONAL, "the heap has a new goal" },
	{ GT_PROBE_HEAP_GOAL, 1, GOAL, "runtime.gcControllerCommit",
	  "runtime.(*gcControllerState).trigger", 25, 0, OPTIONAL, "the heap has a new goal" },

	TRACED(GT_PROBE_SWEEP_BEGIN, 0, "runtime.(*mcentral).cacheSpan", "GCSweepStart",
	       "an allocation may sweep"),
	TRACED(GT_PROBE_SWEEP_END, 0, "runtime.(*mcentral).cacheSpan", "GCSweepDone",
	       "an allocation has swept"),
	TRACED(GT_PROBE_SWEEP_BEGIN, 0, "runtime.deductSweepCredit", "GCSweepStart",
	       "an allocation may sweep in proportion"),
	TRACED(GT_PROBE_SWEEP_END, 0, "runtime.deductSweepCredit", "GCSweepDone",
	       "an allocation has swept in proportion"),
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
	  "runtime.(*mheap).reclaimChunk", 0, 0, OPTIONAL, "how much of the chunk was freed" },
};

#define NROWS	    (sizeof(rows) / sizeof(rows[0]))
#define WAITING	    4
#define RUNNING	    2
#define SITES_MAX   128
#define INLINED_MAX (1u << 16) /* an ordinary build has 2 */

const char *site__probe_name(enum gt_probe probe)
{
	static const char *const names[GT_PROBE_COUNT] = {
		[GT_PROBE_EXECUTE] = "execute",
		[GT_PROBE_PARK] = "park",
		[GT_PROBE_READY] = "ready",
		[GT_PROBE_CAS_RUNNABLE] = "cas_runnable",
		[GT_PROBE_GOSCHED] = "gosched",
		[GT_PROBE_GOYIELD] = "goyield",
		[GT_PROBE_PREEMPT_PARK] = "preempt_park",
		[GT_PROBE_CREATE] = "create",
		[GT_PROBE_CREATE_BLOCKED] = "create_blocked",
		[GT_PROBE_DESTROY] = "destroy",
		[GT_PROBE_SWITCH] = "switch",
		[GT_PROBE_SYSCALL_ENTER] = "syscall_enter",
		[GT_PROBE_SYSCALL_BLOCK] = "syscall_block",
		[GT_PROBE_SYSCALL_EXIT] = "syscall_exit",
		[GT_PROBE_SYSCALL_TRY_EXIT] = "syscall_try_exit",
		[GT_PROBE_SYSCALL_LOST] = "syscall_lost",
		[GT_PROBE_SYSCALL_NO_P] = "syscall_no_p",
		[GT_PROBE_CREATE_SYSCALL] = "create_syscall",
		[GT_PROBE_DESTROY_SYSCALL] = "destroy_syscall",
		[GT_PROBE_P_START] = "p_start",
		[GT_PROBE_P_STOP] = "p_stop",
		[GT_PROBE_P_HANDOFF] = "p_handoff",
		[GT_PROBE_STW_BEGIN] = "stw_begin",
		[GT_PROBE_STW_END] = "stw_end",
		[GT_PROBE_GC_BEGIN] = "gc_begin",
		[GT_PROBE_GC_END] = "gc_end",
		[GT_PROBE_TASK_BEGIN] = "task_begin",
		[GT_PROBE_TASK_END] = "task_end",
		[GT_PROBE_REGION] = "region",
		[GT_PROBE_LOG] = "log",
		[GT_PROBE_PROCS] = "procs",
		[GT_PROBE_ASSIST_BEGIN] = "assist_begin",
		[GT_PROBE_ASSIST_END] = "assist_end",
		[GT_PROBE_HEAP_ALLOC] = "heap_alloc",
		[GT_PROBE_HEAP_GOAL] = "heap_goal",
		[GT_PROBE_SWEEP_BEGIN] = "sweep_begin",
		[GT_PROBE_SWEEP_SPAN] = "sweep_span",
		[GT_PROBE_SWEEP_LEFT] = "sweep_left",
		[GT_PROBE_SWEEP_END] = "sweep_end",
	};

	return (unsigned int)probe < GT_PROBE_COUNT ? names[probe] : "?";
}

/* What the program of bpf/ takes from the registers there; session.h has the same by probe. */
const char *site__arguments(enum gt_probe probe, uint64_t cookie)
{
	static const char *const g_in[] = {
		"-",	"AX=g", "CX=g",	 "DX=g",  "BX=g",  "SP=g",  "BP=g",  "SI=g",  "DI=g",
		"R8=g", "R9=g", "R10=g", "R11=g", "R12=g", "R13=g", "R14=g", "R15=g",
	};
	static const char *const bytes_in[] = {
		"-",	     "AX=bytes",  "CX=bytes",  "DX=bytes",  "BX=bytes",	 "SP=bytes",
		"BP=bytes",  "SI=bytes",  "DI=bytes",  "R8=bytes",  "R9=bytes",	 "R10=bytes",
		"R11=bytes", "R12=bytes", "R13=bytes", "R14=bytes", "R15=bytes",
	};
	unsigned int object = GT_COOKIE_OBJECT(cookie);

	if (GT_COOKIE_IS_PLACE(probe))
		return probe == GT_PROBE_HEAP_GOAL    ? "BX=bytes" :
		       probe == GT_PROBE_ASSIST_BEGIN ? "R14=g" :
		       cookie			      ? "-" :
							"AX=span";
	if (probe == GT_PROBE_HEAP_ALLOC)
		return object < 17 ? bytes_in[object] : "-";
	if (object && probe != GT_PROBE_P_HANDOFF && object < 17 &&
	    (GT_COOKIE_ZERO_FLAG(cookie) || !GT_COOKIE_NEW_REG(cookie)))
		return g_in[object];
	switch (probe) {
	case GT_PROBE_READY:
		return "AX=g BX=skip";
	case GT_PROBE_CAS_RUNNABLE:
		return "AX=g BX=old CX=new";
	case GT_PROBE_GOSCHED:
		return cookie == GT_GOSCHED_BY_BX ? "AX=g BX=preempted" : "AX=g";
	case GT_PROBE_CREATE:
		return cookie ? "AX=new g" : "BX=new g";
	case GT_PROBE_CREATE_BLOCKED:
		return "AX=new g";
	case GT_PROBE_SYSCALL_ENTER:
		return cookie ? "R14=g [SP]=pc BP=bp" : "R14=g AX=pc CX=bp";
	case GT_PROBE_SYSCALL_BLOCK:
	case GT_PROBE_SYSCALL_TRY_EXIT:
		return "R14=g";
	case GT_PROBE_P_START:
		return "AX=p";
	case GT_PROBE_CREATE_SYSCALL:
	case GT_PROBE_DESTROY_SYSCALL:
		return "R14=g0, its m's g";
	case GT_PROBE_P_STOP:
		return "R14=g, its p";
	case GT_PROBE_P_HANDOFF:
		return cookie ? "CX=p" : "AX=p";
	case GT_PROBE_STW_BEGIN:
		return cookie ? "-" : "AX=reason";
	case GT_PROBE_PROCS:
		return "AX=number";
	case GT_PROBE_TASK_BEGIN:
		return "AX=id CX=type";
	case GT_PROBE_TASK_END:
		return "AX=id";
	case GT_PROBE_REGION:
		return "AX=task CX=name";
	case GT_PROBE_LOG:
		return "AX=task BX,DI=texts";
	case GT_PROBE_SWEEP_LEFT:
		return cookie ? "AX=pages" : "AX=span";
	case GT_PROBE_SYSCALL_LOST:
	case GT_PROBE_STW_END:
	case GT_PROBE_GC_BEGIN:
	case GT_PROBE_GC_END:
	case GT_PROBE_SWEEP_BEGIN:
	case GT_PROBE_SWEEP_END:
		return "-";
	case GT_PROBE_ASSIST_END:
		return "R14=g";
	default:
		return "AX=g";
	}
}

static bool applies(const struct row *row, const struct layout *layout)
{
	unsigned int minor = layout->version.minor;

	return minor >= row->since && (!row->until || minor <= row->until);
}

static void note_inlined(void *ctx, const char *name, const struct go_func *into, uint64_t at)
{
	struct finder *f = ctx;
	struct inlined *more;

	(void)at;
	/* The copies in one function come one after the other. */
	for (size_t i = f->ninlined; i-- > 0 && f->inlined[i].into.entry == into->entry;) {
		if (f->inlined[i].what == name)
			return;
	}
	more = f->ninlined < INLINED_MAX ? realloc(f->inlined, (f->ninlined + 1) * sizeof(*more)) :
					   NULL;
	if (!more) {
		f->out_of_memory = true;
		return;
	}
	f->inlined = more;
	f->inlined[f->ninlined++] = (struct inlined){ name, *into };
}

static int find_inlined(struct finder *f)
{
	const char *names[2 * NROWS];
	size_t n = 0;
	int r;

	for (size_t i = 0; i < NROWS; i++) {
		const char *both[] = { rows[i].func, rows[i].callee };

		for (size_t k = 0; k < 2; k++) {
			size_t j = 0;

			while (both[k] && j < n && strcmp(names[j], both[k]))
				j++;
			if (both[k] && j == n)
				names[n++] = both[k];
		}
	}
	r = pclntab__inlined(f->pt, names, n, note_inlined, f);
	return f->out_of_memory ? -ENOMEM : r;
}

bool row__is_func(const char *name)
{
	for (size_t i = 0; i < NROWS; i++) {
		if (!strcmp(rows[i].func, name))
			return true;
	}
	return false;
}

bool finder__add(struct finder *f, const struct row *row, const struct code *code, size_t at,
		 uint64_t cookie)
{
	struct site_list *list = &f->list;
	const struct insn *in = &code->insn[at];
	struct site *more, *s;
	int64_t offset = elf_image__offset(f->elf, in->addr);

	if (offset < 0 || list->n >= SITES_MAX) {
		f->overflow = true;
		return false;
	}
	more = realloc(list->site, (list->n + 1) * sizeof(*more));
	if (!more) {
		f->overflow = true;
		return false;
	}
	list->site = more;
	s = &list->site[list->n++];
	*s = (struct site){
		.probe = row->probe,
		.cookie = cookie,
		.addr = in->addr,
		.offset = (uint64_t)offset,
		.func_offset = (uint32_t)(in->addr - code->func.entry),
		.cost = in->emulated ? SITE_EMULATED : SITE_STEPPED,
		.why = row->why,
	};
	snprintf(s->func, sizeof(s->func), "%s", code->func.name);
	code__format(code, at, f->pt, s->text, sizeof(s->text));
	return true;
}

static size_t add_calls(struct finder *f, const struct row *row, const struct code *code,
			uint64_t callee)
{
	size_t added = 0;

	for (size_t at = 0; (at = find__call(code, callee, at)) != NO_INSN; at++)
		added += finder__owns(f, row, code, at) &&
			 finder__add(f, row, code, at, row->cookie);
	return added;
}

static size_t find_mark_done(const struct code *code, uint64_t callee)
{
	int64_t old, new;

	for (size_t at = 0; (at = find__call(code, callee, at)) != NO_INSN; at++) {
		if (find__constant(code, at, GPR_BX, &old) && old == WAITING &&
		    find__constant(code, at, GPR_CX, &new) && new == RUNNING)
			return at;
	}
	return NO_INSN;
}

/* The one instruction of the kinds that have one. */
static size_t find_one(const struct row *row, const struct code *code, uint64_t callee)
{
	size_t call;

	switch (row->how) {
	case ENTRY:
		return find__entry(code);
	case CALL_MARK_DONE:
		return find_mark_done(code, callee);
	default:
		break;
	}
	call = find__call(code, callee, 0);
	if (call == NO_INSN || find__call(code, callee, call + 1) != NO_INSN)
		return NO_INSN;
	return find__after_call(code, call, 1u << GPR_AX);
}

static size_t add_sites(struct finder *f, const struct row *row, const struct code *code,
			uint64_t callee)
{
	size_t at;

	if (row->how == CAS)
		return finder__add_cas(f, row, code);
	if (row->how == RUNNEXT)
		return finder__add_runnext(f, row, code);
	if (row->how == CALL)
		return add_calls(f, row, code, callee);
	if (row->how == TRACE_TEST)
		return finder__add_trace_tests(f, row, code, callee);
	if (row->how == TRACE_GUARD)
		return finder__add_trace_guards(f, row, code);
	if (row->how == ADDED)
		return finder__add_added(f, row, code);
	if (row->how == GOAL)
		return finder__add_goal(f, row, code, callee);
	at = find_one(row, code, callee);
	return at != NO_INSN && finder__add(f, row, code, at, row->cookie);
}

/* Was the callee, by which the row sees the transition, inlined into its function? */
static bool callee_inlined(const struct finder *f, const struct row *row)
{
	if (row->how == CAS || row->how == TRACE_GUARD)
		return false;
	for (size_t i = 0; row->callee && i < f->ninlined; i++) {
		if (!strcmp(f->inlined[i].what, row->callee) &&
		    !strcmp(f->inlined[i].into.name, row->func))
			return true;
	}
	return false;
}

/* Sites in the function itself. 1: found; 0: the program does not have it; -ENOENT: a reason. */
static int try_function(struct finder *f, const struct row *row, char *reason)
{
	struct go_func func, callee = { 0 };
	struct code code;
	size_t added;

	if (!pclntab__named(f->pt, row->func, &func)) {
		snprintf(reason, REASON_SIZE, "the program has no function %s", row->func);
		return 0;
	}
	if (callee_inlined(f, row)) {
		snprintf(reason, REASON_SIZE, "the compiler inlined %s into %s", row->callee,
			 row->func);
		return -ENOENT;
	}
	if (row->callee && row->how != TRACE_GUARD &&
	    !pclntab__named(f->pt, row->callee, &callee)) {
		snprintf(reason, REASON_SIZE, "the program has no function %s", row->callee);
		return -ENOENT;
	}
	if (!code__read(&code, f->elf, &func)) {
		snprintf(reason, REASON_SIZE, "%s cannot be disassembled", row->func);
		return -ENOENT;
	}
	added = add_sites(f, row, &code, callee.entry);
	code__deinit(&code);
	if (added)
		return 1;
	snprintf(reason, REASON_SIZE, "no instruction of %s is fit for it", row->func);
	return -ENOENT;
}

/* The functions that have a copy of the row's: each once. */
static int try_inlined(struct finder *f, const struct row *row, char *reason)
{
	int found = 0;

	for (size_t i = 0; i < f->ninlined; i++) {
		const struct inlined *in = &f->inlined[i];

		if (strcmp(in->what, row->func) ||
		    (row->inliner_ok && !strcmp(in->into.name, row->inliner_ok)))
			continue;
		if (!finder__add_inlined(f, row, &in->into, reason))
			return -ENOENT;
		found = 1;
	}
	return found;
}

/* As try_function(), with all copies of the function. On failure nothing is left in the list. */
static int try_row(struct finder *f, const struct row *row, char *reason)
{
	size_t before = f->list.n;
	int own, copies;

	own = try_function(f, row, reason);
	copies = own < 0 ? own : try_inlined(f, row, reason);
	if (copies >= 0 && (own || copies))
		return 1;
	f->list.n = before;
	return copies;
}

static bool row__is_needed(const struct row *row)
{
	return row->need != OPTIONAL && row->need != OPTIONAL_IF_LINKED;
}

static int note_missing(struct site_list *list, const struct row *row, const char *reason)
{
	struct site_missing *more = reallocarray(list->missing, list->nmissing + 1, sizeof(*more));
	struct site_missing *m;

	if (!more)
		return -ENOMEM;
	list->missing = more;
	m = &list->missing[list->nmissing++];
	*m = (struct site_missing){
		.probe = row->probe,
		.needed = row__is_needed(row),
		.why = row->why,
	};
	snprintf(m->reason, sizeof(m->reason), "%s", reason);
	return 0;
}

/* A row and its alternatives, which follow it. Returns 0 or the refusal. */
static int find_group(struct finder *f, size_t first, size_t end, struct error *err)
{
	const struct row *row = &rows[first];
	char reason[REASON_SIZE] = "", other[REASON_SIZE];
	int r = try_row(f, row, reason);

	if (r == 0 && (row->need == IF_LINKED || row->need == OPTIONAL_IF_LINKED))
		return 0;
	for (size_t i = first + 1; i < end && r != 1; i++)
		r = applies(&rows[i], f->layout) ? try_row(f, &rows[i], other) : r;
	if (r == 1)
		return 0;
	r = note_missing(&f->list, row, reason);
	if (r || !row__is_needed(row))
		return r;
	return error__set(err, -ENOTSUP, "cannot see when %s: %s%s", row->why, reason,
			  strstr(reason, "inlined") ? "; a build with -pgo=off can be traced" : "");
}

int site_list__find(struct site_list *ret, const struct elf_image *elf, const struct pclntab *pt,
		    const struct layout *layout, struct error *err)
{
	struct finder f = { .elf = elf, .pt = pt, .layout = layout };
	int r = find_inlined(&f);
	size_t end;

	if (r)
		error__set(err, r, "cannot read where the program's functions were inlined");
	for (size_t i = 0; i < NROWS && (!r || r == -ENOTSUP); i = end) {
		end = i + 1;
		while (end < NROWS && rows[end].need == OR_ELSE)
			end++;
		if (applies(&rows[i], layout)) {
			int failed = find_group(&f, i, end, err);

			r = failed ? failed : r;
		}
	}
	if (!r && f.overflow)
		r = error__set(err, -ENOTSUP,
			       "the program has more than %d places to probe, or "
			       "some that its file does not hold",
			       SITES_MAX);
	for (size_t i = 0; i < f.list.n; i++)
		f.list.has[f.list.site[i].probe] = true;
	free(f.inlined);
	*ret = f.list;
	return r;
}

void site_list__deinit(struct site_list *sites)
{
	free(sites->site);
	free(sites->missing);
	free(sites->texts);
	*sites = (struct site_list){ 0 };
}
