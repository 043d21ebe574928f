// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace: reads, checks and converts Go execution traces, offline. The table of its commands.
 */
#include <signal.h>

#include "lib/progress.h"
#include "pack/archive.h"
#include "command.h"

static const struct command commands[] = { READER_VERBS(VERB_ROW) };
static const struct command siblings[] = { RECORDER_VERBS(SIBLING_ROW) };

static const struct program program = {
	.name = "gotrace",
	.what = "Reads, checks and converts Go execution traces. FILE may be -, which is "
		"standard input, and may be\ncompressed with gzip or zstd, or packed with gotrace pack.",
	.more = "'gotrace COMMAND --help' lists the options of a command.",
	.ask = "missing command",
	.limit_memory = true,
	.commands = commands,
	.ncommands = sizeof(commands) / sizeof(*commands),
	.sibling = "gotrace-bpf",
	.siblings = siblings,
	.nsiblings = sizeof(siblings) / sizeof(*siblings),
};

int main(int argc, char **argv)
{
	command__end_with_reader();
	progress__enable();
	unpack__add_format(&archive_format);
	signal(SIGXFSZ, SIG_IGN); /* a write then fails with EFBIG */
	return program__main(&program, argc, argv);
}
