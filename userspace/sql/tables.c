// SPDX-License-Identifier: GPL-2.0
/*
 * The list of tables, and what their producers share: see tables.h.
 */
#include "sql/tables.h"

#include <stdio.h>

const struct table *const tables[TABLES] = {
	&runs_table,   &goroutines_table, &slices_table,   &events_table, &requests_table,
	&stacks_table, &samples_table,	  &syscalls_table, &gc_table,	  &losses_table,
};

const struct column common_columns[COMMON_COLUMNS] = {
	[COMMON_FILE] = { "file", "VARCHAR", "path of the trace" },
	[COMMON_DATE] = { "date", "DATE", "when the trace begins, UTC; null: unknown" },
	[COMMON_HOUR] = { "hour", "BIGINT", "the hour of that time, 0 to 23" },
	[COMMON_HOST] = { "host", "VARCHAR", "where it was recorded; null: unknown" },
	[COMMON_SERVICE] = { "service", "VARCHAR", "the traced program; null: unknown" },
};

const struct column *table__column(const struct table *t, unsigned int i)
{
	if (i < t->ncolumns)
		return &t->columns[i];
	i -= t->ncolumns;
	return i < COMMON_COLUMNS ? &common_columns[i] : NULL;
}

void row__context(struct rows *r, unsigned int column, const struct trace_event *ev)
{
	row__id(r, column, ev->m);
	row__id(r, column + 1, ev->p);
	row__id(r, column + 2, ev->g);
}

void row__name(struct rows *r, unsigned int column, const struct semantics *m)
{
	char text[TRACE_STRING_MAX];
	int len;

	if (!r->texts[column])
		return;
	if (!m->before || !m->before[0]) {
		row__copy(r, column, m->name);
		return;
	}
	len = snprintf(text, sizeof(text), "%s%.*s%s", m->before, (int)m->name.len,
		       m->name.data ?: "", m->after);
	len = len < (int)sizeof(text) ? len : (int)sizeof(text) - 1;
	row__copy(r, column, (struct trace_string){ text, (uint32_t)len });
}

/* FNV-1a by 64-bit words, mixed: a number that does not depend on this process or machine. */
static uint64_t mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
	return sum ^ sum >> 29;
}

static uint64_t mix_text(uint64_t sum, const struct dictionary *d, uint64_t string)
{
	struct trace_string s = {};
	uint64_t text = 0xcbf29ce484222325u;

	dictionary__string(d, string, &s);
	for (uint32_t i = 0; i < s.len; i++)
		text = (text ^ (unsigned char)s.data[i]) * 0x100000001b3u;
	return mix(sum, text);
}

static int64_t number_of(const struct dictionary *d, uint64_t stack)
{
	size_t n = dictionary__frames(d, stack);
	const struct trace_frame *frame;
	uint64_t sum = n;

	if (!n)
		return ROW_NULL;
	for (size_t i = 0; i < n; i++) {
		frame = dictionary__frame(d, stack, i);
		sum = mix(mix(sum, frame->pc), frame->line);
		sum = mix_text(mix_text(sum, d, frame->func), d, frame->file);
	}
	/* positive, and not 0, which the map could not keep */
	return (int64_t)(sum >> 1 | 1);
}

int64_t stack_numbers__get(struct stack_numbers *s, const struct dictionary *dictionary,
			   uint64_t stack)
{
	void *known;
	int64_t number;

	if (!stack || !dictionary)
		return ROW_NULL;
	known = map__get(&s->known, stack);
	if (known)
		return (int64_t)(uintptr_t)known;
	number = number_of(dictionary, stack);
	if (number != ROW_NULL) /* without memory it is computed again */
		map__put(&s->known, stack, (void *)(uintptr_t)number);
	return number;
}

void stack_numbers__clear(struct stack_numbers *s)
{
	map__deinit(&s->known);
}
