/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads traces of Go 1.5 to 1.21, and of the tracer before its release, and returns their events as
 * those of v2.
 *
 * Upstream: lib/input.c. reader/reader.c calls this for v1 headers. Steps: v1_parse.c (bytes to
 * events; v1_symbolize.c for stacks without names), v1_order.c (merges the batches of all Ps),
 * v1_state.c (checks that the events are consistent), v1_convert.c (returns v2 events, one by one).
 * Downstream: users of reader/reader.h.
 *
 * Headers 1.11 to 1.21 are accepted, ordered and converted as in golang.org/x/exp/trace, which does
 * not support earlier ones. Those are accepted and ordered as in Go 1.22's internal/trace, and
 * converted by the same rules.
 *
 * The format requires the whole trace in memory before the first event: 44 bytes per event, which
 * has 3 to 5 bytes in a real file and 2 in a crafted one, and strings and stacks.
 */
#ifndef V1_H
#define V1_H

#include "format/event.h"
#include "lib/error.h"
#include "lib/input.h"

struct v1;

/*
 * Reads the whole trace. The header must be in the input's window and is consumed. `version` is
 * that of the header: 5, 7, 8, 9, 10, 11, 19, 21, or 0 for "gotrace\0". `binary`: the executable of
 * the target, to symbolize versions 0 and 5, whose stacks are PCs only; NULL: they remain PCs. The
 * input is borrowed, and not used after the return. Returns 0 or a negative errno with a message.
 */
int v1__open(struct v1 **ret, struct input *in, unsigned int version, const char *binary,
	     struct error *error);
void v1__destroy(struct v1 *v); /* NULL is allowed */

/*
 * Returns as reader__next(): 1, 0 at the end, or a negative errno with a message. The offset of an
 * event is its position in the file, or that of the event from which it is derived. No event is
 * marked `extra`, since nothing else in the output reports the same.
 */
int v1__next(struct v1 *v, struct trace_event *ret, struct error *error);

#endif
