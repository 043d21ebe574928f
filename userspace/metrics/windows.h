/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The figures of a trace, window by window: what happened in each second, for example.
 *
 * Upstream: metrics/engine.h, whose sums grow from the start of the trace. A window has the
 * differences between its end and its begin, so its figures are those that latency, histogram and
 * requests print with --from and --to. Downstream: `gotrace top`.
 *
 * A window consists of whole generations, because a goroutine that does nothing may be mentioned as
 * late as at the end of the first generation; its time counts from the begin of that.
 *
 * Memory: that of the engine, and for each start function, reason and name of a request one number
 * more. A window takes time proportional to the goroutines that are alive.
 */
#ifndef METRICS_WINDOWS_H
#define METRICS_WINDOWS_H

#include "lib/arena.h"
#include "metrics/engine.h"

enum window_number {
	WINDOW_CREATED, /* goroutines */
	WINDOW_ENDED,
	WINDOW_EVENTS,
	WINDOW_KERNEL_EVENTS,
	WINDOW_LOST,	   /* records that the recorder lost, or overwrote */
	WINDOW_GC_ASSIST,  /* ns of goroutines on a CPU */
	WINDOW_GC_UNKNOWN, /* cycles that ended, of unknown duration: not in `interval` */
	WINDOW_NUMBERS
};

/* Intervals that end in the window, with all of their length. */
struct window_intervals {
	uint64_t count, ns;
};

struct window_function {
	struct trace_string name;
	uint64_t goroutines;		    /* that existed in the window */
	int64_t part[LATENCY_PARTS], total; /* ns */
};

struct window_reason {
	struct trace_string name;
	enum latency_part part;
	int64_t ns;
};

struct window_request {
	struct trace_string name;
	uint64_t count, failed;
	int64_t ns; /* the durations */
};

struct trace_window {
	int64_t from, to; /* [from, to) of the trace's time, ns; the last one has its end */
	bool has_kernel;  /* there were kernel events, in it or before */
	/* At its end: */
	uint64_t state[GO_STATE_SYSCALL + 1]; /* number of goroutines, by enum go_state */
	uint64_t gomaxprocs, heap, heap_goal; /* bytes; 0: unknown */
	bool gc_open;			      /* a GC cycle is in progress */
	/* In it: */
	uint64_t number[WINDOW_NUMBERS];
	struct window_intervals interval[INTERVAL_KINDS]; /* by enum interval_kind */
	struct window_function *function;		  /* those with goroutines */
	struct window_reason *reason;			  /* those with time */
	struct window_request *request;			  /* those that ended */
	size_t functions, reasons, requests;
	struct arena names; /* of all three: valid without the trace */
};

void trace_window__destroy(struct trace_window *w); /* NULL allowed */

struct windows;

/* Windows of at least `least` ns; INT64_MAX: one window of the whole trace. NULL: no memory. */
struct windows *windows__create(int64_t least);
void windows__destroy(struct windows *all); /* NULL allowed */

/*
 * Applies the next step. *ret is the window that ends with it, which is the caller's, or NULL. 0, or
 * a negative errno with the reason.
 */
int windows__step(struct windows *all, const struct timeline *t, const struct timeline_step *step,
		  struct trace_window **ret, struct error *error);
/* After the last step: the rest, NULL if there is none. 0 or -ENOMEM. */
int windows__finish(struct windows *all, struct trace_window **ret);

#endif
