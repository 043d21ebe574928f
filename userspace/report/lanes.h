/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The timeline of a report: lanes of goroutines, Ps, threads, CPUs, the GC and tasks, arrows between
 * them, and curves, within a budget of spans.
 *
 * Upstream: export/export.h, which interprets the trace; this is one of its sinks. Downstream: the
 * report and the server of a trace, which embed the members that report_lanes__print() writes.
 *
 * Memory depends on the budget and on the number of goroutines that exist at a time.
 */
#ifndef REPORT_LANES_H
#define REPORT_LANES_H

#include "lib/error.h"
#include "lib/json.h"
#include "reader/timeline.h"
#include "report/strings.h"

#define REPORT_SPANS	  1000000u /* default budget, which makes a page of about 20 MB */
#define REPORT_GOROUTINES 4000u	   /* default number of lanes of goroutines */

struct report_lanes;

struct report_lanes_opts {
	size_t spans;	   /* 0: REPORT_SPANS */
	size_t goroutines; /* 0: REPORT_GOROUTINES */
	/* Only what is within [from, to), in ns since `start`. `to` 0: the whole. */
	uint64_t from, to;
	int64_t start; /* time of the trace that counts as 0, if has_start; else the first event */
	bool has_start;
	const char *only; /* IDs of lanes, "g:12,p:0": others are left out. NULL: none. Borrowed */
	uint64_t pixel;	  /* of report_lanes__part(): ns in which spans may be merged */
	/*
	 * Bytes of memory for the spans that report_lanes__part() reads: beyond them, short spans
	 * are merged. 0: none are kept.
	 */
	size_t store;
};

/* `strings` is borrowed. 0 or -ENOMEM. */
int report_lanes__create(struct report_lanes **ret, const struct report_lanes_opts *opts,
			 struct report_strings *strings);
void report_lanes__destroy(struct report_lanes *l); /* NULL is allowed */

/* Applies the next step of the timeline. 0 or a negative errno with the reason. */
int report_lanes__step(struct report_lanes *l, const struct timeline *t,
		       const struct timeline_step *step, struct error *error);
/* The trace has ended. Errors as above. */
int report_lanes__finish(struct report_lanes *l, struct error *error);

/*
 * After the end: writes the members "states", "lanes", "arrows", "curves" and "mmu" of an open
 * object. It adds strings, so the strings must be written later. 0 or a negative errno.
 */
int report_lanes__print(struct report_lanes *l, struct json *j, struct error *error);

/*
 * The lanes of the part from opts->from to opts->to, out of the spans that l has kept since it was
 * created with opts.store: to be printed by report_lanes__print_part(), and destroyed. `strings` is
 * borrowed; it gets the texts of the part. Several threads may call it at once. 0; -ERANGE: spans of
 * this length have been merged, since there were too many; or -ENOMEM.
 */
int report_lanes__part(const struct report_lanes *l, const struct report_lanes_opts *opts,
		       struct report_strings *strings, struct report_lanes **ret);
/* After report_lanes__print(), which must not follow: frees all but what report_lanes__part() reads. */
void report_lanes__keep_store(struct report_lanes *l);
/* As report_lanes__print(), without the curves and the utilization. */
int report_lanes__print_part(struct report_lanes *l, struct json *j, struct error *error);
/* Writes what was aggregated or left out, as sentences, into an open array. */
void report_lanes__print_limits(const struct report_lanes *l, struct json *j);

/* What a goroutine waits for; of blocked ones only those for locks and wait groups ("sync"). */
enum report_wait {
	REPORT_WAIT_P,
	REPORT_WAIT_CPU, /* kernel events only */
	REPORT_WAIT_SYSCALL,
	REPORT_WAIT_LOCK,
	REPORT_WAITS
};

struct report_longest {
	uint64_t from, to; /* ns since the start */
	uint64_t goroutine;
	struct trace_string function; /* its start function; valid until destroy */
};

#define REPORT_IDLE 100 /* a goroutine that runs or is runnable for at most this part is idle */

/*
 * After the end: the longest single wait of a goroutine of the program, which is not idle if it waited
 * for a lock or in a system call; in full detail, even if it has no lane. False: there is none.
 */
bool report_lanes__longest(const struct report_lanes *l, enum report_wait kind,
			   struct report_longest *ret);

/* Writes the members of about__print() (format/about.h) into an open object. */
void report_lanes__print_about(const struct report_lanes *l, struct json *j);

uint64_t report_lanes__end(const struct report_lanes *l); /* of the last event, since the start */

#endif
