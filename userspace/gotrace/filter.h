/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the verbs text and raw share: one file in, one file or stdout out, from start to end.
 */
#ifndef FILTER_H
#define FILTER_H

#include "lib/error.h"
#include "lib/input.h"
#include "trace/outbuf.h"

struct filter {
	const char *verb;
	const char *args; /* for --help */
	const char *doc;
	enum file_kind makes;
	int (*run)(struct input *in, struct outbuf *out, struct error *err);
};

/* A verb's whole work: FILE [-o OUT]. Returns the exit status. */
int filter__main(const struct filter *filter, int argc, char **argv, struct error *err);

#endif
