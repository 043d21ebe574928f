/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An event as the reader delivers it: ordered, with times in nanoseconds, and with the thread, P
 * and goroutine on which it happened.
 *
 * reader/order.c (v2) and v1/v1_convert.c (v1) make events, reader/reader.c returns them one by
 * one, and all commands of gotrace consume them. Order, times, contexts and rewritten arguments are
 * those of the Reader of golang.org/x/exp/trace.
 */
#ifndef FORMAT_EVENT_H
#define FORMAT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/dictionary.h"
#include "format/spec.h"

#define TRACE_NO_P    UINT64_MAX
#define TRACE_NO_G    UINT64_MAX
#define TRACE_NO_TASK UINT64_MAX /* no parent; task 0 is the background task */

/* States before a transition. Order and names are those of Go's internal/trace. */
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

/*
 * Relates a generation to other clocks: the ClockSnapshot of headers 1.25 and later, and before
 * these the private data of gotrace-bpf.
 */
struct trace_clock {
	bool known;
	int64_t time;	    /* of the trace, ns */
	uint64_t mono;	    /* CLOCK_MONOTONIC, ns */
	uint64_t sec, nsec; /* CLOCK_REALTIME */
};

/* CLOCK_REALTIME at clock->time, ns. False: it is unknown, or such as no machine has. */
static inline bool trace_clock__wall(const struct trace_clock *clock, int64_t *ret)
{
	if (!clock->known || clock->nsec >= 1000000000 || clock->sec >= INT64_MAX / 1000000000)
		return false;
	*ret = (int64_t)(clock->sec * 1000000000 + clock->nsec);
	return true;
}

/* Data of an EV_SYNC: a generation begins. The last one marks the end of the trace. */
struct trace_sync {
	unsigned int n;	     /* 1, 2, ... */
	uint64_t generation; /* 0: end of the trace, or a v1 trace */
	struct trace_clock clock;
};

struct trace_event {
	int64_t time; /* ns; strictly increasing */
	int64_t raw;  /* ns; as in the file, before it was made increasing */
	uint8_t type; /* enum ev, including EV_SYNC and EV_CPU_SAMPLE */
	bool extra;   /* not in the file: derived from an adjacent event (GoSwitch) */
	uint8_t old;  /* previous enum go_state, proc_state; ProcSteal: enum trace_proc_status */
	uint64_t m, p, g; /* context of the event; TRACE_NO_... */
	/*
	 * The arguments after dt, in the order of spec.c. CPUSample: arg[0] is the stack. STWEnd:
	 * arg[0] is the kind of its STWBegin. UserTaskBegin: a parent of 0 becomes TRACE_NO_TASK.
	 */
	uint64_t arg[EV_ARGS_MAX - 1];
	/*
	 * UserTaskEnd: parent and name from its begin event, or TRACE_NO_TASK and empty if there is
	 * none. The name is valid until the next call of the reader.
	 */
	uint64_t parent;
	struct trace_string name;
	/*
	 * Resolves the ids of the event; and the data of an EV_SYNC. Valid until the next call of
	 * the reader. NULL for the sync at the end.
	 */
	const struct dictionary *dictionary;
	const struct trace_sync *sync;
	uint64_t offset; /* of the event's batch in the file; 0: not in a batch */
};

/* A sync; `dictionary` is NULL for the one at the end of the trace. */
static inline struct trace_event trace_event__sync(int64_t time, const struct trace_sync *sync,
						   const struct dictionary *dictionary)
{
	return (struct trace_event){
		.time = time,
		.raw = time,
		.type = EV_SYNC,
		.m = TRACE_NO_M,
		.p = TRACE_NO_P,
		.g = TRACE_NO_G,
		.dictionary = dictionary,
		.sync = sync,
	};
}

/*
 * Whether the event counts in the number of events of a trace. Syncs and derived events do not. The
 * recorder, the index and all commands count in this way.
 */
static inline bool trace_event__is_of_file(const struct trace_event *ev)
{
	return ev->type != EV_SYNC && !ev->extra;
}

#endif
