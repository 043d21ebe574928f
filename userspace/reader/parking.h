/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Infers from the stack of a parked goroutine why it waits.
 *
 * Upstream: format/dictionary.h. Downstream: semantics.c, for statuses of waiting goroutines, which
 * have no reason in the format.
 */
#ifndef READER_PARKING_H
#define READER_PARKING_H

#include <stdbool.h>
#include <stdint.h>

#include "format/dictionary.h"

/*
 * The reason of the first function on the stack that parks for one reason only, as in a GoBlock event,
 * and marked: "chan receive (inferred)". A wait for a nil channel is not distinguished from that for
 * others. Static; empty: unknown.
 */
struct trace_string parking__reason(const struct dictionary *d, uint64_t stack);

/* Whether a reason, which may be an inferred one, is `name`. */
bool parking__is(struct trace_string reason, const char *name);

#endif
