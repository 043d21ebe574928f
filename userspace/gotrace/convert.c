// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace convert: writes the events of a trace in another version of the format.
 *
 * rewriting.c reads and writes; rewrite/rewrite_repair.c adds what v1 traces lack.
 */
#include "rewriting.h"

static const struct argp_option options[] = {
	{ "output", 'o', "OUT", 0, "output file", 0 },
	{ "format-version", OPT_FORMAT, "V", 0, FORMAT_HELP, 0 },
	FORCE_OPTION,
	READING_OPTIONS,
	{},
};

static const struct argp parser = {
	options,
	rewriting__parse,
	"FILE -o OUT",
	"Writes the same events in another version of the format: for a trace of Go 1.5 to 1.21, "
	"which current tools cannot read or read only in part, or for a reader that is "
	"older than the trace.",
};

int do_convert(int argc, char **argv, struct error *error)
{
	struct rewriting a = { .in = { .verb = "convert", .reader.described = true } };

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	return rewriting__run(&a, error) ? EXIT_FAILED : EXIT_DONE;
}
