/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options of record that other verbs have as well, and their parser (record_options.c).
 *
 * Used by record.c and flight.c.
 */
#ifndef RECORD_H
#define RECORD_H

#include <argp.h>

#include "min_duration.h"
#include "recording.h"

enum {
	OPT_EVENTS = 256,
	OPT_NO_STACKS,
	OPT_STACK_DEPTH,
	OPT_TICK,
	OPT_FORMAT,
	OPT_STATS,
	OPT_PERF,
	OPT_RING_SIZE,
	OPT_FOLLOW,
	OPT_CPU,
	OPT_BLACKBOX,
	OPT_DAEMONIZE,
	OPT_TIMEOUT,
	OPT_PROBES,
	OPT_REGION,
	OPT_TASK,
	OPT_INHERIT,
	OPT_REQUESTS,
	OPT_MAX_NAMES,
	OPT_NO_LABELS,
	OPT_ROTATE,
	OPT_KEEP,
	OPT_SAMPLE,
	OPT_ALIGN_START,
	OPT_MIN_DURATION,
	OPT_EXE,
	OPT_CGROUP,
	OPT_UNIT,
	OPT_MAX_OVERHEAD,
	OPT_RECORD_END,
};

#define EVENTS_OPTION                                                                              \
	{ "events",                                                                                \
	  OPT_EVENTS,                                                                              \
	  "LIST",                                                                                  \
	  0,                                                                                       \
	  "event sets to record: sched (always on), syscall, gc, heap, user, kernel, sweep, cpu, " \
	  "fault; default: all except sweep, cpu and fault",                                       \
	  0 }
#define NO_STACKS_OPTION                                                                           \
	{ "no-stacks",                                                                             \
	  OPT_NO_STACKS,                                                                           \
	  NULL,                                                                                    \
	  0,                                                                                       \
	  "record no stacks; this saves about an eighth of the cost",                              \
	  0 }
#define STACK_DEPTH_OPTION                                                                         \
	{ "stack-depth",                                                                           \
	  OPT_STACK_DEPTH,                                                                         \
	  "N",                                                                                     \
	  0,                                                                                       \
	  "maximum number of frames of a stack, 1 to 128 (default: 128)",                          \
	  0 }
#define RING_SIZE_OPTION                                                                           \
	{ "ring-size",                                                                             \
	  OPT_RING_SIZE,                                                                           \
	  "SIZE",                                                                                  \
	  0,                                                                                       \
	  "size of each ring buffer, 16K to 256M (default: 16M in total, more on large machines)", \
	  0 }
#define PROBES_OPTION                                                                                \
	{ "probes",                                                                                  \
	  OPT_PROBES,                                                                                \
	  "uprobe|inline",                                                                           \
	  0,                                                                                         \
	  "how to see the most frequent events: by uprobes (default), or by jumps in the program's " \
	  "code, which cost a tenth (see INLINE PROBES in the manual)",                              \
	  0 }
#define MIN_DURATION_OPTION                                                                        \
	{ "min-duration", OPT_MIN_DURATION, "KIND:TIME", 0, MIN_DURATION_HELP, 0 }
#define MAX_OVERHEAD_OPTION                                                                        \
	{ "max-overhead",                                                                          \
	  OPT_MAX_OVERHEAD,                                                                        \
	  "N%[target]",                                                                            \
	  0,                                                                                       \
	  "limit the CPU time that the recording takes from the program to N % of a CPU, or with " \
	  "'target' of the program's CPU time: leave out event sets, then pause",                  \
	  0 }
/* Of targets.c, which also parses -p. */
#define TARGETS_OPTIONS                                                                            \
	{ "exe",                                                                                   \
	  OPT_EXE,                                                                                 \
	  "NAME|PATH",                                                                             \
	  0,                                                                                       \
	  "record all processes of this executable, and those that start later; may be repeated",  \
	  0 },                                                                                     \
		{ "cgroup",                                                                        \
		  OPT_CGROUP,                                                                      \
		  "PATH",                                                                          \
		  0,                                                                               \
		  "record all Go programs in this cgroup and below it, or only those of --exe",    \
		  0 },                                                                             \
		{ "unit", OPT_UNIT, "UNIT", 0, "as --cgroup, for the cgroup of this systemd unit", 0 }
