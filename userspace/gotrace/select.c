// SPDX-License-Identifier: GPL-2.0
/*
 * Filters that the commands share: see select.h.
 *
 * Regular expressions are those of the C library, without back-references, which take exponential
 * time. Names come from the trace and may contain any bytes.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/command.h"
#include "lib/opts.h"
#include "select.h"

static bool has_back_reference(const char *pattern)
{
	while ((pattern = strchr(pattern, '\\'))) {
		if (isdigit((unsigned char)pattern[1]))
			return true;
		if (!pattern[1])
			break;
		pattern += 2;
	}
	return false;
}

static void parse_function(struct selection *s, const char *text)
{
	char why[128];
	int err;

	if (strlen(text) > SELECT_PATTERN_MAX)
		usage_error("invalid regular expression for --function: longer than %d bytes",
			    SELECT_PATTERN_MAX);
	if (has_back_reference(text))
		usage_error("invalid regular expression '%s' for --function: back-references are "
			    "not supported",
			    text);
	if (s->pattern)
		regfree(&s->function);
	err = regcomp(&s->function, text, REG_EXTENDED | REG_NOSUB);
	if (err) {
		regerror(err, &s->function, why, sizeof(why));
		why[0] = (char)tolower((unsigned char)why[0]);
		usage_error("invalid regular expression '%s' for --function: %s", text, why);
	}
	s->pattern = text;
}

error_t selection__option(struct selection *s, int key, const char *text)
{
	switch (key) {
	case SELECT_GOROUTINE:
		if (!opts__number(text, 0, UINT64_MAX, &s->goroutine))
			usage_error("invalid goroutine ID '%s': expected a number", text);
		s->have_goroutine = true;
		return 0;
	case SELECT_FUNCTION:
		parse_function(s, text);
		return 0;
	case SELECT_TOP:
		if (!opts__number(text, 1, UINT64_MAX, &s->top))
			usage_error("invalid number '%s' for --top: must be at least 1", text);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void selection__deinit(struct selection *s)
{
	if (s->pattern)
		regfree(&s->function);
	free(s->matches);
	*s = (struct selection){};
}

/* 0, REG_NOMATCH or REG_ESPACE. The time is quadratic in the length, hence the limit. */
static int compare(const struct selection *s, struct trace_string name)
{
	uint32_t len = name.len < SELECT_NAME_MAX ? name.len : SELECT_NAME_MAX;
	regmatch_t part = { .rm_so = 0, .rm_eo = (regoff_t)len };

	return regexec(&s->function, name.len ? name.data : "", 1, &part, REG_STARTEND);
}

int selection__function(struct selection *s, uint32_t id, struct trace_string name, bool *ret)
{
	int status;

	*ret = true;
	if (!s->pattern)
		return 0;
	if (array__grow_cleared(&s->matches, id, &s->nmatches, sizeof(*s->matches)))
		return -ENOMEM;
	if (!s->matches[id]) {
		status = compare(s, name);
		if (status == REG_ESPACE)
			return -ENOMEM;
		s->matches[id] = status ? 1 : 2;
	}
	*ret = s->matches[id] == 2;
	return 0;
}

int selection__none(const struct selection *s, const char *name, const char *where,
		    struct error *error)
{
	char id[32] = "";

	if (s->have_goroutine)
		snprintf(id, sizeof(id), " %" PRIu64, s->goroutine);
	return error__set(error, -ENOENT, "%s: there is no goroutine%s%s%s%s%s", name, id,
			  s->pattern ? " whose start function matches '" : "",
			  s->pattern ? s->pattern : "", s->pattern ? "'" : "", where);
}
