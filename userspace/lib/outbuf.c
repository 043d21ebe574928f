// SPDX-License-Identifier: GPL-2.0
/*
 * The output buffer: see outbuf.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/outbuf.h"

/* It is to stay in the processor's cache between being filled and being written. */
#define OUTBUF_SIZE (128u << 10)

void outbuf__deinit(struct outbuf *o)
{
	free(o->data);
	*o = (struct outbuf){};
}

int outbuf__flush(struct outbuf *o, struct error *error)
{
	int err = o->write ? o->write(o->to, o->data, o->len) : 0;

	if (err)
		return error__set(error, err, "cannot write %s: %s", o->name, strerror(-err));
	if (o->write)
		o->len = 0;
	return 0;
}

int outbuf__make_room(struct outbuf *o, size_t len, struct error *error)
{
	int err = outbuf__flush(o, error);
	size_t need;

	if (err)
		return err;
	need = o->len + len;
	if (o->write && need < OUTBUF_SIZE)
		need = OUTBUF_SIZE;
	if (array__grow(&o->data, need - 1, &o->cap, 1))
		return error__set(error, -ENOMEM,
				  "out of memory: cannot buffer %zu bytes of output", need);
	return 0;
}

int outbuf__put(struct outbuf *o, const void *data, size_t len, struct error *error)
{
	int err = outbuf__room(o, len, error);

	if (err)
		return err;
	if (len)
		memcpy(o->data + o->len, data, len);
	o->len += len;
	return 0;
}
