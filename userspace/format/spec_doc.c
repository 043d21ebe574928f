// SPDX-License-Identifier: GPL-2.0
/*
 * Documentation of each event of the table: one sentence, and what the event belongs to.
 *
 * spec.c holds what a decoder needs. format/describe.c writes both into each recorded trace, so
 * that a reader which lacks an event can still name, skip and explain it; `gotrace describe` prints
 * them.
 *
 * Control events are those that structure a trace, and the transitions of goroutines and Ps. The
 * header version defines where they may occur and what they do.
 */
#include <string.h>

#include "format/spec.h"

#define CONTROL(text)		{ .what = text }
#define INSTANT(where, text)	{ text, true, where, CLASS_INSTANT }
#define BEGIN(where, end, text) { text, true, where, CLASS_BEGIN, end }
#define END(where, begin, text) { text, true, where, CLASS_END, begin }

static const struct ev_doc docs[EV_END] = {
	/* structure */
	[EV_EVENT_BATCH] = CONTROL("A batch begins: events of one thread, or a part of a table."),
	[EV_STACKS] = CONTROL("A batch of the stack table begins."),
	[EV_STACK] = CONTROL("A stack, with its frames from the innermost out."),
	[EV_STRINGS] = CONTROL("A batch of the string table begins."),
	[EV_STRING] = CONTROL("A string, with its bytes."),
	[EV_CPU_SAMPLES] = CONTROL("A batch of CPU profile samples begins."),
	[EV_CPU_SAMPLE] = CONTROL("The CPU profiler interrupted a thread."),
	[EV_FREQUENCY] = CONTROL("The number of ticks of the trace clock per second."),
	[EV_EXPERIMENTAL_BATCH] = CONTROL("A batch whose format an experiment defines."),
	[EV_SYNC] = CONTROL("A batch that relates the generation to the clocks begins."),
	[EV_CLOCK_SNAPSHOT] = CONTROL(
		"The same time on the trace clock, the monotonic clock and the wall clock."),
	[EV_END_OF_GENERATION] = CONTROL("A generation is complete."),

	/* Ps */
	[EV_PROC_START] = CONTROL("A thread took a P that was idle."),
	[EV_PROC_STOP] = CONTROL("The thread released its P, which is now idle."),
	[EV_PROC_STEAL] = CONTROL("A P was taken from a thread that is in a system call."),
	[EV_PROC_STATUS] = CONTROL("The state of a P at the start of the generation."),

	/* goroutines */
	[EV_GO_CREATE] = CONTROL("A goroutine was created, runnable."),
	[EV_GO_CREATE_SYSCALL] =
		CONTROL("A goroutine was created in a system call, for a callback from C."),
	[EV_GO_START] = CONTROL("A goroutine began to run."),
	[EV_GO_DESTROY] = CONTROL("The running goroutine ended."),
	[EV_GO_DESTROY_SYSCALL] = CONTROL("A goroutine ended in a system call, on return to C."),
	[EV_GO_STOP] = CONTROL("The running goroutine yielded or was preempted, and is runnable."),
	[EV_GO_BLOCK] = CONTROL("The running goroutine blocked."),
	[EV_GO_UNBLOCK] = CONTROL("A blocked goroutine became runnable."),
	[EV_GO_SYSCALL_BEGIN] = CONTROL("The running goroutine entered a system call."),
	[EV_GO_SYSCALL_END] =
		CONTROL("The goroutine returned from its system call and continues to run."),
	[EV_GO_SYSCALL_END_BLOCKED] = CONTROL(
		"The goroutine returned from its system call without a P, and is runnable."),
	[EV_GO_STATUS] = CONTROL("The state of a goroutine at the start of the generation."),
	[EV_GO_STATUS_STACK] =
		CONTROL("The state and the stack of a goroutine at the start of the generation."),
	[EV_GO_SWITCH] =
		CONTROL("Coroutine switch: the running goroutine blocked, and another one runs."),
	[EV_GO_SWITCH_DESTROY] =
		CONTROL("Coroutine switch: the running goroutine ended, and another one runs."),
	[EV_GO_CREATE_BLOCKED] = CONTROL("A goroutine was created, blocked."),

	/* ranges and values */
	[EV_PROCS_CHANGE] = INSTANT(SCOPE_GLOBAL, "The number of Ps (GOMAXPROCS) changed."),
	[EV_STW_BEGIN] = BEGIN(SCOPE_G, EV_STW_END, "A stop-the-world pause began."),
	[EV_STW_END] = END(SCOPE_G, EV_STW_BEGIN, "A stop-the-world pause ended."),
	[EV_GC_ACTIVE] = BEGIN(
		SCOPE_GLOBAL, EV_GC_END,
		"The garbage collector's mark phase was in progress when the generation began."),
	[EV_GC_BEGIN] = BEGIN(SCOPE_GLOBAL, EV_GC_END, "The garbage collector's mark phase began."),
	[EV_GC_END] = END(SCOPE_GLOBAL, EV_GC_BEGIN, "The garbage collector's mark phase ended."),
	[EV_GC_SWEEP_ACTIVE] =
		BEGIN(SCOPE_P, EV_GC_SWEEP_END, "The P was sweeping when the generation began."),
	[EV_GC_SWEEP_BEGIN] = BEGIN(SCOPE_P, EV_GC_SWEEP_END, "The P began to sweep."),
	[EV_GC_SWEEP_END] = END(SCOPE_P, EV_GC_SWEEP_BEGIN, "The P ended its sweep."),
	[EV_GC_MARK_ASSIST_ACTIVE] =
		BEGIN(SCOPE_G, EV_GC_MARK_ASSIST_END,
		      "A mark assist of the goroutine was in progress when the generation began."),
	[EV_GC_MARK_ASSIST_BEGIN] =
		BEGIN(SCOPE_G, EV_GC_MARK_ASSIST_END, "A mark assist of the goroutine began."),
	[EV_GC_MARK_ASSIST_END] =
		END(SCOPE_G, EV_GC_MARK_ASSIST_BEGIN, "A mark assist of the goroutine ended."),
	[EV_HEAP_ALLOC] = INSTANT(SCOPE_GLOBAL, "The size of the live heap."),
	[EV_HEAP_GOAL] = INSTANT(
		SCOPE_GLOBAL,
		"The heap goal: the size at which the garbage collection should be complete."),

	/* annotations */
	[EV_GO_LABEL] = INSTANT(SCOPE_G, "The running goroutine was given a label."),
	[EV_USER_TASK_BEGIN] = BEGIN(SCOPE_GLOBAL, EV_USER_TASK_END, "The program began a task."),
	[EV_USER_TASK_END] = END(SCOPE_GLOBAL, EV_USER_TASK_BEGIN, "The program ended a task."),
	[EV_USER_REGION_BEGIN] = BEGIN(SCOPE_G, EV_USER_REGION_END,
				       "The goroutine entered a region of the program."),
	[EV_USER_REGION_END] =
		END(SCOPE_G, EV_USER_REGION_BEGIN, "The goroutine left a region of the program."),
	[EV_USER_LOG] = INSTANT(SCOPE_G, "The program logged a message."),

	/* experiment AllocFree */
	[EV_SPAN] = INSTANT(SCOPE_GLOBAL, "A span of the heap existed when the generation began."),
	[EV_SPAN_ALLOC] = INSTANT(SCOPE_GLOBAL, "A span of the heap was allocated."),
	[EV_SPAN_FREE] = INSTANT(SCOPE_GLOBAL, "A span of the heap was freed."),
	[EV_HEAP_OBJECT] = INSTANT(SCOPE_GLOBAL, "An object existed when the generation began."),
	[EV_HEAP_OBJECT_ALLOC] = INSTANT(SCOPE_GLOBAL, "An object was allocated."),
	[EV_HEAP_OBJECT_FREE] = INSTANT(SCOPE_GLOBAL, "An object was freed."),
	[EV_GOROUTINE_STACK] =
		INSTANT(SCOPE_GLOBAL,
			"The memory of a goroutine's stack existed when the generation began."),
	[EV_GOROUTINE_STACK_ALLOC] =
		INSTANT(SCOPE_GLOBAL, "The memory of a goroutine's stack was allocated."),
	[EV_GOROUTINE_STACK_FREE] =
		INSTANT(SCOPE_GLOBAL, "The memory of a goroutine's stack was freed."),
};

