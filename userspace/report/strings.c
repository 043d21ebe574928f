// SPDX-License-Identifier: GPL-2.0
/*
 * A bounded table of strings: see strings.h. Between the files of report/, which add what they refer
 * to, and writer/intern.h, whose ids are the indexes.
 */
#include "report/strings.h"

#include <errno.h>

static const struct trace_string other = { "(too many strings)", 18 };

int report_strings__init(struct report_strings *s)
{
	*s = (struct report_strings){ .in = intern__create() };
	return s->in ? intern__text(s->in, other, &s->other) : -ENOMEM;
}

void report_strings__deinit(struct report_strings *s)
{
	intern__destroy(s->in);
	s->in = NULL;
}

int report_strings__get(struct report_strings *s, struct trace_string text, uint32_t *ret)
{
	uint32_t before = intern__strings(s->in);

	if (report_strings__full(s)) {
		*ret = text.len ? s->other : 0;
		return 0;
	}
	if (intern__text(s->in, text, ret))
		return -ENOMEM;
	if (intern__strings(s->in) > before)
		s->bytes += text.len;
	return 0;
}

bool report_strings__full(const struct report_strings *s)
{
	return s->bytes >= STRINGS_BYTES_MAX;
}

void report_strings__print(const struct report_strings *s, struct json *j, const char *name)
{
	struct trace_string text;

	json__open(j, name, '[');
	json__string(j, NULL, "");
	for (uint32_t i = 1; i <= intern__strings(s->in); i++) {
		text = intern__text_at(s->in, i);
		json__bytes(j, NULL, text.data, text.len);
	}
	json__close(j, ']');
}
