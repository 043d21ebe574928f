// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace convert: a trace of any version of Go as one of another, today's or an older reader's.
 *
 * rewriting.c reads and writes; what v1 traces lack is in trace/rewrite_repair.c.
 */
#include <argp.h>

#include "rewriting.h"

enum { OPT_LENIENT = 256, OPT_BINARY };

static const struct argp_option options[] = {
	{ "output", 'o', "OUT", 0, "where to", 0 },
	{ "format-version", OPT_FORMAT, "V", 0, FORMAT_HELP, 0 },
	{ "lenient", OPT_LENIENT, NULL, 0, "let a broken or cut end of the trace be", 0 },
	{ "binary", OPT_BINARY, "FILE", 0,
	  "the traced program, which has the names that traces of Go 1.5 and 1.6 lack", 0 },
	FORCE_OPTION,
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct rewriting *a = state->input;

	switch (key) {
	case OPT_LENIENT:
		a->reader.lenient = true;
		return 0;
	case OPT_BINARY:
		a->reader.binary = text;
		return 0;
	default:
		return rewriting__option(a, key, text) ? command__key(key, state, "convert") : 0;
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE -o OUT",
	"Makes a trace of another version of the format, with the same events: of traces of Go 1.5 "
	"to 1.21, which today's tools read no more, or only some of them; or for a reader that is "
	"older than the trace.",
	NULL,
	NULL,
	NULL,
};

int do_convert(int argc, char **argv, struct error *err)
{
	struct rewriting a = { .reader.described = true };

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	if (!a.path)
		a.path = default_input();
	if (!a.out)
		usage_error("no -o OUT given");
	return rewriting__run(&a, err) ? EXIT_FAILED : EXIT_DONE;
}
