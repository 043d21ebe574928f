/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a delivered event says: which resource went from which state to which, which range began,
 * the names, values and stacks.
 *
 * Before it in an event's way: trace/reader.c. After it: whoever prints or sums up, who need not
 * know the arguments of each event. The terms, names and states are those of Go's internal/trace
 * (Event.Kind(), StateTransition(), Range(), ...), so that both can be held against each other.
 */
#ifndef TRACE_MEANING_H
#define TRACE_MEANING_H

#include "trace/event.h"

enum meaning_kind {
	MEANING_BAD,
	MEANING_SYNC,
	MEANING_METRIC,
	MEANING_LABEL,
	MEANING_STACK_SAMPLE,
	MEANING_RANGE_BEGIN,
	MEANING_RANGE_ACTIVE,
	MEANING_RANGE_END,
	MEANING_TASK_BEGIN,
	MEANING_TASK_END,
	MEANING_REGION_BEGIN,
	MEANING_REGION_END,
	MEANING_LOG,
	MEANING_STATE_TRANSITION,
	MEANING_EXPERIMENTAL
};

enum trace_resource { RESOURCE_NONE, RESOURCE_GOROUTINE, RESOURCE_PROC };

struct meaning_value {
	const char *name; /* "bytes swept" */
	uint64_t value;
};

/* What a kind has no use for is zero. */
struct meaning {
	enum meaning_kind kind;
	/* Of a transition, a label, a range; ranges of RESOURCE_NONE are the whole program's. */
	enum trace_resource resource;
	uint8_t from, to; /* StateTransition: enum go_state or proc_state, by its resource */
	uint64_t id;	  /* the resource's; TRACE_NO_…: nobody's */
	/*
	 * Of a metric or a range; the label; a task's or a region's type; a log's category; the
	 * reason of a transition. A stop-the-world's has `before` and `after` put around it; they
	 * are "" in all others. Lives as long as the event's dictionary.
	 */
	struct trace_string name;
	const char *before, *after;
	struct trace_string message; /* Log */
	uint64_t task, parent;	     /* Task, Region, Log; TRACE_NO_TASK: no parent */
	/* Metric: its one; RangeEnd: its attributes; Experimental: its arguments. */
	struct meaning_value value[EV_ARGS_MAX - 1];
	unsigned int values;
	/* Ids: of who was running, and of the goroutine that changed its state. 0: none. */
	uint64_t stack, transition_stack;
};

void meaning__of(const struct trace_event *ev, struct meaning *ret);

const char *meaning__kind(enum meaning_kind kind); /* Go's name of it: "StateTransition" */
const char *meaning__event(unsigned int type);	   /* of an event: "GoCreate", "Sync" */
/* Go's name of a state: "Runnable". The resource is no RESOURCE_NONE. */
const char *meaning__state(enum trace_resource resource, uint8_t state);
const char *meaning__experiment(uint8_t experiment); /* enum ev_experiment, not EXPERIMENT_NONE */

#endif
