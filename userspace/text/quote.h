/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Go's string literals, as in Go's strconv.Quote and strconv.Unquote.
 *
 * The text form of traces contains the data of events as such literals: text/text_write.c quotes,
 * text/text_read.c unquotes.
 */
#ifndef TEXT_QUOTE_H
#define TEXT_QUOTE_H

#include "lib/buf.h"
#include "lib/outbuf.h"

/* Writes the data as a literal in "". Returns 0 or a negative errno with a message. */
int quote__put(struct outbuf *out, const void *data, size_t len, struct error *error);

/*
 * Reads the literal at the cursor, in "", `` or '' (at most one character), writes its bytes to
 * `out` and moves behind it. Returns 0; -EINVAL without a message if it is not a literal; or the
 * error of outbuf__room().
 */
int quote__take(struct buf *b, struct outbuf *out, struct error *error);

#endif
