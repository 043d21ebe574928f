// SPDX-License-Identifier: GPL-2.0
/*
 * The critical path of a request: see requests.h.
 *
 * Between latency.c, which has the slices of each goroutine's time, and requests.c. While a goroutine
 * works for requests, its slices are kept as the steps of its trail; a request has the trails of all
 * goroutines that worked for it, each for the time in which it did. When the request ends, its time
 * is divided among these steps: each moment counts for exactly one of them.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/requests_impl.h"
#include "lib/array.h"

#define DEPTH_MAX 64 /* goroutines that wait for one another */

/* A step of a trail. It begins at the end of the step before. */
struct step {
	int64_t to;
	uint64_t by;	 /* the goroutine that ended the wait, or TRACE_NO_G */
	uint32_t reason; /* as in latency_stats.reasons: part and kind */
	uint16_t place;	 /* as in latency_stats.places, or LATENCY_NO_PLACE */
	uint16_t call;	 /* as in latency_slice */
	bool assist, in_call, unknown, lost;
};

/* A worker and the members of requests hold it. */
struct trail {
	uint64_t g;
	size_t holders;
	int64_t from;
	struct step *steps;
	size_t n, cap;
	bool lossy; /* there was no room for the last ones */
};

/* ---- trails ---- */

static void release(struct requests *r, struct trail *trail)
{
	if (--trail->holders)
		return;
	r->trails -= trail->cap * sizeof(*trail->steps) + sizeof(*trail);
	free(trail->steps);
	free(trail);
}

void worker__free(struct requests *r, struct worker *worker)
{
	if (worker->trail)
		release(r, worker->trail);
	free(worker);
}

/* Makes room for one more, if that is within the limit. 1, 0: it is not, or -ENOMEM. */
static int grow(struct requests *r, void *array, size_t n, size_t *cap, size_t size)
{
	size_t before = *cap;

	if (n == *cap && r->trails >= REQUEST_TRAILS_MAX)
		return 0;
	if (array__grow(array, n, cap, size))
		return -ENOMEM;
	r->trails += (*cap - before) * size;
	return 1;
}

static bool goes_on(const struct step *last, const struct step *next)
{
	return last->by == TRACE_NO_G && last->reason == next->reason &&
	       last->place == next->place && last->call == next->call &&
	       last->assist == next->assist && last->in_call == next->in_call &&
	       last->unknown == next->unknown && last->lost == next->lost;
}

int trails__slice(struct requests *r, const struct latency_slice *slice)
{
	const struct worker *worker = map__get(&r->workers, slice->id);
	struct trail *trail = worker ? worker->trail : NULL;
	const struct step step = {
		.to = slice->to,
		.by = slice->by,
		.reason = (uint32_t)slice->part << 16 | slice->reason,
		.place = slice->place,
		.call = slice->call,
		.assist = slice->assist,
		.in_call = slice->in_call,
		.unknown = slice->unknown,
		.lost = slice->lost,
	};
	int room;

	if (!trail || trail->lossy)
		return 0;
	if (!trail->n)
		trail->from = slice->from;
	if (trail->n && goes_on(&trail->steps[trail->n - 1], &step)) {
		trail->steps[trail->n - 1] = step;
		return 0;
	}
	room = grow(r, &trail->steps, trail->n, &trail->cap, sizeof(*trail->steps));
	if (room > 0)
		trail->steps[trail->n++] = step;
	trail->lossy = !room;
	return room < 0 ? room : 0;
}

int work__begin_member(struct requests *r, struct work *w)
{
	struct request *request = w->request;
	struct worker *worker = w->worker;
	int room = grow(r, &request->members, request->nmembers, &request->members_cap,
			sizeof(*request->members));

	if (room < 0)
		return room;
	if (room && !worker->trail) {
		worker->trail = calloc(1, sizeof(*worker->trail));
		if (!worker->trail)
			return -ENOMEM;
		worker->trail->g = worker->g;
		worker->trail->holders = 1;
		r->trails += sizeof(*worker->trail);
	}
	if (!room) {
		request->pathless = true;
		return 0;
	}
	worker->trail->holders++;
	w->member = request->nmembers++;
	request->members[w->member] =
		(struct member){ worker->trail, latency__now(r->latency), INT64_MAX };
	return 0;
}

void work__end_member(struct requests *r, struct work *w)
{
	if (w->member < w->request->nmembers)
		w->request->members[w->member].to = latency__now(r->latency);
}

void request__free_members(struct requests *r, struct request *request)
{
	for (size_t i = 0; i < request->nmembers; i++)
		release(r, request->members[i].trail);
	r->trails -= request->members_cap * sizeof(*request->members);
	free(request->members);
}

/* ---- the path ---- */

struct walk {
	const struct request *request;
	uint64_t *budget;
	struct latency_stats *path;
	bool lossy;
};