/* An argument name has the same meaning in all events. */
static const struct {
	const char *name, *what;
} args[] = {
	{ "dt", "ticks since the previous event of the batch" },
	{ "gen", "the generation's number" },
	{ "time", "ticks" },
	{ "size", "bytes of data" },
	{ "id", "ID of the object that the event defines" },
	{ "nframes", "number of frames" },
	{ "freq", "ticks per second" },
	{ "exp", "the experiment" },
	{ "mono", "CLOCK_MONOTONIC, ns" },
	{ "sec", "CLOCK_REALTIME, s" },
	{ "nsec", "CLOCK_REALTIME, ns of the second" },
	{ "g", "the goroutine" },
	{ "new_g", "the new goroutine" },
	{ "m", "the thread" },
	{ "p", "the P" },
	{ "g_seq", "sequence number of the goroutine in this generation" },
	{ "p_seq", "sequence number of the P in this generation" },
	{ "gc_seq", "sequence number of the garbage collection event" },
	{ "gstatus", "the goroutine's state" },
	{ "pstatus", "the P's state" },
	{ "stack", "call stack" },
	{ "new_stack", "start of the new goroutine" },
	{ "reason_string", "reason" },
	{ "kind_string", "reason of the pause" },
	{ "procs_value", "number of Ps" },
	{ "swept_value", "bytes swept" },
	{ "reclaimed_value", "bytes freed" },
	{ "heapalloc_value", "bytes" },
	{ "heapgoal_value", "bytes" },
	{ "label_string", "the label" },
	{ "task", "the task; 0: none" },
	{ "parent_task", "the task that it is part of; 0: none" },
	{ "name_string", "its name" },
	{ "key_string", "category of the message" },
	{ "value_string", "message" },
	{ "npages_value", "pages" },
	{ "kindclass", "kind and size class" },
	{ "type", "ID of its type; 0: none" },
	{ "order", "number of bits of its size, a power of 2" },
};

