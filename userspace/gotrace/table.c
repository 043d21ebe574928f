// SPDX-License-Identifier: GPL-2.0
/*
 * Cells of tables for people: see table.h. Between goroutines_table.c or latency_table.c and
 * print.c.
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
	char text[40];
	size_t i = 0;

	while (i < 3 && size < units[i].ns)
		i++;
	if (!ns)
		snprintf(text, sizeof(text), "%*s", width, "0");
	else if (i == 3)
		snprintf(text, sizeof(text), "%*" PRId64 "ns", width - 2, ns);
	else
		snprintf(text, sizeof(text), "%*.*f%s", width - (int)strlen(units[i].name),
			 size < 10 * units[i].ns  ? 3 :
			 size < 100 * units[i].ns ? 2 :
						    1,
			 (double)ns / units[i].ns, units[i].name);
	out__text(o, text);
}

void table__count(struct out *o, uint64_t n, int width)
{
	char text[24];

	snprintf(text, sizeof(text), "%*" PRIu64, width, n);
	out__text(o, text);
}

void table__padded(struct out *o, const char *text, int width)
{
	for (int i = (int)strlen(text); i < width; i++)
		out__char(o, ' ');
	out__text(o, text);
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
	table__padded(o, share, 8);
}
