// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace text: what is in a trace file, as text. See trace/text.h.
 */
#include "command.h"
#include "filter.h"
#include "trace/text.h"

int do_text(int argc, char **argv, struct error *err)
{
	static const struct filter filter = {
		.verb = "text",
		.args = "FILE [-o OUT]",
		.doc = "Shows the events of a trace of Go 1.22 or later as they lie in the file, "
		       "not checked and not ordered, in the text form of Go's raw package. "
		       "`gotrace raw` turns it into the trace again.",
		.makes = FILE_TEXT,
		.run = text__write,
	};

	return filter__main(&filter, argc, argv, err);
}
