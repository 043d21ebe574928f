// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the samples of `gotrace profile` as a table of functions, like `go tool pprof -top`.
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

static void put_value(struct out *o, const struct samples *s, int64_t value)
{
	if (s->counted)
		out__format(o, "%*" PRId64, TABLE_TIME, value);
	else
		table__time(o, value, TABLE_TIME);
}

static void put_total(struct out *o, const struct samples *s, const struct totals *totals,
		      const struct profile_names *names)
{
	out__format(o, "%s: ", names->value);
	if (s->counted) {
		out__format(o, "%" PRIu64 " %s, rate unknown\n", totals->count, names->count);
		return;
	}
	table__time(o, totals->value, 0);
	out__format(o, " in %" PRIu64 " %s\n", totals->count, names->count);
}

static void put_function(struct out *o, const struct samples *s, const struct totals *t,
			 const struct function_total *f, int64_t sum)
{
	put_value(o, s, f->flat);
	table__share(o, f->flat, t->value);
	table__share(o, sum, t->value);
	out__char(o, ' ');
	put_value(o, s, f->cumulative);
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
	put_total(o, s, &totals, names);
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
