// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf: records Go execution traces of running programs. The table of its commands, and the
 * parsing of a PID.
 */
#include <stdint.h>
#include <string.h>

#include "lib/opts.h"
#include "command.h"
#include "named.h"

static const struct command commands[] = { RECORDER_VERBS(VERB_ROW) };
static const struct command siblings[] = { READER_VERBS(SIBLING_ROW) };

static const struct program program = {
	.name = "gotrace-bpf",
	.what = "Records a Go execution trace of a running, unmodified Go program, from outside.",
	.more = "'gotrace-bpf -p PID' is short for 'gotrace-bpf record -p PID'.\n"
		"'gotrace-bpf COMMAND --help' lists the options of a command.",
	.ask = "missing command or -p PID",
	.commands = commands,
	.ncommands = sizeof(commands) / sizeof(*commands),
	.fallback = &commands[0],
	.sibling = "gotrace",
	.siblings = siblings,
	.nsiblings = sizeof(siblings) / sizeof(*siblings),
};

bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

int parse_pid(const char *text)
{
	uint64_t pid;

	if (*text && !is_number(text) && *text != '-')
		return named__find(text);
	if (!opts__number(text, 1, INT32_MAX, &pid))
		usage_error("invalid PID '%s'; expected a number or the name of a process", text);
	return (int)pid;
}

int main(int argc, char **argv)
{
	return program__main(&program, argc, argv);
}
