/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The longest single waits of goroutines: blocked, runnable, in a system call, or with a thread that
 * waits for a CPU.
 *
 * waits.c finds them in one pass over the events and kernel events of a trace (reader/timeline.h),
 * with the help of goroutine_tracker.h. waits_causes.c explains each of them by the history of the trace: what
 * analysis/path.h has for the goroutine from the begin of the wait to its end. Downstream: `gotrace
 * waits`.
 *
 * Memory: a record per goroutine that is alive, a record per wait that is kept, and the distinct
 * stacks of waits, up to a limit.
 */
#ifndef TRACE_WAITS_H
#define TRACE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/path.h"
#include "analysis/select.h"
#include "format/event.h"

#define WAITS_MAX	10000u	   /* waits that can be requested */
#define WAITS_FRAMES	16u	   /* of a stack, the innermost ones */
#define WAITS_CAUSES	8u	   /* of a wait, the longest ones; the others are added up */
#define WAITS_STEPS_MAX (1u << 28) /* for the causes of all waits: about a second */

enum wait_kind {
	WAIT_BLOCK, /* blocked, for something other than a P */
	WAIT_SCHED, /* runnable: waits for a P */
	WAIT_SYSCALL,
	WAIT_RUNQUEUE, /* its thread is runnable: waits for a CPU. Kernel events only */
	WAIT_KINDS
};

/* Times are those of the trace, in ns; texts are ids for waits__text(), 0: unknown. */
struct wait {
	int64_t from, to; /* within the window; from < to */
	uint64_t goroutine;
	uint64_t by;	       /* the goroutine whose event ended it, if another one; TRACE_NO_G */
	uint64_t thread, proc; /* on which that event happened; TRACE_NO_M, TRACE_NO_P */
	uint32_t function, by_function; /* start functions */
	uint32_t reason;		/* why it is blocked */
	uint32_t stack;			/* for waits__frame() */
	uint8_t kind;			/* enum wait_kind */
	bool began_before; /* before `from`, or before the trace contains the goroutine */
	int64_t before;	   /* then: by how many ns, at least; 0: unknown */
	bool goes_on;	   /* it has not ended at `to`, the end of the window or of the trace */
	bool lost;	   /* events were lost in it: it may be several waits */
	uint64_t serial, by_serial; /* which goroutine had that id; 0: none */
	uint64_t number;	    /* in the order of their ends */
};

struct waits_opts {
	bool kind[WAIT_KINDS]; /* which are wanted */
	bool runtime;	       /* those of the runtime's own goroutines, too */
	uint32_t longest;      /* number of waits: 1 to WAITS_MAX */
	/* Only those of goroutines that it accepts; borrowed. NULL: of all. */
	struct selection *select;
};

struct waits;

struct waits *waits__create(const struct waits_opts *opts); /* NULL: no memory */
void waits__destroy(struct waits *w);			    /* may be NULL */
/* Before the first event: only the parts of waits from then on count. By default all of them. */
void waits__set_begin(struct waits *w, int64_t from);
/* Before an event: in what began before `time`, events were lost. */
void waits__lose_before(struct waits *w, int64_t time);
/* Applies the next event; those after the end of the window are not given. 0 or -ENOMEM. */
int waits__event(struct waits *w, const struct trace_event *ev);
/*
 * Applies the next kernel event, at `time` of the trace's clock; with its timeline__duration() and
 * timeline__goroutine(). 0 or -ENOMEM.
 */
int waits__item(struct waits *w, const struct kernel_item *item, int64_t time, uint64_t duration,
		uint64_t goroutine);
/*
 * There are no more events: `end` is the end of the window, or of the trace if that is earlier. `h`
 * has the threads that wait for a CPU then; NULL: these waits are left out.
 * Returns 0 or -ENOMEM, and the waits, the longest first, which belong to `w`. Of waits that are
 * equally long the earlier one comes first, then that of the smaller goroutine id.
 */
int waits__finish(struct waits *w, int64_t end, const struct path_history *h,
		  const struct wait **ret, size_t *ret_n);

struct trace_string waits__text(const struct waits *w, uint32_t text);
/* The function of the i-th frame, leaf first. False: there are not so many. */
bool waits__frame(const struct waits *w, uint32_t stack, size_t i, struct trace_string *ret);

/* ---- causes ---- */

struct wait_cause {
	struct path_segment like; /* one of the segments; its causes are those of all */
	uint64_t ns, count;
};

struct wait_causes {
	bool known; /* false: it would take too many steps, or there is no history */
	struct wait_cause at[WAITS_CAUSES]; /* longest first */
	uint32_t n;
	uint64_t others_ns; /* of those that exceed WAITS_CAUSES */
	size_t others;
	/* While it was runnable: indices of goroutines that had Ps, the longest first. */
	uint32_t holders[PATH_HOLDERS];
	bool more_holders;
};

/*
 * Reduces *budget, the steps that are left for all waits; without any left nothing is known. 0 or
 * -ENOMEM.
 */
int wait__causes(const struct path_history *h, const struct wait *wait, uint64_t *budget,
		 struct wait_causes *ret);

#endif
