// SPDX-License-Identifier: GPL-2.0
/*
 * Measures a recording in slices: see measure.h.
 *
 * Between reader/timeline.c and the analyses, which measure_functions.c and measure_ended.c feed.
 */
#include "diff/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diff/measure_impl.h"

struct measure *measure__create(struct naming *naming, size_t slices)
{
	struct measure *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->naming = naming;
	figures__init(&m->figures, slices);
	measure_functions__init(m);
	m->bound = calloc(slices + 1, sizeof(*m->bound));
	m->seconds = calloc(slices, sizeof(*m->seconds));
	m->ended = calloc(slices, sizeof(*m->ended));
	if (!measure_ended__init(m) && m->bound && m->seconds && m->ended)
		return m;
	measure__destroy(m);
	return NULL;
}

void measure__destroy(struct measure *m)
{
	if (!m)
		return;
	measure_functions__deinit(m);
	measure_ended__deinit(m);
	figures__deinit(&m->figures);
	free(m->bound);
	free(m->seconds);
	free(m->ended);
	free(m);
}

const struct figures *measure__figures(const struct measure *m)
{
	return &m->figures;
}

int64_t measure__length(const struct measure *m)
{
	return m->end - m->start;
}

uint64_t measure__requests(const struct measure *m)
{
	return m->nrequests;
}

const double *measure__seconds(const struct measure *m)
{
	return m->seconds;
}

const double *measure__ended(const struct measure *m)
{
	return m->ended;
}

int measure__look(struct measure *m, const struct trace_event *ev)
{
	if (!m->started)
		m->start = ev->time;
	m->started = true;
	m->end = ev->time;
	return measure_functions__look(m, ev);
}

int measure__begin(struct measure *m, struct error *error)
{
	size_t n = m->figures.slices;
	int64_t length;

	/* Times of a hostile trace may be anything. */
	if (__builtin_sub_overflow(m->end, m->start, &length) || length < (int64_t)n)
		return error__set(error, -ENODATA, "the trace is too short to be divided");
	for (size_t i = 0; i <= n; i++)
		m->bound[i] = m->start + (int64_t)((__int128)length * (int64_t)i / (int64_t)n);
	for (size_t i = 0; i < n; i++)
		m->seconds[i] = (double)(m->bound[i + 1] - m->bound[i]) / 1e9;
	return measure_functions__begin(m) ? error__set(error, -ENOMEM, "out of memory") : 0;
}

/* The slice in which `time` lies, which is within the trace. */
static size_t slice_of(const struct measure *m, int64_t time)
{
	double share = (double)(time - m->start) / (double)(m->end - m->start);
	size_t i = (size_t)(share * (double)m->figures.slices);

	if (i >= m->figures.slices)
		i = m->figures.slices - 1;
	while (i && m->bound[i] > time)
		i--;
	while (i + 1 < m->figures.slices && m->bound[i + 1] <= time)
		i++;
	return i;
}

int measure__add_time(struct measure *m, enum figure_kind kind, uint32_t name, int64_t from,
		      int64_t to)
{
	struct figure *figure;
	int64_t until;

	if (from < m->start)
		from = m->start;
	if (to > m->end)
		to = m->end;
	if (from >= to)
		return 0;
	figure = figures__get(&m->figures, kind, name);
	if (!figure)
		return -ENOMEM;
	for (size_t i = slice_of(m, from); from < to; i++) {
		until = m->bound[i + 1] < to ? m->bound[i + 1] : to;
		figure->slice[i] += (double)(until - from);
		from = until;
	}
	return 0;
}

int measure__step(struct measure *m, const struct timeline *t, const struct timeline_step *step,
		  struct error *error)
{
	int err = 0;

	/* The last slice ends with the trace, so that it includes what ends with its last event. */
	while (!err && step->event && m->slice + 1 < m->figures.slices &&
	       step->event->time >= m->bound[m->slice + 1]) {
		err = measure_ended__close_slice(m);
		m->slice++;
	}
	if (!err && step->event)
		err = measure_functions__event(m, step->event);
	if (err)
		return error__set(error, err, "%s", strerror(-err));
	return measure_ended__step(m, t, step, error);
}

int measure__finish(struct measure *m, struct error *error)
{
	int err = measure_functions__finish(m);

	/* In a trace that became shorter between the passes, the other slices are empty. */
	for (; !err && m->slice < m->figures.slices; m->slice++)
		err = measure_ended__close_slice(m);
	if (!err)
		err = measure_ended__finish(m);
	return err ? error__set(error, err, "%s", strerror(-err)) : 0;
}
