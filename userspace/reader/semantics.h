/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The semantics of a delivered event: the transition of a resource, the range that begins or ends,
 * names, values and stacks.
 *
 * Upstream: reader/reader.c. Downstream: whatever prints or aggregates events without knowing the
 * arguments of each type. The rules of reader/order.c use the states of a status. Terms, names and
 * states are those of Go's internal/trace (Event.Kind(), StateTransition(), Range(), ...), so that
 * the results can be compared.
 */
#ifndef READER_SEMANTICS_H
#define READER_SEMANTICS_H

#include "format/event.h"

enum semantics_kind {
	SEMANTICS_BAD,
	SEMANTICS_SYNC,
	SEMANTICS_METRIC,
	SEMANTICS_LABEL,
	SEMANTICS_STACK_SAMPLE,
	SEMANTICS_RANGE_BEGIN,
	SEMANTICS_RANGE_ACTIVE,
	SEMANTICS_RANGE_END,
	SEMANTICS_TASK_BEGIN,
	SEMANTICS_TASK_END,
	SEMANTICS_REGION_BEGIN,
	SEMANTICS_REGION_END,
	SEMANTICS_LOG,
	SEMANTICS_STATE_TRANSITION,
	SEMANTICS_EXPERIMENTAL
};

enum trace_resource { RESOURCE_NONE, RESOURCE_GOROUTINE, RESOURCE_PROC };

struct semantics_value {
	const char *name; /* "bytes swept" */
	uint64_t value;
};

/* Members that a kind does not use are zero, except value[], of which only `values` are set. */
struct semantics {
	enum semantics_kind kind;
	/* Of a transition, label or range. Ranges of RESOURCE_NONE belong to the whole program. */
	enum trace_resource resource;
	uint8_t from, to; /* StateTransition: enum go_state or proc_state */
	uint64_t id;	  /* of the resource; TRACE_NO_...: none */
	/*
	 * Name of a metric, range or label; type of a task or region; category of a log; reason of
	 * a transition. For a stop-the-world pause, print it between `before` and `after`, which
	 * are "" otherwise. Lives as long as the event's dictionary.
	 */
	struct trace_string name;
	const char *before, *after;
	struct trace_string message; /* Log */
	uint64_t task, parent;	     /* Task, Region, Log; TRACE_NO_TASK: no parent */
	/* Metric: its value; RangeEnd: its attributes; Experimental: its arguments. */
	struct semantics_value value[EV_ARGS_MAX - 1];
	unsigned int values;
	/* Stack ids: of the running goroutine, and of the one that changed its state. 0: none. */
	uint64_t stack, transition_stack;
};

void semantics__of(const struct trace_event *ev, struct semantics *ret);

/*
 * Sets the name of a status to the reason why the goroutine waits: that of private data, or else what its
 * stack shows (parking.h). Go's reader knows no reason for a status, so output that is compared with
 * Go's is made without this.
 */
void semantics__add_reason(const struct trace_event *ev, struct semantics *m);

const char *semantics__kind(enum semantics_kind kind); /* as in Go: "StateTransition" */
const char *semantics__event(unsigned int type);       /* of an event type: "GoCreate", "Sync" */
/* Name of a state as in Go: "Runnable". Not for RESOURCE_NONE. */
const char *semantics__state(enum trace_resource resource, uint8_t state);
/* Of an enum ev_experiment except EXPERIMENT_NONE. */
const char *semantics__experiment(uint8_t experiment);
/* The mode of a GC worker, such as "GC (dedicated)"; other texts of a GoLabel are labels of the program. */
bool semantics__is_worker_mode(struct trace_string label);
bool semantics__is_worker_label(const struct semantics *m); /* a GoLabel with such a text */
uint8_t semantics__go_state(uint64_t status);	/* enum go_state of an enum trace_go_status */
uint8_t semantics__proc_state(uint64_t status); /* enum proc_state of an enum trace_proc_status */

#endif
