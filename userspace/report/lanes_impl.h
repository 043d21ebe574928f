/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of the timeline of a report: lanes.c collects lanes, arrows and curves as a
 * sink of export/export.h, lanes_slice.c interprets its slices, lanes_longest.c keeps the longest
 * waits, lanes_print.c encodes the result.
 */
#ifndef REPORT_LANES_IMPL_H
#define REPORT_LANES_IMPL_H

#include "export/export.h"
#include "lib/map.h"
#include "report/about.h"
#include "report/curve.h"
#include "report/lanes.h"
#include "report/mmu.h"
#include "report/spans.h"

#define LANES_ARROWS 100000u /* at most */

/* Two groups of SPAN_SLOTS: see spans.h. */
enum report_state {
	REPORT_RUNNING,
	REPORT_RUNNABLE,
	REPORT_WAITING,
	REPORT_SYSCALL,
	REPORT_GO_STATES, /* the states above are those of goroutines */
	REPORT_GC = REPORT_GO_STATES,
	REPORT_STW,
	REPORT_TASK,
	REPORT_ON_CPU,
	REPORT_CPU_WAIT,
	REPORT_THROTTLED,
	REPORT_SLEEPING,
	REPORT_BLOCKED,
	REPORT_STOPPED,
	REPORT_OTHER_PROCESS, /* on a CPU */
	REPORT_STATES
};

/* A track of spans of which one is open at most. */
struct lane_track {
	struct spans spans;
	uint64_t since, detail; /* of the open span */
	uint8_t state;		/* REPORT_STATES: none is open */
};

/* ns since the start, and its length; a length of 0: there is none. */
struct lane_wait {
	uint64_t from, len;
};

struct report_lane {
	enum export_group group;
	uint64_t id;	   /* of the goroutine, P, ...; of a task: its place */
	uint64_t from, to; /* ns: of its first span, end of its last one */
	uint64_t number;   /* of its track */
	uint32_t name;	   /* of a thread; of a goroutine: its start function. 0: none */
	uint32_t index;	   /* in the output */
	bool used;	   /* it has a span */
	struct lane_track track;
	struct lane_track kernel;		/* states of its thread */
	struct lane_wait longest[REPORT_WAITS]; /* of a goroutine */
};

struct report_arrow {
	uint64_t time, from, to; /* numbers of tracks */
	uint32_t reason;
};

enum report_curve {
	CURVE_HEAP,
	CURVE_GOAL,
	CURVE_GOROUTINES,
	CURVE_RUNNING, /* goroutines by state, in the order of enum report_state */
	CURVE_RUNNABLE,
	CURVE_WAITING,
	CURVE_SYSCALL,
	CURVE_THREADS, /* that wait for a CPU */
	REPORT_CURVES
};

struct report_lanes {
	struct export_sink sink; /* first, as the sink is cast to this */
	struct export *export;
	struct report_lanes_opts opts;
	struct report_strings *strings;
	struct map lanes, kernel; /* by track: struct report_lane; `kernel`: of tracks of states */
	size_t goroutines, goroutines_limit, goroutines_omitted;
	struct report_longest longest[REPORT_WAITS]; /* of lanes that were removed */
	size_t spans;				     /* of all lanes */
	uint64_t threshold;			     /* of spans__add() */
	struct report_arrow *arrows;
	size_t narrows, cap_arrows;
	uint64_t arrow_gap;		      /* least distance between two arrows, ns */
	uint64_t flow, flow_time, flow_track; /* the last arrow that started */
	uint32_t flow_reason;
	struct curve curves[REPORT_CURVES];
	uint64_t counter_track[EXPORT_COUNTERS_ALL];
	uint64_t in_state[REPORT_GO_STATES]; /* how many goroutines are, at `now` */
	bool states_changed;		     /* one of these */
	struct about about;
	struct mmu mmu;
	bool started, kernel_known;
	int64_t start;
	uint64_t now; /* ns since the start */
};

/* Keeps the first error of the sink; 0 is none. */
static inline void report_lanes__fail(struct report_lanes *l, int err)
{
	if (err && !l->sink.err)
		l->sink.err = err;
}

/* ns since the start, of a time of the trace, which may be anything. */
static inline uint64_t report_lanes__time(const struct report_lanes *l, int64_t time)
{
	return time > l->start ? (uint64_t)time - (uint64_t)l->start : 0;
}

/* ---- lanes_longest.c ---- */

/* A span of the track lasted from `from` to `to`. */
void report_lanes__note_wait(struct report_lanes *l, struct report_lane *lane,
			     const struct lane_track *track, uint64_t from, uint64_t to);
/* The lane is going to be removed. */
void report_lanes__keep_waits(struct report_lanes *l, const struct report_lane *lane);

/* ---- lanes_slice.c ---- */

uint64_t report_lanes__intern(struct report_lanes *l, struct trace_string text);
/* Sets state, detail and begin of the open span. */
void lane__open(struct report_lanes *l, const struct report_lane *lane, struct lane_track *track,
		const struct export_event *ev);

#endif
