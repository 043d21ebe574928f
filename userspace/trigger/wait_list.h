/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waits in progress, each of which may meet a condition once it has lasted long enough.
 *
 * A list contains the waits of one kind, ordered by their start, and a cursor for each condition of
 * that kind: the first wait that is not evaluated yet. So the cost of an event does not depend on the
 * number of waits, and a watermark costs nothing for waits that are not long enough.
 * Upstream: waits.c, phases.c and runqueue.c. Downstream: trigger.c. Times are CLOCK_MONOTONIC, ns.
 */
#ifndef TRIGGER_WAIT_LIST_H
#define TRIGGER_WAIT_LIST_H

#include "lib/arena.h"
#include "lib/map.h"
#include "trigger/trigger_impl.h"

/* Limits memory, as MODEL_GOROUTINES_MAX does for the goroutines that wait. */
#define WAITS_MAX     (8u << 20)

#define WAIT_TEXT_MAX 160

struct wait {
	uint64_t key; /* of what waits, such as a goid */
	uint64_t since;
	uint64_t serial; /* order in its list */
	struct wait *prev, *next;
	struct wait_list *list; /* NULL: it does not wait */
	uint32_t tid, reason;	/* of the user */
};

struct wait_cursor {
	struct trigger *trigger;
	struct wait *next; /* NULL: all are evaluated */
	uint64_t met;	   /* by a wait that ended since the last watermark; 0: none */
	char text[WAIT_TEXT_MAX];
};

struct wait_list {
	struct wait *first, *last;
	uint64_t serial;
	struct wait_cursor cursor[CONDITIONS_MAX];
	size_t n; /* of them */
};

/* Whether a wait that is long enough meets the condition; *ret describes it for the user. */
typedef bool wait_evaluate(void *ctx, const struct condition *condition, const struct wait *wait,
			   char ret[WAIT_TEXT_MAX]);

/* All that may wait, by key. {} with pool.block set is empty. */
struct wait_table {
	struct map by_key;
	struct arena pool;
	struct wait *free;  /* of the pool, linked by `next` */
	struct triggers *t; /* borrowed */
	uint64_t doubts;    /* at the last watermark */
	wait_evaluate *evaluate;
	void *ctx;
};

/* Borrows t and ctx. */
void wait_table__init(struct wait_table *table, struct triggers *t, wait_evaluate *evaluate,
		      void *ctx);
void wait_table__deinit(struct wait_table *table);

/* Adds the conditions of a kind to an empty list. */
void wait_list__watch(struct wait_list *list, struct triggers *t, enum trigger_kind kind);

/*
 * A wait begins; an earlier one of the same key has ended. NULL: the list has no condition, the
 * limit is reached, or no memory, which fails the triggers.
 */
struct wait *wait_table__begin(struct wait_table *table, struct wait_list *list, uint64_t key,
			       uint64_t since, uint32_t reason);
/* Ends the wait of a key, if there is one. */
void wait_table__end(struct wait_table *table, uint64_t key, uint64_t time);
/* The same for a key that will not wait again, whose memory is reused. */
void wait_table__forget(struct wait_table *table, uint64_t key, uint64_t time);
/*
 * All events up to `time` are known: reports the conditions that waits have met, at most one wait per
 * condition and call. `lists` are all lists of the table. If `doubts` has changed since the last call,
 * waits may have ended without an event, and all are forgotten first.
 */
void wait_table__watermark(struct wait_table *table, struct wait_list *const *lists, size_t n,
			   uint64_t doubts, uint64_t time);

#endif
