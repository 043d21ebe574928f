// SPDX-License-Identifier: GPL-2.0
/*
 * What each type of event says: a table with a row for each, and the few that need more than a row.
 *
 * Comes after trace/reader.c and before all that print or sum up; see meaning.h. Nothing is
 * allocated, names point into the event's dictionary.
 */
#include <string.h>

#include "trace/meaning.h"

/* Where the id of the resource stands. */
enum whose { NOBODY, ARG0, OWN_G, OWN_P };

struct row {
	uint8_t kind, resource, whose;
	uint8_t from, to;
	/* Which arguments are the name and the stacks, counted from 1; 0: none */
	uint8_t name_arg, stack_arg, transition_arg;
	const char *fixed; /* the name that is no argument */
};

#define STACK_OF(n) .stack_arg = (n)
#define GO(from_, to_, whose_)                                                                     \
	.kind = MEANING_STATE_TRANSITION, .resource = RESOURCE_GOROUTINE, .whose = (whose_),       \
	.from = GO_STATE_##from_, .to = GO_STATE_##to_
#define PROC(from_, to_, whose_)                                                                   \
	.kind = MEANING_STATE_TRANSITION, .resource = RESOURCE_PROC, .whose = (whose_),            \
	.from = PROC_STATE_##from_, .to = PROC_STATE_##to_
#define METRIC(name) .kind = MEANING_METRIC, .fixed = (name)
#define RANGE(what, resource_, whose_, name)                                                       \
	.kind = MEANING_RANGE_##what, .resource = (resource_), .whose = (whose_), .fixed = (name)
#define STW(what)	RANGE(what, RESOURCE_GOROUTINE, OWN_G, NULL), .name_arg = 1
#define GC(what)	RANGE(what, RESOURCE_NONE, NOBODY, "GC concurrent mark phase")
#define SWEEP(what, w)	RANGE(what, RESOURCE_PROC, w, "GC incremental sweep")
#define ASSIST(what, w) RANGE(what, RESOURCE_GOROUTINE, w, "GC mark assist")

