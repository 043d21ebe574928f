/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contents of a trace, counted: events and bytes by type, generations, goroutines, clocks, and
 * what the recorder reported.
 *
 * Filled in two passes: statistics__event() gets every event of reader/reader.c, then
 * statistics__raw() reads the file again, by text/raw.c, for what a delivered event no longer
 * contains: its size. A v1 trace has the first pass only. Downstream: `gotrace stat`.
 *
 * Memory: about 100 bytes per generation, 40 per thread and P, and the kernel events of a
 * generation.
 */
#ifndef TRACE_STATISTICS_H
#define TRACE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/event.h"
#include "format/kernel.h"
#include "format/private_read.h"
#include "gotrace/record.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/map.h"

struct statistics_generation {
	uint64_t number, offset;
	uint64_t bytes;	 /* 0 before the second pass */
	uint64_t events; /* of the file: trace_event__is_of_file() */
	uint64_t strings, stacks;
	int64_t start, end; /* ns: of its sync, and of its last event */
	struct trace_clock clock;
};

/* of events as they stand in the file; v1: as they are delivered */
struct statistics_type {
	uint64_t events, bytes;
};

/* by the kind of the record that was lost; 0: not known */
struct statistics_loss {
	uint64_t count;
	uint64_t from, to; /* CLOCK_MONOTONIC, ns: of all of them */
};

/* A stretch of time in which records are missing. */
struct statistics_gap {
	uint64_t from, to; /* CLOCK_MONOTONIC, ns */
	uint64_t count;
};

/* kernel events, by enum kernel_kind */
struct statistics_kernel {
	uint64_t items, item[KERNEL_KIND_END];
	struct map threads; /* of the target, by tid: which there were */
	uint64_t bytes;	    /* of its private data */
	bool waits;	    /* it has what had the CPUs that threads waited for */
};

#define STATISTICS_PLUGINS 64 /* plugins that are kept */
#define STATISTICS_CAUSES  32

struct statistics {
	/*
	 * Set after init: the trace does not end. Nothing is kept that grows with it: no generations
	 * but the last one, no gaps, threads, Ps and kernel events.
	 */
	bool endless;
	int64_t start, end;		     /* ns: of the first and the last event */
	uint64_t events;		     /* of the file */
	bool any;			     /* an event, or a sync, was delivered */
	uint64_t bytes;			     /* of the trace, unpacked; 0 before the second pass */
	struct statistics_type type[EV_END]; /* EV_NONE: the file's header */
	struct statistics_generation *generation;
	size_t generations, generations_cap; /* v1: it has none */
	uint64_t strings, stacks;	     /* of all generations */

	uint64_t created, present; /* goroutines: in the trace, and before it */
	uint64_t ended, alive, most_alive;
	struct map threads, ps; /* by id: which there were */
	uint64_t gomaxprocs;	/* the last one; 0: unknown */
	struct statistics_procs {
		int64_t time; /* of the event, ns */
		uint64_t gomaxprocs;
	} *procs_change; /* its values, the first one included, in their order */
	size_t procs_changes, procs_changes_cap;

	uint8_t *meta; /* the record, for private_read__pair(); NULL: there is none */
	size_t meta_len;
	struct private_ticks ticks; /* of the first generation; tick_ns 0: unknown */
	struct statistics_loss loss[GT_KIND_END];
	uint64_t lost;
	struct statistics_gap *gap; /* in the order of their reports */
	size_t gaps, gaps_cap;
	uint64_t corrections;		     /* after losses */
	struct private_correction corrected; /* their sums; from the first's begin to the last */
	/* Of a flight recorder's snapshot, the latest ones: the i-th is at i % STATISTICS_CAUSES. */
	struct statistics_cause {
		char text[PRIVATE_CAUSE_MAX + 1];
		uint64_t time; /* CLOCK_MONOTONIC, ns */
	} cause[STATISTICS_CAUSES];
	uint64_t causes;
	/* Plugins of the program, each once, although each file of a recording repeats it. */
	struct statistics_plugin {
		uint64_t from, to;
		bool recorded;
		char file[PRIVATE_PLUGIN_MAX + 1];
		char why[PRIVATE_PLUGIN_MAX + 1]; /* it is not recorded; empty: it is */
	} *plugin;
	size_t plugins, plugins_cap;
	struct private_recorded *recorded; /* changes of the recorded event sets, in their order */
	size_t changes, changes_cap;
	uint64_t clock_error; /* of the times of inline probes' records, ns; 0: unknown, or none */
	struct statistics_host_clock {
		uint64_t generations; /* that have a state; 0: unknown */
		/* Synchronized in all of them; the largest errors; the time of the last one. */
		struct private_host_clock worst;
	} host_clock;
	/* The period of the last generation that has one; 0: unknown. Sums of the throttling. */
	struct private_cpu_samples cpu_samples;
	struct private_short shorts; /* system calls that were left out; min_ns 0: none */
	uint64_t heap_sampled; /* from when on not all sizes of the heap are in it; 0: they are */
	uint64_t private_records, private_bad, private_unknown;
	struct statistics_kernel kernel;
	bool describes; /* the trace has a table of its events */

	uint64_t last_m, last_p; /* those that were counted last */
};

void statistics__init(struct statistics *s);
void statistics__deinit(struct statistics *s);

/* 0 or -ENOMEM. */
int statistics__event(struct statistics *s, const struct trace_event *ev);

/*
 * The second pass, over no more generations than the first one saw. 0, or a negative errno with the
 * reason; `lenient`: what is no event ends it well.
 */
int statistics__raw(struct statistics *s, struct input *in, bool lenient, struct error *error);

/*
 * i 0: the cause of a flight recorder's snapshot; from 1: further causes in its window, in reverse order
 * of their records. NULL: there are no more; at most STATISTICS_CAUSES are kept.
 */
const struct statistics_cause *statistics__cause(const struct statistics *s, uint64_t i);

#endif
