/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An event as a reader delivers it: ordered, in nanoseconds, with the thread, P and goroutine that
 * it happened on.
 *
 * Made by trace/order.c (v2) or trace/v1_convert.c (v1), handed out by trace/reader.c, one by one;
 * read by every command of gotrace. The same stream as golang.org/x/exp/trace's: order, times,
 * contexts and rewritten arguments are those of its Reader.
 */
#ifndef TRACE_EVENT_H
#define TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/dictionary.h"
#include "trace/spec.h"

#define TRACE_NO_P    UINT64_MAX
#define TRACE_NO_G    UINT64_MAX
#define TRACE_NO_TASK UINT64_MAX /* no parent; 0 is the background task */

/* States that a transition starts from. Those of goroutines and Ps have Go's order and names. */
enum go_state {
	GO_STATE_UNDETERMINED,
	GO_STATE_NOT_EXIST,
	GO_STATE_RUNNABLE,
	GO_STATE_RUNNING,
	GO_STATE_WAITING,
	GO_STATE_SYSCALL
};
enum proc_state {
	PROC_STATE_UNDETERMINED,
	PROC_STATE_NOT_EXIST,
	PROC_STATE_RUNNING,
	PROC_STATE_IDLE
};

struct trace_clock { /* what ties a generation to other clocks; header 1.25 and later */
	bool known;
	int64_t time;	    /* of the trace, ns */
	uint64_t mono;	    /* CLOCK_MONOTONIC, ns */
	uint64_t sec, nsec; /* CLOCK_REALTIME */
};

struct trace_sync {	/* of an EV_SYNC: that a generation begins; the last one ends the trace */
	unsigned int n; /* 1, 2, … */
	uint64_t generation; /* 0: the end, or a v1 trace */
	struct trace_clock clock;
};

struct trace_event {
	int64_t time; /* ns; strictly increasing from event to event */
	int64_t raw;  /* ns: as the file has it, before that */
	uint8_t type; /* enum ev; also EV_SYNC and EV_CPU_SAMPLE */
	bool extra;   /* not in the file: follows from the event before or after it (GoSwitch) */
	uint8_t old;  /* status events, ProcSteal: the state before (enum go_state, proc_state;
			   of ProcSteal the P's enum trace_proc_status) */
	uint64_t m, p, g; /* the context that it happened in; TRACE_NO_… */
	/* Those after dt, as spec.c lists them. CPUSample: arg[0] is the stack. STWEnd: arg[0] is
	   the kind of its begin. UserTaskBegin: a parent of 0 is TRACE_NO_TASK. */
	uint64_t arg[EV_ARGS_MAX - 1];
	/* UserTaskEnd: what its begin said (parent; TRACE_NO_TASK and empty: not seen). The name is
	   valid until the next call of the reader. */
	uint64_t parent;
	struct trace_string name;
	/* What ids in it mean, and the sync for an EV_SYNC: valid until the next call of the
	   reader. NULL for a sync at the end. */
	const struct dictionary *words;
	const struct trace_sync *sync;
	uint64_t offset; /* of the batch in the file that holds it; 0: in none */
};

/*
 * How many events a trace has is how many of these: what happened, statuses and CPU samples, but not
 * the syncs, nor what a reader makes of another event. The recorder, its index and all commands agree.
 */
static inline bool trace_event__is_of_file(const struct trace_event *ev)
{
	return ev->type != EV_SYNC && !ev->extra;
}

#endif
