// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace cut: extracts a time range of a trace as a trace of its own.
 *
 * rewriting.c reads and writes; rewrite/rewrite.h adds the prologue, which is the state at the
 * start.
 */
#include "rewriting.h"

static const struct argp_option options[] = {
	{ "from", OPT_FROM, "T", 0, "begin at T: " MOMENT_HELP, 0 },
	{ "to", OPT_TO, "T", 0, "end before T", 0 },
	{ "exact", OPT_EXACT, NULL, 0,
	  "begin at T even within a garbage collection, which gotraceui does not accept", 0 },
	{ "output", 'o', "OUT", 0, "output file", 0 },
	{ "format-version", OPT_FORMAT, "V", 0, FORMAT_HELP, 0 },
	LENIENT_OPTION,
	FORCE_OPTION,
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static const struct argp parser = {
	options,
	rewriting__parse,
	"FILE [--from T] [--to T] -o OUT",
	"Extracts the events between two points in time as a trace. It begins with the state at "
	"the first point, so it is a complete, valid trace; within a garbage collection, it begins "
	"after that. Uses FILE.idx if it exists; see "
	"gotrace index.",
};

int do_cut(int argc, char **argv, struct error *error)
{
	struct rewriting a = {
		.in = { .verb = "cut", .reader.described = true, .wall_clock = true },
		.outside_gc = true,
	};

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	return rewriting__run(&a, error) ? EXIT_FAILED : EXIT_DONE;
}
