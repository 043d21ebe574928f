// SPDX-License-Identifier: GPL-2.0
/*
 * The semantics of each event type: a table with a row per type, and functions for the exceptions.
 *
 * Upstream: reader/reader.c. Downstream: all commands that print or aggregate; see semantics.h.
 * Nothing is allocated; names point into the event's dictionary.
 */
#include <string.h>

#include "format/parked_read.h"
#include "reader/parking.h"
#include "reader/semantics.h"

/* Where the id of the resource comes from: nowhere, argument 0, or the context. */
enum resource_source { NOWHERE, ARG0, OWN_G, OWN_P };

struct event_row {
	uint8_t kind, resource, id_from;
	uint8_t from, to;
	/* Number of the argument with the name, and of those with stacks, from 1; 0: none. */
	uint8_t name_arg, stack_arg, transition_arg;
	const char *fixed; /* a name that is not an argument */
};

#define STACK_OF(n) .stack_arg = (n)
#define GO(from_, to_, whose_)                                                                     \
	.kind = SEMANTICS_STATE_TRANSITION, .resource = RESOURCE_GOROUTINE, .id_from = (whose_),   \
	.from = GO_STATE_##from_, .to = GO_STATE_##to_
#define PROC(from_, to_, whose_)                                                                   \
	.kind = SEMANTICS_STATE_TRANSITION, .resource = RESOURCE_PROC, .id_from = (whose_),        \
	.from = PROC_STATE_##from_, .to = PROC_STATE_##to_
#define METRIC(name) .kind = SEMANTICS_METRIC, .fixed = (name)
#define RANGE(what, resource_, whose_, name)                                                       \
	.kind = SEMANTICS_RANGE_##what, .resource = (resource_), .id_from = (whose_),              \
	.fixed = (name)
#define STW(what)	RANGE(what, RESOURCE_GOROUTINE, OWN_G, NULL), .name_arg = 1
#define GC(what)	RANGE(what, RESOURCE_NONE, NOWHERE, "GC concurrent mark phase")
#define SWEEP(what, w)	RANGE(what, RESOURCE_PROC, w, "GC incremental sweep")
#define ASSIST(what, w) RANGE(what, RESOURCE_GOROUTINE, w, "GC mark assist")

static const struct event_row rows[EV_END] = {
	[EV_SYNC] = { SEMANTICS_SYNC },
	[EV_CPU_SAMPLE] = { SEMANTICS_STACK_SAMPLE, STACK_OF(1) },

	/* metrics, with the names of Go's runtime/metrics */
	[EV_PROCS_CHANGE] = { METRIC("/sched/gomaxprocs:threads"), STACK_OF(2) },
	[EV_HEAP_ALLOC] = { METRIC("/memory/classes/heap/objects:bytes") },
	[EV_HEAP_GOAL] = { METRIC("/gc/heap/goal:bytes") },

	/* Ps; the event contains the previous state for a status or a steal */
	[EV_PROC_START] = { PROC(IDLE, RUNNING, ARG0) },
	[EV_PROC_STOP] = { PROC(RUNNING, IDLE, OWN_P) },
	[EV_PROC_STEAL] = { PROC(RUNNING, IDLE, ARG0) },
	[EV_PROC_STATUS] = { PROC(UNDETERMINED, UNDETERMINED, ARG0) },

	/* goroutines; the stack of an event about another goroutine is not that one's */
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
	/* the events derived from a switch report its other effects */
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
	[EV_GO_LABEL] = { SEMANTICS_LABEL, RESOURCE_GOROUTINE, OWN_G, .name_arg = 1 },
	[EV_USER_TASK_BEGIN] = { SEMANTICS_TASK_BEGIN, STACK_OF(4), .name_arg = 3 },
	[EV_USER_TASK_END] = { SEMANTICS_TASK_END, STACK_OF(2) },
	[EV_USER_REGION_BEGIN] = { SEMANTICS_REGION_BEGIN, STACK_OF(3), .name_arg = 2 },
	[EV_USER_REGION_END] = { SEMANTICS_REGION_END, STACK_OF(3), .name_arg = 2 },
	[EV_USER_LOG] = { SEMANTICS_LOG, STACK_OF(4), .name_arg = 2 },

	/* experiment AllocFree */
	[EV_SPAN... EV_GOROUTINE_STACK_FREE] = { SEMANTICS_EXPERIMENTAL },
};

