// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the samples of `gotrace profile`: as a table of functions, like `go tool pprof -top`, and
 * as folded stacks, for flame graphs.
 *
 * Input: profile/totals.h. print/table.c formats cells, print/print.c writes to stdout.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "gotrace/views/profile.h"
#include "print/screen.h"
#include "print/table.h"
#include "profile/totals.h"

#define USED (2 * TABLE_TIME + 3 * 8 + 3) /* characters of a line before the name */

static void put_function(struct out *o, const struct samples *s, const struct totals *t,
			 const struct function_total *f, int64_t sum)
{
	table__time(o, f->flat, TABLE_TIME);
	table__share(o, f->flat, t->value);
	table__share(o, sum, t->value);
	out__char(o, ' ');
	table__time(o, f->cumulative, TABLE_TIME);
	table__share(o, f->cumulative, t->value);
	out__text(o, "  ");
	screen__function(o, intern__text_at(s->texts, f->name), NO_STACK, USED);
	out__char(o, '\n');
}

int profile__print_table(const struct samples *s, const struct profile_names *names, uint64_t top)
{
	struct out *o = out__table();
	struct totals totals;
	int err = totals__by_function(s, &totals);
	size_t n;
	int64_t sum = 0;

	if (err)
		return err;
	n = top && top < totals.n ? (size_t)top : totals.n;
	out__format(o, "%s: ", names->value);
	table__time(o, totals.value, 0);
	out__format(o, " in %" PRIu64 " %s\n", totals.count, names->count);
	out__format(o, "%*s%8s%8s %*s%8s  %s\n", TABLE_TIME, "FLAT", "FLAT%", "SUM%", TABLE_TIME,
		    "CUM", "CUM%", "FUNCTION");
	for (size_t i = 0; i < n; i++) {
		sum += totals.functions[i].flat; /* at most totals.value */
		put_function(o, s, &totals, &totals.functions[i], sum);
	}
	free(totals.functions);
	out__flush(o);
	return 0;
}

/* The separators of folded stacks may occur in the names of generic functions and of types. */
static void put_frame(struct out *o, struct trace_string name)
{
	for (size_t i = 0, part; i < name.len; i += part) {
		for (part = 0; i + part < name.len && name.data[i + part] != ';'; part++)
			;
		out__unicode(o, name.data + i, part);
		if (i + part < name.len) {
			out__char(o, ':');
			part++;
		}
	}
	if (!name.len)
		out__text(o, "(unknown)");
}

int profile__print_folded(const struct samples *s)
{
	struct out *o = out__stdout();
	struct folded folded;
	int err = folded__make(s, &folded);

	for (size_t i = 0; !err && i < folded.n; i++) {
		size_t n;
		const struct intern_frame *frames = folded__frames(&folded, &folded.at[i], &n);

		for (size_t f = n; f-- > 0;) {
			put_frame(o, intern__text_at(s->texts, frames[f].func));
			out__char(o, f ? ';' : ' ');
		}
		if (!n)
			out__text(o, "(unknown) ");
		out__i64(o, folded.at[i].value);
		out__char(o, '\n');
	}
	folded__deinit(&folded);
	out__flush(o);
	return err;
}
