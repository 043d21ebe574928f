// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace cut: a part of a trace, as a trace of its own.
 *
 * rewriting.c reads and writes; trace/rewrite.h puts a prologue in front.
 */
#include <argp.h>

#include "rewriting.h"

enum { OPT_FROM = 256, OPT_TO, OPT_LENIENT };

static const struct argp_option options[] = {
	{ "from", OPT_FROM, "T", 0,
	  "begin at T: 1.5s after the trace's start, or @123, the trace's own nanosecond 123", 0 },
	{ "to", OPT_TO, "T", 0, "end before T", 0 },
	{ "output", 'o', "OUT", 0, "where to", 0 },
	{ "format-version", OPT_FORMAT, "V", 0, FORMAT_HELP, 0 },
	{ "lenient", OPT_LENIENT, NULL, 0, "let a broken or cut end of the trace be", 0 },
	FORCE_OPTION,
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct rewriting *a = state->input;

	switch (key) {
	case OPT_FROM:
		a->have_from = read_moment("--from", text, &a->from);
		return 0;
	case OPT_TO:
		a->have_to = read_moment("--to", text, &a->to);
		return 0;
	case OPT_LENIENT:
		a->reader.lenient = true;
		return 0;
	default:
		return rewriting__option(a, key, text) ? command__key(key, state, "cut") : 0;
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE [--from T] [--to T] -o OUT",
	"Makes a trace of the events from one moment up to another. It says first what was going "
	"on then, so that every reader understands it. Uses FILE.idx if there is one (gotrace "
	"index).",
	NULL,
	NULL,
	NULL,
};

int do_cut(int argc, char **argv, struct error *err)
{
	struct rewriting a = { .reader.described = true };

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	if (!a.path)
		a.path = default_input();
	if (!a.out)
		usage_error("no -o OUT given");
	if (a.have_from && a.have_to)
		check_moments(&a.from, &a.to);
	return rewriting__run(&a, err) ? EXIT_FAILED : EXIT_DONE;
}
