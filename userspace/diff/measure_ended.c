// SPDX-License-Identifier: GPL-2.0
/*
 * What counts in the slice in which it ends: requests, waits for a P, GC cycles and pauses.
 *
 * analysis/requests.h and analysis/intervals.h count from the start of the trace on. At the end of a
 * slice their sums minus those at its begin are those of the slice. Downstream: diff/figures.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "diff/measure_impl.h"

#define PARTS (LATENCY_PARTS + 1) /* and that in mark assists */

struct requests_before {
	struct lengths lengths;
	uint64_t failed;
	int64_t part[PARTS];
};

int measure_ended__init(struct measure *m)
{
	static const enum interval_kind kinds[MEASURED_INTERVALS] = { INTERVAL_SCHED, INTERVAL_GC,
								      INTERVAL_STW };

	for (unsigned int i = 0; i < MEASURED_INTERVALS; i++) {
		m->intervals[i] = intervals__create(&(struct intervals_opts){ .kind = kinds[i] });
		if (!m->intervals[i])
			return -ENOMEM;
	}
	m->requests = requests__create_pathless();
	return m->requests ? 0 : -ENOMEM;
}

void measure_ended__deinit(struct measure *m)
{
	for (unsigned int i = 0; i < MEASURED_INTERVALS; i++)
		intervals__destroy(m->intervals[i]);
	requests__destroy(m->requests);
	map__free(&m->requests_before);
}

int measure_ended__step(struct measure *m, const struct timeline *t,
			const struct timeline_step *step, struct error *error)
{
	int err = 0;

	for (unsigned int i = 0; !err && step->event && i < MEASURED_INTERVALS; i++) {
		intervals__lose_before(m->intervals[i], timeline__go_lost_to(t));
		err = intervals__event(m->intervals[i], step->event);
	}
	if (err)
		return error__set(error, err, "out of memory");
	return requests__step(m->requests, t, step, error);
}

/* ---- the end of a slice ---- */

static int add(struct measure *m, enum figure_kind kind, uint32_t name, double value)
{
	struct figure *figure = figures__get(&m->figures, kind, name);

	if (!figure)
		return -ENOMEM;
	if (figure_infos[kind].weight == WEIGHT_QUANTILE)
		figure->slice[m->slice] = value;
	else /* the name of several requests together may also be that of one */
		figure->slice[m->slice] += value;
	return 0;
}

/* A quantile of the lengths that were added since `before`. */
static int add_quantile(struct measure *m, enum figure_kind kind, uint32_t name,
			const struct lengths *now, const struct lengths *before, double share)
{
	struct lengths l = { .count = now->count - before->count, .max = now->max };

	if (!l.count)
		return 0;
	for (uint32_t i = 0; i < LENGTH_CLASSES; i++)
		l.class[i] = now->class[i] - before->class[i];
	return add(m, kind, name, (double)lengths__share(&l, share));
}

static const struct lengths *lengths_of(const struct measure *m, enum measured_interval i)
{
	bool kernel;

	return &intervals__counts(m->intervals[i], &kernel)->lengths;
}

static int close_intervals(struct measure *m)
{
	const struct lengths *sched = lengths_of(m, MEASURED_SCHED);
	const struct lengths *gc = lengths_of(m, MEASURED_GC);
	const struct lengths *stw = lengths_of(m, MEASURED_STW);
	struct lengths *before = m->intervals_before;
	int err;

	err = add_quantile(m, FIGURE_SCHED_P50, 0, sched, &before[MEASURED_SCHED], 0.5)		 ?:
		      add_quantile(m, FIGURE_SCHED_P99, 0, sched, &before[MEASURED_SCHED], 0.99) ?:
		      add_quantile(m, FIGURE_STW_P99, 0, stw, &before[MEASURED_STW], 0.99)	 ?:
		      add(m, FIGURE_GC_CYCLES, 0, (double)(gc->count - before[MEASURED_GC].count)) ?:
		      add(m, FIGURE_GC_MARK, 0, (double)(gc->sum - before[MEASURED_GC].sum)) ?:
		      add(m, FIGURE_STW, 0, (double)(stw->sum - before[MEASURED_STW].sum));
	before[MEASURED_SCHED] = *sched;
	before[MEASURED_GC] = *gc;
	before[MEASURED_STW] = *stw;
	return err;
}

