/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which traces, or which files of Parquet, the tables consist of; and what is known about a trace
 * besides its events: when and where it was recorded.
 *
 * Upstream: the arguments of `gotrace sql` and `gotrace export parquet`. Downstream: sql/scan.h,
 * sql/parquet.h.
 */
#ifndef SQL_SOURCE_H
#define SQL_SOURCE_H

#include "format/event.h"
#include "sql/tables.h"

#define SOURCES_MAX 100000 /* files */

struct source_files {
	char **path;
	size_t n, cap;
	bool parquet; /* all of them are */
};

/*
 * Adds a file; the traces or the Parquet files in a directory and those below it, by name; or what
 * a pattern with *, ? or [ matches. Traces in directories have the suffix .trace, .trace.gz or
 * .trace.zst. Links to directories are only followed as arguments. 0 or a negative errno with the reason: there
 * is none, there are too many, or both kinds.
 */
int source_files__add(struct source_files *s, const char *argument, struct error *error);
void source_files__deinit(struct source_files *s);

/*
 * Host and service are those given, if any; else those in the name of a file of a continuous
 * recording (HOST-PROGRAM-PID-TIME.trace), or in directories host=NAME and service=NAME of its
 * path. Bytes of the three columns that are not UTF-8 become \xNN. 0 or -ENOMEM.
 */
int source__init(struct source *s, const char *path, const char *host, const char *service);
void source__deinit(struct source *s);
/*
 * From the first event of the trace: its time of day; and its service, if that is unknown, is the
 * name of its program, if the trace has it. 0 or -ENOMEM.
 */
int source__note(struct source *s, const struct trace_event *first);

/* Reads the beginning of the trace for both of these. 0 or a negative errno with the reason. */
int source__read(struct source *s, const char *path, const char *host, const char *service,
		 const struct reader_opts *reader, struct error *error);

/* UTC, days since 1970 and hour of the day. False: unknown. */
bool source__hour(const struct source *s, int64_t *ret_day, int64_t *ret_hour);

#endif
