// SPDX-License-Identifier: GPL-2.0
/*
 * Losses of a perf.data file, as far as it contains their times: the kernel writes
 * PERF_RECORD_LOST when it has room again, before the next event of the ring.
 *
 * Input: perfdata_records.c. Output: align/alignment.c, through perf_data__losses().
 */
#include <stdlib.h>

#include "align/perfdata_impl.h"
#include "lib/array.h"

/* When and on which CPU the record was written, from sample_id_all; false: unknown. */
static bool place(const struct perf_data *d, const struct buf *b, uint64_t *time, uint32_t *cpu)
{
	static const uint64_t before[] = { PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
					   PERF_SAMPLE_STREAM_ID };
	const struct perf_attr *attr = d->attrs ? d->attr[0] : NULL;
	uint64_t id, type, at = 2 * sizeof(uint64_t); /* the ID of the event, the count */
	bool there = false;

	if (d->attrs > 1)
		attr = buf__u64_at(b, 0, &id) ? map__get(&d->attr_of, id) : NULL;
	type = attr && attr->attr.sample_id_all ? attr->attr.sample_type : 0;
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		if (type & before[i] & PERF_SAMPLE_TIME)
			there = buf__u64_at(b, at, time);
		at += type & before[i] ? sizeof(uint64_t) : 0;
	}
	return there && type & PERF_SAMPLE_CPU && buf__u32_at(b, at, cpu) && *cpu < PERF_CPUS;
}

/* Each CPU has a ring. */
int perf__keep_latest(struct perf_data *d, const struct perf_sched *ev, struct error *error)
{
	if (!d->latest)
		d->latest = calloc(PERF_CPUS, sizeof(*d->latest));
	if (!d->latest)
		return perf__no_memory(d, error);
	d->latest[ev->cpu] = ev->time;
	return 0;
}

int perf__lose(struct perf_data *d, const struct buf *b, uint64_t count, struct error *error)
{
	struct perf_loss loss = { .count = count };
	uint32_t cpu;
	int err;

	if (!place(d, b, &loss.to, &cpu))
		return 0;
	err = perf__keep(d, error);
	if (err)
		return err;
	if (array__grow(&d->losses, d->nlosses, &d->losses_cap, sizeof(loss)))
		return perf__no_memory(d, error);
	loss.from =
		d->latest && d->latest[cpu] && d->latest[cpu] < loss.to ? d->latest[cpu] : loss.to;
	d->losses[d->nlosses++] = loss;
	d->just_lost = true;
	return 0;
}

/* The loss precedes this event, whose timestamp may be older. */
void perf__after_loss(struct perf_data *d, uint64_t time)
{
	struct perf_loss *last = &d->losses[d->nlosses - 1];

	d->just_lost = false;
	if (time < last->to)
		last->to = time;
	if (time < last->from)
		last->from = time;
}

static int by_end(const void *a, const void *b)
{
	const struct perf_loss *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

void perf__sort_losses(struct perf_data *d)
{
	const struct perf_loss *next;
	struct perf_loss *to;
	size_t kept;

	array__sort(d->losses, d->nlosses, sizeof(*d->losses), by_end);
	while (d->nlosses > PERF_LOSSES_MAX) { /* merge neighbours, with the time between */
		for (size_t i = kept = 0; i < d->nlosses; i += 2, kept++) {
			to = &d->losses[kept];
			*to = d->losses[i];
			if (i + 1 == d->nlosses)
				continue;
			next = &d->losses[i + 1];
			to->to = next->to;
			to->count += next->count;
			to->from = next->from < to->from ? next->from : to->from;
		}
		d->nlosses = kept;
	}
}

const struct perf_loss *perf_data__losses(const struct perf_data *d, size_t *ret_n)
{
	*ret_n = d->nlosses;
	return d->losses;
}
