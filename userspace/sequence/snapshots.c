// SPDX-License-Identifier: GPL-2.0
/*
 * The pairs of snapshots that the sequencer is given: of the window's start, and after losses.
 *
 * Before: capture/recorder.c and capture/recovery.c, or a replay. They wait here until the records have
 * come so far. After: initial.c and resnapshot.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sequence/model.h"

void snapshots__free(struct snapshot *snap)
{
	free(snap->g);
	free(snap->m);
	free(snap->p);
	*snap = (struct snapshot){};
}

static int snapshot__copy(struct snapshot *to, const struct snapshot *from)
{
	*to = *from;
	to->g = malloc(from->ng * sizeof(*from->g) + 1);
	to->m = malloc(from->nm * sizeof(*from->m) + 1);
	to->p = malloc(from->np * sizeof(*from->p) + 1);
	if (!to->g || !to->m || !to->p) {
		snapshots__free(to);
		return -ENOMEM;
	}
	if (from->ng)
		memcpy(to->g, from->g, from->ng * sizeof(*from->g));
	if (from->nm)
		memcpy(to->m, from->m, from->nm * sizeof(*from->m));
	if (from->np)
		memcpy(to->p, from->p, from->np * sizeof(*from->p));
	return 0;
}

int sequencer__take_snapshots(struct sequencer *s, struct snapshot *first, struct snapshot *second)
{
	if (s->snapshots_given)
		return -EALREADY;
	s->snapshots_given = true;
	s->has_first = first;
	s->has_second = second;
	if (first) {
		s->first = *first;
		*first = (struct snapshot){};
	}
	if (second) {
		s->second = *second;
		*second = (struct snapshot){};
	}
	return 0;
}

int sequencer__snapshot(struct sequencer *s, const struct snapshot *first,
			const struct snapshot *second)
{
	struct snapshot one = {}, two = {};
	int err = s->snapshots_given ? -EALREADY : 0;

	if (!err && first)
		err = snapshot__copy(&one, first);
	if (!err && second)
		err = snapshot__copy(&two, second);
	if (!err)
		err = sequencer__take_snapshots(s, first ? &one : NULL, second ? &two : NULL);
	snapshots__free(&one);
	snapshots__free(&two);
	return err;
}

/* Its arrays change hands; when it was taken stays known. */
static void snapshot__move(struct snapshot *to, struct snapshot *from)
{
	*to = *from;
	from->g = NULL;
	from->m = NULL;
	from->p = NULL;
	from->ng = from->nm = from->np = 0;
}

int sequencer__take_resnapshots(struct sequencer *s, struct snapshot *first,
				struct snapshot *second)
{
	if (!s->ready || s->has_again)
		return -EAGAIN;
	snapshot__move(&s->again[0], first);
	snapshot__move(&s->again[1], second);
	s->has_again = true;
	return 0;
}

int sequencer__resnapshot(struct sequencer *s, const struct snapshot *first,
			  const struct snapshot *second)
{
	struct snapshot one = {}, two = {};
	int err = !s->ready || s->has_again ? -EAGAIN : snapshot__copy(&one, first);

	if (!err)
		err = snapshot__copy(&two, second);
	if (!err)
		err = sequencer__take_resnapshots(s, &one, &two);
	snapshots__free(&one);
	snapshots__free(&two);
	return err;
}
