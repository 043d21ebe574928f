// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as the text of a trace, and as a trace to be shown as text. What passes once passes
 * again, and back and forth it stays the same: text of ours to the byte, a trace in shortest form.
 */
#include <stdlib.h>
#include <string.h>

#include "text/text.h"
#include "plain.h"

typedef int conversion(struct input *in, struct outbuf *out, struct error *err);

static bool convert(conversion *conversion, const void *data, size_t size, struct outbuf *out)
{
	struct input *in = open_plain(data, size);
	struct error err = {};
	int code;

	*out = (struct outbuf){};
	if (!in)
		return false;
	code = conversion(in, out, &err);
	input__destroy(in);
	if (code && !err.text[0])
		abort();
	return !code;
}

static void must_convert(conversion *conversion, const struct outbuf *from, struct outbuf *to)
{
	if (!convert(conversion, from->data, from->len, to))
		abort();
}

static void must_be_same(const struct outbuf *a, const struct outbuf *b)
{
	if (a->len != b->len || memcmp(a->data, b->data, a->len))
		abort();
}

static void back_and_forth(const uint8_t *data, size_t size, conversion *there, conversion *back)
{
	struct outbuf first, second, third;

	if (convert(there, data, size, &first)) {
		must_convert(back, &first, &second);
		must_convert(there, &second, &third);
		must_be_same(&first, &third);
		outbuf__deinit(&second);
		outbuf__deinit(&third);
	}
	outbuf__deinit(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	back_and_forth(data, size, text__read, text__write);
	back_and_forth(data, size, text__write, text__read);
	return 0;
}