bool semantics__is_worker_mode(struct trace_string label)
{
	static const char prefix[] = "GC (";

	return label.len >= sizeof(prefix) && trace_string__begins(label, prefix);
}

bool semantics__is_worker_label(const struct semantics *m)
{
	return m->kind == SEMANTICS_LABEL && semantics__is_worker_mode(m->name);
}

/* The reader permits status 0. */
uint8_t semantics__go_state(uint64_t status)
{
	static const uint8_t states[] = {
		GO_STATE_UNDETERMINED,		 [GO_RUNNABLE] = GO_STATE_RUNNABLE,
		[GO_RUNNING] = GO_STATE_RUNNING, [GO_SYSCALL] = GO_STATE_SYSCALL,
		[GO_WAITING] = GO_STATE_WAITING,
	};

	return status < sizeof(states) ? states[status] : GO_STATE_UNDETERMINED;
}

/* A P in a system call counts as running, an abandoned one as idle. */
uint8_t semantics__proc_state(uint64_t status)
{
	static const uint8_t states[] = {
		PROC_STATE_UNDETERMINED,
		[PROC_RUNNING] = PROC_STATE_RUNNING,
		[PROC_IDLE] = PROC_STATE_IDLE,
		[PROC_SYSCALL] = PROC_STATE_RUNNING,
		[PROC_ABANDONED] = PROC_STATE_IDLE,
	};

	return status < sizeof(states) ? states[status] : PROC_STATE_UNDETERMINED;
}

/*
 * The string of an argument. The reader has checked that it exists, with one exception: if a
 * stop-the-world pause ends in a later generation, the string table with its kind is gone, and the
 * name is empty.
 */
static void find_name(const struct trace_event *ev, unsigned int arg, struct trace_string *ret)
{
	if (!dictionary__string(ev->dictionary, ev->arg[arg], ret))
		*ret = (struct trace_string){};
}

static struct trace_string fixed_string(const char *text)
{
	return (struct trace_string){ .data = text, .len = (uint32_t)strlen(text) };
}

static void add_value(struct semantics *m, const char *name, uint64_t value)
{
	m->value[m->values++] = (struct semantics_value){ .name = name, .value = value };
}

static void fill_experimental(const struct trace_event *ev, struct semantics *m)
{
	const struct ev_spec *spec = spec__event(ev->type);

	m->name = fixed_string(spec->name);
	for (unsigned int i = 1; i < spec->nargs; i++)
		add_value(m, spec->arg[i].name, ev->arg[i - 1]);
}

/* The first argument of tasks, regions and logs is the task. */
static void fill_annotation(const struct trace_event *ev, struct semantics *m)
{
	m->task = ev->arg[0];
	if (ev->type == EV_USER_LOG) {
		find_name(ev, 2, &m->message);
	} else if (ev->type == EV_USER_TASK_BEGIN) {
		m->parent = ev->arg[1];
	} else if (ev->type == EV_USER_TASK_END) {
		m->parent = ev->parent;
		m->name = ev->name;
	}
}

/* Transitions whose states depend on the event. */
static void fill_states(const struct trace_event *ev, struct semantics *m)
{
	switch (ev->type) {
	case EV_PROC_STATUS:
		m->from = ev->old;
		m->to = semantics__proc_state(ev->arg[1]);
		break;
	case EV_PROC_STEAL: /* if abandoned, its thread may already have another P */
		if (ev->old == PROC_ABANDONED)
			m->from = PROC_STATE_IDLE;
		break;
	case EV_GO_STATUS: /* header 1.22 has no status with a stack */
		m->stack = m->transition_stack = dictionary__start(ev->dictionary, ev->arg[0]);
		m->from = ev->old;
		m->to = semantics__go_state(ev->arg[2]);
		break;
	case EV_GO_STATUS_STACK:
		m->from = ev->old;
		m->to = semantics__go_state(ev->arg[2]);
		break;
	}
}

static void fill_range(const struct trace_event *ev, struct semantics *m)
{
	if (ev->type == EV_STW_BEGIN || ev->type == EV_STW_END) {
		m->before = "stop-the-world (";
		m->after = ")";
	} else if (ev->type == EV_GC_SWEEP_END) {
		add_value(m, "bytes swept", ev->arg[0]);
		add_value(m, "bytes reclaimed", ev->arg[1]);
	}
}

