/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of gotrace-bpf: one function a verb, one file each. main.c has their table.
 *
 * Each gets its own arguments argv[0] is "gotrace-bpf", prints data to stdout, writes the reason of
 * a failure into the error, and returns the exit status: EXIT_DONE, EXIT_FAILED; argp exits by
 * itself with EXIT_USAGE.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include "lib/error.h"

struct argp_state;

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

int do_record(int argc, char **argv, struct error *err);
int do_sequence(int argc, char **argv, struct error *err);
int do_probes(int argc, char **argv, struct error *err);
int do_doctor(int argc, char **argv, struct error *err);

/* One line on stderr, and exit 2: what the command line has wrong. */
_Noreturn void usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * What all verbs' parsers do with a key that is not theirs: one line only for a wrong option, and
 * --help (HELP_OPTION; to be parsed with ARGP_NO_HELP) that names the verb. Returns what argp
 * expects.
 */
int command__key(int key, struct argp_state *state, const char *verb);

/* usage_error() if both are given and name one file, or both stdout. */
void refuse_same_file(const char *name, const char *path, const char *other_name,
		      const char *other);

#define HELP_OPTION { "help", '?', NULL, 0, "show this", -1 }
/* A PID of the command line; not one: usage_error(). */
int parse_pid(const char *text);
/* "1.25" to 25; "1ns" or "64ns" to the number. usage_error() if it is another. */
unsigned int parse_version(const char *text);
unsigned int parse_tick(const char *text);

#endif
