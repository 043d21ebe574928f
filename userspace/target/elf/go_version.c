// SPDX-License-Identifier: GPL-2.0
/*
 * Parses Go releases: see go_version.h.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "target/elf/go_version.h"

static bool parse_number(const char **s, unsigned int *ret)
{
	const char *p = *s;
	unsigned int v = 0;

	if (!isdigit((unsigned char)*p))
		return false;
	for (; isdigit((unsigned char)*p) && v < 100000; p++)
		v = v * 10 + (unsigned int)(*p - '0');
	*s = p;
	*ret = v;
	return true;
}

static bool parse_point(const char **s)
{
	if (**s != '.')
		return false;
	++*s;
	return true;
}

bool go_version__parse(const char *text, struct go_version *ret)
{
	struct go_version v = { 0 };
	const char *s = text;

	while ((s = strstr(s, "go"))) {
		s += 2;
		if (parse_number(&s, &v.major) && parse_point(&s) && parse_number(&s, &v.minor)) {
			if (parse_point(&s))
				parse_number(&s, &v.patch);
			if (snprintf(v.text, sizeof(v.text), "%s", text) >= (int)sizeof(v.text))
				strcpy(v.text + sizeof(v.text) - 4, "...");
			*ret = v;
			return true;
		}
	}
	return false;
}

bool go_version__parse_module(const char *text, struct go_version *ret)
{
	struct go_version v = { 0 };
	const char *s = text;

	if (*s++ != 'v' || !parse_number(&s, &v.major) || !parse_point(&s) ||
	    !parse_number(&s, &v.minor) || !parse_point(&s) || !parse_number(&s, &v.patch) || *s)
		return false;
	snprintf(v.text, sizeof(v.text), "%s", text);
	*ret = v;
	return true;
}