void semantics__of(const struct trace_event *ev, struct semantics *ret)
{
	const struct event_row *row = &rows[ev->type];

	/*
	 * Member by member: for a whole struct of this size the compiler emits "rep stos", which
	 * took a third of the time of `gotrace goroutines`.
	 */
	ret->kind = row->kind;
	ret->resource = row->resource;
	ret->from = row->from;
	ret->to = row->to;
	ret->id = 0;
	ret->name = (struct trace_string){};
	ret->before = ret->after = "";
	ret->message = (struct trace_string){};
	ret->task = ret->parent = 0;
	ret->values = 0;
	ret->stack = ret->transition_stack = 0;
	if (row->id_from != NOWHERE)
		ret->id = row->id_from == ARG0 ? ev->arg[0] : row->id_from == OWN_G ? ev->g : ev->p;
	if (row->stack_arg)
		ret->stack = ev->arg[row->stack_arg - 1];
	if (row->transition_arg)
		ret->transition_stack = ev->arg[row->transition_arg - 1];
	if (row->name_arg)
		find_name(ev, row->name_arg - 1, &ret->name);
	else if (row->fixed)
		ret->name = fixed_string(row->fixed);

	switch (ret->kind) {
	case SEMANTICS_STATE_TRANSITION:
		fill_states(ev, ret);
		break;
	case SEMANTICS_METRIC:
		add_value(ret, "value", ev->arg[0]);
		break;
	case SEMANTICS_RANGE_BEGIN:
	case SEMANTICS_RANGE_END:
		fill_range(ev, ret);
		break;
	case SEMANTICS_EXPERIMENTAL:
		fill_experimental(ev, ret);
		break;
	default:
		if (ret->kind >= SEMANTICS_TASK_BEGIN && ret->kind <= SEMANTICS_LOG)
			fill_annotation(ev, ret);
	}
}

void semantics__add_reason(const struct trace_event *ev, struct semantics *m)
{
	if (m->kind != SEMANTICS_STATE_TRANSITION || m->resource != RESOURCE_GOROUTINE ||
	    m->from != GO_STATE_UNDETERMINED || m->to != GO_STATE_WAITING || !ev->dictionary)
		return;
	m->name = parked_list__reason(&ev->dictionary->parked, m->id);
	if (!m->name.len)
		m->name = parking__reason(ev->dictionary, m->transition_stack);
}

const char *semantics__kind(enum semantics_kind kind)
{
	static const char *const names[] = {
		[SEMANTICS_BAD] = "Bad",
		[SEMANTICS_SYNC] = "Sync",
		[SEMANTICS_METRIC] = "Metric",
		[SEMANTICS_LABEL] = "Label",
		[SEMANTICS_STACK_SAMPLE] = "StackSample",
		[SEMANTICS_RANGE_BEGIN] = "RangeBegin",
		[SEMANTICS_RANGE_ACTIVE] = "RangeActive",
		[SEMANTICS_RANGE_END] = "RangeEnd",
		[SEMANTICS_TASK_BEGIN] = "TaskBegin",
		[SEMANTICS_TASK_END] = "TaskEnd",
		[SEMANTICS_REGION_BEGIN] = "RegionBegin",
		[SEMANTICS_REGION_END] = "RegionEnd",
		[SEMANTICS_LOG] = "Log",
		[SEMANTICS_STATE_TRANSITION] = "StateTransition",
		[SEMANTICS_EXPERIMENTAL] = "Experimental",
	};

	return names[kind];
}

const char *semantics__event(unsigned int type)
{
	return spec__event(type)->name;
}

const char *semantics__state(enum trace_resource resource, uint8_t state)
{
	static const char *const go[] = { "Undetermined", "NotExist", "Runnable",
					  "Running",	  "Waiting",  "Syscall" };
	static const char *const proc[] = { "Undetermined", "NotExist", "Running", "Idle" };

	return resource == RESOURCE_GOROUTINE ? go[state] : proc[state];
}

const char *semantics__experiment(uint8_t experiment)
{
	static const char *const names[] = { [EXPERIMENT_ALLOC_FREE] = "AllocFree" };

	return names[experiment];
}
