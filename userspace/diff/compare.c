// SPDX-License-Identifier: GPL-2.0
/*
 * Compares the figures of two recordings: see compare.h.
 *
 * Statistics: diff/estimate.c.
 */
#include "diff/compare.h"
#include "lib/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void *row_at(struct diff *d, const struct figure *f)
{
	struct diff_row *row = &d->rows[d->n++];

	*row = (struct diff_row){ .kind = f->kind, .name = f->name };
	return row;
}

/* A row for each figure of either recording. 0 or -ENOMEM. */
static int make_rows(struct diff *d, const struct figures *a, const struct figures *b)
{
	void *f;

	d->rows = calloc(a->by_key.n + b->by_key.n + 1, sizeof(*d->rows));
	if (!d->rows)
		return -ENOMEM;
	for (size_t i = 0; map__next(&a->by_key, &i, &f);)
		row_at(d, f);
	for (size_t i = 0; map__next(&b->by_key, &i, &f);) {
		const struct figure *figure = f;

		if (!figures__find(a, figure->kind, figure->name))
			row_at(d, figure);
	}
	return 0;
}

static double sum_of(const double *slices, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += slices[i];
	return sum;
}

static const double *weights_of(const struct measure *m, const struct diff_row *row,
				const struct diff_opts *opts)
{
	const struct figure *rate;

	switch (figure_infos[row->kind].weight) {
	case WEIGHT_CHOSEN:
		return opts->per_request ? measure__ended(m) : measure__seconds(m);
	case WEIGHT_NAME:
		rate = figures__find(measure__figures(m), FIGURE_REQUEST_RATE, row->name);
		return rate ? rate->slice : NULL;
	case WEIGHT_SECONDS:
	case WEIGHT_QUANTILE:
		break;
	}
	return measure__seconds(m);
}

/*
 * A figure that only the other recording has is 0 in each slice, unless it is a quantile. The ends of a
 * recording are at any point of a period, so a count may be off by one event, even if no slice differs.
 */
static int estimate(const struct measure *m, const struct diff_row *row,
		    const struct diff_opts *opts, struct estimate *ret)
{
	const struct figures *all = measure__figures(m);
	const struct figure *f = figures__find(all, row->kind, row->name);
	const double *weights = weights_of(m, row, opts);
	double *sums;

	*ret = (struct estimate){ .error = NAN };
	if (figure_infos[row->kind].weight == WEIGHT_QUANTILE) {
		if (f)
			*ret = estimate__quantile(f->all, f->slice, all->slices, DIFF_ROUNDING);
		return 0;
	}
	if (!weights)
		return 0;
	sums = calloc(all->slices, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	if (f)
		estimate__carry(f->slice, weights, all->slices, sums);
	*ret = estimate__ratio(sums, weights, all->slices);
	if (ret->known && !figure_infos[row->kind].is_time)
		ret->margin = 1 / sum_of(weights, all->slices);
	free(sums);
	return 0;
}

/* Time of this figure per second of the recording, ns. */
static double per_second(const struct measure *m, const struct diff_row *row)
{
	const struct figure *f = figures__find(measure__figures(m), row->kind, row->name);
	double sum = f ? sum_of(f->slice, measure__figures(m)->slices) : 0;

	return sum / ((double)measure__length(m) / 1e9);
}

/* There are as many requests as a test of the figure requires, or it does not depend on their number. */
static bool has_requests(const struct measure *m, const struct diff_row *row,
			 const struct diff_opts *opts)
{
	const struct figure_info *info = &figure_infos[row->kind];
	const struct figure *of_name;

	if (info->weight == WEIGHT_CHOSEN)
		return !opts->per_request || measure__requests(m) >= DIFF_LEAST_REQUESTS;
	if (info->group != GROUP_REQUEST || info->weight == WEIGHT_SECONDS)
		return true;
	of_name = figures__find(measure__figures(m), FIGURE_REQUEST_RATE, row->name);
	return of_name && sum_of(of_name->slice, measure__figures(m)->slices) >=
				  (row->kind == FIGURE_REQUEST_P99 ? DIFF_LEAST_REQUESTS_P99 :
								     DIFF_LEAST_REQUESTS);
}

static bool is_tested(const struct measure *a, const struct measure *b, const struct diff_row *row,
		      const struct diff_opts *opts)
{
	const struct figure_info *info = &figure_infos[row->kind];

	if (!row->a.known || !row->b.known || isnan(row->a.error) || isnan(row->b.error))
		return false;
	if (!has_requests(a, row, opts) || !has_requests(b, row, opts))
		return false;
	if (row->kind == FIGURE_REQUEST_MEAN || info->weight == WEIGHT_QUANTILE || !info->is_time)
		return row->a.value > 0 || row->b.value > 0;
	return per_second(a, row) >= DIFF_LEAST_NS || per_second(b, row) >= DIFF_LEAST_NS;
}

static void decide(struct diff *d, struct diff_row *row, const struct diff_opts *opts)
{
	double tail = DIFF_ERROR_RATE / 2 / (double)(d->tested ?: 1);
	bool is_bad = figure_infos[row->kind].is_bad;
	struct contrast beyond;

	row->contrast = contrast__of(&row->a, &row->b, 1, tail);
	if (!row->tested)
		return;
	if (row->contrast.low > 0)
		row->result = is_bad ? DIFF_WORSE : DIFF_CHANGED;
	else if (row->contrast.high < 0)
		row->result = is_bad ? DIFF_BETTER : DIFF_CHANGED;
	d->found += row->result != DIFF_NOISE;
	if (row->result != DIFF_WORSE || isnan(opts->threshold))
		return;
	beyond = contrast__of(&row->a, &row->b, 1 + opts->threshold, tail);
	row->exceeds = beyond.low > 0;
	d->exceeding += row->exceeds;
}

static int compare_rows(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	enum figure_group gx = figure_infos[x->kind].group, gy = figure_infos[y->kind].group;
	double dx = fabs(x->contrast.difference), dy = fabs(y->contrast.difference);
	double most_x = fmax(x->a.value, x->b.value), most_y = fmax(y->a.value, y->b.value);

	if (gx != gy)
		return gx < gy ? -1 : 1;
	if (figure_infos[x->kind].is_time != figure_infos[y->kind].is_time)
		return figure_infos[x->kind].is_time ? -1 : 1;
	if (dx < dy || dx > dy)
		return dx > dy ? -1 : 1;
	if (most_x < most_y || most_x > most_y)
		return most_x > most_y ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

int diff__compare(const struct measure *a, const struct measure *b, const struct diff_opts *opts,
		  struct diff *ret)
{
	struct diff d = {};
	struct diff_row *row;
	int err = make_rows(&d, measure__figures(a), measure__figures(b));

	for (size_t i = 0; !err && i < d.n; i++) {
		row = &d.rows[i];
		err = estimate(a, row, opts, &row->a) ?: estimate(b, row, opts, &row->b);
		row->tested = is_tested(a, b, row, opts);
		d.tested += row->tested;
	}
	for (size_t i = 0; !err && i < d.n; i++)
		decide(&d, &d.rows[i], opts);
	if (err) {
		diff__deinit(&d);
		return err;
	}
	array__sort(d.rows, d.n, sizeof(*d.rows), compare_rows);
	*ret = d;
	return 0;
}

void diff__deinit(struct diff *d)
{
	free(d->rows);
	*d = (struct diff){};
}
