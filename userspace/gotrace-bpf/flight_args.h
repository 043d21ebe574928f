/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options of the flight recorder, for the verbs flight and serve.
 *
 * Used by flight.c, which parses them, and serve.c.
 */
#ifndef FLIGHT_ARGS_H
#define FLIGHT_ARGS_H

#include "record.h"

enum {
	OPT_WINDOW = OPT_RECORD_END,
	OPT_MAX_SIZE,
	OPT_TAIL,
	OPT_TRIGGER,
	OPT_TRIGGER_INTERVAL,
	OPT_FLIGHT_END,
};

#define FLIGHT_OPTIONS                                                                                               \
	{ "window", OPT_WINDOW, "TIME", 0, "keep the events of the last TIME (default: 30s)", 0 },                   \
		{ "max-size",                                                                                        \
		  OPT_MAX_SIZE,                                                                                      \
		  "SIZE",                                                                                            \
		  0,                                                                                                 \
		  "keep at most SIZE bytes of events, as encoded in a file (default: 64M)",                          \
		  0 },                                                                                               \
		{ "tail",                                                                                            \
		  OPT_TAIL,                                                                                          \
		  "TIME",                                                                                            \
		  0,                                                                                                 \
		  "how long to record after the cause of a snapshot (default: 500ms)",                               \
		  0 },                                                                                               \
		{ "trigger",                                                                                         \
		  OPT_TRIGGER,                                                                                       \
		  "COND",                                                                                            \
		  0,                                                                                                 \
		  "write a snapshot when the condition COND is met, such as runnable:5ms, blocked:300ms, gc:100ms, " \
		  "heap:2G, func:main.foo, request:200ms, status:5xx, cpu:180%, signal:SIGSEGV (see "                \
		  "TRIGGERS in the manual); may be repeated",                                                        \
		  0 },                                                                                               \
		{ "trigger-interval",                                                                                \
		  OPT_TRIGGER_INTERVAL,                                                                              \
		  "TIME",                                                                                            \
		  0,                                                                                                 \
		  "minimum time between two snapshots of the same trigger (default: 1s)",                            \
		  0 },                                                                                               \
		{ "keep",                                                                                            \
		  OPT_KEEP,                                                                                          \
		  "SIZE",                                                                                            \
		  0,                                                                                                 \
		  "remove the oldest snapshots so that all take at most SIZE (default: 4G)",                         \
		  0 }

/* The values without any option. */
void flight_args__defaults(struct record_args *a);
/* Parses one of the options above, or one of record that a flight recorder supports. As argp expects. */
error_t flight_args__option(int key, char *text, struct argp_state *state, const char *verb);
/* Checks the options, and adds what they imply. Invalid combinations are usage errors. */
void flight_args__check(struct record_args *a);

#endif
