// SPDX-License-Identifier: GPL-2.0
/*
 * The event table of Go's v2 trace format, and look-ups in it.
 *
 * Everything that handles events reads this table: sequence/state.c to fill in arguments,
 * writer/writer.c to write them, reader/decode.c, text/ and reader/order.c to read and check them.
 * Names are exactly Go's, because the text form prints them. spec_doc.c documents the events in
 * prose.
 *
 * No event has been removed so far, so each row is valid up to the newest version. Since 1.25 a
 * lone Frequency does not make a sync batch any more; reader/decode.c handles that.
 */
#include <string.h>

#include "format/spec.h"

#define DT    { "dt", ARG_TIME }
#define STACK { "stack", ARG_STACK }
#define ARGS(...)                                                                                  \
	.arg = { __VA_ARGS__ },                                                                    \
	.nargs = sizeof((__typeof__(((struct ev_spec *)0)->arg[0])[]){ __VA_ARGS__ }) /            \
		 sizeof(((struct ev_spec *)0)->arg[0])
#define SINCE(first) .since = first, .until = TRACE_VERSION_NEWEST
#define TIMED(ev_name, first, ...)                                                                 \
	.name = ev_name, SINCE(first), .timed = true, ARGS(DT, ##__VA_ARGS__)
#define ALLOC_FREE(ev_name, ...)                                                                   \
	TIMED(ev_name, 23, { "id", ARG_ID }, ##__VA_ARGS__), .experiment = EXPERIMENT_ALLOC_FREE

static const struct ev_spec specs[EV_END] = {
	/* structure */
	[EV_EVENT_BATCH] = { "EventBatch", SINCE(22),
			     ARGS({ "gen", ARG_GEN }, { "m", ARG_M }, { "time", ARG_TIME },
				  { "size", ARG_SIZE }) },
	[EV_STACKS] = { "Stacks", SINCE(22) },
	[EV_STACK] = { "Stack", SINCE(22), .frames = true,
		       ARGS({ "id", ARG_ID }, { "nframes", ARG_SIZE }) },
	[EV_STRINGS] = { "Strings", SINCE(22) },
	[EV_STRING] = { "String", SINCE(22), .blob = true, ARGS({ "id", ARG_ID }) },
	[EV_CPU_SAMPLES] = { "CPUSamples", SINCE(22) },
	[EV_CPU_SAMPLE] = { "CPUSample", SINCE(22),
			    ARGS({ "time", ARG_TIME }, { "m", ARG_M }, { "p", ARG_P },
				 { "g", ARG_G }, STACK) },
	[EV_FREQUENCY] = { "Frequency", SINCE(22), ARGS({ "freq", ARG_VALUE }) },

	/* Ps */
	[EV_PROCS_CHANGE] = { TIMED("ProcsChange", 22, { "procs_value", ARG_VALUE }, STACK) },
	[EV_PROC_START] = { TIMED("ProcStart", 22, { "p", ARG_P }, { "p_seq", ARG_SEQ }) },
	[EV_PROC_STOP] = { TIMED("ProcStop", 22) },
	[EV_PROC_STEAL] = { TIMED("ProcSteal", 22, { "p", ARG_P }, { "p_seq", ARG_SEQ },
				  { "m", ARG_M }) },
	[EV_PROC_STATUS] = { TIMED("ProcStatus", 22, { "p", ARG_P }, { "pstatus", ARG_STATUS }) },

	/* goroutines */
	[EV_GO_CREATE] = { TIMED("GoCreate", 22, { "new_g", ARG_G }, { "new_stack", ARG_STACK },
				 STACK) },
	[EV_GO_CREATE_SYSCALL] = { TIMED("GoCreateSyscall", 22, { "new_g", ARG_G }) },
	[EV_GO_START] = { TIMED("GoStart", 22, { "g", ARG_G }, { "g_seq", ARG_SEQ }) },
	[EV_GO_DESTROY] = { TIMED("GoDestroy", 22) },
	[EV_GO_DESTROY_SYSCALL] = { TIMED("GoDestroySyscall", 22) },
	[EV_GO_STOP] = { TIMED("GoStop", 22, { "reason_string", ARG_STRING }, STACK) },
	[EV_GO_BLOCK] = { TIMED("GoBlock", 22, { "reason_string", ARG_STRING }, STACK) },
	[EV_GO_UNBLOCK] = { TIMED("GoUnblock", 22, { "g", ARG_G }, { "g_seq", ARG_SEQ }, STACK) },
	[EV_GO_SYSCALL_BEGIN] = { TIMED("GoSyscallBegin", 22, { "p_seq", ARG_SEQ }, STACK) },
	[EV_GO_SYSCALL_END] = { TIMED("GoSyscallEnd", 22), .start = EV_GO_SYSCALL_BEGIN },
	[EV_GO_SYSCALL_END_BLOCKED] = { TIMED("GoSyscallEndBlocked", 22),
					.start = EV_GO_SYSCALL_BEGIN },
	[EV_GO_STATUS] = { TIMED("GoStatus", 22, { "g", ARG_G }, { "m", ARG_M },
				 { "gstatus", ARG_STATUS }) },

	/* ranges and values */
	[EV_STW_BEGIN] = { TIMED("STWBegin", 22, { "kind_string", ARG_STRING }, STACK) },
	[EV_STW_END] = { TIMED("STWEnd", 22), .start = EV_STW_BEGIN },
	[EV_GC_ACTIVE] = { TIMED("GCActive", 22, { "gc_seq", ARG_SEQ }), .start = EV_GC_BEGIN },
	[EV_GC_BEGIN] = { TIMED("GCBegin", 22, { "gc_seq", ARG_SEQ }, STACK) },
	[EV_GC_END] = { TIMED("GCEnd", 22, { "gc_seq", ARG_SEQ }), .start = EV_GC_BEGIN },
	[EV_GC_SWEEP_ACTIVE] = { TIMED("GCSweepActive", 22, { "p", ARG_P }),
				 .start = EV_GC_SWEEP_BEGIN },
	[EV_GC_SWEEP_BEGIN] = { TIMED("GCSweepBegin", 22, STACK) },
	[EV_GC_SWEEP_END] = { TIMED("GCSweepEnd", 22, { "swept_value", ARG_BYTES },
				    { "reclaimed_value", ARG_BYTES }),
			      .start = EV_GC_SWEEP_BEGIN },
	[EV_GC_MARK_ASSIST_ACTIVE] = { TIMED("GCMarkAssistActive", 22, { "g", ARG_G }),
				       .start = EV_GC_MARK_ASSIST_BEGIN },
	[EV_GC_MARK_ASSIST_BEGIN] = { TIMED("GCMarkAssistBegin", 22, STACK) },
	[EV_GC_MARK_ASSIST_END] = { TIMED("GCMarkAssistEnd", 22),
				    .start = EV_GC_MARK_ASSIST_BEGIN },
	[EV_HEAP_ALLOC] = { TIMED("HeapAlloc", 22, { "heapalloc_value", ARG_BYTES }) },
	[EV_HEAP_GOAL] = { TIMED("HeapGoal", 22, { "heapgoal_value", ARG_BYTES }) },

	/* annotations */
	[EV_GO_LABEL] = { TIMED("GoLabel", 22, { "label_string", ARG_STRING }) },
	[EV_USER_TASK_BEGIN] = { TIMED("UserTaskBegin", 22, { "task", ARG_TASK },
				       { "parent_task", ARG_TASK }, { "name_string", ARG_STRING },
				       STACK) },
	[EV_USER_TASK_END] = { TIMED("UserTaskEnd", 22, { "task", ARG_TASK }, STACK) },
	[EV_USER_REGION_BEGIN] = { TIMED("UserRegionBegin", 22, { "task", ARG_TASK },
					 { "name_string", ARG_STRING }, STACK) },
	[EV_USER_REGION_END] = { TIMED("UserRegionEnd", 22, { "task", ARG_TASK },
				       { "name_string", ARG_STRING }, STACK),
				 .start = EV_USER_REGION_BEGIN },
	[EV_USER_LOG] = { TIMED("UserLog", 22, { "task", ARG_TASK }, { "key_string", ARG_STRING },
				{ "value_string", ARG_STRING }, STACK) },

	/* since 1.23: coroutines, statuses with a stack, experiments */
	[EV_GO_SWITCH] = { TIMED("GoSwitch", 23, { "g", ARG_G }, { "g_seq", ARG_SEQ }) },
	[EV_GO_SWITCH_DESTROY] = { TIMED("GoSwitchDestroy", 23, { "g", ARG_G },
					 { "g_seq", ARG_SEQ }) },
	[EV_GO_CREATE_BLOCKED] = { TIMED("GoCreateBlocked", 23, { "new_g", ARG_G },
					 { "new_stack", ARG_STACK }, STACK) },
	[EV_GO_STATUS_STACK] = { TIMED("GoStatusStack", 23, { "g", ARG_G }, { "m", ARG_M },
				       { "gstatus", ARG_STATUS }, STACK) },
	[EV_EXPERIMENTAL_BATCH] = { "ExperimentalBatch", SINCE(23), .blob = true,
				    ARGS({ "exp", ARG_VALUE }, { "gen", ARG_GEN }, { "m", ARG_M },
					 { "time", ARG_TIME }) },

	/* since 1.25 and 1.26 */
	[EV_SYNC] = { "Sync", SINCE(25) },
	[EV_CLOCK_SNAPSHOT] = { TIMED("ClockSnapshot", 25, { "mono", ARG_NS }, { "sec", ARG_SEC },
				      { "nsec", ARG_NS }) },
	[EV_END_OF_GENERATION] = { "EndOfGeneration", SINCE(26) },

	/* experiment AllocFree */
	[EV_SPAN] = { ALLOC_FREE("Span", { "npages_value", ARG_VALUE },
				 { "kindclass", ARG_VALUE }) },
	[EV_SPAN_ALLOC] = { ALLOC_FREE("SpanAlloc", { "npages_value", ARG_VALUE },
				       { "kindclass", ARG_VALUE }) },
	[EV_SPAN_FREE] = { ALLOC_FREE("SpanFree") },
	[EV_HEAP_OBJECT] = { ALLOC_FREE("HeapObject", { "type", ARG_VALUE }) },
	[EV_HEAP_OBJECT_ALLOC] = { ALLOC_FREE("HeapObjectAlloc", { "type", ARG_VALUE }) },
	[EV_HEAP_OBJECT_FREE] = { ALLOC_FREE("HeapObjectFree") },
	[EV_GOROUTINE_STACK] = { ALLOC_FREE("GoroutineStack", { "order", ARG_VALUE }) },
	[EV_GOROUTINE_STACK_ALLOC] = { ALLOC_FREE("GoroutineStackAlloc", { "order", ARG_VALUE }) },
	[EV_GOROUTINE_STACK_FREE] = { ALLOC_FREE("GoroutineStackFree") },
};

const struct ev_spec *spec__event(unsigned int type)
{
	return type < EV_END && specs[type].name ? &specs[type] : NULL;
}

bool spec__in_version(const struct ev_spec *spec, unsigned int version)
{
	return version >= spec->since && version <= spec->until;
}

bool spec__version_known(unsigned int version)
{
#define IS(known) (version == (known))
	return TRACE_VERSIONS(IS, ||, ||);
}

unsigned int spec__parse_version(const char *text)
{
#define FIND(version)                                                                              \
	if (!strcmp(text, TRACE_VERSION_TEXT(version)))                                            \
		return version;
	TRACE_VERSIONS(FIND, , )
	return 0;
}

unsigned int spec__version_for(unsigned int minor)
{
	if (minor < 22 || minor >= 25)
		return 25;
	return minor == 22 ? 22 : 23;
}