/* The id by which figures have the name of a request. */
static int request_id(struct measure *m, const struct request_name *n, uint32_t *ret)
{
	return naming__name(m->naming, requests__name(m->requests, n->name), ret);
}

static int add_parts(struct measure *m, const struct request_name *n, uint32_t id,
		     struct requests_before *before)
{
	struct request_sum sum;
	int64_t part[PARTS];
	int err = request_name__sum(n, &sum);

	if (err)
		return err;
	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		part[i] = sum.time.part[i];
	part[LATENCY_PARTS] = sum.time.gc_assist;
	request_sum__deinit(&sum);
	for (unsigned int i = 0; !err && i < PARTS; i++) {
		err = add(m, FIGURE_REQUEST_PART + i, id,
			  (double)time_sub(part[i], before->part[i]));
		before->part[i] = part[i];
	}
	return err;
}

static int close_request(struct measure *m, const struct request_name *n)
{
	struct requests_before *before = map__get(&m->requests_before, n->name);
	const struct lengths *l = &n->lengths;
	uint32_t id;
	int err;

	if (!before)
		before = map__put_new(&m->requests_before, n->name, sizeof(*before));
	if (!before || request_id(m, n, &id))
		return -ENOMEM;
	if (l->count == before->lengths.count)
		return 0;
	m->ended[m->slice] += (double)(l->count - before->lengths.count);
	m->nrequests += l->count - before->lengths.count;
	err = add(m, FIGURE_REQUEST_RATE, id, (double)(l->count - before->lengths.count)) ?:
		      add(m, FIGURE_REQUEST_MEAN, id, (double)time_sub(l->sum, before->lengths.sum)) ?:
		      add(m, FIGURE_REQUEST_ERRORS, id, (double)(n->failed - before->failed)) ?:
		      add_quantile(m, FIGURE_REQUEST_P50, id, l, &before->lengths, 0.5)	      ?:
		      add_quantile(m, FIGURE_REQUEST_P99, id, l, &before->lengths, 0.99)      ?:
		      add_parts(m, n, id, before);
	before->lengths = *l;
	before->failed = n->failed;
	return err;
}

typedef int (*each_request_fn)(struct measure *m, const struct request_name *n);

static int each_request(struct measure *m, each_request_fn what)
{
	const struct request_name **names;
	int err = 0;
	size_t n;

	names = requests__sorted(m->requests, LENGTHS_COUNT, &n);
	if (!names)
		return -ENOMEM;
	for (size_t i = 0; !err && i < n; i++)
		err = what(m, names[i]);
	free(names);
	return err;
}

int measure_ended__close_slice(struct measure *m)
{
	int err = close_intervals(m);

	return err ? err : each_request(m, close_request);
}

/* ---- the end of the trace ---- */

static int set_all(struct measure *m, enum figure_kind kind, uint32_t name, const struct lengths *l,
		   double share)
{
	struct figure *figure = figures__get(&m->figures, kind, name);

	if (!figure)
		return -ENOMEM;
	figure->all = (double)lengths__share(l, share);
	return 0;
}

static int set_quantiles(struct measure *m, const struct request_name *n)
{
	uint32_t id;

	if (request_id(m, n, &id))
		return -ENOMEM;
	return set_all(m, FIGURE_REQUEST_P50, id, &n->lengths, 0.5) ?:
		       set_all(m, FIGURE_REQUEST_P99, id, &n->lengths, 0.99);
}

int measure_ended__finish(struct measure *m)
{
	const struct lengths *sched = lengths_of(m, MEASURED_SCHED);

	return set_all(m, FIGURE_SCHED_P50, 0, sched, 0.5)				?:
		       set_all(m, FIGURE_SCHED_P99, 0, sched, 0.99)			?:
		       set_all(m, FIGURE_STW_P99, 0, lengths_of(m, MEASURED_STW), 0.99) ?:
		       each_request(m, set_quantiles);
}
