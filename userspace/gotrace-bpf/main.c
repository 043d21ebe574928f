// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf: records Go execution traces of running programs. The table of its commands.
 */
#include <stdint.h>
#include <string.h>

#include "command.h"
#include "lib/opts.h"
#include "named.h"

static const struct command commands[] = {
	{ "record", do_record,
	  "record a running process (-p PID), or a program from its start (-- CMD)" },
	{ "sequence", do_sequence, "make a trace of a raw file that record --raw wrote" },
	{ "recover", do_recover,
	  "write the trace of a black box (record --blackbox), or list them" },
	{ "probes", do_probes, "show where a process or a program would be probed, and why there" },
	{ "doctor", do_doctor, "show what this kernel, these privileges and a target allow" },
};

static const char *const reader_verbs[] = { "check",	  "text",    "raw",   "events", "stat",
					    "goroutines", "latency", "path",  "cut",	"index",
					    "describe",	  "convert", "align", NULL };

static const struct program program = {
	.name = "gotrace-bpf",
	.what = "Records a Go execution trace of a running, unmodified Go program, from outside.",
	.more = "`gotrace-bpf -p PID` is `gotrace-bpf record -p PID`; "
		"`gotrace-bpf VERB --help` has the options.",
	.ask = "missing command, or -p PID",
	.commands = commands,
	.ncommands = sizeof(commands) / sizeof(*commands),
	.fallback = &commands[0],
	.sibling = "gotrace",
	.sibling_verbs = reader_verbs,
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
		usage_error("invalid PID '%s'", text);
	return (int)pid;
}

int main(int argc, char **argv)
{
	return program__main(&program, argc, argv);
}