static const struct ev_value go_statuses[] = {
	{ GO_RUNNABLE, "Runnable", "waits for a P" },
	{ GO_RUNNING, "Running", "runs" },
	{ GO_SYSCALL, "Syscall", "is in a system call" },
	{ GO_WAITING, "Waiting", "is blocked" },
};

static const struct ev_value proc_statuses[] = {
	{ PROC_RUNNING, "Running", "is held by a thread" },
	{ PROC_IDLE, "Idle", "is not held by a thread" },
	{ PROC_SYSCALL, "Syscall", "is held by a thread in a system call" },
	{ PROC_ABANDONED, "SyscallAbandoned",
	  "is held by an unknown thread in a system call, and about to be retaken" },
};

const struct ev_doc *spec__doc(unsigned int type)
{
	return type < EV_END && docs[type].what ? &docs[type] : NULL;
}

const char *spec__arg_doc(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(args) / sizeof(args[0]); i++)
		if (!strcmp(args[i].name, name))
			return args[i].what;
	return NULL;
}

const struct ev_value *spec__values(unsigned int type, size_t *ret_n)
{
	if (type == EV_GO_STATUS || type == EV_GO_STATUS_STACK) {
		*ret_n = sizeof(go_statuses) / sizeof(go_statuses[0]);
		return go_statuses;
	}
	if (type == EV_PROC_STATUS) {
		*ret_n = sizeof(proc_statuses) / sizeof(proc_statuses[0]);
		return proc_statuses;
	}
	return NULL;
}
