/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Passes copies of snapshots to the sequencer, which takes them over: for tests that keep theirs.
 */
#ifndef SELFTESTS_COPIED_SNAPSHOTS_H
#define SELFTESTS_COPIED_SNAPSHOTS_H

#include <stdlib.h>
#include <string.h>

#include "sequence/sequencer.h"

static inline void *copied_array(const void *from, size_t n, size_t size)
{
	void *copy = n ? calloc(n, size) : NULL;

	if (n && !copy)
		abort();
	return n ? memcpy(copy, from, n * size) : NULL;
}

static inline struct snapshot copied_snapshot(const struct snapshot *from)
{
	struct snapshot copy = {};

	if (!from)
		return copy;
	copy = *from;
	copy.g = copied_array(from->g, from->ng, sizeof(*from->g));
	copy.m = copied_array(from->m, from->nm, sizeof(*from->m));
	copy.p = copied_array(from->p, from->np, sizeof(*from->p));
	copy.stacks = copied_array(from->stacks, from->nstacks, sizeof(*from->stacks));
	return copy;
}

static inline int sequencer__snapshot(struct sequencer *s, const struct snapshot *first,
				      const struct snapshot *second)
{
	struct snapshot one = copied_snapshot(first), two = copied_snapshot(second);
	int err = sequencer__take_snapshots(s, first ? &one : NULL, second ? &two : NULL);

	snapshot__deinit(&one);
	snapshot__deinit(&two);
	return err;
}

static inline int sequencer__resnapshot(struct sequencer *s, const struct snapshot *first,
					const struct snapshot *second)
{
	struct snapshot one = copied_snapshot(first), two = copied_snapshot(second);
	int err = sequencer__take_resnapshots(s, &one, &two);

	snapshot__deinit(&one);
	snapshot__deinit(&two);
	return err;
}

#endif