/* Counts the time of a step. 0 or -ENOMEM. */
static int charge(const struct walk *w, const struct step *step, int64_t ns)
{
	enum latency_part part = latency_reason__part(step->reason);
	struct latency_stats *path = w->path;

	path->total = time_add(path->total, ns);
	if (step->lost) {
		path->lost = time_add(path->lost, ns);
		return 0;
	}
	path->part[part] = time_add(path->part[part], ns);
	if (step->unknown)
		path->unknown = time_add(path->unknown, ns);
	if (step->in_call)
		path->syscall_oncpu = time_add(path->syscall_oncpu, ns);
	if (step->assist && part == PART_ONCPU)
		path->gc_assist = time_add(path->gc_assist, ns);
	if (step->call && durations__add(&path->calls, (uint32_t)part << 16 | step->call, ns))
		return -ENOMEM;
	if (latency_part__has_reasons(part) && durations__add(&path->reasons, step->reason, ns))
		return -ENOMEM;
	return step->place == LATENCY_NO_PLACE ? 0 : durations__add(&path->places, step->place, ns);
}

/* The first member of a goroutine that ends after `time`: those of one goroutine do not overlap. */
static size_t first_member(const struct request *request, uint64_t g, int64_t time)
{
	size_t low = 0, high = request->nmembers, middle;
	const struct member *m;

	while (low < high) {
		middle = low + (high - low) / 2;
		m = &request->members[middle];
		if (m->trail->g < g || (m->trail->g == g && m->to <= time))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t step_at(const struct trail *trail, int64_t time)
{
	size_t low = 0, high = trail->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (trail->steps[middle].to <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int cover(struct walk *w, uint64_t g, int64_t from, int64_t to, const struct step *wait,
		 unsigned int depth);

/*
 * The goroutine did not work for the request: counts the time for `wait`, if another one waited for
 * it, and else for the creator of the request.
 */
static int cover_gap(struct walk *w, uint64_t g, int64_t from, int64_t to, const struct step *wait,
		     unsigned int depth)
{
	if (from >= to)
		return 0;
	if (wait)
		return charge(w, wait, time_sub(to, from));
	return depth || g == w->request->task.g ? 0 :
						  cover(w, w->request->task.g, from, to, NULL, 1);
}

static int cover_steps(struct walk *w, const struct trail *trail, int64_t from, int64_t to,
		       unsigned int depth)
{
	const struct step *step;
	int64_t at, until;
	int err = 0;

	w->lossy |= trail->lossy;
	for (size_t i = step_at(trail, from); !err && !w->lossy && i < trail->n; i++) {
		step = &trail->steps[i];
		at = i ? step[-1].to : trail->from;
		at = at > from ? at : from;
		until = step->to < to ? step->to : to;
		if (at >= until)
			break;
		if (!(*w->budget)--) {
			*w->budget = 0;
			w->lossy = true;
		} else if (step->by != TRACE_NO_G && depth < DEPTH_MAX &&
			   latency_reason__part(step->reason) == PART_GO_BLOCKED) {
			err = cover(w, step->by, at, until, step, depth + 1);
		} else {
			err = charge(w, step, time_sub(until, at));
		}
	}
	return err;
}

/*
 * Divides [from, to) among the steps of a goroutine, as far as it worked for the request. `wait`: the
 * step of another one that waited for it, or NULL. 0 or -ENOMEM.
 */
static int cover(struct walk *w, uint64_t g, int64_t from, int64_t to, const struct step *wait,
		 unsigned int depth)
{
	const struct request *request = w->request;
	const struct member *m = request->members + first_member(request, g, from);
	const struct member *last = request->members + request->nmembers;
	int64_t at = from, begin, end;
	int err = 0;

	for (; !err && m < last && m->trail->g == g && m->from < to; m++) {
		begin = m->from > at ? m->from : at;
		end = m->to < to ? m->to : to;
		if (begin >= end)
			continue;
		err = cover_gap(w, g, at, begin, wait, depth);
		if (!err)
			err = cover_steps(w, m->trail, begin, end, depth);
		at = end;
	}
	return err ? err : cover_gap(w, g, at, to, wait, depth);
}

static int compare(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->trail->g != b->trail->g)
		return a->trail->g < b->trail->g ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

int request__find_path(struct requests *r, struct request *request, struct request_single *single)
{
	struct walk w = { request, &r->path_budget, &single->path, request->pathless };
	int err = 0;

	array__sort(request->members, request->nmembers, sizeof(*request->members), compare);
	if (!w.lossy)
		err = cover(&w, single->g, single->begin, single->end, NULL, 0);
	if (err || w.lossy) {
		latency_stats__deinit(&single->path);
		single->path = (struct latency_stats){};
	}
	r->pathless += w.lossy;
	return err;
}
