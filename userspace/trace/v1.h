/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Traces of Go 1.5 to 1.21, and of the tracer before it was released: as today's events.
 *
 * trace/reader.c calls this when the header is one of those. Before it in an event's way:
 * lib/input.c. Then v1_parse.c (bytes to events, v1_symbolize.c for stacks without names),
 * v1_order.c (one stream of the Ps' batches), v1_state.c (can it have happened so?), v1_convert.c
 * (today's events, one by one). After it: whoever reads from trace/reader.c.
 *
 * Headers 1.11 to 1.21 are accepted, ordered and converted as golang.org/x/exp/trace does. Those
 * before, which that does not know, are accepted and ordered as Go 1.22's internal/trace did, and
 * then converted by the same rules.
 *
 * The format needs the whole trace in memory before its first event: 44 bytes an event, which takes
 * 3 to 5 bytes of a real file and 2 of a hostile one, and its strings and stacks.
 */
#ifndef TRACE_V1_H
#define TRACE_V1_H

#include "lib/error.h"
#include "lib/input.h"
#include "trace/event.h"

struct v1;

/*
 * Reads the whole trace; the header stands in the input's window and is consumed. `version` is the
 * header's: 5, 7, 8, 9, 10, 11, 19, 21, or 0 for "gotrace\0". `binary`: the traced program, to name
 * the functions of versions 0 and 5, whose stacks are mere PCs; NULL: they stay so. The input is
 * borrowed, and needed no more afterwards. 0 or a negative errno with the reason.
 */
int v1__open(struct v1 **ret, struct input *in, unsigned int version, const char *binary,
	     struct error *err);
void v1__destroy(struct v1 *v); /* v may be NULL */

/*
 * As reader__next(): 1, 0 at the end, a negative errno with the reason. Each event's offset is its
 * own place in the file, or that of the event that it follows from; none is marked `extra`, since
 * nothing but these events says what happened.
 */
int v1__next(struct v1 *v, struct trace_event *ret, struct error *err);

#endif
