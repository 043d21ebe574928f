// SPDX-License-Identifier: GPL-2.0
/*
 * The gaps of a trace, and what is unknown because of them: see gaps.h.
 *
 * They are kept for as long as the trace is read, because a goroutine may wait across many
 * generations. Both their ends and the times at which all is known again ascend, so that a search takes
 * few steps, and a stretch ends where a resynchronization does: a trace that was crafted to have many
 * gaps is no slower to read than others.
 */
#include "reader/gaps.h"

#include <errno.h>
#include <stdlib.h>

#include "format/private_read.h"
#include "gotrace/record.h"
#include "lib/array.h"
#include "reader/reader.h"
#include "reader/timeline.h"

#define GAPS_MAX 65536u /* more are merged with their neighbours, the earliest first */
#define LATER_NS                                                                                   \
	100 /* a reader delivers an event later than it is in the file, to keep the order */
#define CORRECTIONS_MAX 256u /* per generation: the recorder makes one per second */

void gaps__deinit(struct gaps *g)
{
	free(g->at);
	free(g->late);
	*g = (struct gaps){};
}

/* ---- reading ---- */

struct reading {
	struct gaps *gaps;
	int64_t offset; /* CLOCK_MONOTONIC minus the clock of the trace */
	unsigned int corrections;
};

static int add(const struct reading *r, uint64_t from, uint64_t to)
{
	struct gaps *g = r->gaps;

	if (array__grow(&g->at, g->n, &g->cap, sizeof(*g->at)))
		return -ENOMEM;
	g->at[g->n++] = (struct gap){
		.from = (int64_t)(from - (uint64_t)r->offset),
		.to = (int64_t)(to - (uint64_t)r->offset),
		.until = INT64_MAX,
	};
	g->any = true;
	return 0;
}

static int add_late(const struct reading *r, const struct private_gap *gap)
{
	struct gaps *g = r->gaps;

	if (array__grow(&g->late, g->nlate, &g->late_cap, sizeof(*g->late)))
		return -ENOMEM;
	g->late[g->nlate++] = (struct late_event){
		.g = gap->of - GAP_GOROUTINES,
		.from = (int64_t)(gap->from - (uint64_t)r->offset),
		.to = (int64_t)(gap->to - (uint64_t)r->offset),
	};
	return 0;
}

static int add_gaps(const struct reading *r, struct buf data)
{
	struct private_gap gap;
	int err = 0;

	while (!err && private_read__gap(&data, &gap))
		if (gap.of != GAP_KERNEL)
			err = gap.of == GAP_ALL ? add(r, gap.from, gap.to) : add_late(r, &gap);
	return err;
}

/* A loss without a count is a pause of the recorder, which is no gap in a ring. */
static int add_losses(const struct reading *r, struct buf data)
{
	struct private_loss loss;
	int err = 0;

	while (!err && private_read__loss(&data, &loss))
		if ((!loss.count || !r->gaps->listed) &&
		    (loss.kind >= GT_KIND_END || !gt_kind_is_kernels((unsigned int)loss.kind)))
			err = add(r, loss.from, loss.to);
	return err;
}

/* Gaps that ended before the first snapshot have no effect after the inserted events. */
static void correct(struct reading *r, struct buf data)
{
	struct private_correction c;
	struct gaps *g = r->gaps;
	int64_t from, to;

	if (!private_read__correction(&data, &c) || r->corrections++ >= CORRECTIONS_MAX)
		return;
	from = (int64_t)(c.from - (uint64_t)r->offset);
	to = (int64_t)(c.to - (uint64_t)r->offset);
	for (size_t i = g->n; i-- > 0;) {
		if (g->at[i].to > from)
			continue;
		if (g->at[i].until <= to)
			break;
		g->at[i].until = to;
	}
}

