// SPDX-License-Identifier: GPL-2.0
/*
 * A stdio stream in front of an output buffer: see stream.h.
 */
#include "export/stream.h"

#include <errno.h>
#include <stdio_ext.h>

static ssize_t write_cookie(void *cookie, const char *data, size_t len)
{
	struct stream_file *s = cookie;

	if (!s->err)
		s->err = outbuf__put(s->out, data, len, &s->error);
	return s->err ? 0 : (ssize_t)len;
}

int stream_file__open(struct stream_file *s, struct outbuf *out)
{
	*s = (struct stream_file){ .out = out };
	s->file = fopencookie(s, "w", (cookie_io_functions_t){ .write = write_cookie });
	if (!s->file)
		return -ENOMEM;
	__fsetlocking(s->file, FSETLOCKING_BYCALLER);
	return 0;
}

int stream_file__close(struct stream_file *s, struct error *error)
{
	if (s->file && fclose(s->file) && !s->err)
		s->err = -EIO;
	s->file = NULL;
	return s->err ? error__set(error, s->err, "%s", s->error.text) : 0;
}
