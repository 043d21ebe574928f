// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace assemble: makes a trace from its text form. See text/text.h.
 */
#include "text/text.h"
#include "command.h"
#include "filter.h"

int do_assemble(int argc, char **argv, struct error *error)
{
	static const struct filter filter = {
		.verb = "assemble",
		.args = "FILE [-o OUT]",
		.doc = "Converts the output of gotrace text back to a trace. The result may be an "
		       "invalid trace; gotrace check validates it.",
		.makes = FILE_TRACE,
		.run = text__read,
	};

	return filter__main(&filter, argc, argv, error);
}
