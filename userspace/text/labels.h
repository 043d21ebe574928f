/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The labels of a goroutine as one text, that of a GoLabel; in traces of gotrace-bpf 0.1 the message of a
 * log of category LABELS_CATEGORY:
 *
 *	endpoint="/search", user="a b"
 *
 * Sorted by key; values are Go's string literals (quote.h), and so is a key with characters other
 * than letters, digits and _ . : / -. "..." at the end: further labels are not in the text. The empty
 * text: no labels. Upstream: sequence/state_labels.c and capture/labels.c write it. Downstream:
 * analysis/labels.c.
 */
#ifndef TEXT_LABELS_H
#define TEXT_LABELS_H

#include <stdbool.h>

#include "format/dictionary.h"
#include "lib/buf.h"
#include "lib/outbuf.h"

#define LABELS_CATEGORY "goroutine labels"
#define LABELS_SIZE	1024 /* bytes of the text: the limit of a string in a trace */

struct label_pair {
	struct trace_string key, value; /* borrowed */
};

/*
 * Writes at most LABELS_SIZE bytes to `to` and returns how many. Sorts `pair`. A label without room
 * is left out whole. `cut`: there are labels that `pair` lacks.
 */
size_t labels__format(struct label_pair *pair, size_t n, bool cut, char *to);

/* A position in such a text, which must outlive it. */
struct labels_reader {
	struct buf rest;
	struct outbuf key, value; /* unquoted; released by labels_reader__deinit() */
	bool cut;		  /* the text ended with "..." */
};

struct labels_reader labels_reader__make(struct trace_string text);
/*
 * Reads the next label into `key` and `value`. 1: one was read; 0: the end; -EINVAL: this is no such
 * text; -ENOMEM.
 */
int labels_reader__next(struct labels_reader *r);
void labels_reader__deinit(struct labels_reader *r);

#endif
