/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes that go out: collected in a buffer, and written to a file when it is full.
 *
 * trace/text_write.c and trace/text_read.c put a trace's text or bytes into it. After it:
 * trace/file.c; without a file everything stays in memory.
 */
#ifndef TRACE_OUTBUF_H
#define TRACE_OUTBUF_H

#include <stddef.h>

#include "lib/error.h"
#include "trace/file.h"

struct outbuf {
	struct trace_file *file; /* borrowed; NULL: the buffer grows */
	const char *name;	 /* the file's, for messages */
	char *data;
	size_t len, cap;
};

/* Nothing is allocated before the first outbuf__room(). */
void outbuf__init(struct outbuf *o, struct trace_file *file, const char *name);
void outbuf__deinit(struct outbuf *o);

/* What is collected goes to the file. 0 or a negative errno with the reason. */
int outbuf__flush(struct outbuf *o, struct error *err);

int outbuf__make_room(struct outbuf *o, size_t len, struct error *err);

/*
 * Makes data[len .. len + `len`) writable; the caller writes there and moves o->len. 0 or a negative
 * errno with the reason: no memory, or a write that failed.
 */
static inline int outbuf__room(struct outbuf *o, size_t len, struct error *err)
{
	return __builtin_expect(o->cap - o->len >= len, 1) ? 0 : outbuf__make_room(o, len, err);
}

int outbuf__put(struct outbuf *o, const void *data, size_t len, struct error *err);

#endif
