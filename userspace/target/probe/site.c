// SPDX-License-Identifier: GPL-2.0
/*
 * Where to probe: the table of transitions, and the choice of an instruction for each.
 *
 * Upstream: symbols/pclntab.c, arch/, site_find.c. Downstream: capture/probes.c attaches the sites;
 * each probe has a BPF program in bpf/.
 *
 * Profile-guided builds inline functions such as casgstatus, gdestroy, reentersyscall and runqput,
 * whose own code then misses transitions. So each inlined copy needs a site of its own
 * (site_inline.c). If one has none, an alternative row is tried; otherwise the program is rejected,
 * rather than recorded with gaps.
 */
#include "target/probe/site.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "target/probe/site_find.h"
#include "target/probe/site_impl.h"

/* clang-format off */
/* Where the runtime calls its own tracer, by both of its names; before 1.22 it may be inlined. */
#define TRACED(probe, cookie, func, event, why)                                                    \
	{ probe, cookie, TRACE_TEST, func, "runtime.traceLocker." event, 22, 0, OPTIONAL, why,     \
	  .inlined = BY_TRACE_TEST },                                                              \
	{ probe, cookie, TRACE_GUARD, func, "runtime.trace" event, 0, 21, OPTIONAL, why,           \
	  .inlined = BY_TRACE_TEST }

static const struct row rows[] = {
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

#define NROWS	    (sizeof(rows) / sizeof(rows[0]))
#define WAITING	    4
#define RUNNING	    2
#define INLINED_MAX (1u << 16) /* an ordinary build has 2 */

static bool applies(const struct row *row, const struct layout *layout)
{
	unsigned int minor = layout->version.minor;

	return minor >= row->since && (!row->until || minor <= row->until);
}

static void note_inlined(void *ctx, const char *name, const struct go_func *into)
{
	struct finder *f = ctx;

	/* The copies in one function are consecutive. */
	for (size_t i = f->ninlined; i-- > 0 && f->inlined[i].into.entry == into->entry;) {
		if (f->inlined[i].what == name)
			return;
	}
	if (f->ninlined == INLINED_MAX ||
	    array__grow(&f->inlined, f->ninlined, &f->inlined_cap, sizeof(*f->inlined))) {
		f->out_of_memory = true;
		return;
	}
	f->inlined[f->ninlined++] = (struct inlined){ name, *into };
}

static int find_inlined(struct finder *f)
{
	const char *names[2 * NROWS];
	size_t n = 0;
	int err;

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
	err = pclntab__inlined(f->pt, names, n, note_inlined, f);
	return f->out_of_memory ? -ENOMEM : err;
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
	struct site *s;
	int64_t offset = elf_image__offset(f->elf, in->addr);

	if (offset < 0 || list->n >= SITES_MAX) {
		f->overflow = true;
		return false;
	}
	if (array__grow(&list->site, list->n, &f->site_cap, sizeof(*list->site))) {
		f->out_of_memory = true;
		return false;
	}
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
		if (find__constant(code, at, GPR_ARG2, &old) && old == WAITING &&
		    find__constant(code, at, GPR_ARG3, &new) && new == RUNNING)
			return at;
	}
	return NO_INSN;
}

/* The instruction, for kinds that have exactly one. */
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
	return find__after_call(code, call, 1u << GPR_ARG1);
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

/* Whether the callee that reveals the transition was inlined into the row's function. */
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

/*
 * Adds sites in the function itself. 1: found; 0: the program does not have it; -ENOENT: a reason.
 */
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
	snprintf(reason, REASON_SIZE, "%s has no instruction that can be probed", row->func);
	return -ENOENT;
}

/* Adds sites in the functions with an inlined copy of the row's function, once for each. */
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

/* Like try_function(), with all inlined copies. On failure the list is left unchanged. */
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

static int note_missing(struct finder *f, const struct row *row, const char *reason)
{
	struct site_list *list = &f->list;
	struct site_missing *m;

	if (array__grow(&list->missing, list->nmissing, &f->missing_cap, sizeof(*list->missing)))
		return -ENOMEM;
	m = &list->missing[list->nmissing++];
	*m = (struct site_missing){
		.probe = row->probe,
		.needed = row__is_needed(row),
		.why = row->why,
	};
	snprintf(m->reason, sizeof(m->reason), "%s", reason);
	return 0;
}

/* Tries a row and its alternatives, which follow it. 0, or a negative errno with a reason. */
static int find_group(struct finder *f, size_t first, size_t end, struct error *error)
{
	const struct row *row = &rows[first];
	char reason[REASON_SIZE] = "", other[REASON_SIZE];
	int found = try_row(f, row, reason), err;

	if (found == 0 && (row->need == IF_LINKED || row->need == OPTIONAL_IF_LINKED))
		return 0;
	for (size_t i = first + 1; i < end && found != 1; i++)
		found = applies(&rows[i], f->layout) ? try_row(f, &rows[i], other) : found;
	if (f->out_of_memory)
		return -ENOMEM;
	if (found == 1)
		return 0;
	err = note_missing(f, row, reason);
	if (err || !row__is_needed(row))
		return err;
	return error__set(error, -ENOTSUP, "cannot observe when %s: %s%s", row->why, reason,
			  strstr(reason, "inlined") ? "; a build with -pgo=off can be recorded" :
						      "");
}

int site_list__find(struct site_list *ret, const struct elf_image *elf, const struct pclntab *pt,
		    const struct layout *layout, struct error *error)
{
	struct finder f = { .elf = elf, .pt = pt, .layout = layout };
	int err = find_inlined(&f);
	size_t end;

	if (err)
		error__set(error, err, "cannot read the program's inline tree");
	for (size_t i = 0; i < NROWS && (!err || err == -ENOTSUP); i = end) {
		end = i + 1;
		while (end < NROWS && rows[end].need == OR_ELSE)
			end++;
		if (applies(&rows[i], layout)) {
			int group_err = find_group(&f, i, end, error);

			err = group_err ? group_err : err;
		}
	}
	if (err == -ENOMEM)
		error__set(error, err, "out of memory");
	if (!err && f.overflow)
		err = error__set(error, -ENOTSUP,
				 "the program has more than %d probe sites, or a site outside "
				 "of its file",
				 SITES_MAX);
	if (!err)
		finder__add_syscalls(&f);
	if (f.out_of_memory && !err)
		err = error__set(error, -ENOMEM, "out of memory");
	for (size_t i = 0; i < f.list.n; i++)
		f.list.has[f.list.site[i].probe] = true;
	free(f.inlined);
	*ret = f.list;
	return err;
}

void site_list__deinit(struct site_list *sites)
{
	free(sites->site);
	free(sites->missing);
	free(sites->texts);
	*sites = (struct site_list){ 0 };
}
