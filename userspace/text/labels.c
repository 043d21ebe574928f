// SPDX-License-Identifier: GPL-2.0
/*
 * The labels of a goroutine as one text: see labels.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/buf.h"
#include "text/labels.h"
#include "text/quote.h"

#define SEPARATOR ", "
#define CUT	  "..."
#define CUT_SIZE  (sizeof(SEPARATOR CUT) - 1)

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_.:/-", c));
}

static bool is_plain_key(struct trace_string key)
{
	for (uint32_t i = 0; i < key.len; i++)
		if (!is_plain(key.data[i]))
			return false;
	return key.len && key.data[0] != '.'; /* unlike CUT */
}

static int compare_strings(struct trace_string a, struct trace_string b)
{
	uint32_t len = a.len < b.len ? a.len : b.len;
	int diff = len ? memcmp(a.data, b.data, len) : 0;

	return diff ? diff : (a.len > b.len) - (a.len < b.len);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct label_pair *x = a, *y = b;
	int diff = compare_strings(x->key, y->key);

	return diff ? diff : compare_strings(x->value, y->value);
}

/* Appends a separator and the label. False: out of memory. */
static bool put_pair(struct outbuf *out, const struct label_pair *pair)
{
	struct trace_string key = pair->key;

	PARSER_STEPS(1 + key.len + pair->value.len);
	if (out->len && outbuf__put(out, SEPARATOR, sizeof(SEPARATOR) - 1, NULL))
		return false;
	if (is_plain_key(key) ? outbuf__put(out, key.data, key.len, NULL) :
				quote__put(out, key.data, key.len, NULL))
		return false;
	return !outbuf__put(out, "=", 1, NULL) &&
	       !quote__put(out, pair->value.data, pair->value.len, NULL);
}

size_t labels__format(struct label_pair *pair, size_t n, bool cut, char *to)
{
	struct outbuf out = {};
	size_t len = 0;

	array__sort(pair, n, sizeof(*pair), compare_pairs);
	for (size_t i = 0; i < n; i++) {
		out.len = len;
		if (put_pair(&out, &pair[i]) && out.len <= LABELS_SIZE - CUT_SIZE) {
			memcpy(to + len, out.data + len, out.len - len);
			len = out.len;
		} else {
			cut = true;
		}
	}
	outbuf__deinit(&out);
	if (cut) {
		size_t skip = len ? 0 : sizeof(SEPARATOR) - 1;

		memcpy(to + len, SEPARATOR CUT + skip, CUT_SIZE - skip);
		len += CUT_SIZE - skip;
	}
	return len;
}

struct labels_reader labels_reader__make(struct trace_string text)
{
	return (struct labels_reader){ .rest = buf__make(text.data, text.len) };
}

static bool takes(struct buf *b, const char *token)
{
	size_t len = strlen(token);

	if (buf__left(b) < len || memcmp(b->pos, token, len))
		return false;
	buf__take(b, len);
	return true;
}

static int take_key(struct labels_reader *r)
{
	const unsigned char *start = r->rest.pos;

	r->key.len = 0;
	if (buf__left(&r->rest) && *start == '"')
		return quote__take(&r->rest, &r->key, NULL);
	while (buf__left(&r->rest) && is_plain((char)*r->rest.pos))
		buf__take(&r->rest, 1);
	if (r->rest.pos == start)
		return -EINVAL;
	return outbuf__put(&r->key, start, (size_t)(r->rest.pos - start), NULL);
}

int labels_reader__next(struct labels_reader *r)
{
	int err;

	if (!buf__left(&r->rest))
		return 0;
	if (takes(&r->rest, CUT)) {
		r->cut = true;
		return buf__left(&r->rest) ? -EINVAL : 0;
	}
	err = take_key(r);
	if (err)
		return err;
	if (!takes(&r->rest, "="))
		return -EINVAL;
	if (!buf__left(&r->rest) || *r->rest.pos != '"')
		return -EINVAL;
	r->value.len = 0;
	err = quote__take(&r->rest, &r->value, NULL);
	if (err)
		return err;
	return !buf__left(&r->rest) || takes(&r->rest, SEPARATOR) ? 1 : -EINVAL;
}

void labels_reader__deinit(struct labels_reader *r)
{
	outbuf__deinit(&r->key);
	outbuf__deinit(&r->value);
}
