// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace raw: the trace that a text describes. See trace/text.h.
 */
#include "command.h"
#include "filter.h"
#include "trace/text.h"

int do_raw(int argc, char **argv, struct error *err)
{
	static const struct filter filter = {
		.verb = "raw",
		.args = "FILE [-o OUT]",
		.doc = "Makes a trace of a text as `gotrace text` writes it, valid or not.",
		.makes = FILE_TRACE,
		.run = text__read,
	};

	return filter__main(&filter, argc, argv, err);
}
