// SPDX-License-Identifier: GPL-2.0
/*
 * The common part of the commands text and assemble: see filter.h. It connects lib/input.c with
 * lib/outbuf.c; text/text_write.c or text/text_read.c converts the bytes.
 *
 * An output file appears only when it is complete; stdout receives everything before the error.
 */
#include <string.h>

#include "writer/output.h"
#include "command.h"
#include "filter.h"

static const struct argp_option options[] = {
	{ "output", 'o', "OUT", 0, "output file (default: -, standard output)", 0 },
	FORCE_OPTION,
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static int write_out(const struct filter *filter, struct input *in, const char *path,
		     struct error *error)
{
	struct trace_file *file = NULL;
	struct outbuf out;
	int err;

	err = output__open(&file, path, filter->makes, error);
	if (err)
		return err;
	output__buffer(&out, file, path);
	err = filter->run(in, &out, error);
	if (err)
		outbuf__flush(&out, error); /* what precedes the failure, for standard output */
	else
		err = output__commit(&out, file, error);
	if (!err && filter->makes == FILE_TRACE)
		output__suggest(path);
	outbuf__deinit(&out);
	trace_file__destroy(file);
	return err;
}

int filter__main(const struct filter *filter, int argc, char **argv, struct error *error)
{
	const struct argp parser = { options, trace_args__parse, filter->args, filter->doc };
	struct trace_args a = { .verb = filter->verb, .out = "-" };
	struct input *in;
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	trace_args__check(&a);
	err = input__open(&in, a.path, error);
	if (!err) {
		err = write_out(filter, in, a.out, error);
		input__destroy(in);
	}
	return err ? EXIT_FAILED : EXIT_DONE;
}
