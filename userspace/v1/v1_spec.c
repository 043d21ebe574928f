// SPDX-License-Identifier: GPL-2.0
/*
 * The event table of v1 traces: names, and the number of arguments by version.
 *
 * Used by v1_parse.c and v1_wire.c for each event, and for messages.
 *
 * Of the format before Go 1.5 (version 0, header "gotrace\0") neither files nor a writer are left,
 * only the first parser. It has the event numbers of 1.5 up to 35, one argument less where 1.5 has
 * sequence numbers, no thread in ProcStart, and a stack in GoSysBlock; it counts arguments in the
 * file as 1.7 does. Its GCScanStart and GCScanDone kept their numbers and became the stop-the-world
 * events.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "v1/v1_impl.h"

static const struct v1_spec specs[V1_COUNT] = {
	[V1_BATCH] = { "Batch", 0, 2 },
	[V1_FREQUENCY] = { "Frequency", 0, 1 },
	[V1_STACK] = { "Stack" },
	[V1_GOMAXPROCS] = { "Gomaxprocs", 0, 1, true },
	[V1_PROC_START] = { "ProcStart", 0, 1 },
	[V1_PROC_STOP] = { "ProcStop" },
	[V1_GC_START] = { "GCStart", 0, 1, true },
	[V1_GC_DONE] = { "GCDone" },
	[V1_STW_START] = { "STWStart", 0, 1 },
	[V1_STW_DONE] = { "STWDone" },
	[V1_SWEEP_START] = { "GCSweepStart", 0, 0, true },
	[V1_SWEEP_DONE] = { "GCSweepDone", 0, 2 },
	[V1_GO_CREATE] = { "GoCreate", 0, 2, true },
	[V1_GO_START] = { "GoStart", 0, 2 },
	[V1_GO_END] = { "GoEnd" },
	[V1_GO_STOP] = { "GoStop", 0, 0, true },
	[V1_GO_SCHED] = { "GoSched", 0, 0, true },
	[V1_GO_PREEMPT] = { "GoPreempt", 0, 0, true },
	[V1_GO_SLEEP] = { "GoSleep", 0, 0, true },
	[V1_GO_BLOCK] = { "GoBlock", 0, 0, true },
	[V1_GO_UNBLOCK] = { "GoUnblock", 0, 2, true },
	[V1_GO_BLOCK_SEND] = { "GoBlockSend", 0, 0, true },
	[V1_GO_BLOCK_RECV] = { "GoBlockRecv", 0, 0, true },
	[V1_GO_BLOCK_SELECT] = { "GoBlockSelect", 0, 0, true },
	[V1_GO_BLOCK_SYNC] = { "GoBlockSync", 0, 0, true },
	[V1_GO_BLOCK_COND] = { "GoBlockCond", 0, 0, true },
	[V1_GO_BLOCK_NET] = { "GoBlockNet", 0, 0, true },
	[V1_GO_SYS_CALL] = { "GoSysCall", 0, 0, true },
	[V1_GO_SYS_EXIT] = { "GoSysExit", 0, 3 },
	[V1_GO_SYS_BLOCK] = { "GoSysBlock" },
	[V1_GO_WAITING] = { "GoWaiting", 0, 1 },
	[V1_GO_IN_SYSCALL] = { "GoInSyscall", 0, 1 },
	[V1_HEAP_ALLOC] = { "HeapAlloc", 0, 1 },
	[V1_HEAP_GOAL] = { "HeapGoal", 0, 1 },
	[V1_TIMER_GOROUTINE] = { "TimerGoroutine", 0, 1 },
	[V1_FUTILE_WAKEUP] = { "FutileWakeup", 5 },
	[V1_STRING] = { "String", 7 },
	[V1_GO_START_LOCAL] = { "GoStartLocal", 7, 1 },
	[V1_GO_UNBLOCK_LOCAL] = { "GoUnblockLocal", 7, 1, true },
	[V1_GO_SYS_EXIT_LOCAL] = { "GoSysExitLocal", 7, 2 },
	[V1_GO_START_LABEL] = { "GoStartLabel", 8, 3 },
	[V1_GO_BLOCK_GC] = { "GoBlockGC", 8, 0, true },
	[V1_MARK_ASSIST_START] = { "GCMarkAssistStart", 9, 0, true },
	[V1_MARK_ASSIST_DONE] = { "GCMarkAssistDone", 9 },
	[V1_TASK_CREATE] = { "UserTaskCreate", 11, 3, true },
	[V1_TASK_END] = { "UserTaskEnd", 11, 1, true },
	[V1_REGION] = { "UserRegion", 11, 3, true },
	[V1_LOG] = { "UserLog", 11, 2, true },
	[V1_CPU_SAMPLE] = { "CPUSample", 19, 3, true },
};

const struct v1_spec *v1_spec__find(unsigned int type, unsigned int version)
{
	if (type >= V1_COUNT || !specs[type].name || specs[type].since > version)
		return NULL;
	return &specs[type];
}

/* How many arguments of 1.21 the version lacks. */
static unsigned int later_args(unsigned int type, unsigned int version)
{
	switch (type) {
	case V1_GC_START:
	case V1_GO_START:
	case V1_GO_UNBLOCK:
		return version < 7;
	case V1_SWEEP_DONE:
		return version < 9 ? 2 : 0;
	case V1_STW_START:
		return version < 10;
	case V1_PROC_START:
		return version == 0;
	case V1_GO_SYS_EXIT:
		return version == 0 ? 2 : 0;
	}
	return 0;
}

unsigned int v1_spec__nargs(unsigned int type, unsigned int version)
{
	unsigned int n = specs[type].nargs + specs[type].stack - later_args(type, version);

	if (type == V1_GO_SYS_BLOCK && !version)
		n++; /* a stack, in this version only */
	if (v1__has_seq(version))
		n++;
	if (type != V1_BATCH && type != V1_FREQUENCY && type != V1_TIMER_GOROUTINE)
		n++;
	return n;
}

int v1__broken(struct error *error, uint64_t offset, unsigned int type, const char *fmt, ...)
{
	const struct v1_spec *spec = v1_spec__find(type, UINT_MAX);
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return error__set(error, -EBADMSG, "invalid trace at byte %" PRIu64 " (%s): %s", offset,
			  spec ? spec->name : "unknown event", text);
}
