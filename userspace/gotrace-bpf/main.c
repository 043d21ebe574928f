// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf: records Go execution traces of running programs. The table of its commands.
 */
#include <argp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "lib/log.h"
#include "lib/opts.h"

static const struct command {
	const char *verb;
	int (*run)(int argc, char **argv, struct error *err);
	const char *what;
} commands[] = {
	{ "record", do_record,
	  "record a running process (-p PID), or a program from its start (-- CMD)" },
	{ "sequence", do_sequence, "make a trace of a raw file that record --raw wrote" },
	{ "probes", do_probes, "show where a process or a program would be probed, and why there" },
	{ "doctor", do_doctor, "show what this kernel, these privileges and a target allow" },
};

#define NCOMMANDS (sizeof(commands) / sizeof(*commands))

void usage_error(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log__msg("%s (see gotrace-bpf --help)", text);
	exit(EXIT_USAGE);
}

void refuse_same_file(const char *name, const char *path, const char *other_name,
		      const char *other)
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
	static char name[32];
	FILE *nowhere;

	switch (key) {
	case ARGP_KEY_INIT: /* argp follows getopt's one line with "Try ... --help" */
		nowhere = fopen("/dev/null", "we");
		if (nowhere)
			state->err_stream = nowhere;
		return 0;
	case '?':
		snprintf(name, sizeof(name), "gotrace-bpf %s", verb);
		state->name = name;
		argp_state_help(state, stdout,
				ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC |
					ARGP_HELP_EXIT_OK);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int parse_pid(const char *text)
{
	uint64_t pid;

	if (!opts__number(text, 1, INT32_MAX, &pid))
		usage_error("\"%s\" is no process ID", text);
	return (int)pid;
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

static int help(void)
{
	size_t i;

	printf("Usage: gotrace-bpf VERB [OPTION...]\n"
	       "Records a Go execution trace of a running, unmodified Go program, from "
	       "outside.\n\n");
	for (i = 0; i < NCOMMANDS; i++)
		printf("  %-8s   %s\n", commands[i].verb, commands[i].what);
	printf("\n`gotrace-bpf -p PID` is `gotrace-bpf record -p PID`; "
	       "`gotrace-bpf VERB --help` has the options.\n");
	return EXIT_DONE;
}

static int version(void)
{
	printf("gotrace-bpf %s\n", GOTRACE_VERSION);
	return EXIT_DONE;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct error err = {};
	int status;

	argv[0] = program_invocation_name = program_invocation_short_name = (char *)"gotrace-bpf";
	status = command->run(argc, argv, &err);
	if (status && err.text[0])
		log__msg("%s", err.text);
	if (fflush(stdout) || ferror(stdout)) {
		log__msg("cannot write to the standard output");
		status = EXIT_FAILED;
	}
	return status;
}

int main(int argc, char **argv)
{
	const char *verb = argv[1];
	size_t i;

	argp_err_exit_status = EXIT_USAGE;
	if (argc < 2)
		usage_error("record what? -p PID, or a verb");
	if (!strcmp(verb, "--help") || !strcmp(verb, "-h") || !strcmp(verb, "help"))
		return help();
	if (!strcmp(verb, "--version") || !strcmp(verb, "-V"))
		return version();
	for (i = 0; i < NCOMMANDS; i++)
		if (!strcmp(verb, commands[i].verb))
			return run(&commands[i], argc - 1, argv + 1);
	if (verb[0] == '-') /* gotrace-bpf -p PID */
		return run(&commands[0], argc, argv);
	usage_error("no command \"%s\"", verb);
}
