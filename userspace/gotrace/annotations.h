/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of `gotrace tasks`, `gotrace regions` and `gotrace requests`: the analysed time,
 * and how the durations of one name are printed.
 */
#ifndef GOTRACE_ANNOTATIONS_H
#define GOTRACE_ANNOTATIONS_H

#include "analysis/lengths.h"
#include "command.h"
#include "print/screen.h"
#include "print/table.h"

#define NO_NAME "(no name)"

/* --sort: a key, of which the first `n` names are accepted. */
struct annotation_sort {
	size_t n;
	unsigned int key; /* enum lengths_key, or enum request_key */
};

#define SORT_OPTION(keys)                                                                          \
	{ "sort", OPT_SORT, "KEY", 0, "sort in descending order by total (default), " keys, 0 }
enum { OPT_SORT = 300 };
/* The filters, and how they name the goroutine that a task or region belongs to. */
#define ANNOTATION_FILTERS(what, belongs)                                                          \
	NAME_OPTION("only " what), GOROUTINE_OPTION("only " what " that goroutine ID " belongs),   \
		{ "function",                                                                      \
		  SELECT_FUNCTION,                                                                 \
		  "REGEX",                                                                         \
		  0,                                                                               \
		  "only " what " of goroutines whose start function matches REGEX",                \
		  0 },                                                                             \
		TOP_OPTION("only the first N names after sorting")

/* The value of --sort; an unknown one is a usage_error(). */
void annotation_sort__parse(struct annotation_sort *s, const char *text);

/* The analysed time: trace time, ns. */
struct analysed_time {
	int64_t first;	  /* of the first event */
	int64_t from, to; /* the requested window; INT64_MIN, INT64_MAX: all */
	int64_t start, end;
};

/* At the first event, whose time is `first`. */
void analysed_time__begin(struct analysed_time *t, const struct trace_args *in, int64_t first);
/* After the last event, at `last`. 0; -ENOENT, with the reason: the window has no events. */
int analysed_time__end(struct analysed_time *t, int64_t last, struct error *error);

/*
 * That no name is in the result: because of the filters, which `left_out` tasks or regions (`what`)
 * did not pass, or the requested time; or how they get into a trace.
 */
void annotations__report_none(const struct trace_args *in, const char *what, uint64_t left_out);

/* Rate, p50, p90, p99, longest; and the last column, of errors or of the total. */
enum { ANNOTATION_LAST = 5, ANNOTATION_COLUMNS };
struct columns annotation_table__columns(bool with_errors);
/* A row without the last column and the name. */
void annotation_table__row(struct out *o, const struct columns *c, const struct lengths *l,
			   const struct analysed_time *t);
/* One line per bucket, with a bar. */
void annotation_table__buckets(struct out *o, const struct lengths *l);
/* A sentence about tasks that have no name. */
void annotation_table__unbegun(struct out *o, uint64_t unbegun);

/* Members of an open object: count, rate, p50_ns, ..., buckets; times are null if there are none. */
void annotation_json__lengths(struct json *j, const struct lengths *l,
			      const struct analysed_time *t);
/* start, end */
void annotation_json__time(struct json *j, const struct analysed_time *t);

#endif
