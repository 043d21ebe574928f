/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program of verbs: what the main() of gotrace-bpf and that of gotrace share.
 *
 * Each verb is a function of its own file. It gets its own arguments (argv[0] is the program's
 * name), prints data to stdout, writes the reason of a failure into the error, and returns the exit
 * status: EXIT_DONE or EXIT_FAILED; a wrong command line ends in usage_error().
 */
#ifndef LIB_COMMAND_H
#define LIB_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/error.h"

struct argp_state;

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct command {
	const char *verb;
	int (*run)(int argc, char **argv, struct error *err);
	const char *what; /* its line in --help */
};

struct program {
	const char *name;
	const char *what; /* a line of --help: what it is for */
	const char *more; /* the last lines of --help */
	const char *ask;  /* what an empty command line lacks */
	const struct command *commands;
	size_t ncommands;
	bool limit_memory;		/* MEMORY_OPTION has a default: lib/memory_limit.h */
	const struct command *fallback; /* of a command line that begins with an option; or NULL */
	/* the other program of ours, and its verbs, NULL at the end: for who mixes them up */
	const char *sibling;
	const char *const *sibling_verbs;
};

/* main(): finds the verb, runs it, prints the one line of a failure. Returns the exit status. */
int program__main(const struct program *program, int argc, char **argv);

/* One line on stderr that says where the help is, and exit 2: what the command line has wrong. */
_Noreturn void usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * What all verbs' argp parsers do with a key that is not theirs: one line for a wrong option,
 * --help, -h and -? (HELP_OPTION) that name the verb, --force (FORCE_OPTION) of those that write
 * files, and --max-memory (MEMORY_OPTION) of those that read them. They are parsed with COMMAND_FLAGS. Returns what argp expects.
 */
int command__key(int key, struct argp_state *state, const char *verb);
#define COMMAND_FLAGS (ARGP_NO_HELP | ARGP_NO_ERRS)
enum { OPT_FORCE = 2048, OPT_MAX_MEMORY };
#define FORCE_OPTION { "force", OPT_FORCE, NULL, 0, "replace an existing file of another kind", 0 }
bool command__forced(void); /* --force was given */
#define MEMORY_OPTION { "max-memory", OPT_MAX_MEMORY, "SIZE", 0, "use at most SIZE of memory", 0 }
#define HELP_OPTION                                                                                \
	{ "help", 'h', NULL, 0, "show this", -1 }, { NULL, '?', NULL, OPTION_HIDDEN, NULL, -1 }

/*
 * From now on output whose reader is gone (as with `| head`) ends the process quietly, with
 * EXIT_DONE: for verbs that print.
 */
void command__end_with_reader(void);

/* usage_error() if both are given and name one file, or both stdout. */
void refuse_same_file(const char *name, const char *path, const char *other_name,
		      const char *other);
/* "1.25" to 25; "1ns" or "64ns" to the number. usage_error() if it is another. */
unsigned int parse_version(const char *text);
unsigned int parse_tick(const char *text);

#endif
