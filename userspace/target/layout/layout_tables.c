// SPDX-License-Identifier: GPL-2.0
/*
 * Facts of each Go release other than offsets: reason texts, frames to skip, function ids.
 *
 * Downstream: layout.c. Source: the runtime's sources of the first and the last patch release of
 * each minor release: waitReasonStrings, traceBlockReasonStrings, stwReasonStrings,
 * gcMarkWorkerModeStrings, and the skip arguments of the tracer's traceStack calls. The lists are
 * the same in all patch releases, except that 1.23.0 lacks the last reasons.
 */
#include "target/layout/layout_tables.h"

#include <string.h>

#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))

/* runtime.waitReason, runtime/runtime2.go: runs that several releases have. */
/* clang-format off */
#define WAIT_FIRST \
	"", "GC assist marking", "IO wait", "chan receive (nil chan)", "chan send (nil chan)", \
	"dumping heap", "garbage collection", "garbage collection scan", "panicwait", "select", \
	"select (no cases)", "GC assist wait", "GC sweep wait", "GC scavenge wait", \
	"chan receive", "chan send", "finalizer wait", "force gc (idle)"
#define WAIT_SYNC \
	"sync.Cond.Wait", "sync.Mutex.Lock", "sync.RWMutex.RLock", "sync.RWMutex.Lock"
#define WAIT_LATER \
	"trace reader (blocked)", "wait for GC cycle", "GC worker (idle)", "GC worker (active)", \
	"preempted", "debug call", "GC mark termination", "stopping the world", \
	"flushing proc caches", "trace goroutine status", "trace proc status", \
	"page trace flush", "coroutine", "GC weak to strong wait"
#define WAIT_DURABLE \
	"synctest.Run", "synctest.Wait", "chan receive (durable)", "chan send (durable)", \
	"select (durable)", "sync.WaitGroup.Wait (durable)", "cleanup wait"

static const char *const wait_1_19[] = {
	WAIT_FIRST, "semacquire", "sleep", "sync.Cond.Wait", "timer goroutine (idle)",
	"trace reader (blocked)", "wait for GC cycle", "GC worker (idle)", "preempted",
	"debug call",
};

/* Grew only at the end: 1.20 and 1.21 lack the last six, 1.22 the last one. */
static const char *const wait_1_22[] = {
	WAIT_FIRST, "semacquire", "sleep", WAIT_SYNC, WAIT_LATER,
};

static const char *const wait_1_24[] = {
	WAIT_FIRST, "semacquire", "sleep", WAIT_SYNC, "sync.WaitGroup.Wait", WAIT_LATER,
	"synctest.Run", "synctest.Wait", "chan receive (synctest)", "chan send (synctest)",
	"select (synctest)",
};

static const char *const wait_1_25[] = {
	WAIT_FIRST, "GOMAXPROCS updater (idle)", "semacquire", "sleep", WAIT_SYNC,
	"sync.WaitGroup.Wait", WAIT_LATER, WAIT_DURABLE,
};

/* 1.26 moved the reasons for which a leaked goroutine may wait behind the others. */
static const char *const wait_1_26[] = {
	"", "GC assist marking", "IO wait", "dumping heap", "garbage collection",
	"garbage collection scan", "panicwait", "GC assist wait", "GC sweep wait",
	"GC scavenge wait", "finalizer wait", "force gc (idle)", "GOMAXPROCS updater (idle)",
	"semacquire", "sleep", "chan receive (nil chan)", "chan send (nil chan)",
	"select (no cases)", "select", "chan receive", "chan send", WAIT_SYNC,
	"sync.WaitGroup.Wait", WAIT_LATER, WAIT_DURABLE,
};
/* clang-format on */

/* runtime.traceBlockReason: grew only at the end (1.22: 15, 1.23: 16, 1.24: 17). */
/* clang-format off */
static const char *const block_reasons[] = {
	"unspecified", "forever", "network", "select", "sync.(*Cond).Wait", "sync", "chan send",
	"chan receive", "GC mark assist wait for work", "GC background sweeper wait",
	"system goroutine wait", "preempted", "wait for debug call", "wait until GC ends", "sleep",
	"GC weak to strong wait", "synctest",
};
/* clang-format on */

/*
 * Before 1.22 an event of the v1 format, such as traceEvGoBlock, serves as the reason. The plain
 * traceEvGoBlock has several causes: the goroutine's waitReason distinguishes them.
 */
#define V1_GO_BLOCK 20
/* clang-format off */
static const char *const block_events[] = {
	[16] = "forever", [19] = "sleep", [V1_GO_BLOCK] = "unspecified", [22] = "chan send",
	[23] = "chan receive", [24] = "select", [25] = "sync", [26] = "sync.(*Cond).Wait",
	[27] = "network", [42] = "GC mark assist wait for work",
};
/* clang-format on */

