// SPDX-License-Identifier: GPL-2.0
/*
 * The lanes of a time range, out of the spans that lanes_store.c keeps: see lanes.h. Downstream:
 * lanes_print.c, which writes them as those of the whole trace.
 *
 * The level that is read has about as many spans as are asked for. A merged span that crosses an
 * end of the range is replaced by those of the level below, so that the sums of the range are
 * exact.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "report/lanes_impl.h"

/* Spans to read for each one to be shown: they are merged then, with the best threshold. */
#define READ_PER_SHOWN 4u

struct part {
	const struct report_lanes *whole;
	struct report_lanes *lanes; /* of the part; or the whole */
	uint64_t from, to;
	const struct report_lane **in; /* the lanes of the whole that are in the part */
	size_t n;
	uint64_t threshold; /* the level to read has at most this one */
	uint32_t *strings;  /* of the part, by those of the whole, or 0. NULL: they are the same */
};

/* ---- levels ---- */

static unsigned int level_of(const struct lane_store *store, uint64_t threshold)
{
	unsigned int i = store->levels - 1;

	while (i && store->threshold[i] > threshold)
		i--;
	return i;
}

static size_t count_track(const struct part *p, const struct lane_track *track)
{
	const struct lane_store *store = track->store;

	return store ? packed__count(&store->level[level_of(store, p->threshold)], p->from, p->to) :
		       0;
}

static size_t count(const struct part *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += count_track(p, &p->in[i]->track) + count_track(p, &p->in[i]->kernel);
	return n;
}

/* Chooses the level with the least merging that is quick to read. */
static void choose_threshold(struct part *p)
{
	uint64_t next;

	p->threshold = p->whole->store_threshold;
	while (count(p) > READ_PER_SHOWN * p->lanes->opts.spans) {
		next = store__next_threshold(p->threshold);
		if (next >= p->to - p->from)
			break;
		p->threshold = next;
	}
}

/* ---- spans ---- */

/* The text of the whole among those of the part. */
static uint64_t map_string(struct part *p, uint64_t index)
{
	uint32_t *mapped = p->strings ? &p->strings[index] : NULL;

	if (!mapped || !index)
		return index;
	if (!*mapped)
		*mapped = (uint32_t)report_lanes__intern(
			p->lanes, intern__text_at(p->whole->strings->in, (uint32_t)index));
	return *mapped;
}

/* Of an aggregated span of which no part is known: each state has its share of the time. */
static void cut_sum(struct span_sum *sum, uint64_t len, uint64_t of)
{
	for (unsigned int i = 0; i < SPAN_SLOTS; i++)
		sum->time[i] = (uint64_t)((double)sum->time[i] * (double)len / (double)of);
}

static int take_spans(struct part *p, struct lane_track *to, const struct lane_store *store,
		      unsigned int level, uint64_t from, uint64_t end, bool texts);

static int take_span(struct part *p, struct lane_track *to, const struct lane_store *store,
		     unsigned int level, uint64_t from, uint64_t end, bool texts, struct span *span,
		     struct span_sum *sum)
{
	uint64_t last = span->start + span->len, start = span->start > from ? span->start : from;

	last = last < end ? last : end;
	if (last < start || (last == start && span->len))
		return 0;
	if (span->sum && last - start < span->len) {
		if (level)
			return take_spans(p, to, store, level - 1, start, last, texts);
		cut_sum(sum, last - start, span->len);
	}
	span->start = start;
	span->len = last - start;
	if (texts)
		span->detail = map_string(p, span->detail);
	return report_lanes__put(p->lanes, to, span, sum);
}

/* Takes what is in [from, end) of a level. `texts`: details are strings. 0 or -ENOMEM. */
static int take_spans(struct part *p, struct lane_track *to, const struct lane_store *store,
		      unsigned int level, uint64_t from, uint64_t end, bool texts)
{
	struct packed_cursor c = packed__seek(&store->level[level], from);
	struct span_sum sum = {};
	struct span span;
	int err = 0;

	while (!err && packed__next(&c, &span, &sum) && span.start < end)
		err = take_span(p, to, store, level, from, end, texts, &span, &sum);
	return err;
}

static int take_track(struct part *p, struct lane_track *to, const struct lane_store *store,
		      bool texts)
{
	if (!store)
		return 0;
	return take_spans(p, to, store, level_of(store, p->threshold), p->from, p->to, texts);
}

