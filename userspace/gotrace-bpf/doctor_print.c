// SPDX-License-Identifier: GPL-2.0
/*
 * Collects the findings of doctor, and prints them as lines or as JSON: see doctor.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/unicode.h"
#include "doctor.h"

#define WIDTH  100
#define INDENT 22 /* of the text: "ok       kernel       " */

void doctor__report(struct doctor *d, enum finding_level level, const char *what, const char *fmt,
		    ...)
{
	struct finding *more = reallocarray(d->finding, d->n + 1, sizeof(*more));
	va_list ap;

	d->bad |= level == BAD;
	if (!more)
		return;
	d->finding = more;
	more[d->n] = (struct finding){ .level = level, .what = what };
	va_start(ap, fmt);
	vsnprintf(more[d->n].text, sizeof(more[d->n].text), fmt, ap);
	va_end(ap);
	d->n++;
}

/* Breaks lines at blanks, or anywhere if there are none. */
static void print_wrapped(const char *text)
{
	size_t room = WIDTH - INDENT, len = strlen(text), n;

	while (len > room) {
		for (n = room; n && text[n] != ' '; n--)
			;
		n = n ? n : room;
		printf("%.*s\n%*s", (int)n, text, INDENT, "");
		text += n + (text[n] == ' ');
		len = strlen(text);
	}
	printf("%s\n", text);
}

static void print_json(const struct doctor *d, const struct analysis *a,
		       const struct target_facts *facts)
{
	static const char *const names[] = { [GOOD] = "ok", [NOTE] = "note", [BAD] = "missing" };
	struct json j;

	json__init(&j, stdout, false);
	json__open(&j, NULL, '{');
	json__bool(&j, "recordable", !d->bad);
	json__open(&j, "checks", '[');
	for (size_t i = 0; i < d->n; i++) {
		json__open(&j, NULL, '{');
		json__string(&j, "result", names[d->finding[i].level]);
		json__string(&j, "what", d->finding[i].what);
		json__string(&j, "text", d->finding[i].text);
		json__close(&j, '}');
	}
	json__close(&j, ']');
	if (a)
		doctor__target_json(&j, a, facts);
	else
		json__null(&j, "target");
	json__close(&j, '}');
}

void doctor__print(const struct doctor *d, const struct analysis *a,
		   const struct target_facts *facts)
{
	static const char *const mark[] = { [GOOD] = "ok", [NOTE] = "note", [BAD] = "MISSING" };

	if (d->json) {
		print_json(d, a, facts);
		return;
	}
	for (size_t i = 0; i < d->n; i++) {
		struct finding line = d->finding[i];

		printf("%-8s %-12s ", mark[line.level], line.what);
		utf8__make_printable(line.text); /* may contain names of the target */
		print_wrapped(line.text);
	}
}
