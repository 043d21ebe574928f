/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Go's string literals: bytes as text, and text as bytes (Go's strconv.Quote and strconv.Unquote).
 *
 * The text form of traces shows the data of an event so: trace/text_write.c quotes,
 * trace/text_read.c unquotes.
 */
#ifndef TRACE_QUOTE_H
#define TRACE_QUOTE_H

#include "lib/buf.h"
#include "trace/outbuf.h"

/* Puts "data" with its quotes. 0 or a negative errno with the reason. */
int quote__put(struct outbuf *out, const void *data, size_t len, struct error *err);

/*
 * Puts the bytes that the literal at the cursor stands for, which is in "", `` or '' (of at most one
 * character), and moves behind it. 0; -EINVAL without a reason: it is none; else as outbuf__room().
 */
int quote__take(struct buf *b, struct outbuf *out, struct error *err);

#endif