static const struct {
	const char *wait, *block;
} plain_blocks[] = {
	{ "GC sweep wait", "GC background sweeper wait" },
	{ "GC scavenge wait", "system goroutine wait" },
	{ "GC worker (idle)", "system goroutine wait" },
	{ "finalizer wait", "system goroutine wait" },
	{ "force gc (idle)", "system goroutine wait" },
	{ "trace reader (blocked)", "system goroutine wait" },
	{ "wait for GC cycle", "wait until GC ends" },
	{ "debug call", "wait for debug call" },
};

/* runtime.stwReason: the same from 1.21 to 1.27. */
/* clang-format off */
static const char *const stw_reasons[] = {
	"unknown", "GC mark termination", "GC sweep termination", "write heap dump",
	"goroutine profile", "goroutine profile cleanup", "all goroutines stack trace",
	"read mem stats", "AllThreadsSyscall", "GOMAXPROCS", "start trace", "stop trace",
	"CountPagesInUse (test)", "ReadMetricsSlow (test)", "ReadMemStatsSlow (test)",
	"PageCachePagesLeaked (test)", "ResetDebugLog (test)",
};
/* clang-format on */

/* Up to 1.20 the reason is an argument of stopTheWorld, not of the probed function. */
static const struct {
	const char *function;
	unsigned int reason; /* index into stw_reasons */
} stw_callers[] = {
	{ "runtime.gcMarkDone", 1 },
	{ "runtime.gcStart", 2 },
	{ "runtime/debug.WriteHeapDump", 3 },
	{ "runtime.goroutineProfileWithLabelsConcurrent", 4 },
	{ "runtime.goroutineProfileWithLabelsSync", 4 },
	{ "runtime.Stack", 6 },
	{ "runtime.ReadMemStats", 7 },
	{ "syscall.runtime_doAllThreadsSyscall", 8 },
	{ "runtime.GOMAXPROCS", 9 },
	{ "runtime.StartTrace", 10 },
	{ "runtime.StopTrace", 11 },
};

/* runtime.gcMarkWorkerMode: the texts of GoLabel. */
static const char *const gc_modes[] = {
	NULL,
	"GC (dedicated)",
	"GC (fractional)",
	"GC (idle)",
};

/* runtime.isWaitingForSuspendG: waiting only in name, so that others may scan the stack. */
static const char *const suspend_g[] = {
	"stopping the world",	   "GC mark termination",    "garbage collection",
	"garbage collection scan", "trace goroutine status", "trace proc status",
	"page trace flush",	   "GC assist marking",	     "GC worker (active)",
	"flushing proc caches",
};

struct release {
	unsigned int minor;
	const char *const *wait;
	unsigned int nwait, nblock;
	struct layout_skips skips;
};

/*
 * Skips as the tracer passes them to traceStack, with two exceptions, where the stacks of our
 * probes begin elsewhere than the tracer's:
 *	gc_begin: gcStart runs on the goroutine itself; the tracer's 3 are two frames of its own and
 *	 gcStart, our stack begins at gcStart's caller;
 *	syscall on 1.21 and 1.22: the tracer's 4 count from systemstack_switch, ours begins at the PC
 *	 passed to reentersyscall, three frames further on; entersyscallblock is its caller's callee,
 *	 not entersyscall's, hence one more to skip there.
 * GoStop changed from 1 to 0 in 1.25. A coroutine switch has no stack in any release.
 */
#define SKIPS(stop_, block_)                                                                       \
	{ .stop = stop_,                                                                           \
	  .preempt_park = 0,                                                                       \
	  .create = 2,                                                                             \
	  .syscall = 1,                                                                            \
	  .syscall_block = block_,                                                                 \
	  .gc_begin = 0,                                                                           \
	  .stw_begin = 2,                                                                          \
	  .procs = 1,                                                                              \
	  .task_begin = 1,                                                                         \
	  .task_end = 0,                                                                           \
	  .region = 1,                                                                             \
	  .log = 1 }

/* The oldest first. The manual and the tests take the range of supported releases from here. */
static const struct release releases[] = {
	{ 19, wait_1_19, COUNT(wait_1_19), COUNT(block_events), SKIPS(1, 1) },
	{ 20, wait_1_22, COUNT(wait_1_22) - 6, COUNT(block_events), SKIPS(1, 1) },
	{ 21, wait_1_22, COUNT(wait_1_22) - 6, COUNT(block_events), SKIPS(1, 2) },
	{ 22, wait_1_22, COUNT(wait_1_22) - 1, 15, SKIPS(1, 2) },
	{ 23, wait_1_22, COUNT(wait_1_22), 16, SKIPS(1, 1) },
	{ 24, wait_1_24, COUNT(wait_1_24), 17, SKIPS(1, 1) },
	{ 25, wait_1_25, COUNT(wait_1_25), 17, SKIPS(0, 1) },
	{ 26, wait_1_26, COUNT(wait_1_26), 17, SKIPS(0, 1) },
	{ 27, wait_1_26, COUNT(wait_1_26), 17, SKIPS(0, 1) },
};

static uint64_t suspend_bits(const struct release *r)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i < r->nwait; i++) {
		for (size_t k = 0; k < COUNT(suspend_g); k++) {
			if (!strcmp(r->wait[i], suspend_g[k]))
				bits |= UINT64_C(1) << i;
		}
	}
	return bits;
}

