/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Corrects timestamps that contradict the known order of events and leaves all others unchanged.
 *
 * Go's reader makes times strictly increasing, so one bad clock shifts all events after it. Here
 * only an event at the end of an edge of the partial order is changed: its time becomes at least
 * that of the event at the start of the edge, which may have been corrected itself. Edges connect
 * successive events of the same thread, goroutine or P, and of the GC. Upstream: reader/reader.c,
 * whose order is used.
 *
 * Events that no path connects keep their times. So times may stand still or decrease from one
 * event to the next.
 */
#ifndef READER_FIXUP_H
#define READER_FIXUP_H

#include "format/event.h"

struct fixup;

struct fixup *fixup__create(void);    /* NULL: no memory */
void fixup__destroy(struct fixup *f); /* f may be NULL */

/*
 * Stores the corrected time of the next event, ns. Events must come in the order of the reader.
 * Returns 0 or -ENOMEM. Memory grows with threads, Ps and live goroutines.
 */
int fixup__event(struct fixup *f, const struct trace_event *ev, int64_t *ret_time);

#endif
