/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs with commands: the part of main() that gotrace-bpf and gotrace share.
 *
 * Each command is a function in a file of its own. It gets its arguments (argv[0] is the name of
 * the program), prints data to stdout, stores the reason of a failure in the error, and returns
 * the exit status, EXIT_DONE or EXIT_FAILED. A wrong command line ends in usage_error().
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
	int (*run)(int argc, char **argv, struct error *error);
	const char *what;  /* its line in --help */
	const char *alias; /* former name, which --help does not list; or NULL */
};

struct program {
	const char *name;
	const char *what; /* a line of --help: the purpose of the program */
	const char *more; /* the last lines of --help */
	const char *ask;  /* the message for an empty command line */
	const struct command *commands;
	size_t ncommands;
	bool limit_memory;		/* MEMORY_OPTION has a default: lib/memory_limit.h */
	const struct command *fallback; /* for a command line that begins with an option; or NULL */
	/* the other program and its commands: for a hint if they are confused */
	const char *sibling;
	const struct command *siblings;
	size_t nsiblings;
};

/*
 * To be called by main(): run the command, print the reason of a failure. Returns the exit status.
 */
int program__main(const struct program *program, int argc, char **argv);

/* Print one line that names the mistake in the command line and refers to --help; exit status 2. */
_Noreturn void usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Messages of usage_error() begin with the place of the mistake, such as "FILE, line 3". NULL: it is in
 * the command line. Borrowed.
 */
void command__set_place(const char *place);

/*
 * Common handler of the argp parsers of all commands, which use COMMAND_FLAGS: prints one line for
 * a wrong option, handles --help, -h and -? (HELP_OPTION), --force (FORCE_OPTION) of commands that
 * write files, --max-memory (MEMORY_OPTION) of those that read them, and --color (COLOR_OPTION) of those
 * that print tables. Returns what argp expects.
 */
int command__key(int key, struct argp_state *state, const char *verb);
#define COMMAND_FLAGS (ARGP_NO_HELP | ARGP_NO_ERRS)
enum { OPT_FORCE = 2048, OPT_MAX_MEMORY, OPT_COLOR };
#define FORCE_OPTION { "force", OPT_FORCE, NULL, 0, "replace an existing file of another type", 0 }
bool command__forced(void); /* whether --force was given */
#define MEMORY_OPTION                                                                              \
	{ "max-memory", OPT_MAX_MEMORY, "SIZE", 0, "total memory limit, such as 500M or 2G", 0 }
#define COLOR_OPTION                                                                               \
	{ "color",                                                                                 \
	  OPT_COLOR,                                                                               \
	  "WHEN",                                                                                  \
	  0,                                                                                       \
	  "bold headings: auto (default: on a terminal), always or never",                         \
	  0 }
#define HELP_OPTION                                                                                \
	{ "help", 'h', NULL, 0, "show this help", -1 }, { NULL, '?', NULL, OPTION_HIDDEN, NULL, -1 }

/*
 * Make the process end silently with EXIT_DONE when the reader of its output is gone (as with `|
 * head`): for commands that print.
 */
void command__end_with_reader(void);

/* usage_error() if both are given and name the same file, or are both stdout. */
void refuse_same_file(const char *name, const char *path, const char *other_name,
		      const char *other);
/* "1ns" or "64ns" is the number. Any other text is a usage_error(). */
unsigned int parse_tick(const char *text);

#endif
