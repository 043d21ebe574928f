// SPDX-License-Identifier: GPL-2.0
/*
 * Aligns two clocks by a line: see fit.h.
 *
 * Input: candidate offsets from fit_runs.c. An offset that many runs support is followed from
 * switch to switch through the whole recording, which yields the drift. A line is fitted to the
 * matches on the way, and then tested with all switches. The best line is the result if it is
 * good, and no other one is about as good.
 */
#include "align/fit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "align/fit_impl.h"
#include "lib/array.h"

#define TRIES	   16
#define WINDOW	   100000 /* ns: width of a group of candidate offsets */
#define TOLERANCE  50000  /* ns: switches farther from the line do not match */
#define STEP_SLACK 4000	  /* ns: for the next switch on the way */
#define DRIFT_MAX  500e-6
#define REMEDY	   "; record with perf record -k CLOCK_MONOTONIC"

/* offset (ours - theirs) = base + at + slope * (ours - since) */
struct line {
	uint64_t since;
	int64_t base;
	double at, slope;
};

struct match {
	uint64_t ours;
	int64_t offset; /* ours - theirs */
};

struct matches {
	struct match *at; /* by time */
	double *residual; /* ns, absolute; sorted by evaluate() */
	size_t n;
};

/* A line and its quality. */
struct attempt {
	struct line line;
	struct fit fit;
	double score;
};

static double line__offset(const struct line *line, uint64_t ours)
{
	return line->at + line->slope * (double)(int64_t)(ours - line->since);
}

static uint64_t line__theirs(const struct line *line, uint64_t ours)
{
	return ours - (uint64_t)(line->base + llround(line__offset(line, ours)));
}

/* ---- following an offset from switch to switch ---- */

struct walk {
	const struct fit_sides *sides;
	uint64_t seed, last; /* ours: the first match, the last match */
	int64_t base;
	double start, offset; /* relative to `base`: at the seed, at the last match */
	double drift;
};

/* The drift is the better known, the farther the walk is from the seed. */
static double walk__slack(const struct walk *w, double since)
{
	double way = fabs((double)(int64_t)(w->last - w->seed));
	double drift = way > 0 ? 20e-6 + 6000 / way : DRIFT_MAX;

	return STEP_SLACK + fabs(since) * (drift < DRIFT_MAX ? drift : DRIFT_MAX);
}

static bool walk__step(struct walk *w, size_t i, struct match *ret)
{
	const struct fit_side *ours = &w->sides->ours;
	uint64_t time = ours->at[i].time, theirs;
	double since = (double)(int64_t)(time - w->last);
	double expected = w->offset + w->drift * since, way;

	if (!fit_side__nearest(&w->sides->theirs, ours->key[i],
			       time - (uint64_t)(w->base + llround(expected)),
			       (uint64_t)walk__slack(w, since), &theirs))
		return false;
	*ret = (struct match){ .ours = time, .offset = (int64_t)(time - theirs) };
	w->offset = expected + ((double)(ret->offset - w->base) - expected) * 0.3;
	w->last = time;
	way = (double)(int64_t)(time - w->seed);
	if (fabs(way) > 10e6)
		w->drift = (w->offset - w->start) / way;
	return true;
}

static void reverse(struct match *match, size_t n)
{
	struct match swap;

	for (size_t i = 0; i < n / 2; i++) {
		swap = match[i];
		match[i] = match[n - 1 - i];
		match[n - 1 - i] = swap;
	}
}

/* Backward to the beginning, and forward to the end. */
static void follow(const struct fit_sides *sides, const struct fit_candidate *seed,
		   struct matches *ret)
{
	const uint64_t time = sides->ours.at[seed->at].time;
	const struct walk start = {
		.sides = sides, .seed = time, .last = time, .base = seed->offset
	};
	struct walk w = start;

	ret->n = 0;
	for (size_t i = seed->at; i--;)
		ret->n += walk__step(&w, i, &ret->at[ret->n]);
	reverse(ret->at, ret->n);
	w = start;
	for (size_t i = seed->at; i < sides->ours.n; i++)
		ret->n += walk__step(&w, i, &ret->at[ret->n]);
}

