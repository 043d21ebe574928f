/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The common part of the commands cut, convert and anonymize: read a trace and write it again.
 */
#ifndef REWRITING_H
#define REWRITING_H

#include "format/spec.h"
#include "command.h"

struct rewriting {
	struct trace_args in;
	unsigned int
		version; /* of the output; 0: that of the input, or the oldest for a v1 trace */
	bool outside_gc; /* see struct rewrite_opts */
	struct anonymizer *names; /* replaces names; NULL: they are kept */
};

/* argp parser for --format-version (OPT_FORMAT) and the options of trace_args__option(). */
error_t rewriting__parse(int key, char *text, struct argp_state *state);
enum { OPT_FORMAT = 511, OPT_EXACT };
/* clang-format off */
#define FORMAT_HELP \
	"format of OUT: " TRACE_VERSION_LIST(" or ") " (default: that of FILE; " \
	TRACE_VERSION_TEXT(TRACE_VERSION_OLDEST) " for traces of Go 1.21 and older)"
/* clang-format on */

/*
 * Run the command; a wrong command line is a usage_error(). 0 or a negative errno with the reason.
 */
int rewriting__run(struct rewriting *a, struct error *error);

#endif
