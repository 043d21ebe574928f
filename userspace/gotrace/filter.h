/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The common part of the commands text and assemble: convert one input to one output.
 */
#ifndef FILTER_H
#define FILTER_H

#include "lib/error.h"
#include "lib/input.h"
#include "lib/outbuf.h"
#include "writer/output_file.h"

struct filter {
	const char *verb;
	const char *args; /* for --help */
	const char *doc;
	enum file_kind makes;
	int (*run)(struct input *in, struct outbuf *out, struct error *error);
};

/* Run the command: FILE [-o OUT]. Returns the exit status. */
int filter__main(const struct filter *filter, int argc, char **argv, struct error *error);

#endif
