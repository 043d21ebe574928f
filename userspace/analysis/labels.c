// SPDX-License-Identifier: GPL-2.0
/*
 * Labels of goroutines, as far as filters and groups need them: see labels.h.
 */
#include "analysis/labels.h"

#include <errno.h>
#include <string.h>

#include "analysis/select.h"
#include "text/labels.h"

static bool text__is(struct trace_string text, const char *data, size_t len)
{
	return text.len == len && !memcmp(text.data, data, len);
}

bool labels__are_set(const struct semantics *m, struct trace_string *ret)
{
	if (m->kind == SEMANTICS_LABEL && !semantics__is_worker_label(m))
		*ret = m->name;
	else if (m->kind == SEMANTICS_LOG &&
		 text__is(m->name, LABELS_CATEGORY, sizeof(LABELS_CATEGORY) - 1))
		*ret = m->message;
	else
		return false;
	return true;
}

/*
 * Whether the text matches a pattern with * for any bytes and ? for one. Only the last * may have to
 * match more bytes than at first, so the time is at most quadratic.
 */
static bool is_match(const char *pattern, const char *text, size_t len)
{
	const char *star = NULL;
	size_t i = 0, after = 0;

	while (i < len) {
		if (*pattern == '*') {
			star = ++pattern;
			after = i;
		} else if (*pattern && (*pattern == '?' || *pattern == text[i])) {
			pattern++;
			i++;
		} else if (star) {
			pattern = star;
			i = ++after;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* Notes which of the filters the label fulfils: a bit for each. */
static uint32_t filters_met(const struct selection *s, const struct labels_reader *r)
{
	uint32_t met = 0;

	for (size_t i = 0; i < s->nlabels; i++) {
		const struct select_label *l = &s->label[i];

		if (r->key.len == l->key_len && !memcmp(r->key.data, l->key, l->key_len) &&
		    is_match(l->value, r->value.data, r->value.len))
			met |= 1u << i;
	}
	return met;
}

/* Interns "KEY=VALUE". 0 or -ENOMEM. */
static int find_group(const struct selection *s, struct intern *names, struct labels_reader *r,
		      struct outbuf *text, uint32_t *ret)
{
	size_t len = strlen(s->by_label);

	if (r->key.len != len || memcmp(r->key.data, s->by_label, len))
		return 0;
	text->len = 0;
	if (outbuf__put(text, s->by_label, len, NULL) || outbuf__put(text, "=", 1, NULL) ||
	    outbuf__put(text, r->value.data, r->value.len, NULL))
		return -ENOMEM;
	return intern__text(names, (struct trace_string){ text->data, (uint32_t)text->len }, ret);
}

static int find_no_group(const struct selection *s, struct intern *names, uint32_t *ret)
{
	char text[SELECT_PATTERN_MAX + sizeof("(no )")];
	int len = snprintf(text, sizeof(text), "(no %s)", s->by_label);

	return intern__text(names, (struct trace_string){ text, (uint32_t)len }, ret);
}

int labels__read(const struct selection *s, struct intern *names, struct trace_string message,
		 struct goroutine_labels *ret)
{
	struct labels_reader r = labels_reader__make(message);
	struct goroutine_labels labels = {};
	struct outbuf text = {};
	uint32_t met = 0;
	int err;

	while ((err = labels_reader__next(&r)) > 0) {
		met |= filters_met(s, &r);
		err = s->by_label ? find_group(s, names, &r, &text, &labels.group) : 0;
		if (err)
			break;
	}
	if (!err && s->by_label && !labels.group)
		err = find_no_group(s, names, &labels.group);
	labels.selected = met == (1u << s->nlabels) - 1;
	if (!err)
		*ret = labels;
	labels_reader__deinit(&r);
	outbuf__deinit(&text);
	return err;
}

bool labels__value(const struct selection *s, struct trace_string group, struct trace_string *ret)
{
	size_t skip = strlen(s->by_label) + 1;

	if (group.len < skip || group.data[skip - 1] != '=' ||
	    memcmp(group.data, s->by_label, skip - 1))
		return false;
	*ret = (struct trace_string){ group.data + skip, (uint32_t)(group.len - skip) };
	return true;
}
