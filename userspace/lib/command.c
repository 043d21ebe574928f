// SPDX-License-Identifier: GPL-2.0
/*
 * A program of verbs: see command.h.
 *
 * It names the program by program_invocation_short_name, as log.c does, whatever name it was
 * started by: its messages are the same for all.
 */
#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/command.h"
#include "lib/hash.h"
#include "lib/log.h"

static bool forced;

void usage_error(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log__msg("%s (see %s --help)", text, program_invocation_short_name);
	exit(EXIT_USAGE);
}

void refuse_same_file(const char *name, const char *path, const char *other_name, const char *other)
{
	struct stat a, b;
	bool same;

	if (!path || !other)
		return;
	same = !strcmp(path, other);
	if (!same && !stat(path, &a) && !stat(other, &b))
		same = a.st_dev == b.st_dev && a.st_ino == b.st_ino && S_ISREG(a.st_mode);
	if (same && strncmp(path, "/dev/", 5))
		usage_error("%s and %s name the same file, %s", name, other_name, path);
}

int command__key(int key, struct argp_state *state, const char *verb)
{
	static char name[48];
	FILE *nowhere;

	switch (key) {
	case ARGP_KEY_INIT: /* argp follows getopt's one line with "Try ... --help" */
		nowhere = fopen("/dev/null", "we");
		if (nowhere)
			state->err_stream = nowhere;
		return 0;
	case '?':
		snprintf(name, sizeof(name), "%s %s", program_invocation_short_name, verb);
		state->name = name;
		argp_state_help(state, stdout,
				ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC |
					ARGP_HELP_EXIT_OK);
		return 0;
	case OPT_FORCE:
		forced = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

bool command__forced(void)
{
	return forced;
}

unsigned int parse_version(const char *text)
{
	static const unsigned int known[] = { 22, 23, 25, 26 };
	char name[8];
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		snprintf(name, sizeof(name), "1.%u", known[i]);
		if (!strcmp(text, name))
			return known[i];
	}
	usage_error("no trace format %s: there are 1.22, 1.23, 1.25 and 1.26", text);
}

unsigned int parse_tick(const char *text)
{
	if (!strcmp(text, "1ns"))
		return 1;
	if (!strcmp(text, "64ns"))
		return 64;
	usage_error("a tick of \"%s\": it is 1ns or 64ns", text);
}

static int help(const struct program *program)
{
	int width = 0;
	size_t i;

	for (i = 0; i < program->ncommands; i++)
		if (width < (int)strlen(program->commands[i].verb))
			width = (int)strlen(program->commands[i].verb);
	printf("Usage: %s VERB [OPTION...]\n%s\n\n", program->name, program->what);
	for (i = 0; i < program->ncommands; i++)
		printf("  %-*s   %s\n", width, program->commands[i].verb,
		       program->commands[i].what);
	printf("\n%s\n", program->more);
	return EXIT_DONE;
}

static int version(const struct program *program)
{
	printf("%s %s\n", program->name, GOTRACE_VERSION);
	return EXIT_DONE;
}

/* What was printed counts only when it arrived. */
static int flush(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	log__msg("cannot write to the standard output");
	return EXIT_FAILED;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct error err = {};
	int status;

	argv[0] = program_invocation_name;
	status = command->run(argc, argv, &err);
	if (status && err.text[0])
		log__msg("%s", err.text);
	return status;
}

static int dispatch(const struct program *program, int argc, char **argv)
{
	const char *verb = argv[1];
	size_t i;

	if (argc < 2)
		usage_error("%s", program->ask);
	if (!strcmp(verb, "--help") || !strcmp(verb, "-h") || !strcmp(verb, "help"))
		return help(program);
	if (!strcmp(verb, "--version") || !strcmp(verb, "-V"))
		return version(program);
	for (i = 0; i < program->ncommands; i++)
		if (!strcmp(verb, program->commands[i].verb))
			return run(&program->commands[i], argc - 1, argv + 1);
	if (verb[0] == '-' && program->fallback)
		return run(program->fallback, argc, argv);
	usage_error("no command \"%s\"", verb);
}

int program__main(const struct program *program, int argc, char **argv)
{
	hash__randomize();
	argp_err_exit_status = EXIT_USAGE;
	program_invocation_name = program_invocation_short_name = (char *)program->name;
	return flush(dispatch(program, argc, argv));
}
