// SPDX-License-Identifier: GPL-2.0
/*
 * Mutator utilization: see mmu.h. Between the events of a trace, from which report/lanes.c calls
 * this, and the curve on the page.
 *
 * The utilization is constant between two points. So the share of a window is lowest where the
 * window begins or ends at a point, which two positions that advance together find in one pass.
 */
#include "report/mmu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/goroutine_tracker.h"
#include "lib/array.h"

enum mmu_goroutine { MMU_RUNS = 1, MMU_ASSISTS = 2, MMU_WORKER = 4 };

void mmu__deinit(struct mmu *m)
{
	free(m->at);
	map__deinit(&m->goroutines);
	*m = (struct mmu){};
}

/* ---- what the GC takes ---- */

static bool works(uintptr_t bits)
{
	return (bits & MMU_RUNS) && (bits & (MMU_ASSISTS | MMU_WORKER));
}

/* Only goroutines that work for the GC are kept. 0 or -ENOMEM. */
static int set_bits(struct mmu *m, uint64_t id, uintptr_t bits)
{
	uintptr_t before = (uintptr_t)map__get(&m->goroutines, id);

	m->working += works(bits);
	m->working -= works(before);
	if (bits & (MMU_ASSISTS | MMU_WORKER))
		return map__put(&m->goroutines, id, (void *)bits);
	if (before)
		map__remove(&m->goroutines, id);
	return 0;
}

static int apply_transition(struct mmu *m, const struct semantics *s)
{
	uintptr_t bits = (uintptr_t)map__get(&m->goroutines, s->id);

	if (!bits || s->resource != RESOURCE_GOROUTINE)
		return 0;
	if (s->to == GO_STATE_RUNNING)
		return set_bits(m, s->id, bits | MMU_RUNS);
	if (s->to == GO_STATE_NOT_EXIST)
		return set_bits(m, s->id, 0);
	/* A mark worker reports its mode whenever it begins to run. */
	return set_bits(m, s->id, bits & MMU_ASSISTS);
}

static int apply_label(struct mmu *m, const struct semantics *s)
{
	static const char prefix[] = "GC ", idle[] = "GC (idle)";
	const struct trace_string *name = &s->name;

	if (s->resource != RESOURCE_GOROUTINE || name->len < strlen(prefix) ||
	    memcmp(name->data, prefix, strlen(prefix)))
		return 0;
	if (name->len == strlen(idle) && !memcmp(name->data, idle, strlen(idle)))
		return 0;
	return set_bits(m, s->id, MMU_WORKER | MMU_RUNS);
}

static bool stops_for_gc(const struct semantics *s)
{
	static const char gc[] = "GC";

	return s->name.len >= strlen(gc) && !memcmp(s->name.data, gc, strlen(gc));
}

static int apply_range(struct mmu *m, const struct trace_event *ev, const struct semantics *s)
{
	bool begins = s->kind != SEMANTICS_RANGE_END;

	if (range__is_mark_assist(ev)) {
		uintptr_t bits = (uintptr_t)map__get(&m->goroutines, s->id);

		/* A goroutine begins to assist while it runs; a range that continues may not run. */
		if (s->kind == SEMANTICS_RANGE_ACTIVE)
			return set_bits(m, s->id,
					bits | MMU_ASSISTS | (ev->g == s->id ? MMU_RUNS : 0));
		return set_bits(m, s->id,
				begins ? bits | MMU_ASSISTS | MMU_RUNS :
					 bits & ~(uintptr_t)MMU_ASSISTS);
	}
	if (ev->type == EV_STW_BEGIN && stops_for_gc(s))
		m->pauses = 1;
	else if (ev->type == EV_STW_END)
		m->pauses = 0;
	return 0;
}

static void apply_metric(struct mmu *m, const struct semantics *s)
{
	static const char gomaxprocs[] = "/sched/gomaxprocs:threads";

	if (s->name.len == strlen(gomaxprocs) && !memcmp(s->name.data, gomaxprocs, s->name.len))
		m->gomaxprocs = s->value[0].value;
}