static const struct row rows[EV_END] = {
	[EV_SYNC] = { MEANING_SYNC },
	[EV_CPU_SAMPLE] = { MEANING_STACK_SAMPLE, STACK_OF(1) },

	/* metrics, with the names of Go's runtime/metrics */
	[EV_PROCS_CHANGE] = { METRIC("/sched/gomaxprocs:threads"), STACK_OF(2) },
	[EV_HEAP_ALLOC] = { METRIC("/memory/classes/heap/objects:bytes") },
	[EV_HEAP_GOAL] = { METRIC("/gc/heap/goal:bytes") },

	/* Ps; where a status or a steal starts from is in the event */
	[EV_PROC_START] = { PROC(IDLE, RUNNING, ARG0) },
	[EV_PROC_STOP] = { PROC(RUNNING, IDLE, OWN_P) },
	[EV_PROC_STEAL] = { PROC(RUNNING, IDLE, ARG0) },
	[EV_PROC_STATUS] = { PROC(UNDETERMINED, UNDETERMINED, ARG0) },

	/* goroutines: who acts on another one has a stack, which is not that one's */
	[EV_GO_CREATE] = { GO(NOT_EXIST, RUNNABLE, ARG0), STACK_OF(3), .transition_arg = 2 },
	[EV_GO_CREATE_BLOCKED] = { GO(NOT_EXIST, WAITING, ARG0), STACK_OF(3), .transition_arg = 2 },
	[EV_GO_CREATE_SYSCALL] = { GO(NOT_EXIST, SYSCALL, ARG0) },
	[EV_GO_START] = { GO(RUNNABLE, RUNNING, ARG0) },
	[EV_GO_DESTROY] = { GO(RUNNING, NOT_EXIST, OWN_G) },
	[EV_GO_DESTROY_SYSCALL] = { GO(SYSCALL, NOT_EXIST, OWN_G) },
	[EV_GO_STOP] = { GO(RUNNING, RUNNABLE, OWN_G), STACK_OF(2), .transition_arg = 2,
			 .name_arg = 1 },
	[EV_GO_BLOCK] = { GO(RUNNING, WAITING, OWN_G), STACK_OF(2), .transition_arg = 2,
			  .name_arg = 1 },
	[EV_GO_UNBLOCK] = { GO(WAITING, RUNNABLE, ARG0), STACK_OF(3) },
	/* what else a switch does is told by the events that follow it */
	[EV_GO_SWITCH] = { GO(WAITING, RUNNABLE, ARG0) },
	[EV_GO_SWITCH_DESTROY] = { GO(WAITING, RUNNABLE, ARG0) },
	[EV_GO_SYSCALL_BEGIN] = { GO(RUNNING, SYSCALL, OWN_G), STACK_OF(2), .transition_arg = 2 },
	[EV_GO_SYSCALL_END] = { GO(SYSCALL, RUNNING, OWN_G) },
	[EV_GO_SYSCALL_END_BLOCKED] = { GO(SYSCALL, RUNNABLE, OWN_G) },
	[EV_GO_STATUS] = { GO(UNDETERMINED, UNDETERMINED, ARG0) },
	[EV_GO_STATUS_STACK] = { GO(UNDETERMINED, UNDETERMINED, ARG0), STACK_OF(4),
				 .transition_arg = 4 },

	/* ranges */
	[EV_STW_BEGIN] = { STW(BEGIN), STACK_OF(2) },
	[EV_STW_END] = { STW(END) },
	[EV_GC_ACTIVE] = { GC(ACTIVE) },
	[EV_GC_BEGIN] = { GC(BEGIN), STACK_OF(2) },
	[EV_GC_END] = { GC(END) },
	[EV_GC_SWEEP_ACTIVE] = { SWEEP(ACTIVE, ARG0) },
	[EV_GC_SWEEP_BEGIN] = { SWEEP(BEGIN, OWN_P), STACK_OF(1) },
	[EV_GC_SWEEP_END] = { SWEEP(END, OWN_P) },
	[EV_GC_MARK_ASSIST_ACTIVE] = { ASSIST(ACTIVE, ARG0) },
	[EV_GC_MARK_ASSIST_BEGIN] = { ASSIST(BEGIN, OWN_G), STACK_OF(1) },
	[EV_GC_MARK_ASSIST_END] = { ASSIST(END, OWN_G) },

	/* annotations */
	[EV_GO_LABEL] = { MEANING_LABEL, RESOURCE_GOROUTINE, OWN_G, .name_arg = 1 },
	[EV_USER_TASK_BEGIN] = { MEANING_TASK_BEGIN, STACK_OF(4), .name_arg = 3 },
	[EV_USER_TASK_END] = { MEANING_TASK_END, STACK_OF(2) },
	[EV_USER_REGION_BEGIN] = { MEANING_REGION_BEGIN, STACK_OF(3), .name_arg = 2 },
	[EV_USER_REGION_END] = { MEANING_REGION_END, STACK_OF(3), .name_arg = 2 },
	[EV_USER_LOG] = { MEANING_LOG, STACK_OF(4), .name_arg = 2 },

	/* experiment AllocFree */
	[EV_SPAN] = { MEANING_EXPERIMENTAL },
	[EV_SPAN_ALLOC] = { MEANING_EXPERIMENTAL },
	[EV_SPAN_FREE] = { MEANING_EXPERIMENTAL },
	[EV_HEAP_OBJECT] = { MEANING_EXPERIMENTAL },
	[EV_HEAP_OBJECT_ALLOC] = { MEANING_EXPERIMENTAL },
	[EV_HEAP_OBJECT_FREE] = { MEANING_EXPERIMENTAL },
	[EV_GOROUTINE_STACK] = { MEANING_EXPERIMENTAL },
	[EV_GOROUTINE_STACK_ALLOC] = { MEANING_EXPERIMENTAL },
	[EV_GOROUTINE_STACK_FREE] = { MEANING_EXPERIMENTAL },
};

static const uint8_t go_states[] = {
	GO_STATE_UNDETERMINED, /* a status of 0, which the reader lets pass */
	[GO_RUNNABLE] = GO_STATE_RUNNABLE,
	[GO_RUNNING] = GO_STATE_RUNNING,
	[GO_SYSCALL] = GO_STATE_SYSCALL,
	[GO_WAITING] = GO_STATE_WAITING,
};

/* A P in a system call counts as running, one that its thread gave up as idle. */
static const uint8_t proc_states[] = {
	PROC_STATE_UNDETERMINED,
	[PROC_RUNNING] = PROC_STATE_RUNNING,
	[PROC_IDLE] = PROC_STATE_IDLE,
	[PROC_SYSCALL] = PROC_STATE_RUNNING,
	[PROC_ABANDONED] = PROC_STATE_IDLE,
};

/*
 * The string of an argument. The reader has checked that it is there, but for the kind of a
 * stop-the-world that ends in a later generation than it began: that one's strings are gone, and
 * the name stays empty.
 */
static void name_it(const struct trace_event *ev, unsigned int arg, struct trace_string *ret)
{
	if (!dictionary__string(ev->words, ev->arg[arg], ret))
		*ret = (struct trace_string){};
}

static struct trace_string fixed_string(const char *text)
{
	return (struct trace_string){ .data = text, .len = (uint32_t)strlen(text) };
}

static void add_value(struct meaning *m, const char *name, uint64_t value)
{
	m->value[m->values++] = (struct meaning_value){ .name = name, .value = value };
}

