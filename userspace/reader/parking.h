/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why goroutines wait, and what ends that: the reasons of the runtime, in GoBlock events or
 * inferred from the stack of a goroutine that is parked.
 *
 * Upstream: format/dictionary.h. Downstream: analysis/, and semantics.c for statuses of waiting
 * goroutines, which have no reason in the format.
 */
#ifndef READER_PARKING_H
#define READER_PARKING_H

#include <stdbool.h>
#include <stdint.h>

#include "format/dictionary.h"
#include "format/event.h"

/*
 * The reason of the first function on the stack that parks for one reason only, as in a GoBlock event,
 * and marked: "chan receive (inferred)". A wait for a nil channel is not distinguished from that for
 * others. Static; empty: unknown.
 */
struct trace_string parking__reason(const struct dictionary *d, uint64_t stack);

/* Whether a reason, which may be an inferred one, is `name`. */
bool parking__is(struct trace_string reason, const char *name);

/*
 * Whether the goroutine of the event, which ends another one's wait for that reason, is why the
 * wait ended. It is not if it only found what the network or a timer had made ready: each goroutine
 * that starts the world polls the network (runtime.startTheWorldWithSema). `stack` is that of the
 * event: a connection that is closed, or gets a deadline that is over, ends waits by internal/poll.
 * An empty reason is unknown: then a goroutine that starts the world is not why.
 */
bool parking__ended_by_goroutine(const struct trace_event *ev, uint64_t stack,
				 struct trace_string reason);

#endif
