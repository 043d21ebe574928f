/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of the timeline of a report: lanes.c collects lanes, arrows and curves as a
 * sink of export/export.h, lanes_slice.c interprets its slices, lanes_longest.c keeps the longest
 * waits, lanes_print.c encodes the result. lanes_store.c keeps the spans in memory for gotrace view,
 * lanes_part.c reads those of a range.
 */
#ifndef REPORT_LANES_IMPL_H
#define REPORT_LANES_IMPL_H

#include "export/export.h"
#include "format/about.h"
#include "lib/map.h"
#include "report/curve.h"
#include "report/lanes.h"
#include "report/mmu.h"
#include "report/packed.h"
#include "report/spans.h"

#define LANES_ARROWS 100000u /* at most */

#define STORE_LEVELS 8u

/*
 * All spans of a track, with opts.store: first those with the least merging. Each further level has
 * spans merged with STORE_FACTOR times the threshold; they are made when the trace has been read.
 */
struct lane_store {
	struct packed level[STORE_LEVELS];
	uint64_t threshold[STORE_LEVELS];
	unsigned int levels;
};

/* A track of spans of which one is open at most. */
struct lane_track {
	struct spans spans;
	struct lane_store *store; /* NULL: empty */
	uint64_t since, detail;	  /* of the open span */
	uint8_t state;		  /* STATES: none is open */
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
	CURVE_RUNNING, /* goroutines by state, in the order of enum state */
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
	uint64_t store_threshold;
	size_t store_bytes; /* of memory */
	struct report_arrow *arrows;
	size_t narrows, cap_arrows;
	uint64_t arrow_gap;		      /* least distance between two arrows, ns */
	uint64_t flow, flow_time, flow_track; /* the last arrow that started */
	uint32_t flow_reason;
	struct curve curves[REPORT_CURVES];
	uint64_t counter_track[EXPORT_COUNTERS_ALL];
	uint64_t in_state[STATES_OF_GOROUTINES]; /* how many goroutines are, at `now` */
	uint64_t unknown;			 /* of how many no state is known then */
	bool states_changed;			 /* one of these */
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

/* ---- lanes.c ---- */

/* Adds a span, with its sum if it is aggregated, and merges if there are too many. 0 or -ENOMEM. */
int report_lanes__put(struct report_lanes *l, struct lane_track *track, const struct span *span,
		      const struct span_sum *sum);
/* Merges until the spans are in the budget. 0 or -ENOMEM. */
int report_lanes__shrink(struct report_lanes *l);

/* ---- lanes_store.c ---- */

/* Adds the next span of a track. 0 or -ENOMEM. */
int store__add(struct report_lanes *l, struct lane_track *track, const struct span *span);
/* The trace has ended: makes the levels. 0 or -ENOMEM. */
int store__finish(struct report_lanes *l);
/* Frees the spans of a track, and subtracts their memory. */
void store__remove(struct report_lanes *l, struct lane_track *track);

/* The threshold of the level above one with this threshold. */
uint64_t store__next_threshold(uint64_t threshold);

/* ---- lanes_part.c ---- */

/* Takes all spans of the store, merged, into the lanes. 0 or -ENOMEM. */
int report_lanes__take_store(struct report_lanes *l);

/* ---- lanes_print.c ---- */

/* Whether the list of IDs contains that of the lane, or is NULL. */
bool lane__is_wanted(const char *list, const struct report_lane *lane);

/* ---- lanes_slice.c ---- */

uint64_t report_lanes__intern(struct report_lanes *l, struct trace_string text);
/* Sets state, detail and begin of the open span. */
void lane__open(struct report_lanes *l, const struct report_lane *lane, struct lane_track *track,
		const struct export_event *ev);

#endif
