// SPDX-License-Identifier: GPL-2.0
/*
 * What each event of the table means, in a sentence, and what it is said of.
 *
 * Beside spec.c, which has what a decoder needs. trace/describe.c writes both into every trace that
 * we record, so that a reader that has never heard of an event can still name it, skip it and say
 * something about it; `gotrace describe` shows them.
 *
 * Control events: everything that frames a trace, and the transitions of goroutines and Ps. Their
 * place and meaning belong to the version in the header.
 */
#include <string.h>

#include "trace/spec.h"

#define CONTROL(text)		{ .what = text }
#define INSTANT(where, text)	{ text, true, where, CLASS_INSTANT }
#define BEGIN(where, end, text) { text, true, where, CLASS_BEGIN, end }
#define END(where, begin, text) { text, true, where, CLASS_END, begin }

static const struct ev_words words[EV_END] = {
	/* structure */
	[EV_EVENT_BATCH] = CONTROL("A batch begins: events of one thread, or a part of a table."),
	[EV_STACKS] = CONTROL("A batch of the stack table begins."),
	[EV_STACK] = CONTROL("A stack, with its frames from the innermost out."),
	[EV_STRINGS] = CONTROL("A batch of the string table begins."),
	[EV_STRING] = CONTROL("A string, with its bytes."),
	[EV_CPU_SAMPLES] = CONTROL("A batch of CPU profile samples begins."),
	[EV_CPU_SAMPLE] = CONTROL("The CPU profiler interrupted a thread."),
	[EV_FREQUENCY] = CONTROL("How many ticks of the trace's clock make a second."),
	[EV_EXPERIMENTAL_BATCH] = CONTROL("A batch in a format of an experiment's own."),
	[EV_SYNC] = CONTROL("The batch begins that ties a generation to the clocks."),
	[EV_CLOCK_SNAPSHOT] = CONTROL("The same moment on the trace's, the monotonic and the wall "
				      "clock."),
	[EV_END_OF_GENERATION] = CONTROL("A generation is complete."),

	/* Ps */
	[EV_PROC_START] = CONTROL("A thread took a P that was idle."),
	[EV_PROC_STOP] = CONTROL("The thread gave its P up, which is now idle."),
	[EV_PROC_STEAL] = CONTROL("A P was taken from a thread that is in a system call."),
	[EV_PROC_STATUS] = CONTROL("What a P was doing when the generation began."),

	/* goroutines */
	[EV_GO_CREATE] = CONTROL("A goroutine was created, ready to run."),
	[EV_GO_CREATE_SYSCALL] = CONTROL("A goroutine appeared in a system call: C called Go."),
	[EV_GO_START] = CONTROL("A goroutine began to run."),
	[EV_GO_DESTROY] = CONTROL("The running goroutine ended."),
	[EV_GO_DESTROY_SYSCALL] = CONTROL("A goroutine ended in a system call: back to C."),
	[EV_GO_STOP] = CONTROL("The running goroutine gave way, and stays ready to run."),
	[EV_GO_BLOCK] = CONTROL("The running goroutine blocked."),
	[EV_GO_UNBLOCK] = CONTROL("A blocked goroutine became ready to run."),
	[EV_GO_SYSCALL_BEGIN] = CONTROL("The running goroutine entered a system call."),
	[EV_GO_SYSCALL_END] = CONTROL("The goroutine left its system call and runs on."),
	[EV_GO_SYSCALL_END_BLOCKED] = CONTROL("The goroutine left its system call, has lost its P, "
					      "and is ready to run."),
	[EV_GO_STATUS] = CONTROL("What a goroutine was doing when the generation began."),
	[EV_GO_STATUS_STACK] = CONTROL("What a goroutine was doing when the generation began, "
				       "and where."),
	[EV_GO_SWITCH] = CONTROL("The running goroutine blocked and another one runs in its place: "
				 "a coroutine switch."),
	[EV_GO_SWITCH_DESTROY] = CONTROL("The running goroutine ended and another one runs in its "
					 "place: a coroutine switch."),
	[EV_GO_CREATE_BLOCKED] = CONTROL("A goroutine was created, blocked."),

	/* ranges and values */
	[EV_PROCS_CHANGE] = INSTANT(SCOPE_GLOBAL, "The number of Ps (GOMAXPROCS) is now another."),
	[EV_STW_BEGIN] = BEGIN(SCOPE_G, EV_STW_END, "The goroutine began to stop the world."),
	[EV_STW_END] = END(SCOPE_G, EV_STW_BEGIN, "The goroutine let the world go on."),
	[EV_GC_ACTIVE] = BEGIN(SCOPE_GLOBAL, EV_GC_END,
			       "The garbage collector's mark phase was "
			       "under way when the generation began."),
	[EV_GC_BEGIN] = BEGIN(SCOPE_GLOBAL, EV_GC_END, "The garbage collector's mark phase began."),
	[EV_GC_END] = END(SCOPE_GLOBAL, EV_GC_BEGIN, "The garbage collector's mark phase ended."),
	[EV_GC_SWEEP_ACTIVE] =
		BEGIN(SCOPE_P, EV_GC_SWEEP_END, "The P was sweeping when the generation began."),
	[EV_GC_SWEEP_BEGIN] = BEGIN(SCOPE_P, EV_GC_SWEEP_END, "The P began to sweep."),
	[EV_GC_SWEEP_END] = END(SCOPE_P, EV_GC_SWEEP_BEGIN, "The P ended its sweep."),
	[EV_GC_MARK_ASSIST_ACTIVE] = BEGIN(SCOPE_G, EV_GC_MARK_ASSIST_END,
					   "The goroutine was helping the garbage collector when "
					   "the generation began."),
	[EV_GC_MARK_ASSIST_BEGIN] = BEGIN(SCOPE_G, EV_GC_MARK_ASSIST_END,
					  "The goroutine began to help the garbage collector."),
	[EV_GC_MARK_ASSIST_END] = END(SCOPE_G, EV_GC_MARK_ASSIST_BEGIN,
				      "The goroutine helps the garbage collector no longer."),
	[EV_HEAP_ALLOC] = INSTANT(SCOPE_GLOBAL, "How much of the heap is in use."),
	[EV_HEAP_GOAL] =
		INSTANT(SCOPE_GLOBAL, "The heap's size at which the garbage collector wants "
				      "to be done."),

	/* annotations */
	[EV_GO_LABEL] = INSTANT(SCOPE_G, "The running goroutine was given a label."),
	[EV_USER_TASK_BEGIN] = BEGIN(SCOPE_GLOBAL, EV_USER_TASK_END, "The program began a task."),
	[EV_USER_TASK_END] = END(SCOPE_GLOBAL, EV_USER_TASK_BEGIN, "The program ended a task."),
	[EV_USER_REGION_BEGIN] = BEGIN(SCOPE_G, EV_USER_REGION_END,
				       "The goroutine entered a region of the program."),
	[EV_USER_REGION_END] =
		END(SCOPE_G, EV_USER_REGION_BEGIN, "The goroutine left a region of the program."),
	[EV_USER_LOG] = INSTANT(SCOPE_G, "The program wrote a line into the trace."),

	/* experiment AllocFree */
	[EV_SPAN] =
		INSTANT(SCOPE_GLOBAL, "A span of the heap was there when the generation began."),
	[EV_SPAN_ALLOC] = INSTANT(SCOPE_GLOBAL, "A span of the heap was allocated."),
	[EV_SPAN_FREE] = INSTANT(SCOPE_GLOBAL, "A span of the heap was freed."),
	[EV_HEAP_OBJECT] = INSTANT(SCOPE_GLOBAL, "An object was there when the generation began."),
	[EV_HEAP_OBJECT_ALLOC] = INSTANT(SCOPE_GLOBAL, "An object was allocated."),
	[EV_HEAP_OBJECT_FREE] = INSTANT(SCOPE_GLOBAL, "An object was freed."),
	[EV_GOROUTINE_STACK] = INSTANT(SCOPE_GLOBAL, "The memory of a goroutine's stack was there "
						     "when the generation began."),
	[EV_GOROUTINE_STACK_ALLOC] =
		INSTANT(SCOPE_GLOBAL, "The memory of a goroutine's stack was allocated."),
	[EV_GOROUTINE_STACK_FREE] =
		INSTANT(SCOPE_GLOBAL, "The memory of a goroutine's stack was freed."),
};

