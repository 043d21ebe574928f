// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace anonymize: writes the same events with other names, so that a trace can be passed on.
 *
 * gotrace/rewriting.c reads and writes; rewrite/anonymize.c replaces names and texts.
 */
#include <errno.h>
#include <string.h>

#include "gotrace/rewriting.h"
#include "rewrite/anonymize.h"

enum { OPT_KEY = 256, OPT_ALL };

struct arguments {
	struct rewriting run; /* the first member: also the input of rewriting__parse() */
	const char *key;
	bool all;
};

static const struct argp_option options[] = {
	{ "output", 'o', "OUT", 0, "output file", 0 },
	{ "key", OPT_KEY, "TEXT", 0,
	  "equal names are replaced by equal ones in all files with this key; default: a random key",
	  0 },
	{ "all", OPT_ALL, NULL, 0, "also replace the names of the standard library and the runtime",
	  0 },
	{ "format-version", OPT_FORMAT, "V", 0, FORMAT_HELP, 0 },
	FORCE_OPTION,
	READING_OPTIONS,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_KEY:
		if (!*text)
			usage_error("invalid key '' for --key: must not be empty");
		a->key = text;
		return 0;
	case OPT_ALL:
		a->all = true;
		return 0;
	default:
		return rewriting__parse(key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE -o OUT",
	"Writes the same events with other names: those of functions, packages, files, tasks, "
	"regions, logs, labels and threads are replaced by keyed hashes. Texts of logs, the command "
	"line and the build ID are removed. Names of the standard library and the runtime, reasons of "
	"states, times, addresses and line numbers remain, and so do all figures.",
};

int do_anonymize(int argc, char **argv, struct error *error)
{
	struct arguments a = { .run.in = { .verb = "anonymize", .reader.described = true } };
	struct anonymizer names;
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	err = anonymizer__init(&names, a.key, a.all);
	if (err)
		error__set(error, err, "no random key: %s; use --key", strerror(-err));
	a.run.names = &names;
	return err || rewriting__run(&a.run, error) ? EXIT_FAILED : EXIT_DONE;
}