/* ---- a line through the matches ---- */

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double median(double *values, size_t n)
{
	array__sort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

/* Median of the offsets of a part, relative to the line. */
static double part_offset(const struct matches *m, size_t from, size_t to, const struct line *line)
{
	for (size_t i = from; i < to; i++)
		m->residual[i - from] = (double)(m->at[i].offset - line->base);
	return median(m->residual, to - from);
}

/* Through the medians of the first and the last third: up to half of the matches may be wrong. */
static void line__rough(struct line *line, const struct matches *m)
{
	const size_t n = m->n, third = n / 3 ? n / 3 : 1;
	const struct match *first = &m->at[third / 2], *last = &m->at[n - 1 - third / 2];
	double from, to;

	*line = (struct line){ .since = first->ours, .base = m->at[n / 2].offset };
	from = part_offset(m, 0, third, line);
	to = part_offset(m, n - third, n, line);
	line->at = from;
	if (last->ours > first->ours)
		line->slope = (to - from) / (double)(last->ours - first->ours);
}

/* Least squares of the matches that are near the line. */
static void line__refine(struct line *line, const struct matches *m)
{
	double x, y, near, n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, middle;
	size_t i;

	for (i = 0; i < m->n; i++)
		m->residual[i] = fabs((double)(m->at[i].offset - line->base) -
				      line__offset(line, m->at[i].ours));
	near = fmax(4 * median(m->residual, m->n), 500);
	for (i = 0; i < m->n; i++) {
		x = (double)(int64_t)(m->at[i].ours - line->since);
		y = (double)(m->at[i].offset - line->base);
		if (fabs(y - line->at - line->slope * x) > near)
			continue;
		x *= 1e-9; /* sums of squared ns would lose precision */
		n++;
		sx += x;
		sy += y;
		sxx += x * x;
		sxy += x * y;
	}
	middle = n * sxx - sx * sx;
	if (n < 2 || middle <= 0)
		return;
	line->slope = (n * sxy - sx * sy) / middle * 1e-9;
	line->at = sy / n - line->slope * 1e9 * sx / n;
}

/* ---- quality ---- */

/* Both must be nearest to each other: a lost switch must not match its neighbour. */
static bool match_one(const struct fit_sides *s, const struct line *line, size_t i,
		      struct match *ret)
{
	const uint64_t time = s->ours.at[i].time, wanted = line__theirs(line, time);
	uint64_t theirs, back;

	if (!fit_side__nearest(&s->theirs, s->ours.key[i], wanted, TOLERANCE, &theirs) ||
	    !fit_side__nearest(&s->ours, s->ours.key[i], time + (theirs - wanted), TOLERANCE,
			       &back) ||
	    back != time)
		return false;
	*ret = (struct match){ .ours = time, .offset = (int64_t)(time - theirs) };
	return true;
}

static uint64_t count_within(const struct fit_switch *at, size_t n, uint64_t from, uint64_t to)
{
	uint64_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += at[i].time >= from && at[i].time <= to;
	return found;
}

/*
 * Counts the switches that both sides should contain according to the line, and the matches among
 * them.
 */
static void count_both(const struct fit_sides *s, const struct matches *m, struct fit *fit)
{
	const struct fit_side *ours = &s->ours, *theirs = &s->theirs;
	uint64_t from = ours->at[0].time, to = ours->at[ours->n - 1].time;
	uint64_t their_from = fit__time(fit, theirs->at[0].time);
	uint64_t their_to = fit__time(fit, theirs->at[theirs->n - 1].time);

	from = from > their_from ? from : their_from;
	to = to < their_to ? to : their_to;
	fit->in_ours = count_within(ours->at, ours->n, from, to);
	fit->in_theirs = fit->matched = 0;
	for (size_t i = 0; i < theirs->n; i++) {
		their_from = fit__time(fit, theirs->at[i].time);
		fit->in_theirs += their_from >= from && their_from <= to;
	}
	for (size_t i = 0; i < m->n; i++) {
		their_from = fit__time(fit, m->at[i].ours - (uint64_t)m->at[i].offset);
		fit->matched += m->at[i].ours >= from && m->at[i].ours <= to &&
				their_from >= from && their_from <= to;
	}
}

static void evaluate(const struct fit_sides *s, struct attempt *a, struct matches *m)
{
	const struct line *line = &a->line;
	size_t n;

	m->n = 0;
	for (size_t i = 0; i < s->ours.n; i++)
		m->n += match_one(s, line, i, &m->at[m->n]);
	n = m->n;
	a->score = 0;
	for (size_t i = 0; i < n; i++) {
		m->residual[i] = fabs((double)(m->at[i].offset - line->base) -
				      line__offset(line, m->at[i].ours));
		a->score += fmax(0, 1 - m->residual[i] / FIT_RESIDUAL_MAX);
	}
	array__sort(m->residual, n, sizeof(*m->residual), by_value);
	a->fit = (struct fit){ .drift = line->slope / (1 - line->slope) };
	a->fit.ours = n ? m->at[n / 2].ours : s->ours.at[s->ours.n / 2].time;
	a->fit.theirs = line__theirs(line, a->fit.ours);
	if (n) {
		a->fit.p50 = (uint64_t)m->residual[n / 2];
		a->fit.p99 = (uint64_t)m->residual[n - 1 - n / 100];
		a->fit.max = (uint64_t)m->residual[n - 1];
	}
	count_both(s, m, &a->fit);
}

/* False: no candidate. */
static bool try_seed(const struct fit_sides *s, const struct fit_candidate *seed, struct matches *m,
		     struct attempt *ret)
{
	follow(s, seed, m);
	line__rough(&ret->line, m); /* at least the seed matches */
	for (int round = 0; round < 6; round++) {
		if (round == 3) /* adds switches that the walk missed, drops wrong matches */
			evaluate(s, ret, m);
		if (m->n < FIT_MATCHES_MIN)
			return false;
		line__refine(&ret->line, m);
	}
	if (fabs(ret->line.slope) > 2 * DRIFT_MAX)
		return false;
	evaluate(s, ret, m);
	return m->n >= FIT_MATCHES_MIN;
}

/* ---- choice of the line ---- */

/* The middle of the densest window of the remaining candidate offsets. */
static struct fit_candidate densest(const struct fit_candidate *c, size_t n, size_t *ret_support)
{
	size_t from = 0, best = 0, at = 0;

	for (size_t to = 0; to < n; to++) {
		while (c[to].offset - c[from].offset > WINDOW)
			from++;
		if (to - from + 1 > best) {
			best = to - from + 1;
			at = from + (to - from) / 2;
		}
	}
	*ret_support = best;
	return c[at];
}

/* Drops the candidates near the line, or near the seed if it led to nothing. */
static size_t drop(const struct fit_sides *s, struct fit_candidate *c, size_t n, int64_t seed,
		   const struct line *line)
{
	uint64_t time;
	size_t left = 0;
	double away;

	for (size_t i = 0; i < n; i++) {
		time = s->ours.at[c[i].at].time;
		away = line ? (double)(c[i].offset - line->base) - line__offset(line, time) :
			      WINDOW;
		if (fabs(away) > WINDOW / 5 && fabs((double)(c[i].offset - seed)) > WINDOW / 5)
			c[left++] = c[i];
	}
	return left;
}

static bool same_line(const struct attempt *a, const struct attempt *b)
{
	int64_t apart = (int64_t)(line__theirs(&a->line, a->fit.ours) -
				  line__theirs(&b->line, a->fit.ours));

	return apart > -20000 && apart < 20000;
}

static double share(const struct fit *fit)
{
	uint64_t both = fit->in_ours < fit->in_theirs ? fit->in_ours : fit->in_theirs;

	return both ? (double)fit->matched / (double)both : 0;
}

/* Whether another line explains about as many switches about as well. */
static bool rivals(const struct attempt *a, const struct attempt *best)
{
	return !same_line(a, best) && a->score > best->score / 2 &&
	       share(&a->fit) > 0.7 * share(&best->fit) && a->fit.p50 <= 2 * best->fit.p50 + 500;
}

static int choose(const struct attempt *attempt, size_t n, struct fit *ret, struct error *error)
{
	const struct attempt *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (fit__agrees(&attempt[i].fit) && (!best || attempt[i].score > best->score))
			best = &attempt[i];
	if (!best)
		return error__set(error, -ENODATA,
				  "clock alignment failed: the trace and the perf file have no "
				  "sequence of switches in common; they were recorded at "
				  "different times or on different machines" REMEDY);
	for (size_t i = 0; i < n; i++)
		if (rivals(&attempt[i], best))
			return error__set(
				error, -ENOTUNIQ,
				"clock alignment is ambiguous: several candidate offsets fit "
				"equally well, such as %" PRId64 " and %" PRId64 " ns, because "
				"the switches are periodic" REMEDY,
				fit__offset(&best->fit), fit__offset(&attempt[i].fit));
	if (best->fit.p99 > FIT_RESIDUAL_MAX)
		return error__set(
			error, -EDOM,
			"clock alignment failed: 1 of 100 switches deviates by more than %" PRIu64
			" ns; the limit is %d ns" REMEDY,
			best->fit.p99, FIT_RESIDUAL_MAX);
	*ret = best->fit;
	return 0;
}

static int matches__init(struct matches *m, size_t n)
{
	*m = (struct matches){ .at = malloc(n * sizeof(*m->at) + 1),
			       .residual = malloc(n * sizeof(*m->residual) + 1) };
	return m->at && m->residual ? 0 : -ENOMEM;
}

static void matches__deinit(struct matches *m)
{
	free(m->at);
	free(m->residual);
}

static int fit_sides(const struct fit_sides *s, struct matches *m, struct fit *ret,
		     struct error *error)
{
	struct attempt attempt[TRIES];
	struct fit_candidate *found;
	struct fit_candidate seed;
	size_t nfound, support, most = 0, n = 0;
	bool good;

	if (fit_runs__find(s, &found, &nfound))
		return -ENOMEM;
	for (int i = 0; i < TRIES && nfound; i++) {
		seed = densest(found, nfound, &support);
		if (support < most / 8)
			break; /* no line through the remaining candidates can compete */
		good = try_seed(s, &seed, m, &attempt[n]);
		nfound = drop(s, found, nfound, seed.offset, good ? &attempt[n].line : NULL);
		if (good && support > most)
			most = support;
		n += good;
	}
	free(found);
	return choose(attempt, n, ret, error);
}

int fit__clock(struct fit *ret, const struct fit_switch *ours, size_t nours,
	       const struct fit_switch *theirs, size_t ntheirs, struct error *error)
{
	struct fit_sides s;
	struct matches m;
	int err;

	if (nours < FIT_MATCHES_MIN || ntheirs < FIT_MATCHES_MIN)
		return error__set(
			error, -ENODATA,
			"clock alignment failed: too few switches of the target's threads: the "
			"trace has %zu, the perf file %zu; at least %d are required" REMEDY,
			nours, ntheirs, FIT_MATCHES_MIN);
	if (fit_sides__init(&s, ours, nours, theirs, ntheirs))
		return error__set(error, -ENOMEM, "out of memory");
	err = matches__init(&m, nours);
	err = err ?: fit_sides(&s, &m, ret, error);
	matches__deinit(&m);
	fit_sides__deinit(&s);
	return err == -ENOMEM ? error__set(error, err, "out of memory") : err;
}

int fit__compare(struct fit *ret, const struct fit_switch *ours, size_t nours,
		 const struct fit_switch *theirs, size_t ntheirs)
{
	struct attempt same = {};
	struct fit_sides s;
	struct matches m;
	int err;

	*ret = (struct fit){};
	if (!nours || !ntheirs)
		return 0;
	if (fit_sides__init(&s, ours, nours, theirs, ntheirs))
		return -ENOMEM;
	err = matches__init(&m, nours);
	if (!err) {
		evaluate(&s, &same, &m);
		*ret = same.fit;
	}
	matches__deinit(&m);
	fit_sides__deinit(&s);
	return err;
}
