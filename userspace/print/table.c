// SPDX-License-Identifier: GPL-2.0
/*
 * Cells of tables: see table.h. Used by goroutines_table.c, latency_table.c and path_print.c;
 * print.c writes to stdout.
 */
#include "table.h"

#include <inttypes.h>
#include <stdio.h>

void table__time(struct out *o, int64_t ns, int width)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 } };
	double size = ns < 0 ? -(double)ns : (double)ns;
	size_t i = 0;

	while (i < 3 && size < units[i].ns)
		i++;
	if (!ns)
		out__format(o, "%*s", width, "0");
	else if (i == 3)
		out__format(o, "%*" PRId64 "ns", width - 2, ns);
	else
		out__format(o, "%*.*f%s", width - (int)strlen(units[i].name),
			    size < 10 * units[i].ns  ? 3 :
			    size < 100 * units[i].ns ? 2 :
						       1,
			    (double)ns / units[i].ns, units[i].name);
}

void table__bytes(struct out *o, uint64_t bytes, int width)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double size = (double)bytes;
	size_t i = 0;

	for (; i < 4 && size >= 1024; i++)
		size /= 1024;
	if (!i)
		out__format(o, "%*" PRIu64 "%s", width - !!bytes, bytes, bytes ? "B" : "");
	else
		out__format(o, "%*.*f%s", width - (int)strlen(units[i]), size < 100 ? 2 : 1, size,
			    units[i]);
}

void table__name(struct out *o, struct trace_string name, const char *without)
{
	if (name.len)
		out__unicode(o, name.data, name.len);
	else
		out__text(o, without);
}

void table__share(struct out *o, int64_t ns, int64_t whole)
{
	char share[16] = "";

	if (whole)
		snprintf(share, sizeof(share), "%5.1f%%", (double)ns / (double)whole * 100);
	out__format(o, "%8s", share);
}

void table__part(struct out *o, int64_t ns, int64_t total, const char *what,
		 struct trace_string detail)
{
	if (!ns)
		return;
	table__time(o, ns, TABLE_TIME + 2);
	table__share(o, ns, total);
	out__text(o, "  ");
	out__text(o, what);
	out__unicode(o, detail.data, detail.len);
	out__char(o, '\n');
}

static void put_bucket(struct out *o, const struct lengths_bucket *b, uint64_t most, int most_width)
{
	/* A bucket that is not empty has a bar. */
	int width = (int)((double)b->count / (double)most * (most_width - 1) + (b->count != 0));

	table__time(o, b->from, TABLE_TIME + 2);
	table__time(o, b->to, TABLE_TIME + 2);
	out__format(o, "%12" PRIu64, b->count);
	if (width)
		out__text(o, "  ");
	while (width-- > 0)
		out__char(o, '#');
	out__char(o, '\n');
}

void table__buckets(struct out *o, const struct lengths *l, int width)
{
	struct lengths_bucket buckets[LENGTH_BUCKETS];
	size_t n = lengths__buckets(l, buckets);
	int room = o->screen.width ? (int)o->screen.width - 3 * (TABLE_TIME + 2) - 3 : width;
	uint64_t most = 1;

	width = room < 1 ? 1 : room < width ? room : width;

	for (size_t i = 0; i < n; i++)
		most = buckets[i].count > most ? buckets[i].count : most;
	if (n)
		out__format(o, "%11s%11s%12s\n", "FROM", "BELOW", "COUNT");
	for (size_t i = 0; i < n; i++)
		put_bucket(o, &buckets[i], most, width);
}