/* Arguments mean the same in whichever event they stand. */
static const struct {
	const char *name, *what;
} args[] = {
	{ "dt", "ticks since the event before it in its batch" },
	{ "gen", "the generation's number" },
	{ "time", "ticks" },
	{ "size", "bytes of data" },
	{ "id", "what the event itself is about" },
	{ "nframes", "number of frames" },
	{ "freq", "ticks a second" },
	{ "exp", "the experiment" },
	{ "mono", "CLOCK_MONOTONIC, ns" },
	{ "sec", "CLOCK_REALTIME, s" },
	{ "nsec", "CLOCK_REALTIME, ns of the second" },
	{ "g", "the goroutine" },
	{ "new_g", "the new goroutine" },
	{ "m", "the thread" },
	{ "p", "the P" },
	{ "g_seq", "the goroutine's counter in this generation" },
	{ "p_seq", "the P's counter in this generation" },
	{ "gc_seq", "counts GC events" },
	{ "gstatus", "the goroutine's state" },
	{ "pstatus", "the P's state" },
	{ "stack", "where" },
	{ "new_stack", "where the new goroutine begins" },
	{ "reason_string", "why" },
	{ "kind_string", "what for" },
	{ "procs_value", "number of Ps" },
	{ "swept_value", "bytes swept" },
	{ "reclaimed_value", "bytes freed" },
	{ "heapalloc_value", "bytes" },
	{ "heapgoal_value", "bytes" },
	{ "label_string", "the label" },
	{ "task", "the task; 0: none" },
	{ "parent_task", "the task that it is part of; 0: none" },
	{ "name_string", "its name" },
	{ "key_string", "the line's key" },
	{ "value_string", "the line" },
	{ "npages_value", "pages" },
	{ "kindclass", "kind and size class" },
	{ "type", "its type, by a number of its own; 0: none" },
	{ "order", "number of bits of its size, a power of 2" },
};

static const struct ev_value go_statuses[] = {
	{ GO_RUNNABLE, "Runnable", "waits for a P" },
	{ GO_RUNNING, "Running", "runs" },
	{ GO_SYSCALL, "Syscall", "is in a system call" },
	{ GO_WAITING, "Waiting", "is blocked" },
};

static const struct ev_value proc_statuses[] = {
	{ PROC_RUNNING, "Running", "belongs to a thread" },
	{ PROC_IDLE, "Idle", "belongs to nobody" },
	{ PROC_SYSCALL, "Syscall", "belongs to a thread in a system call" },
	{ PROC_ABANDONED, "SyscallAbandoned", "is about to be taken from an unknown system call" },
};

const struct ev_words *spec__words(unsigned int type)
{
	return type < EV_END && words[type].what ? &words[type] : NULL;
}

const char *spec__arg_words(const char *name)
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
