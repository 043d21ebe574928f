/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of gotrace: one function a verb, one file each. main.c has their table;
 * lib/command.h says what a verb gets and returns. And what several of them have in common
 * (open.c): the trace to read, a moment in it.
 *
 * SIGPIPE ends the process quietly with EXIT_DONE, SIGXFSZ is ignored: verbs set up no signals.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/command.h"
#include "lib/error.h"
#include "trace/reader.h"

int do_check(int argc, char **argv, struct error *err);
int do_text(int argc, char **argv, struct error *err);
int do_raw(int argc, char **argv, struct error *err);
int do_events(int argc, char **argv, struct error *err);
int do_stat(int argc, char **argv, struct error *err);
int do_goroutines(int argc, char **argv, struct error *err);
int do_latency(int argc, char **argv, struct error *err);
int do_path(int argc, char **argv, struct error *err);
int do_cut(int argc, char **argv, struct error *err);
int do_index(int argc, char **argv, struct error *err);
int do_describe(int argc, char **argv, struct error *err);
int do_convert(int argc, char **argv, struct error *err);
int do_align(int argc, char **argv, struct error *err);

/* The trace PATH ("-": stdin), its header read. 0 or a negative errno with the reason. */
int open_trace(const char *path, const struct reader_opts *opts, struct reader **ret,
	       struct error *err);

/*
 * The FILE of a command line that names none: "-" if stdin is a pipe, a socket or a file, as in
 * `cat x | gotrace stat`; else a usage_error(): a terminal is not read from.
 */
const char *default_input(void);

/* On stderr, after reading: events that were passed over, and what --lenient left out. */
void say_what_is_missing(const char *name, const struct reader *r);

/* A T of the command line, as in --from T. */
struct moment {
	bool absolute; /* else since the trace's start */
	int64_t ns;
};

/*
 * "1.5s" is a time since the trace's start, "@123" the trace's own nanosecond 123. Ends the program by a
 * usage_error() that names the option if `text` is neither; else true.
 */
bool read_moment(const char *option, const char *text, struct moment *ret);
/* A usage_error() if --to is no later than --from, as far as one can say without the trace. */
void check_moments(const struct moment *from, const struct moment *to);
/* The moment in the trace's own time; `start` is that of its first event. */
int64_t moment__time(const struct moment *moment, int64_t start);

/* One trace to read, how, and which part of it: what the verbs that show something of it are told. */
struct trace_source {
	const char *path, *name; /* name: for messages */
	struct reader_opts reader;
	struct moment from, to;
	bool have_from, have_to;
};

/*
 * What their argp parsers do with FILE and these options, those that a verb lists. Returns what argp
 * expects, ARGP_ERR_UNKNOWN of another key.
 */
int trace_source__option(struct trace_source *source, int key, char *text);
/* When all is parsed: FILE, the moments. */
void trace_source__check(struct trace_source *source);
enum { SOURCE_FROM = 1024, SOURCE_TO, SOURCE_LENIENT, SOURCE_BINARY };
#define LENIENT_OPTION                                                                             \
	{ "lenient",                                                                               \
	  SOURCE_LENIENT,                                                                          \
	  NULL,                                                                                    \
	  0,                                                                                       \
	  "let a broken or cut end of the trace be, and say what was left out",                    \
	  0 }
#define BINARY_OPTION                                                                              \
	{ "binary",                                                                                \
	  SOURCE_BINARY,                                                                           \
	  "FILE",                                                                                  \
	  0,                                                                                       \
	  "the traced program, which has the names that traces of Go 1.5 and 1.6 "                 \
	  "lack",                                                                                  \
	  0 }

#endif
