/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables that `gotrace sql` and `gotrace export parquet` offer, and how each is filled from a
 * trace.
 *
 * Upstream: reader/timeline.h, whose steps a producer gets. It adds rows to sql/rows.h. Downstream:
 * sql/scan.c. docs/tables.md documents the columns; `gotrace sql --schema` prints them.
 *
 * A change of the meaning or the type of a column, and the removal of one, is a new SCHEMA_VERSION.
 */
#ifndef SQL_TABLES_H
#define SQL_TABLES_H

#include <string.h>

#include "lib/error.h"
#include "reader/semantics.h"
#include "reader/timeline.h"
#include "sql/rows.h"

#define SCHEMA_VERSION 1

struct column {
	const char *name;
	const char *type; /* of SQL: BIGINT, VARCHAR, or DATE */
	const char *what;
	/*
	 * Of texts that are always among a few: how many, and the i-th; NULL: there is none. Rows have
	 * them by text__static(). 0: any text.
	 */
	unsigned int nvalues;
	const char *(*value)(unsigned int i);
};

static inline bool column__is_text(const struct column *c)
{
	return !strcmp(c->type, "VARCHAR");
}

/* A trace, and what its name and its clock say of it. */
struct source {
	char *path;
	char *file, *host, *service; /* the columns; NULL: unknown */
	int64_t wall_ns;	     /* CLOCK_REALTIME when it begins; ROW_NULL: unknown */
};

/*
 * Fills a table from the steps of one trace. `reader` is the one of the timeline, at its begin.
 * create() returns NULL without memory; the others return 0 or a negative errno with the reason.
 */
struct producer_ops {
	void *(*create)(struct rows *rows, const struct source *source,
			const struct reader *reader);
	int (*step)(void *producer, const struct timeline *t, const struct timeline_step *step,
		    struct error *error);
	int (*finish)(void *producer, struct error *error);
	void (*destroy)(void *producer);
};

struct table {
	const char *name;
	const char *what; /* of one row */
	const struct column *columns;
	unsigned int ncolumns; /* without the common ones */
	const struct producer_ops *ops;
};

#define TABLES 10
extern const struct table *const tables[TABLES];

/* Columns that each table has behind its own. */
enum common_column {
	COMMON_FILE,
	COMMON_DATE,
	COMMON_HOUR,
	COMMON_HOST,
	COMMON_SERVICE,
	COMMON_COLUMNS
};
extern const struct column common_columns[COMMON_COLUMNS];

/* The i-th column, common ones included; NULL: there are no more. */
const struct column *table__column(const struct table *t, unsigned int i);

/* The tables, each in the file of its producer. */
extern const struct table events_table, slices_table, goroutines_table, requests_table,
	stacks_table, samples_table, syscalls_table, gc_table, losses_table, runs_table;

/*
 * Lets the producer of slices fill the table goroutines, too, and that of requests use its analysis,
 * before the first step of any: they get each step after that of slices, and are not to be used once
 * that one is destroyed.
 */
void slices__share(void *slices, void *goroutines, void *requests);
/* The requests of that producer. */
struct requests *requests_producer__requests(void *producer);

/* What a producer returns without memory. */
static inline int producer__out_of_memory(struct error *error)
{
	return error__set(error, -ENOMEM, "out of memory");
}

/*
 * A stack as a number that is the same in each trace with the same frames; ROW_NULL: none. The
 * numbers of a generation are kept in a map, which is to be cleared at its sync.
 */
struct stack_numbers {
	struct map known; /* by id in the generation, to the number as a pointer */
};

int64_t stack_numbers__get(struct stack_numbers *s, const struct dictionary *dictionary,
			   uint64_t stack);
void stack_numbers__clear(struct stack_numbers *s);

/* The name of an event, which is the reason of a transition; of a pause, as Go prints it. */
void row__name(struct rows *r, unsigned int column, const struct semantics *m);

/* Sets the ID columns thread, p, goroutine to the context of an event, from `column` on. */
void row__context(struct rows *r, unsigned int column, const struct trace_event *ev);

#endif
