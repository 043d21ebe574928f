/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the probes remember to have sent - stacks (stacks.c), names (texts.c) - as long as records may refer to it.
 *
 * The probes remember each thing in one of a fixed number of places, which its key or hash names (SEEN_SIZE,
 * SEEN_TEXTS in bpf/maps.bpf.h). When another thing is sent for the same place, the former is no longer referred to,
 * except by records that are on their way; if it comes again, it is sent again. So one thing for each place is kept,
 * and what was displaced for PLACES_PATIENCE_NS longer, or until those take too much memory. Two CPUs that send for one
 * place at once may be seen in the wrong order: what records still refer to when its time is over stays.
 *
 * The items are the user's, and begin with a struct placed.
 */
#ifndef SEQUENCE_PLACES_H
#define SEQUENCE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/map.h"

#define PLACES_PATIENCE_NS 1000000000ull /* of stream time */

struct placed {
	struct placed *next; /* displaced after this one */
	uint64_t key;
	uint64_t time;	    /* when it was sent */
	uint64_t displaced; /* when another took its place, if `is_displaced` */
	uint64_t used;	    /* by the latest record that refers to it */
	uint32_t bytes;
	bool is_displaced, is_gone; /* gone: nothing finds it any more */
};

struct places {
	struct map map;		     /* by key */
	struct placed **latest;	     /* by place */
	uint32_t n;		     /* places, a power of two */
	struct placed *first, *last; /* displaced ones */
	size_t bytes, bytes_max;     /* of displaced ones */
	void (*drop)(void *ctx, struct placed *item);
	void *ctx;
};

/* `drop` takes an item back. 0 or -ENOMEM. */
int places__init(struct places *p, uint32_t n, size_t bytes_max,
		 void (*drop)(void *ctx, struct placed *item), void *ctx);
void places__deinit(struct places *p);

/*
 * The item, whose key, time and bytes are set, comes to the place that the key's low bits name; one of the same key is
 * dropped. 0, or -ENOMEM: it is still the caller's.
 */
int places__put(struct places *p, struct placed *item);

/* The same without a place: it is never displaced. */
int places__put_for_ever(struct places *p, struct placed *item);

/* A record of that time refers to it. NULL: nothing of that key is there. */
struct placed *places__get(struct places *p, uint64_t key, uint64_t time);

/* All records up to `time` were taken: what nothing refers to any more goes. */
void places__expire(struct places *p, uint64_t time);

#endif
