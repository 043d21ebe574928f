// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace text: prints a trace in text form. See text/text.h.
 */
#include "text/text.h"
#include "command.h"
#include "filter.h"

int do_text(int argc, char **argv, struct error *error)
{
	static const struct filter filter = {
		.verb = "text",
		.args = "FILE [-o OUT]",
		.doc = "Prints a trace of Go 1.22 or later as it is stored in the file, one "
		       "event per line, neither checked nor ordered, in the text form of Go's "
		       "internal/trace/raw. gotrace assemble converts it back to a trace.",
		.makes = FILE_TEXT,
		.run = text__write,
	};

	return filter__main(&filter, argc, argv, error);
}
