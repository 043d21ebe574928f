// SPDX-License-Identifier: GPL-2.0
/*
 * Lost records: kinds, counts and time ranges, as narrow as known, for the trace.
 *
 * There are two sources. The probes count losses by kind, and the counters are read now and then; a
 * gap in the sequence numbers of a ring shows when a loss happened, but not its kind. Losses are
 * written once as many were located as were counted, with the range that the gaps span, or after a
 * second with what is known. Upstream: merge.c (gaps), sequencer.c (counters). Downstream:
 * writer/private_write.c.
 */
#include "sequence/losses.h"
#include "sequence/sequencer_impl.h"

#include "writer/private_write.h"

#define PATIENCE_NS 1000000000ull

static void losses__note(struct sequencer *s)
{
	s->losses.seen++;
	s->losses.last = s->watermark;
	if (!s->losses.since)
		s->losses.since = s->watermark;
}

void losses__located(struct sequencer *s, uint64_t count, uint64_t from, uint64_t to)
{
	struct losses *l = &s->losses;
	uint64_t reported = count < l->ahead ? count : l->ahead;

	l->ahead -= reported;
	count -= reported;
	if (!count)
		return;
	if (!l->located || from < l->from)
		l->from = from;
	if (!l->located || to > l->to)
		l->to = to;
	l->located += count;
	l->unexplained = 1;
	losses__note(s);
}

/* The model may be wrong after this loss. */
static void losses__note_wrong(struct sequencer *s)
{
	s->losses.wrong++;
	s->losses.tries = 0;
	s->losses.watching = true;
}

void losses__counted(struct sequencer *s, unsigned int kind, uint64_t count, uint64_t time)
{
	uint64_t more = count - s->stats.lost_by_kind[kind];

	if (!more)
		return;
	s->stats.lost += more;
	s->stats.lost_by_kind[kind] = count;
	s->losses.counted += more;
	s->losses.open |= !time;
	if (time > s->losses.counted_to)
		s->losses.counted_to = time;
	losses__note(s);
	if (!gt_kind_is_kernels(kind))
		losses__note_wrong(s);
}

/* A range is limited by the window's start and end. */
static void clip(const struct sequencer *s, struct private_loss *loss, uint64_t time)
{
	if (loss->from < s->t0)
		loss->from = s->t0;
	if (loss->to > time)
		loss->to = time;
	if (loss->to < loss->from)
		loss->to = loss->from;
}

void losses__report(struct sequencer *s, uint64_t time, bool final)
{
	struct private_loss losses[GT_KIND_END + 1];
	struct losses *l = &s->losses;
	struct private_loss range = { .from = l->from, .to = l->to };
	bool kernels = false;
	size_t n = 0;

	if (!l->since) {
		l->counted_from = time; /* losses counted later happened after this */
		return;
	}
	if (l->open && time > l->counted_to)
		l->counted_to = time;
	l->open = false;
	if (l->located > l->counted && l->unexplained && l->unexplained++ > 1) {
		losses__note_wrong(s); /* the counters would have reported the kind by now */
		l->unexplained = 0;
	}
	if (!final && l->located != l->counted && time - l->since < PATIENCE_NS)
		return;
	if (l->counted > l->located) { /* at the end of the stream, or before its first record */
		if (!l->located || l->counted_from < range.from)
			range.from = l->counted_from;
		if (!l->located || l->counted_to > range.to)
			range.to = l->counted_to;
		l->ahead += l->counted - l->located;
	}
	clip(s, &range, time);
	for (unsigned int kind = 0; kind < GT_KIND_END; kind++) {
		range.kind = kind;
		range.count = s->stats.lost_by_kind[kind] - l->by_kind[kind];
		l->by_kind[kind] = s->stats.lost_by_kind[kind];
		if (!range.count)
			continue;
		losses[n++] = range;
		kernels |= gt_kind_is_kernels(kind) || kind == GT_GO_SYS_ENTER ||
			   kind == GT_GO_SYS_EXIT;
	}
	if (l->located > l->counted) {
		range.kind = 0;
		range.count = l->located - l->counted;
		losses[n++] = range;
		kernels = true;
	}
	if (kernels)
		kernel_threads__lose_before(&s->kernel.threads, range.to);
	l->located = l->counted = l->since = l->counted_to = 0;
	l->counted_from = time;
	s->error = private__losses(s->opts.writer, losses, n);
}
