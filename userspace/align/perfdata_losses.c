// SPDX-License-Identifier: GPL-2.0
/*
 * When events of a perf.data file were lost, as far as it says: PERF_RECORD_LOST stands where the kernel
 * had room again, in front of the next event of its ring.
 *
 * Before it: perfdata_records.c. After it: align/alignment.c, by perf_data__losses().
 */
#include <stdlib.h>

#include "align/perfdata_impl.h"

#define AFTER_HEADER (2 * sizeof(uint64_t)) /* the event's id, how many */

/* When the record was written; false: it does not say. */
static bool time_of(const struct perf_data *d, const struct buf *b, uint64_t *ret)
{
	const struct perf_attr *attr = d->attrs ? d->attr[0] : NULL;
	uint64_t id, type;

	if (d->attrs > 1)
		attr = buf__u64_at(b, 0, &id) ? map__get(&d->attr_of, id) : NULL;
	type = attr && attr->attr.sample_id_all ? attr->attr.sample_type : 0;
	return type & PERF_SAMPLE_TIME &&
	       buf__u64_at(b, AFTER_HEADER + (type & PERF_SAMPLE_TID ? sizeof(uint64_t) : 0), ret);
}

int perf__lose(struct perf_data *d, const struct buf *b, uint64_t count, struct error *err)
{
	struct perf_loss loss = { .count = count };
	int code;

	if (!time_of(d, b, &loss.to))
		return 0;
	code = perf__keep(d, err);
	if (code)
		return code;
	if (!perf__grow(&d->losses, d->nlosses, &d->losses_cap, sizeof(loss)))
		return perf__no_memory(d, err);
	loss.from = d->n && d->sched[d->n - 1].time < loss.to ? d->sched[d->n - 1].time : loss.to;
	d->losses[d->nlosses++] = loss;
	d->just_lost = true;
	return 0;
}

/* It was lost before this event, whose stamp may be the older one. */
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

	if (d->nlosses)
		qsort(d->losses, d->nlosses, sizeof(*d->losses), by_end);
	while (d->nlosses > PERF_LOSSES_MAX) { /* of two, one that has the time between them */
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
