/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A v2 trace as text, and a text as a trace: line by line what trace/raw.h has event by event.
 *
 *	Trace Go1.25
 *	EventBatch gen=1 m=7 time=12345 size=20
 *	GoStart dt=3 g=1 g_seq=2
 *	String id=1
 *		data="main.main\n"
 *	Stack id=1 nframes=1
 *		pc=4198400 func=1 file=2 line=7
 *
 * The writer writes exactly what Go's raw.TextWriter does. The reader takes what Go's
 * raw.TextReader does: any white space between words, empty lines, lines that begin with #; names
 * in this order; any Go string literal. Lines may be longer than there, because data may be.
 */
#ifndef TRACE_TEXT_H
#define TRACE_TEXT_H

#include "trace/raw.h"

/* A line for RAW_DATA_MAX bytes of data, each as \x00. */
#define TEXT_LINE_MAX (4u * RAW_DATA_MAX + 4096)

/*
 * The whole trace of `in`, as text. 0, or a negative errno with the reason and the byte; `out` then
 * has what came before. The caller flushes.
 */
int text__write(struct input *in, struct outbuf *out, struct error *err);

/* The whole text of `in`, as a trace. The same, but the reason names the line. */
int text__read(struct input *in, struct outbuf *out, struct error *err);

#endif
