// SPDX-License-Identifier: GPL-2.0
/*
 * What the verbs text and raw share: see filter.h. Between lib/input.c and trace/outbuf.c; what is
 * done to the bytes is trace/text_write.c's or trace/text_read.c's.
 *
 * A file that is written has all of it or does not come into being; stdout gets what there was
 * before the input turned out to be broken.
 */
#include <argp.h>
#include <errno.h>
#include <string.h>

#include "command.h"
#include "filter.h"
#include "trace/output.h"

struct arguments {
	const char *verb, *in, *out;
};

static const struct argp_option options[] = {
	{ "output", 'o', "OUT", 0, "where to (default: -, stdout)", 0 },
	FORCE_OPTION,
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'o':
		a->out = text;
		return 0;
	case ARGP_KEY_ARG:
		if (a->in)
			usage_error("one file at a time, not \"%s\" as well", text);
		a->in = text;
		return 0;
	default:
		return command__key(key, state, a->verb);
	}
}

static int write_out(const struct filter *filter, struct input *in, const char *path,
		     struct error *err)
{
	struct trace_file *file = NULL;
	struct outbuf out;
	int code, late;

	code = output__open(&file, path, filter->makes, err);
	if (code)
		return code;
	outbuf__init(&out, file, strcmp(path, "-") ? path : "the standard output");
	code = filter->run(in, &out, err);
	late = outbuf__flush(&out, err);
	if (!code)
		code = late;
	if (!code) {
		code = trace_file__commit(file);
		if (code)
			error__set(err, code, "cannot write %s: %s", out.name, strerror(-code));
	}
	outbuf__deinit(&out);
	trace_file__destroy(file);
	return code;
}

int filter__main(const struct filter *filter, int argc, char **argv, struct error *err)
{
	const struct argp parser = { options, parse_option, filter->args, filter->doc };
	struct arguments a = { .verb = filter->verb, .out = "-" };
	struct input *in;
	int code;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	if (!a.in)
		a.in = default_input();
	if (strcmp(a.in, "-")) /* from stdin to stdout is well */
		refuse_same_file("FILE", a.in, "-o", a.out);
	code = input__open(&in, a.in, err);
	if (!code) {
		code = write_out(filter, in, a.out, err);
		input__destroy(in);
	}
	return code ? EXIT_FAILED : EXIT_DONE;
}
