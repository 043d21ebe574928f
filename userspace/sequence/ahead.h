/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Looks ahead in the stream for what a thread reports late. Upstream: hold.c, with a record that
 * does not fit. Downstream: merge.c, state.c.
 *
 * A derived record (derived.h) comes with the next hit of its thread, which may have lost its CPU
 * meanwhile. If another thread's record shows that the transition has happened, the derived one is
 * taken out of the stream and applied just before it. If it has not arrived yet, the stream stalls
 * until it has, for half a second at most: so later records are neither late nor overtake it.
 */
#ifndef SEQUENCE_AHEAD_H
#define SEQUENCE_AHEAD_H

#include <stdbool.h>

struct gt_record;
struct sequencer;
struct thread;

/* Records that all searches up to one watermark may look at: a forged one costs the target little. */
#define AHEAD_SEARCH_MAX (16u << 20)

/* For a record of t that does not fit: whether something was applied before it. Try it again. */
bool ahead__apply(struct sequencer *s, const struct thread *t, const struct gt_record *rec);
/* Whether the thread that the record waits for has sent nothing since, and is waited for. */
bool ahead__is_silent(struct sequencer *s, const struct thread *t, const struct gt_record *rec);

#endif