static int take_lane(struct part *p, struct report_lane *to, const struct report_lane *lane)
{
	bool texts = lane->group != EXPORT_PROCS && lane->group != EXPORT_THREADS;
	int err = take_track(p, &to->track, lane->track.store, texts);

	return err ?: take_track(p, &to->kernel, lane->kernel.store, true);
}

int report_lanes__take_store(struct report_lanes *l)
{
	struct part p = { .whole = l, .lanes = l, .to = UINT64_MAX };
	void *value;
	int err = 0;

	p.threshold = l->threshold = l->store_threshold;
	for (size_t i = 0; !err && map__next(&l->lanes, &i, &value);)
		err = take_lane(&p, value, value);
	return err;
}

void report_lanes__keep_store(struct report_lanes *l)
{
	void *value;

	for (size_t i = 0; map__next(&l->lanes, &i, &value);) {
		struct report_lane *lane = value;

		spans__deinit(&lane->track.spans);
		spans__deinit(&lane->kernel.spans);
	}
}

/* ---- the part ---- */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int add_lane(struct part *p, const struct report_lane *lane)
{
	struct report_lane *to = map__put_new(&p->lanes->lanes, lane->number, sizeof(*to));
	int err;

	if (!to)
		return -ENOMEM;
	to->group = lane->group;
	to->id = lane->id;
	to->number = lane->number;
	to->from = later(lane->from, p->from);
	to->to = lane->to < p->to ? lane->to : p->to;
	to->name = (uint32_t)map_string(p, lane->name);
	to->track.state = to->kernel.state = STATES;
	err = take_lane(p, to, lane);
	to->used = to->track.spans.n || to->kernel.spans.n;
	return err;
}

/* Sets the lanes to take. 0 or -ENOMEM. */
static int find_lanes(struct part *p)
{
	const struct map *lanes = &p->whole->lanes;
	void *value;

	p->in = calloc(lanes->n + 1, sizeof(*p->in));
	if (!p->in)
		return -ENOMEM;
	for (size_t i = 0; map__next(lanes, &i, &value);) {
		const struct report_lane *lane = value;

		if (lane->used && lane->from < p->to && lane->to > p->from &&
		    lane__is_wanted(p->lanes->opts.only, lane))
			p->in[p->n++] = lane;
	}
	return 0;
}

static int add_lanes(struct part *p)
{
	int err = 0;

	for (size_t i = 0; !err && i < p->n; i++)
		err = add_lane(p, p->in[i]);
	return err ?: report_lanes__shrink(p->lanes);
}

/* The arrows of the whole, some of which may have been left out. */
static int add_arrows(struct part *p)
{
	struct report_lanes *l = p->lanes;

	for (size_t i = 0; i < p->whole->narrows; i++) {
		struct report_arrow arrow = p->whole->arrows[i];

		if (arrow.time < p->from || arrow.time >= p->to)
			continue;
		if (array__grow(&l->arrows, l->narrows, &l->cap_arrows, sizeof(*l->arrows)))
			return -ENOMEM;
		arrow.reason = (uint32_t)map_string(p, arrow.reason);
		l->arrows[l->narrows++] = arrow;
	}
	return 0;
}

static int fill(struct part *p)
{
	const struct report_lanes *whole = p->whole;
	struct report_lanes *l = p->lanes;
	int err = find_lanes(p);

	l->goroutines = whole->goroutines;
	l->goroutines_omitted = whole->goroutines_omitted;
	l->arrow_gap = whole->arrow_gap;
	l->kernel_known = whole->kernel_known;
	p->strings = calloc(intern__strings(whole->strings->in) + 1, sizeof(*p->strings));
	if (err || !p->strings)
		return -ENOMEM;
	choose_threshold(p);
	l->threshold = p->threshold;
	return add_lanes(p) ?: add_arrows(p);
}

int report_lanes__part(const struct report_lanes *l, const struct report_lanes_opts *opts,
		       struct report_strings *strings, struct report_lanes **ret)
{
	struct part p = { .whole = l, .from = opts->from, .to = opts->to };
	int err;

	if (l->store_threshold > opts->pixel)
		return -ERANGE;
	p.lanes = calloc(1, sizeof(*p.lanes));
	if (!p.lanes)
		return -ENOMEM;
	p.lanes->opts = *opts;
	p.lanes->strings = strings;
	err = fill(&p);
	free(p.strings);
	free(p.in);
	if (err)
		report_lanes__destroy(p.lanes);
	else
		*ret = p.lanes;
	return err;
}