static int compare(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Merges gaps that overlap, and neighbours if there are too many. */
static void sort(struct gaps *g)
{
	size_t merged = g->n > GAPS_MAX ? 2 * (g->n - GAPS_MAX / 2) : 0, n = 0;
	struct gap *last = NULL;

	array__sort(g->at, g->n, sizeof(*g->at), compare);
	for (size_t i = 0; i < g->n; i++) {
		if (last && (g->at[i].from <= last->to || (i < merged && i % 2))) {
			if (last->to < g->at[i].to)
				last->to = g->at[i].to;
			if (last->until < g->at[i].until)
				last->until = g->at[i].until;
			continue;
		}
		last = &g->at[n++];
		*last = g->at[i];
	}
	g->n = n;
	/* What is merged may be known again later than what follows. */
	for (size_t i = 1; i < n; i++)
		if (g->at[i].until < g->at[i - 1].until)
			g->at[i].until = g->at[i - 1].until;
}

static int compare_late(const void *a, const void *b)
{
	const struct late_event *x = a, *y = b;

	if (x->g != y->g)
		return x->g < y->g ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Reads the records of a kind. */
static int read_kind(struct reading *r, const struct trace_event *sync, enum private_kind kind)
{
	struct private_reader in;
	struct private_record record;
	int err;

	private_reader__init(&in, sync->dictionary);
	while ((err = private_reader__next(&in, &record)) > 0) {
		if (record.kind != kind)
			continue;
		if (kind == PRIVATE_CORRECTION)
			correct(r, record.data);
		else if (kind == PRIVATE_GAPS)
			r->gaps->listed = true;
		err = kind == PRIVATE_GAPS   ? add_gaps(r, record.data) :
		      kind == PRIVATE_LOSSES ? add_losses(r, record.data) :
					       0;
		if (err)
			break;
	}
	private_reader__deinit(&in);
	return err < 0 ? err : 0;
}

int gaps__begin_generation(struct gaps *g, const struct trace_event *sync)
{
	struct reading r = { .gaps = g };
	size_t before = g->n;
	int err;

	if (!sync->dictionary || !sync->sync)
		return 0;
	r.offset = timeline__mono_offset(&sync->sync->clock);
	g->nlate = 0;
	err = read_kind(&r, sync, PRIVATE_GAPS);
	err = err ?: read_kind(&r, sync, PRIVATE_LOSSES);
	if (err)
		return err;
	array__sort(g->late, g->nlate, sizeof(*g->late), compare_late);
	if (g->n != before)
		sort(g);
	return g->n ? read_kind(&r, sync, PRIVATE_CORRECTION) : 0;
}

/* ---- stretches ---- */

/* The first gap after whose end there was no record yet at `record`. */
static size_t first_after(const struct gaps *g, int64_t record)
{
	size_t low = 0, high = g->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (g->at[middle].to <= record)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first gap from the i-th one on that has an effect at `time` or later. */
static size_t first_until(const struct gaps *g, size_t i, int64_t time)
{
	size_t high = g->n;

	while (i < high) {
		size_t middle = i + (high - i) / 2;

		if (g->at[middle].until <= time)
			i = middle + 1;
		else
			high = middle;
	}
	return i;
}

/* The first event of the goroutine that is late and after `time`; NULL: there is none. */
static const struct late_event *find_late(const struct gaps *g, uint64_t goroutine, int64_t time)
{
	const struct late_event key = { .g = goroutine, .to = time };
	size_t low = 0, high = g->nlate;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_late(&g->late[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < g->nlate && g->late[low].g == goroutine ? &g->late[low] : NULL;
}

int64_t gaps__record(const struct gaps *g, uint64_t goroutine, int64_t time)
{
	const struct late_event *late = g->nlate ? find_late(g, goroutine, time - LATER_NS) : NULL;

	if (!late || late->to > time)
		return time;
	while (late + 1 < g->late + g->nlate && late[1].g == goroutine && late[1].to <= time)
		late++;
	return late->from < time ? late->from : time;
}

/* Cuts the stretch where [from, until) begins or ends; in that it is lost. */
static void stretch__cut(struct stretch *s, int64_t from, int64_t until)
{
	if (from <= s->from) {
		s->lost = true;
		s->to = until < s->to ? until : s->to;
	} else if (from < s->to) {
		s->to = from;
	}
}

bool gaps__next(const struct gaps *g, uint64_t goroutine, int64_t record, int64_t *from, int64_t to,
		struct stretch *ret)
{
	const struct late_event *late = NULL;
	size_t i = 0;

	if (*from >= to)
		return false;
	*ret = (struct stretch){ .from = *from, .to = to };
	if (g->n)
		i = first_until(g, first_after(g, record), *from);
	if (i < g->n)
		stretch__cut(ret, g->at[i].from, g->at[i].until);
	if (g->nlate && !ret->lost)
		late = find_late(g, goroutine, *from);
	if (late)
		stretch__cut(ret, late->from, late->to);
	*from = ret->to;
	return true;
}

const struct gap *gaps__first(const struct gaps *g, int64_t time)
{
	size_t i = first_after(g, time);

	return i < g->n ? &g->at[i] : NULL;
}

const struct gap *gaps__latest(const struct gaps *g, int64_t time)
{
	size_t i = first_after(g, time);

	i += i < g->n && g->at[i].from <= time;
	return i ? &g->at[i - 1] : NULL;
}

int64_t gaps__lost(const struct gaps *g, uint64_t goroutine, int64_t record, int64_t from,
		   int64_t to)
{
	struct stretch stretch;
	uint64_t lost = 0;

	if (!g->n)
		return 0;
	while (gaps__next(g, goroutine, record, &from, to, &stretch))
		if (stretch.lost)
			lost += (uint64_t)stretch.to - (uint64_t)stretch.from;
	return (int64_t)lost;
}
