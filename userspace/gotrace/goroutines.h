/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of `gotrace goroutines`: goroutines.c reads the trace, goroutines_table.c
 * prints tables, goroutines_json.c JSON, goroutines_extremes.c the slowest beside the fastest, and
 * goroutines_canonical.c the form that is compared with Go.
 */
#ifndef GOROUTINES_H
#define GOROUTINES_H

#include "analysis/record_store.h"
#include "analysis/summary.h"
#include "lib/error.h"
#include "lib/map.h"
#include "analysis/select.h"

/* Columns of the table. Those from EXEC to OTHER, and LOST, add up to TOTAL. */
enum column {
	COLUMN_EXEC,
	COLUMN_SCHED,
	COLUMN_SYNC,
	COLUMN_NETWORK,
	COLUMN_SYSCALL,
	COLUMN_GC,
	COLUMN_OTHER,
	COLUMN_TOTAL,
	COLUMN_GC_WORK,
	COLUMN_LOST, /* the last one of the times: only of traces with gaps */
	COLUMN_COUNT,
	COLUMN_ID,
	COLUMNS
};

#define COLUMN_TIMES COLUMN_COUNT /* number of columns that are times */

/* goroutines with the same start function */
struct group {
	uint64_t count; /* 0: no goroutine has this name */
	int64_t key;	/* set by groups__sorted() */
	struct summary_stats stats;
};

struct goroutines {
	struct summary *summary;
	struct record_store *store; /* sorted; NULL: only groups were requested */
	struct selection *select;   /* what the store or the groups contain */
	/*
	 * --compare-extremes: the store contains only the goroutines with this start function that
	 * the trace has from creation to end. NULL: without it.
	 */
	const char *function;
	uint64_t incomplete; /* goroutines with that start function that it does not have so */
	uint64_t extremes;   /* number of slowest and of fastest goroutines, or its percentage */
	bool extremes_percent;
	struct map shown;     /* of those in the store, by ID: goroutines__note_shown() */
	struct group *groups; /* by ID of the name */
	size_t ngroups;
	uint64_t count;	    /* number of goroutines */
	int64_t trace;	    /* when the trace began, ns */
	int64_t start, end; /* of the trace, or of the requested part of it */
	bool windowed;	    /* a part of it was requested */
	enum column sort;
};

extern const char *const column_names[COLUMNS]; /* values of --sort */

int64_t column__of(const struct goroutines *all, const struct summary_stats *stats,
		   enum column column);

/* Groups with at least one goroutine, sorted; the caller frees them. NULL: out of memory. */
const struct group **groups__sorted(const struct goroutines *all, size_t *ret_n);
struct trace_string group__name(const struct goroutines *all, const struct group *group);

/* To be called once the store contains what is printed. 0 or -ENOMEM. */
int goroutines__note_shown(struct goroutines *all);
/* Whether the task is to be printed: with a filter, only the tasks of goroutines that are. */
bool task__is_shown(const struct goroutines *all, const struct summary_task *t);

/* Regions of a goroutine, by start, then by end; free with regions__free(). 0 or -ENOMEM. */
int regions__sorted(const struct summary_goroutine *g, struct summary_region **ret, size_t *ret_n);
void regions__free(struct summary_region *regions, size_t n);

/* Print to stdout. 0 or -ENOMEM. */

int table__groups(const struct goroutines *all);
int table__goroutines(const struct goroutines *all);
int table__goroutine(const struct goroutines *all); /* one goroutine, in detail */
int json__groups(const struct goroutines *all);
int json__goroutines(const struct goroutines *all);
int canonical__goroutines(const struct goroutines *all);
int extremes__print(const struct goroutines *all, bool json); /* of two goroutines at least */

#endif
