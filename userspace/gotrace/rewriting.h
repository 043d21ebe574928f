/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the verbs cut and convert share: a trace that is read, and written again.
 */
#ifndef REWRITING_H
#define REWRITING_H

#include "command.h"

struct rewriting {
	const char *path, *out;
	struct reader_opts reader;
	unsigned int version; /* of the output; 0: the input's, 22 of a v1 trace */
	bool have_from, have_to;
	struct moment from, to; /* the part of it */
};

/*
 * What both verbs' argp parsers do with -o, --format-version (OPT_FORMAT) and FILE. Returns what
 * argp expects, ARGP_ERR_UNKNOWN of another key.
 */
int rewriting__option(struct rewriting *a, int key, char *text);
enum { OPT_FORMAT = 511 };
#define FORMAT_HELP                                                                                \
	"of OUT: 1.22, 1.23, 1.25 or 1.26 (default: FILE's own; 1.22 of traces of Go 1.21 and "    \
	"older)"

/* Does it; a wrong command line ends in usage_error(). 0 or a negative errno with the reason. */
int rewriting__run(const struct rewriting *a, struct error *err);

#endif