/* ---- points ---- */

static double utilization(const struct mmu *m)
{
	if (m->pauses)
		return 0;
	if (m->working >= m->gomaxprocs)
		return m->working ? 0 : 1;
	return 1 - (double)m->working / (double)m->gomaxprocs;
}

/* Averages neighbours in pairs: the sum until each point that is left stays exact. */
static void thin_out(struct mmu *m)
{
	size_t n = 0;

	for (size_t i = 0; i + 2 < m->n; i += 2) {
		struct mmu_point p = m->at[i];
		const struct mmu_point *next = &m->at[i + 2];

		p.utilization = (next->sum - p.sum) / (double)(next->time - p.time);
		m->at[n++] = p;
	}
	for (size_t i = m->n - (m->n % 2 ? 1 : 2); i < m->n; i++)
		m->at[n++] = m->at[i];
	m->n = n;
	m->coarse = true;
}

static int add_point(struct mmu *m, uint64_t time)
{
	double now = utilization(m);
	struct mmu_point *last = m->n ? &m->at[m->n - 1] : NULL;
	struct mmu_point point = { time, now, 0 };

	if (last && last->utilization == now)
		return 0;
	if (last && last->time == time) {
		last->utilization = now;
		return 0;
	}
	if (last)
		point.sum = last->sum + last->utilization * (double)(time - last->time);
	if (m->n == MMU_POINTS)
		thin_out(m);
	if (array__grow(&m->at, m->n, &m->cap, sizeof(*m->at)))
		return -ENOMEM;
	m->at[m->n++] = point;
	return 0;
}

int mmu__event(struct mmu *m, const struct trace_event *ev, uint64_t time)
{
	struct semantics s;
	int err = 0;

	semantics__of(ev, &s);
	switch (s.kind) {
	case SEMANTICS_STATE_TRANSITION:
		err = m->goroutines.n ? apply_transition(m, &s) : 0;
		break;
	case SEMANTICS_LABEL:
		err = apply_label(m, &s);
		break;
	case SEMANTICS_RANGE_BEGIN:
	case SEMANTICS_RANGE_ACTIVE:
	case SEMANTICS_RANGE_END:
		err = apply_range(m, ev, &s);
		break;
	case SEMANTICS_METRIC:
		apply_metric(m, &s);
		break;
	default:
		return 0;
	}
	if (err || !m->gomaxprocs)
		return err;
	return add_point(m, time);
}

void mmu__finish(struct mmu *m, uint64_t end)
{
	m->end = end;
}

/* ---- windows ---- */

/* ns of the program until `time`, which is in the interval that begins with *p. */
static double sum_at(const struct mmu_point *p, uint64_t time)
{
	return p->sum + p->utilization * (double)(time - p->time);
}

/* The lowest sum of windows that begin at a point (`ends` false), or end at one. */
static double lowest(const struct mmu *m, uint64_t window, bool ends)
{
	double least = (double)window, sum;
	size_t other = 0;

	for (size_t i = 0; i <= m->n; i++) {
		uint64_t at = i < m->n ? m->at[i].time : m->end, to;

		if (ends ? at < m->at[0].time + window : at + window > m->end)
			continue;
		to = ends ? at - window : at + window;
		while (other + 1 < m->n && m->at[other + 1].time <= to)
			other++;
		sum = sum_at(&m->at[other], to) - sum_at(&m->at[i < m->n ? i : m->n - 1], at);
		sum = sum < 0 ? -sum : sum;
		least = sum < least ? sum : least;
	}
	return least;
}

double mmu__at(const struct mmu *m, uint64_t window)
{
	double begin, end;

	if (!m->n || m->end <= m->at[0].time)
		return -1;
	if (window > m->end - m->at[0].time)
		window = m->end - m->at[0].time;
	begin = lowest(m, window, false);
	end = lowest(m, window, true);
	return (begin < end ? begin : end) / (double)window;
}
