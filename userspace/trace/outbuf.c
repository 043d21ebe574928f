// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes that go out: see outbuf.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/outbuf.h"

/* It is to stay in the processor's cache between being filled and being written. */
#define OUTBUF_SIZE (128u << 10)

void outbuf__init(struct outbuf *o, struct trace_file *file, const char *name)
{
	*o = (struct outbuf){ .file = file, .name = name };
}

void outbuf__deinit(struct outbuf *o)
{
	free(o->data);
	*o = (struct outbuf){};
}

int outbuf__flush(struct outbuf *o, struct error *err)
{
	int code = o->file ? trace_file__append(o->file, o->data, o->len) : 0;

	if (code)
		return error__set(err, code, "cannot write %s: %s", o->name, strerror(-code));
	if (o->file)
		o->len = 0;
	return 0;
}

int outbuf__make_room(struct outbuf *o, size_t len, struct error *err)
{
	size_t cap = o->cap ? o->cap : OUTBUF_SIZE;
	int code = outbuf__flush(o, err);
	char *data;

	if (code)
		return code;
	while (cap - o->len < len)
		cap *= 2;
	if (cap == o->cap)
		return 0;
	data = realloc(o->data, cap);
	if (!data)
		return error__set(err, -ENOMEM, "no memory for the output: %zu bytes", cap);
	o->data = data;
	o->cap = cap;
	return 0;
}

int outbuf__put(struct outbuf *o, const void *data, size_t len, struct error *err)
{
	int code = outbuf__room(o, len, err);

	if (code)
		return code;
	memcpy(o->data + o->len, data, len);
	o->len += len;
	return 0;
}
