/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of gotrace: one function and one file each. main.c has their table, lib/command.h
 * describes their arguments and results. Also the steps that several of them share (open.c): the
 * trace to read, and points in time.
 *
 * SIGPIPE ends the process silently with EXIT_DONE and SIGXFSZ is ignored, so commands need not
 * handle signals.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/command.h"
#include "lib/error.h"
#include "lib/verbs.h"
#include "reader/reader.h"
#include "analysis/select.h"

#define DECLARE(verb, ...) int do_##verb(int argc, char **argv, struct error *error);
READER_VERBS(DECLARE)
#undef DECLARE

/* Open the trace PATH ("-": stdin) and read its header. 0 or a negative errno with the reason. */
int open_trace(const char *path, const struct reader_opts *opts, struct reader **ret,
	       struct error *error);

/*
 * FILE of a command line without one: "-" if stdin is a pipe, a socket or a file, as in `cat x |
 * gotrace stat`. Otherwise, as for a terminal, a usage_error().
 */
const char *default_input(void);

/*
 * Reads events and kernel events: resolves points in time, opens the trace, calls `read` and reports
 * omissions. `read` returns as timeline__next() at the end; it may not keep the timeline. 0 or a negative
 * errno, with the reason and the name of the trace.
 */
struct trace_args;
struct timeline;
typedef int (*read_timeline_fn)(void *context, struct timeline *t, const struct reader *r,
				struct error *error);
int read_timeline(struct trace_args *in, read_timeline_fn read, void *context, struct error *error);

/* To be called after reading: report on stderr that sums of system calls lack the short ones. */
struct private_short;
void report_short_calls(const char *name, const struct private_short *sum);
/* To be called after reading: report skipped events, and what --lenient left out, on stderr. */
struct gaps;
/* Report in one line how long records were missing, if they were. */
void report_gaps(const char *name, const struct gaps *gaps);
void report_omissions(const char *name, const struct reader *r);

/*
 * T of the command line, as in --from T: "1.5", "1.5s" and "+1.5s" are relative to the start of the
 * trace, "@123" is nanosecond 123 of the trace's clock, "2026-11-26T04:58:10Z" a wall-clock time.
 */
struct moment {
	enum { MOMENT_START, MOMENT_TRACE, MOMENT_WALL } clock; /* relative to its start, or to 0 */
	int64_t ns;
};

#define MOMENT_HELP                                                                                \
	"1.5s after the start of the trace, @123, nanosecond 123 of the trace's clock, or a date " \
	"and time, 2026-11-26T04:58:10Z"

/* An invalid `text` is a usage_error() that names the option. */
void moment__parse(const char *option, const char *text, struct moment *ret);
/*
 * Convert to trace time, ns; `start` is the time of the first event. Wall-clock times must have been
 * converted by trace_args__resolve().
 */
int64_t moment__time(const struct moment *moment, int64_t start);
/*
 * After the events of the trace, or those before --to: 0; -ENOENT, with the reason, if none of them
 * is in the requested time. `first` and `last`: times of the first and the last one.
 */
int trace_args__check_window(const struct trace_args *args, int64_t first, int64_t last,
			     struct error *error);

/* What most commands share: the trace, how to read it, the requested part of it, the output. */
struct trace_args {
	const char *verb;
	const char *path, *name; /* name: for messages */
	const char *out;	 /* NULL: -o was not given */
	struct reader_opts reader;
	struct moment from, to;
	bool have_from, have_to, json;
	bool wall_clock; /* set by commands that call trace_args__resolve() */
	struct selection select;
};

/*
 * argp handler for FILE, for those of the options below that a command lists, and for those of
 * command__key(). Returns what argp expects.
 */
error_t trace_args__option(struct trace_args *args, int key, char *text, struct argp_state *state);
/* The same as the parser of a command without other options; its input is a struct trace_args. */
error_t trace_args__parse(int key, char *text, struct argp_state *state);
/*
 * To be called after parsing: supplies the default FILE, checks the points in time, as far as they
 * can be compared without the trace, and that OUT is another file.
 */
void trace_args__check(struct trace_args *args);
/*
 * To be called after that, before the trace is opened: converts wall-clock times to trace times, for
 * which it reads the trace up to them, and changes args->path if that is a pipe. 0 or a negative
 * errno with the reason: -ENODATA (the trace does not have its wall-clock times).
 */
int trace_args__resolve(struct trace_args *args, struct error *error);
enum { OPT_FROM = 1024, OPT_TO, OPT_LENIENT, OPT_PROGRAM, OPT_JSON };
/* -j N: generations that are read at once. */
#define JOBS_OPTION                                                                                \
	{ "jobs", 'j', "N", 0, "read N generations at once; default: the CPUs, at most 4", 0 }
unsigned int default_jobs(void);
unsigned int read_jobs(const char *text); /* an invalid one is a usage_error() */
#define LENIENT_HELP	  "tolerate a truncated or corrupt tail, and report what was left out"
#define LENIENT_OPTION	  { "lenient", OPT_LENIENT, NULL, 0, LENIENT_HELP, 0 }
#define BINARY_HELP	  "the traced program, for the names in a trace of Go 1.5 or 1.6"
#define BINARY_OPTION	  { "binary", OPT_PROGRAM, "FILE", 0, BINARY_HELP, 0 }
/* Of commands that print time spent, most of them for a part of the trace */
#define TIMES_JSON_OPTION { "json", OPT_JSON, NULL, 0, "print JSON, with times in nanoseconds", 0 }
#define PART_OPTIONS                                                                               \
	{ "from", OPT_FROM, "T", 0, "only the time at T and later: " MOMENT_HELP, 0 },             \
		{ "to", OPT_TO, "T", 0, "only the time before T", 0 }
/* Of every command that reads all kinds of traces */
#define READING_OPTIONS LENIENT_OPTION, BINARY_OPTION, MEMORY_OPTION, HELP_OPTION

#endif