static void fill_experimental(const struct trace_event *ev, struct meaning *m)
{
	const struct ev_spec *spec = spec__event(ev->type);

	m->name = fixed_string(spec->name);
	for (unsigned int i = 1; i < spec->nargs; i++)
		add_value(m, spec->arg[i].name, ev->arg[i - 1]);
}

/* Tasks, regions and logs begin with the task. */
static void fill_annotation(const struct trace_event *ev, struct meaning *m)
{
	m->task = ev->arg[0];
	if (ev->type == EV_USER_LOG) {
		name_it(ev, 2, &m->message);
	} else if (ev->type == EV_USER_TASK_BEGIN) {
		m->parent = ev->arg[1];
	} else if (ev->type == EV_USER_TASK_END) {
		m->parent = ev->parent;
		m->name = ev->name;
	}
}

/* Those whose states are not the same each time. */
static void fill_states(const struct trace_event *ev, struct meaning *m)
{
	switch (ev->type) {
	case EV_PROC_STATUS:
		m->from = ev->old;
		m->to = proc_states[ev->arg[1]];
		break;
	case EV_PROC_STEAL: /* of which P the thread lost track: it may run with another by now */
		if (ev->old == PROC_ABANDONED)
			m->from = PROC_STATE_IDLE;
		break;
	case EV_GO_STATUS:
	case EV_GO_STATUS_STACK:
		m->from = ev->old;
		m->to = go_states[ev->arg[2]];
		break;
	}
}

static void fill_range(const struct trace_event *ev, struct meaning *m)
{
	if (ev->type == EV_STW_BEGIN || ev->type == EV_STW_END) {
		m->before = "stop-the-world (";
		m->after = ")";
	} else if (ev->type == EV_GC_SWEEP_END) {
		add_value(m, "bytes swept", ev->arg[0]);
		add_value(m, "bytes reclaimed", ev->arg[1]);
	}
}

void meaning__of(const struct trace_event *ev, struct meaning *ret)
{
	const struct row *row = &rows[ev->type];

	*ret = (struct meaning){
		.kind = row->kind,
		.resource = row->resource,
		.from = row->from,
		.to = row->to,
		.before = "",
		.after = "",
	};
	if (row->whose != NOBODY)
		ret->id = row->whose == ARG0 ? ev->arg[0] : row->whose == OWN_G ? ev->g : ev->p;
	if (row->stack_arg)
		ret->stack = ev->arg[row->stack_arg - 1];
	if (row->transition_arg)
		ret->transition_stack = ev->arg[row->transition_arg - 1];
	if (row->name_arg)
		name_it(ev, row->name_arg - 1, &ret->name);
	else if (row->fixed)
		ret->name = fixed_string(row->fixed);

	switch (ret->kind) {
	case MEANING_STATE_TRANSITION:
		fill_states(ev, ret);
		break;
	case MEANING_METRIC:
		add_value(ret, "value", ev->arg[0]);
		break;
	case MEANING_RANGE_BEGIN:
	case MEANING_RANGE_END:
		fill_range(ev, ret);
		break;
	case MEANING_EXPERIMENTAL:
		fill_experimental(ev, ret);
		break;
	default:
		if (ret->kind >= MEANING_TASK_BEGIN && ret->kind <= MEANING_LOG)
			fill_annotation(ev, ret);
	}
}

const char *meaning__kind(enum meaning_kind kind)
{
	static const char *const names[] = {
		[MEANING_BAD] = "Bad",
		[MEANING_SYNC] = "Sync",
		[MEANING_METRIC] = "Metric",
		[MEANING_LABEL] = "Label",
		[MEANING_STACK_SAMPLE] = "StackSample",
		[MEANING_RANGE_BEGIN] = "RangeBegin",
		[MEANING_RANGE_ACTIVE] = "RangeActive",
		[MEANING_RANGE_END] = "RangeEnd",
		[MEANING_TASK_BEGIN] = "TaskBegin",
		[MEANING_TASK_END] = "TaskEnd",
		[MEANING_REGION_BEGIN] = "RegionBegin",
		[MEANING_REGION_END] = "RegionEnd",
		[MEANING_LOG] = "Log",
		[MEANING_STATE_TRANSITION] = "StateTransition",
		[MEANING_EXPERIMENTAL] = "Experimental",
	};

	return names[kind];
}

const char *meaning__event(unsigned int type)
{
	return spec__event(type)->name;
}

const char *meaning__state(enum trace_resource resource, uint8_t state)
{
	static const char *const go[] = { "Undetermined", "NotExist", "Runnable",
					  "Running",	  "Waiting",  "Syscall" };
	static const char *const proc[] = { "Undetermined", "NotExist", "Running", "Idle" };

	return resource == RESOURCE_GOROUTINE ? go[state] : proc[state];
}

const char *meaning__experiment(uint8_t experiment)
{
	static const char *const names[] = { [EXPERIMENT_ALLOC_FREE] = "AllocFree" };

	return names[experiment];
}
