/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables on a terminal: lines that are cut at its width, and columns that fit.
 *
 * Used by print.c, and by the commands that print tables. In a pipe or a file everything is
 * written: all columns, and complete names.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include "format/dictionary.h"
#include "print.h"

/* Writes a part of the output to stdout; lines longer than the width end with an ellipsis. */
void screen__write(struct screen *s, const char *data, size_t len);

#define COLUMNS_MAX 16

/* The columns of numbers of a table, of TABLE_TIME each, between the first one and the names. */
struct columns {
	unsigned int n;
	const char *const *titles;
	unsigned int first; /* width of the first column */
	double sum[COLUMNS_MAX];
	bool unknown[COLUMNS_MAX]; /* "-" in each line */
	bool hidden[COLUMNS_MAX];
};

/*
 * On a terminal, hides the columns whose sums are 0, which the caller has filled in; then the least
 * ones until there is space for names. The columns of `keep` (bits) stay.
 */
void columns__fit(struct columns *c, const struct out *o, uint32_t keep);
/* The heading; `last` is that of the names. */
void columns__head(const struct columns *c, struct out *o, const char *first, const char *last);
/* A cell with a time, unless its column is hidden. */
void columns__time(const struct columns *c, struct out *o, unsigned int i, int64_t ns);
/* Characters of a line before the name. */
unsigned int columns__used(const struct columns *c);
/* After the table: names the hidden columns that are not 0, if there are any. */
void columns__note(const struct columns *c, struct out *o);

/*
 * The name of a function. If it does not fit on the terminal after `used` characters, without the
 * directories of its package's path.
 */
void screen__function(struct out *o, struct trace_string name, const char *without,
		      unsigned int used);

#endif