#define FORMAT_OPTION { "format-version", OPT_FORMAT, TRACE_VERSION_CHOICE, 0, FORMAT_HELP, 0 }

#define CPU_PROFILE_OPTION                                                                          \
	{ "cpu-profile",                                                                            \
	  OPT_CPU,                                                                                  \
	  "HZ",                                                                                     \
	  OPTION_ARG_OPTIONAL,                                                                      \
	  "also take CPU samples (set cpu), HZ per second of running time on each CPU, 1 to 10000 " \
	  "(default: 99)",                                                                          \
	  0 }
/* What is recorded of calls and of goroutines' labels. */
#define CALL_OPTIONS                                                                                              \
	{ "region",                                                                                               \
	  OPT_REGION,                                                                                             \
	  "FUNC[=NAME]",                                                                                          \
	  0,                                                                                                      \
	  "record each call of FUNC as a user region named NAME (default: FUNC); FUNC is the name "               \
	  "of a Go function, a glob, or a /regular expression/; may be repeated",                                 \
	  0 },                                                                                                    \
		{ "task",                                                                                         \
		  OPT_TASK,                                                                                       \
		  "FUNC[=NAME]",                                                                                  \
		  0,                                                                                              \
		  "record each call of FUNC as a task, with a region inside; FUNC as for --region",               \
		  0 },                                                                                            \
		{ "inherit",                                                                                      \
		  OPT_INHERIT,                                                                                    \
		  NULL,                                                                                           \
		  0,                                                                                              \
		  "goroutines that are created in a task of --task or --requests belong to it",                   \
		  0 },                                                                                            \
		{ "requests",                                                                                     \
		  OPT_REQUESTS,                                                                                   \
		  "LIST",                                                                                         \
		  0,                                                                                              \
		  "record requests as tasks, named by what is requested: a list of http, sql, http-client, dns, " \
		  "grpc, grpc-client, or all (see REQUESTS in the manual)",                                       \
		  0 },                                                                                            \
		{ "max-names",                                                                                    \
		  OPT_MAX_NAMES,                                                                                  \
		  "N",                                                                                            \
		  0,                                                                                              \
		  "with --requests: how many different names are recorded; requests beyond are \"other\" "        \
		  "(default: 1000)",                                                                              \
		  0 },                                                                                            \
		{ "no-labels",                                                                                    \
		  OPT_NO_LABELS,                                                                                  \
		  NULL,                                                                                           \
		  0,                                                                                              \
		  "do not record the labels of goroutines (runtime/pprof.Do), which may contain personal "        \
		  "data",                                                                                         \
		  0 }

/*
 * Parses one of these options into the struct record_args of the state's input. As argp expects: it
 * calls the parser only with options of the verb's own table.
 */
error_t record__option(int key, char *text, struct argp_state *state, const char *verb);
/* Adds a region, as the option --region FUNC does. Borrows `func`. */
void record__add_region(struct record_args *a, const char *func);
/* With --cpu-profile: adds its event set. To be called after all options are parsed. */
void record__check_profile(struct record_args *a);
/* Rejects invalid combinations with --region, --task and --requests, which are usage errors. */
void record__check_calls(const struct record_args *a);
/* --min-duration fits the event sets, and is not given with --blackbox, or a usage error. */
void record__check_min_duration(const struct record_args *a);
/* Rejects invalid combinations with --max-overhead, which are usage errors. */
void record__check_budget(const struct record_args *a);
/* The values without any option. */
void record__defaults(struct record_args *ret);
/*
 * The recorder's loop reads ^C and SIGTERM from a descriptor. They are blocked, and not ignored
 * even if inherited so, in order to stay pending until then. A closed pipe and a file size limit
 * become an errno, and messages no longer wait for a reader who does not read them.
 */
void record__prepare_signals(struct launch_signals *before);

#endif
