/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an export to a timeline viewer consists of: tracks, and slices, instants and counters on
 * them.
 *
 * Between export/export.c, which derives it from a trace, and a format: export/perfetto.c or
 * export/chrome.c. Slices of a track are nested: an end belongs to the begin before it that has
 * not ended. Each begin has an end. Times of one track do not decrease; those of the whole may: the slice
 * of a CPU is written when it has ended.
 */
#ifndef EXPORT_SINK_H
#define EXPORT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/states.h"
#include "format/event.h"
#include "lib/error.h"
#include "lib/outbuf.h"

/* The top-level tracks, in the order in which a viewer shows them. */
enum export_group {
	EXPORT_COUNTERS,
	EXPORT_GC,
	EXPORT_TASKS,
	EXPORT_CPUS,
	EXPORT_THREADS,
	EXPORT_PROCS,
	EXPORT_GOROUTINES,
	EXPORT_GROUPS
};

enum export_unit { EXPORT_SLICES, EXPORT_COUNT, EXPORT_BYTES };

/* Ranks of the tracks of counters; the first four are numbers of goroutines by state. */
enum export_counter {
	COUNTER_RUNNING,
	COUNTER_RUNNABLE,
	COUNTER_WAITING,
	COUNTER_SYSCALL,
	COUNTER_THREADS, /* that wait for a CPU */
	COUNTER_HEAP,
	COUNTER_GOAL,
	COUNTER_GOMAXPROCS,
	EXPORT_COUNTERS_ALL
};

struct export_track {
	uint64_t id;	 /* unique, not 0 */
	uint64_t parent; /* a track; 0: the top-level track of the group */
	enum export_group group;
	enum export_unit unit; /* of a counter; EXPORT_SLICES: it has slices, or only children */
	struct trace_string name;
	uint64_t rank; /* place among its siblings, ascending */
};

enum export_type { EXPORT_BEGIN, EXPORT_END, EXPORT_INSTANT, EXPORT_VALUE };

#define EXPORT_ARGS_MAX 3

struct export_arg {
	const char *name;	  /* a literal */
	struct trace_string text; /* data NULL: it is a number */
	uint64_t number;
};

struct export_event {
	enum export_type type;
	enum export_group group; /* of its track */
	uint64_t track;
	int64_t time;		  /* ns, of the trace */
	struct trace_string name; /* not of an end or value */
	enum state state;	  /* of a begin, on a track of states */
	uint64_t flow_to;	  /* an arrow that starts here; 0: none */
	uint64_t flow_from;	  /* one that ends here */
	uint64_t value;		  /* of a counter */
	struct export_arg arg[EXPORT_ARGS_MAX];
	unsigned int args;
};

/* A CPU sample. */
struct export_sample {
	int64_t time;
	uint64_t thread;
	uint64_t track; /* of the thread */
	const struct dictionary *dictionary;
	uint64_t stack; /* of the dictionary */
};

struct export_sink;

/* The functions return nothing: the first error is kept in the sink, and ends the export. */
struct export_sink_ops {
	/* How times of the trace relate to other clocks. Called before all others, then again. */
	void (*clock)(struct export_sink *s, int64_t time, const struct trace_clock *clock);
	/* Also when the name of a track has changed. */
	void (*track)(struct export_sink *s, const struct export_track *track);
	void (*event)(struct export_sink *s, const struct export_event *ev);
	void (*sample)(struct export_sink *s, const struct export_sample *sample);
	void (*finish)(struct export_sink *s); /* the end of the export */
	void (*destroy)(struct export_sink *s);
};

struct export_sink {
	const struct export_sink_ops *ops;
	struct outbuf *out; /* borrowed */
	int err;	    /* the first error; nothing is written after it */
	struct error error;
	bool marks_gaps; /* it is to have a track with the gaps */
	bool dropped;	 /* a gap precedes the next event */
};

/* Name of a top-level track, for users. */
const char *export_group__name(enum export_group group);

/* Write to `out`, which must outlive them. NULL: no memory. */
struct export_sink *perfetto__create(struct outbuf *out);
struct export_sink *chrome__create(struct outbuf *out);

static inline void export_sink__destroy(struct export_sink *s) /* NULL is allowed */
{
	if (s)
		s->ops->destroy(s);
}

#endif
