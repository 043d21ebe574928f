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
#include "lib/suggest.h"
#include "reader/semantics.h"
#include "analysis/select.h"

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

/* The name of an event or kernel event; NULL: there is none with this number. */
static const char *type_name(unsigned int type)
{
	if (type >= SELECT_KERNEL)
		return kernel__item((uint8_t)(type - SELECT_KERNEL));
	return spec__event(type) ? semantics__event(type) : NULL;
}

static _Noreturn void unknown_type(const char *text)
{
	const char *names[SELECT_TYPES], *meant;
	size_t n = 0;

	for (unsigned int i = 0; i < SELECT_TYPES; i++)
		if (type_name(i))
			names[n++] = type_name(i);
	meant = suggest__word(text, names, n);
	if (meant)
		usage_error("unknown event type '%s'; the most similar type is '%s'", text, meant);
	usage_error("unknown event type '%s'; 'gotrace describe' lists the types", text);
}

static void parse_types(struct selection *s, const char *text)
{
	char word[64];
	unsigned int i;
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		snprintf(word, sizeof(word), "%.*s", (int)(len < 99 ? len : 99), text);
		for (i = 0; i < SELECT_TYPES; i++)
			if (type_name(i) && !strcmp(word, type_name(i)))
				break;
		if (i == SELECT_TYPES)
			unknown_type(word);
		s->types[i] = true;
		if (i >= SELECT_KERNEL)
			s->kernel_type = type_name(i);
		if (!text[len])
			break;
	}
	s->by_type = true;
}

static void parse_pattern(struct select_pattern *p, const char *option, const char *text)
{
	char why[128];
	int err;

	if (strlen(text) > SELECT_PATTERN_MAX)
		usage_error("invalid regular expression for %s: longer than %d bytes", option,
			    SELECT_PATTERN_MAX);
	if (has_back_reference(text))
		usage_error("invalid regular expression '%s' for %s: back-references are "
			    "not supported",
			    text, option);
	if (p->text)
		regfree(&p->regex);
	err = regcomp(&p->regex, text, REG_EXTENDED | REG_NOSUB);
	if (err) {
		regerror(err, &p->regex, why, sizeof(why));
		why[0] = (char)tolower((unsigned char)why[0]);
		usage_error("invalid regular expression '%s' for %s: %s", text, option, why);
	}
	p->text = text;
}

static void parse_label(struct selection *s, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		usage_error("invalid label '%s': expected KEY=VALUE, such as endpoint=/search",
			    text);
	if (strlen(text) > SELECT_PATTERN_MAX)
		usage_error("invalid label for --label: longer than %d bytes", SELECT_PATTERN_MAX);
	if (s->nlabels == SELECT_LABELS_MAX)
		usage_error("too many --label options: at most %d", SELECT_LABELS_MAX);
	s->label[s->nlabels++] = (struct select_label){ text, (size_t)(equals - text), equals + 1 };
}

static void parse_by(struct selection *s, const char *text)
{
	static const char prefix[] = "label:";
	size_t len = sizeof(prefix) - 1;

	if (strncmp(text, prefix, len) || !text[len])
		usage_error("invalid grouping '%s': expected label:KEY, such as label:endpoint",
			    text);
	if (strlen(text) > SELECT_PATTERN_MAX)
		usage_error("invalid label for --by: longer than %d bytes", SELECT_PATTERN_MAX);
	s->by_label = text + len;
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
		parse_pattern(&s->function, "--function", text);
		return 0;
	case SELECT_NAME:
		parse_pattern(&s->name, "--name", text);
		return 0;
	case SELECT_TYPE:
		parse_types(s, text);
		return 0;
	case SELECT_REASON:
		s->reasons = text;
		return 0;
	case SELECT_THREAD:
		if (!opts__number(text, 0, UINT64_MAX - 1, &s->thread))
			usage_error("invalid thread ID '%s': expected a number", text);
		s->have_thread = true;
		return 0;
	case SELECT_LABEL:
		parse_label(s, text);
		return 0;
	case SELECT_BY:
		parse_by(s, text);
		return 0;
	case SELECT_TOP:
		if (!opts__number(text, 1, UINT64_MAX, &s->top))
			usage_error("invalid number '%s' for --top: must be at least 1", text);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void select_pattern__deinit(struct select_pattern *p)
{
	if (p->text)
		regfree(&p->regex);
	free(p->matches);
}

void selection__deinit(struct selection *s)
{
	select_pattern__deinit(&s->function);
	select_pattern__deinit(&s->name);
	*s = (struct selection){};
}

/*
 * 0, REG_NOMATCH or REG_ESPACE. The time is quadratic in the length of the name, which
 * writer/intern.h limits to TRACE_STRING_MAX.
 */
static int compare(const struct select_pattern *p, struct trace_string name)
{
	regmatch_t part = { .rm_so = 0, .rm_eo = (regoff_t)name.len };

	return regexec(&p->regex, name.len ? name.data : "", 1, &part, REG_STARTEND);
}

int select_pattern__accepts(struct select_pattern *p, uint32_t id, struct trace_string name,
			    bool *ret)
{
	int status;

	*ret = true;
	if (!p->text)
		return 0;
	if (array__grow_cleared(&p->matches, id, &p->nmatches, sizeof(*p->matches)))
		return -ENOMEM;
	if (!p->matches[id]) {
		status = compare(p, name);
		if (status == REG_ESPACE)
			return -ENOMEM;
		p->matches[id] = status ? 1 : 2;
	}
	*ret = p->matches[id] == 2;
	return 0;
}

int selection__none(const struct selection *s, const char *name, const char *where,
		    struct error *error)
{
	char id[32] = "";

	if (s->have_goroutine)
		snprintf(id, sizeof(id), " %" PRIu64, s->goroutine);
	return error__set(error, -ENOENT, "%s: there is no goroutine%s%s%s%s%s%s%s%s", name, id,
			  s->function.text ? " whose start function matches '" : "",
			  s->function.text ? s->function.text : "", s->function.text ? "'" : "",
			  s->nlabels ? " with the label " : "", s->nlabels ? s->label[0].key : "",
			  s->nlabels > 1 ? " and the others" : "", where);
}
