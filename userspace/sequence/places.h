/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Items that the probes remember having sent - stacks (stacks.c) and names (texts.c) - for as long
 * as records may refer to them.
 *
 * The probes remember each item in one of a fixed number of places, selected by the low bits of its
 * key or hash (SEEN_SIZE, SEEN_TEXTS in bpf/maps.bpf.h). When another item is sent for the same
 * place, only records already in the rings refer to the former; it is sent again when it occurs
 * again. So one item per place is kept, and a displaced one for PLACES_PATIENCE_NS longer, or until
 * displaced items exceed their memory limit. The items of two CPUs that send for one place at once
 * may arrive in the wrong order; therefore an item that records still refer to is kept.
 *
 * Items are allocated by the user and begin with a struct placed.
 */
#ifndef SEQUENCE_PLACES_H
#define SEQUENCE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/map.h"

#define PLACES_PATIENCE_NS 1000000000ull /* of stream time */

struct placed {
	struct placed *next; /* the one displaced after this one */
	uint64_t key;
	uint64_t time;	    /* when it was sent */
	uint64_t displaced; /* when another item took its place, if `is_displaced` */
	uint64_t used;	    /* time of the latest record that refers to it */
	uint32_t bytes;
	bool is_displaced, is_gone; /* gone: no longer found by its key */
};

struct places {
	struct map map;		     /* by key */
	struct placed **latest;	     /* by place */
	uint32_t n;		     /* places, a power of two */
	struct placed *first, *last; /* displaced items, oldest first */
	size_t bytes, bytes_max;     /* of displaced items */
	void (*drop)(void *ctx, struct placed *item);
	void *ctx;
};

/* `drop` receives an item that is no longer kept, and frees it. 0 or -ENOMEM. */
int places__init(struct places *p, uint32_t n, size_t bytes_max,
		 void (*drop)(void *ctx, struct placed *item), void *ctx);
void places__deinit(struct places *p);

/*
 * Puts an item, whose key, time and bytes are set, into its place; drops one of the same key. 0, or
 * -ENOMEM: the caller still owns it.
 */
int places__put(struct places *p, struct placed *item);

/* The same without a place: the item is never displaced. */
int places__put_for_ever(struct places *p, struct placed *item);

/* The item to which a record of that time refers. NULL: none. */
struct placed *places__get(struct places *p, uint64_t key, uint64_t time);

/* The item that the place of the key has now. NULL: none. */
const struct placed *places__latest(const struct places *p, uint64_t key);

/* All records up to `time` were applied: drops what none can refer to any more. */
void places__expire(struct places *p, uint64_t time);

#endif
