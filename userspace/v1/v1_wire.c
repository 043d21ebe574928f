// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the wire format of v1 traces: see v1_wire.h. The limits are those of Go's readers.
 *
 * Upstream: lib/input.c. Downstream: v1_parse.c.
 */
#include "v1/v1_wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_MAX	    10 /* bytes */
#define STRING_MAX	    1000000
#define ARGS_BYTES_MAX_1_11 2048
#define ARGS_BYTES_MAX	    (NUMBER_MAX * (2 + 4 * V1_STACK_MAX))
#define EVENT_MAX	    (1 + NUMBER_MAX + ARGS_BYTES_MAX)

int v1_wire__broken(const struct v1_wire *w, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return v1__broken(w->err, w->offset, w->type, "%s", text);
}

void v1_wire__init(struct v1_wire *w, struct input *in, unsigned int version, struct error *error)
{
	w->in = in;
	w->version = version;
	w->err = error;
	w->buf = buf__make(NULL, 0);
	w->text = NULL;
	for (unsigned int type = 0; type < sizeof(w->nargs); type++) {
		w->nargs[type] = V1_NO_EVENT;
		if (v1_spec__find(type, version))
			w->nargs[type] = (uint8_t)v1_spec__nargs(type, version);
	}
}

void v1_wire__deinit(struct v1_wire *w)
{
	free(w->text);
}

/* Loads `want` bytes at the cursor into the window, fewer only at the end of the trace. */
static int refill(struct v1_wire *w, size_t want)
{
	const unsigned char *data;
	size_t len;
	int err;

	if (buf__left(&w->buf) >= want)
		return 0;
	input__consume(w->in, (size_t)(w->buf.pos - w->buf.start));
	w->buf = buf__make(NULL, 0);
	w->base = input__offset(w->in);
	err = input__need(w->in, want, &data, &len, w->err);
	if (!err)
		w->buf = buf__make(data, len);
	return err;
}

static int report_cut(const struct v1_wire *w)
{
	return v1_wire__broken(w, "the trace ends within it, or a number has more than 64 bits");
}

/* Copies a string that is longer than a window. */
static int take_long(struct v1_wire *w, size_t len, const void **ret)
{
	size_t done, part;
	int err = 0;

	if (!w->text)
		w->text = malloc(STRING_MAX);
	if (!w->text)
		return -ENOMEM;
	for (done = 0; done < len && !err; done += part) {
		part = buf__left(&w->buf) < len - done ? buf__left(&w->buf) : len - done;
		if (!part)
			return v1_wire__broken(w, "the trace ends within a string of %zu bytes",
					       len);
		memcpy(w->text + done, buf__take(&w->buf, part), part);
		err = refill(w, 1);
	}
	*ret = w->text;
	return err;
}

int v1_wire__string(struct v1_wire *w, const void **ret, size_t *ret_len)
{
	uint64_t len;
	int err = refill(w, NUMBER_MAX);

	if (err)
		return err;
	len = buf__uleb(&w->buf);
	if (w->buf.bad)
		return report_cut(w);
	if (len > STRING_MAX)
		return v1_wire__broken(w, "a string of %" PRIu64 " bytes; the limit is %d", len,
				       STRING_MAX);
	*ret_len = len;
	err = refill(w, len < INPUT_WINDOW ? len : INPUT_WINDOW);
	if (err || buf__left(&w->buf) < len)
		return err ? err : take_long(w, len, ret);
	*ret = buf__take(&w->buf, len);
	return 0;
}

int v1_wire__string_id(struct v1_wire *w, uint64_t *ret)
{
	*ret = buf__uleb(&w->buf);
	return w->buf.bad ? report_cut(w) : 0;
}

/* Reads arguments up to the end of `b`. */
static int read_args_of(struct v1_wire *w, struct buf *b)
{
	while (buf__left(b)) {
		if (w->n == 2 + 4 * V1_STACK_MAX)
			return v1_wire__broken(w, "more than %zu arguments", w->n);
		w->arg[w->n++] = buf__uleb(b);
		if (b->bad)
			return v1_wire__broken(w, "its arguments do not match its length");
	}
	return 0;
}

static int read_args(struct v1_wire *w, unsigned int count)
{
	uint64_t len, max = w->version >= 11 ? ARGS_BYTES_MAX_1_11 : ARGS_BYTES_MAX;
	struct buf part;

	w->n = 0;
	if (count < 3) {
		while (w->n < count + 1 + v1__has_seq(w->version))
			w->arg[w->n++] = buf__uleb(&w->buf);
		return w->buf.bad ? report_cut(w) : 0;
	}
	len = buf__uleb(&w->buf);
	if (len > max)
		return v1_wire__broken(w, "%" PRIu64 " bytes of arguments; the limit is %" PRIu64,
				       len, max);
	part = buf__make(buf__take(&w->buf, len), len);
	return w->buf.bad ? report_cut(w) : read_args_of(w, &part);
}

int v1_wire__next(struct v1_wire *w)
{
	uint8_t first;
	int err = refill(w, EVENT_MAX);

	if (err || !buf__left(&w->buf))
		return err;
	w->offset = w->base + (uint64_t)(w->buf.pos - w->buf.start);
	first = buf__u8(&w->buf);
	w->type = first & 0x3f;
	if (w->nargs[w->type] == V1_NO_EVENT)
		return v1_wire__broken(w, "this version has no event of type %u", w->type);
	if (w->type == V1_STRING)
		return 1;
	/* later readers do not expect a length in a batch event */
	if (w->type == V1_BATCH && w->version >= 11 && first >> 6 != 1)
		return v1_wire__broken(w, "%u arguments; expected 2", (first >> 6) + 1u);
	err = read_args(w, first >> 6);
	if (err)
		return err;
	if (w->n != w->nargs[w->type] && w->type != V1_STACK)
		return v1_wire__broken(w, "%zu arguments; expected %u", w->n, w->nargs[w->type]);
	return 1;
}
