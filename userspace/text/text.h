/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Converts a v2 trace to text and back, in the form of Go's internal/trace/raw: the events of
 * text/raw.h, one per line.
 *
 *	Trace Go1.25
 *	EventBatch gen=1 m=7 time=12345 size=20
 *	GoStart dt=3 g=1 g_seq=2
 *	String id=1
 *		data="main.main\n"
 *	Stack id=1 nframes=1
 *		pc=4198400 func=1 file=2 line=7
 *
 * The output equals that of Go's raw.TextWriter. The reader accepts what Go's raw.TextReader
 * accepts: any white space between words, empty lines, lines that begin with #, any Go string
 * literal; names must be in this order. Longer lines are accepted, too, because data may be long.
 */
#ifndef TEXT_H
#define TEXT_H

#include "text/raw.h"

/* A line with RAW_DATA_MAX bytes of data, each written as \x00. */
#define TEXT_LINE_MAX (4u * RAW_DATA_MAX + 4096)

/*
 * Converts the trace `in` to text. Returns 0, or a negative errno with reason and byte offset;
 * `out` then contains the text so far. The caller flushes.
 */
int text__write(struct input *in, struct outbuf *out, struct error *error);

/* Converts the text `in` to a trace. Likewise, but errors contain the line. */
int text__read(struct input *in, struct outbuf *out, struct error *error);

#endif
