// SPDX-License-Identifier: GPL-2.0
/*
 * The snapshots that the sequencer receives: the pair of the window's start, and pairs after
 * losses. Upstream: capture/recorder.c, capture/resync.c and rawfile/replay.c. They are kept until
 * the stream has reached their time. Downstream: initial.c and resync.c.
 */
#include <errno.h>

#include "sequence/sequencer_impl.h"

/* Moves the arrays; the times stay in `from`. */
static void snapshot__move(struct snapshot *to, struct snapshot *from)
{
	*to = *from;
	from->g = NULL;
	from->m = NULL;
	from->p = NULL;
	from->stacks = NULL;
	from->ng = from->nm = from->np = from->nstacks = 0;
}

int sequencer__take_snapshots(struct sequencer *s, struct snapshot *first, struct snapshot *second)
{
	if (s->start.given)
		return -EALREADY;
	s->start.given = true;
	s->start.has_first = first;
	s->start.has_second = second;
	if (first)
		snapshot__move(&s->start.first, first);
	if (second)
		snapshot__move(&s->start.second, second);
	return 0;
}

int sequencer__take_resnapshots(struct sequencer *s, struct snapshot *first,
				struct snapshot *second)
{
	if (!s->ready || s->resync.has_pair)
		return -EAGAIN;
	snapshot__move(&s->resync.pair[0], first);
	snapshot__move(&s->resync.pair[1], second);
	s->resync.has_pair = true;
	return 0;
}

int snapshots__index_ms(const struct snapshot *snap, struct map *ms)
{
	int err = 0;

	for (size_t i = 0; i < snap->nm && !err; i++)
		if (snap->m[i].addr && !map__get(ms, snap->m[i].addr))
			err = map__put(ms, snap->m[i].addr, &snap->m[i]);
	return err;
}

uint32_t snapshots__tid(const struct map *ms, uint64_t addr)
{
	const struct snapshot_m *m = map__get(ms, addr);

	return m ? m->tid : 0;
}

uint32_t snapshots__proc_status(const struct snapshot *snap, uint64_t addr)
{
	for (size_t i = 0; addr && i < snap->np; i++)
		if (snap->p[i].addr == addr)
			return snap->p[i].status;
	return 0;
}
