/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Times that agree with what is known to have happened before what, and are otherwise those of the
 * file.
 *
 * Go's reader makes time grow from each event to the next, so one bad clock shifts whatever is
 * delivered after it. Here only an event that an edge of the partial order leads to is touched: it
 * happens no earlier than the event at the edge's other end, whose time may itself have come along
 * an edge. Edges lead along a thread, a goroutine, a P and the GC, from each event that has to do
 * with it to the next one. Comes after trace/reader.c, whose order it is.
 *
 * Two events that no path connects keep their times, so that time may stand still or go back from
 * one event to the next: it is as partial an order as it ever was.
 */
#ifndef TRACE_FIXUP_H
#define TRACE_FIXUP_H

#include "trace/event.h"

struct fixup;

struct fixup *fixup__create(void);    /* NULL: no memory */
void fixup__destroy(struct fixup *f); /* f may be NULL */

/*
 * The next event's time in ns. Events come as the reader delivers them. 0 or -ENOMEM. Memory: of
 * the threads, the Ps, and the goroutines that live.
 */
int fixup__event(struct fixup *f, const struct trace_event *ev, int64_t *ret_time);

#endif
