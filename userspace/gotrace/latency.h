/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of `gotrace latency`: views/latency.c reads the trace,
 * views/latency_tables.c prints tables and latency_table.c reasons, latency_json.c JSON, and
 * latency_sort.c sorts for all. `gotrace requests` prints the parts
 * in the same way.
 */
#ifndef GOTRACE_LATENCY_H
#define GOTRACE_LATENCY_H

#include "analysis/latency.h"
#include "analysis/record_store.h"
#include "lib/error.h"
#include "analysis/select.h"
#include "print/screen.h"
#include "print/table.h"

/* Sort keys: a part (enum latency_part), or one of these. */
enum { BY_TOTAL = LATENCY_PARTS, BY_COUNT, BY_ID, LATENCY_ORDERS };

/* goroutines with the same start function */
struct function {
	uint32_t name;
	uint64_t count; /* 0: no goroutine has this name */
	int64_t key;	/* set by functions__sorted() */
	struct latency_stats stats;
};

struct latencies {
	struct latency *latency;
	struct function *functions; /* by name */
	size_t nfunctions;
	struct record_store *goroutines; /* sorted; NULL: not requested */
	struct selection *select;	 /* what `functions` and `goroutines` contain */
	uint64_t count;			 /* number of goroutines */
	int64_t start, end;		 /* of the analysed time: trace time, ns */
	bool has_kernel;		 /* the trace has kernel events */
	bool left_out;			 /* a corrupt tail was left out */
	unsigned int sort;
};

/* A reason for the user; empty if its part has none. `kind`: of latency_stats.reasons, or part << 16. */
struct trace_string latency_table__reason(const struct latency *l, uint32_t kind);
extern const char *const latency_json_parts[LATENCY_PARTS]; /* names of members in JSON, in ns */
/* What precedes a reason; complete for parts that have none. */
extern const char *const latency_part_texts[LATENCY_PARTS];
extern const char *const latency_orders[LATENCY_ORDERS]; /* values of --sort */

/*
 * The columns of a table: the parts, their total, and if the trace has gaps what is lost of it. Those
 * that only kernel events show are unknown without these.
 */
struct columns latency_columns(bool has_kernel, bool has_gaps);

/*
 * Columns that are shown on a narrow terminal, too, because they have the largest causes; `sum`: of
 * what is not parked. Bits as for columns__fit().
 */
uint32_t latency_columns__causes(const double sum[LATENCY_PARTS]);
/* Blocked all the time, or a function of the runtime that was blocked nearly all the time. */
bool latency__is_parked(const int64_t part[LATENCY_PARTS], int64_t total, struct trace_string name);

/* Functions in descending order; the caller frees them. NULL: out of memory. */
const struct function **functions__sorted(const struct latencies *all, size_t *ret_n);
/* Sort the goroutines by all->sort. 0 or -ENOMEM. */
int goroutines__sort(struct latencies *all);

/* Reasons of a part in descending order; the caller frees them. NULL: out of memory. */
struct duration *reasons__sorted(const struct latency_stats *stats, enum latency_part part,
				 size_t *ret_n);

/* The same for what held the CPUs. */
struct duration *tasks__sorted(const struct latency_stats *stats, size_t *ret_n);

/* The same for the places of a part. PART_ONCPU: where mark assists were necessary. */
struct duration *places__sorted(const struct latency *l, const struct latency_stats *stats,
				enum latency_part part, size_t *ret_n);

/* Print to stdout. 0 or -ENOMEM. */
/*
 * One screen: the most important functions and reasons; with `details`, all. The trace has no kernel
 * events: what they show is printed as "-".
 */
int latency_table__functions(const struct latencies *all, bool details);
int latency_table__goroutines(const struct latencies *all);
int latency_table__goroutine(const struct latencies *all); /* one goroutine, in detail */
int latency_json__print(const struct latencies *all);

/*
 * Parts with their reasons, one per line. Unless `whole`, omits parts below a thousandth of the
 * total, and adds small reasons up. 0 or -ENOMEM.
 */
int latency_table__details(struct out *o, const struct latency *l, bool has_kernel,
			   const struct latency_stats *stats, bool whole);
/* A line with the top cause; nothing if there is no time. */
void latency_table__top_cause(struct out *o, const struct latency *l,
			      const struct latency_stats *stats);
/* Report for how much time the state of the thread is unknown, unless that is negligible. */
void latency_table__note(struct out *o, bool has_kernel, int64_t unknown, int64_t total);
/* The same parts as members of an open object; of a path without what held the CPU. 0 or -ENOMEM. */
int latency_json__path(struct json *j, const struct latency *l, const struct latency_stats *stats);
int latency_json__parts(struct json *j, const struct latency *l, const struct latency_stats *stats);
/* "33.0 % blocked, 40.0 % waiting for a CPU": the parts of a system call, as shares of `total`. */
#define SPLIT_TEXT 160
struct latency_cause;
void latency_cause__split(const struct latency_cause *cause, int64_t total, char ret[SPLIT_TEXT]);
/* The member top_cause; null if there is no time. */
void latency_json__top_cause(struct json *j, const struct latency *l,
			     const struct latency_stats *stats);
/* The member by_place, if latency_opts.places is set. 0 or -ENOMEM. */
int latency_json__places(struct json *j, const struct latency *l,
			 const struct latency_stats *stats);

#endif