const char *layout_tables__plain_block(const struct layout *l, unsigned int block,
				       unsigned int wait)
{
	if (l->block_reasons != block_events || block != V1_GO_BLOCK || wait >= l->nwait_reasons)
		return NULL;
	for (size_t i = 0; i < COUNT(plain_blocks); i++) {
		if (!strcmp(plain_blocks[i].wait, l->wait_reasons[wait]))
			return plain_blocks[i].block;
	}
	return NULL;
}

/*
 * Reasons of the calls of gopark with each waitReason. Reasons of goroutines that run for the tracer
 * (suspend_g) are not here.
 */
/* clang-format off */
static const struct {
	const char *wait, *block;
} parked[] = {
	{ "IO wait", "network" }, { "select", "select" }, { "select (no cases)", "forever" },
	{ "chan receive (nil chan)", "forever" }, { "chan send (nil chan)", "forever" },
	{ "panicwait", "forever" }, { "chan receive", "chan receive" }, { "chan send", "chan send" },
	{ "semacquire", "sync" }, { "sync.Mutex.Lock", "sync" }, { "sync.RWMutex.RLock", "sync" },
	{ "sync.RWMutex.Lock", "sync" }, { "sync.WaitGroup.Wait", "sync" },
	{ "sync.WaitGroup.Wait (durable)", "sync" }, { "sync.Cond.Wait", "sync.(*Cond).Wait" },
	{ "sleep", "sleep" }, { "GC assist wait", "GC mark assist wait for work" },
	{ "GC sweep wait", "GC background sweeper wait" },
	{ "GC scavenge wait", "system goroutine wait" }, { "GC worker (idle)", "system goroutine wait" },
	{ "finalizer wait", "system goroutine wait" }, { "cleanup wait", "system goroutine wait" },
	{ "force gc (idle)", "system goroutine wait" },
	{ "GOMAXPROCS updater (idle)", "system goroutine wait" },
	{ "timer goroutine (idle)", "system goroutine wait" },
	{ "trace reader (blocked)", "system goroutine wait" },
	{ "wait for GC cycle", "wait until GC ends" }, { "preempted", "preempted" },
	{ "debug call", "wait for debug call" }, { "coroutine", "coroutine" },
	{ "GC weak to strong wait", "GC weak to strong wait" },
	{ "synctest.Run", "synctest" }, { "synctest.Wait", "synctest" },
	{ "chan receive (synctest)", "chan receive" }, { "chan send (synctest)", "chan send" },
	{ "select (synctest)", "select" }, { "chan receive (durable)", "chan receive" },
	{ "chan send (durable)", "chan send" }, { "select (durable)", "select" },
};
/* clang-format on */

const char *layout__parked_reason(const struct layout *l, unsigned int wait)
{
	for (size_t i = 0; wait < l->nwait_reasons && i < COUNT(parked); i++)
		if (!strcmp(parked[i].wait, l->wait_reasons[wait]))
			return parked[i].block;
	return NULL;
}

const char *layout__known_parked_reason(unsigned int i)
{
	return i < COUNT(parked) ? parked[i].block : NULL;
}

const char *layout__known_block_reason(unsigned int i)
{
	return i < COUNT(block_reasons) ? block_reasons[i] : NULL;
}

unsigned int layout__stw_caller(const char *function)
{
	for (size_t i = 0; i < COUNT(stw_callers); i++) {
		if (!strcmp(stw_callers[i].function, function))
			return stw_callers[i].reason;
	}
	return 0;
}

unsigned int layout_tables__oldest(void)
{
	return releases[0].minor;
}

unsigned int layout_tables__newest(void)
{
	return releases[COUNT(releases) - 1].minor;
}

bool layout_tables__fill(unsigned int minor, struct layout *ret)
{
	for (size_t i = 0; i < COUNT(releases); i++) {
		const struct release *r = &releases[i];

		if (r->minor != minor)
			continue;
		ret->exit_is_tentative = minor >= 26;
		ret->derives_parks = minor >= 22;
		ret->derives_syscalls = minor >= 23;
		ret->stw_by_caller = minor <= 20;
		ret->assist_begins_again = minor <= 21;
		ret->config.syscall_fp_given = minor >= 23;
		ret->config.systemstack_frameless = minor <= 20;
		ret->config.entry_at_check = minor <= 20;
		ret->config.span_npages = 32;
		ret->config.span_alloc_count = minor == 21 ? 104 : 96;
		ret->config.span_elem_size = minor == 21 ? 112 : 104;
		ret->skips = r->skips;
		ret->block_reasons = minor < 22 ? block_events : block_reasons;
		ret->nblock_reasons = r->nblock;
		ret->wait_reasons = r->wait;
		ret->nwait_reasons = r->nwait;
		ret->stw_reasons = stw_reasons;
		ret->nstw_reasons = COUNT(stw_reasons);
		ret->gc_modes = gc_modes;
		ret->ngc_modes = COUNT(gc_modes);
		ret->suspend_g_reasons = suspend_bits(r);
		return true;
	}
	return false;
}
