/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replaces the names and texts of a trace that may be confidential, for `gotrace anonymize`.
 *
 * A name becomes a keyed hash of it (rewrite/siphash.h) with a prefix for its kind, so that equal
 * names remain equal, also in other files with the same key. Functions of Go's standard library and
 * runtime keep their names unless `all`; the directories of their files are removed. The reasons of
 * states are words of the runtime and remain. Texts of logs become empty, except for what `gotrace
 * requests` counts as errors. Upstream: rewrite/rewrite_tables.c, rewrite/rewrite_kernel.c.
 */
#ifndef REWRITE_ANONYMIZE_H
#define REWRITE_ANONYMIZE_H

#include <stdbool.h>

#include "format/dictionary.h"
#include "rewrite/siphash.h"
#include "text/labels.h"

enum anonymous {
	ANONYMOUS_TASK,
	ANONYMOUS_REGION,
	ANONYMOUS_CATEGORY, /* of a log */
	ANONYMOUS_KEY,	    /* of a label */
	ANONYMOUS_VALUE,
	ANONYMOUS_THREAD, /* at most 15 bytes, as the kernel's names */
	ANONYMOUS_PACKAGE,
	ANONYMOUS_FUNCTION,
	ANONYMOUS_FILE,
};

#define ANONYMOUS_MAX 32 /* bytes of a replaced name */

struct anonymizer {
	struct siphash_key key;
	bool all;
	/* Results, which are valid until the next call for the same kind. */
	char name[ANONYMOUS_MAX];
	char function[2 * ANONYMOUS_MAX];
	char file[TRACE_STRING_MAX];
	char labels[LABELS_SIZE];
};

/* A key of any length; NULL: a random one. 0 or a negative errno. */
int anonymizer__init(struct anonymizer *a, const char *key, bool all);

/* An empty name remains empty. */
struct trace_string anonymizer__name(struct anonymizer *a, enum anonymous what,
				     struct trace_string name);
/* Replaces the function and the file of a frame of a stack. */
void anonymizer__frame(struct anonymizer *a, struct trace_string *function,
		       struct trace_string *file);
/* Replaces the labels of a goroutine (text/labels.h); of another text nothing remains. 0 or -ENOMEM. */
int anonymizer__labels(struct anonymizer *a, struct trace_string *text);
/* Replaces the category and the message of a log. 0 or -ENOMEM. */
int anonymizer__log(struct anonymizer *a, struct trace_string *category,
		    struct trace_string *message);

#endif
