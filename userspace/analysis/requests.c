// SPDX-License-Identifier: GPL-2.0
/*
 * Which goroutines work for which tasks, and for how long: see requests.h.
 *
 * A goroutine's times only grow (latency.c). What it has spent for a task is the difference between
 * its times when it stops to work for it and when it began: the cost of a task does not depend on
 * how many others are open. requests_sum.c sums up requests that have ended.
 */
#include "analysis/requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/requests_impl.h"
#include "lib/hash.h"

/* What a goroutine works for. */
struct worker {
	uint64_t g;
	struct work *first;
};

/* A goroutine works for a request: a member of two lists, of all works of each. */
struct work {
	struct request *request;
	struct worker *worker;
	struct work *request_prev, *request_next, *worker_prev, *worker_next;
	uint64_t key;	  /* in the map of all */
	uint32_t regions; /* of the task, that are open on the goroutine */
	bool creator;
	struct latency_stats before; /* the goroutine's times at the begin */
};

/* An open task. */
struct request {
	struct tracked_task task;
	struct work *first, *last; /* in the order in which they began */
	bool failed;
	struct latency_stats time; /* of goroutines that no longer work for it */
};

/*
 * NULL: there is none; *ret_key is where to put it. Only for pairs with the same hash, which do not
 * occur in practice, is there a second key; after a removal the later pair might not be found, and
 * the goroutine would work for its task until one of them ends.
 */
static struct work *find_work(const struct requests *r, const struct request *request, uint64_t g,
			      uint64_t *ret_key)
{
	uint64_t key = hash__word(hash__word(request->task.id) ^ g);
	struct work *w;

	while ((w = map__get(&r->work, key)) && (w->request != request || w->worker->g != g))
		key = hash__word(key);
	*ret_key = key;
	return w;
}

static void link_work(struct work *w)
{
	struct request *request = w->request;

	w->request_prev = request->last;
	if (request->last)
		request->last->request_next = w;
	else
		request->first = w;
	request->last = w;
	w->worker_next = w->worker->first;
	if (w->worker_next)
		w->worker_next->worker_prev = w;
	w->worker->first = w;
}

static void unlink_work(struct requests *r, struct work *w)
{
	*(w->request_prev ? &w->request_prev->request_next : &w->request->first) = w->request_next;
	*(w->request_next ? &w->request_next->request_prev : &w->request->last) = w->request_prev;
	*(w->worker_prev ? &w->worker_prev->worker_next : &w->worker->first) = w->worker_next;
	if (w->worker_next)
		w->worker_next->worker_prev = w->worker_prev;
	if (!w->worker->first)
		free(map__remove(&r->workers, w->worker->g));
	map__remove(&r->work, w->key);
	latency_stats__deinit(&w->before);
	free(w);
}

/* `now`: the goroutine's times. Its reasons are a list that only grows. */
static int stop(struct requests *r, struct work *w, struct latency_stats *now)
{
	int err;

	/* another goroutine with the same ID */
	if (now->reasons.n < w->before.reasons.n || now->tasks.n < w->before.tasks.n ||
	    now->places.n < w->before.places.n)
		return unlink_work(r, w), 0;
	latency_stats__subtract(now, &w->before);
	/* A trace may report late that a mark assist went on; real ones do at the first event. */
	if (now->gc_assist > now->part[PART_ONCPU])
		now->gc_assist = now->part[PART_ONCPU];
	/* Sums of many requests have to be searched for what each of them has. */
	durations__drop_empty(&now->places);
	err = latency_stats__add(&w->request->time, now);
	unlink_work(r, w);
	return err;
}

static int stop_now(struct requests *r, struct work *w)
{
	struct latency_stats now;
	int got = latency__so_far(r->latency, w->worker->g, &now);
	int err;

	if (got <= 0)
		return unlink_work(r, w), got;
	err = stop(r, w, &now);
	latency_stats__deinit(&now);
	return err;
}

/* NULL: no memory. */
static struct work *add_work(struct requests *r, struct request *request, uint64_t g, uint64_t key)
{
	struct worker *worker = map__get(&r->workers, g);
	struct work *w = map__put_new(&r->work, key, sizeof(*w));

	if (!w)
		return NULL;
	if (!worker)
		worker = map__put_new(&r->workers, g, sizeof(*worker));
	if (!worker) {
		free(map__remove(&r->work, key));
		return NULL;
	}
	worker->g = g;
	w->request = request;
	w->worker = worker;
	w->key = key;
	link_work(w);
	return w;
}

/* A goroutine whose state is not known yet does no work that could be counted: NULL. */
static int start(struct requests *r, struct request *request, uint64_t g, struct work **ret)
{
	struct latency_stats now;
	uint64_t key;
	int got;

	*ret = find_work(r, request, g, &key);
	if (*ret)
		return 0;
	got = latency__so_far(r->latency, g, &now);
	if (got <= 0)
		return got;
	*ret = add_work(r, request, g, key);
	if (*ret)
		(*ret)->before = now;
	else
		latency_stats__deinit(&now);
	return *ret ? 0 : -ENOMEM;
}

static int task_begin(void *context, struct tracked_task *task)
{
	struct work *w;
	int err = start(context, (struct request *)task, task->g, &w);

	if (w)
		w->creator = true;
	return err;
}

static int task_end(void *context, struct tracked_task *task, uint64_t g, int64_t time, bool ended)
{
	struct request *request = (struct request *)task;
	struct requests *r = context;
	struct request_single single = {
		.id = task->id,
		.creator = task->g,
		.g = g,
		.begin = task->begin,
		.end = time,
		.name = task->name,
	};
	bool wanted;
	int err;

	if (time < r->from || time >= r->to)
		return 0;
	err = annotation_filter__accepts(&r->filter, &r->tracker.names, task->g, task->name,
					 &wanted);
	if (err || !wanted)
		return err;
	if (!ended)
		return requests__count_unfinished(r, task->name);
	while (request->first) {
		err = stop_now(r, request->first);
		if (err)
			return err;
	}
	single.failed = request->failed;
	single.time = request->time;
	request->time = (struct latency_stats){};
	return requests__count(r, &single);
}

static int task_unbegun(void *context, int64_t time)
{
	struct requests *r = context;

	r->unbegun +=
		time >= r->from && time < r->to && annotation_filter__accepts_unknown(&r->filter);
	return 0;
}

static void task_deinit(void *context, struct tracked_task *task)
{
	struct request *request = (struct request *)task;

	while (request->first)
		unlink_work(context, request->first);
	latency_stats__deinit(&request->time);
}

static int region_begin(void *context, uint64_t g, const struct tracked_region *region)
{
	struct requests *r = context;
	struct request *request = annotation_tracker__task(&r->tracker, region->task);
	struct work *w = NULL;
	int err = request ? start(r, request, g, &w) : 0;

	if (w)
		w->regions++;
	return err;
}

static int region_end(void *context, uint64_t g, const struct tracked_region *region, int64_t time,
		      bool ended)
{
	struct requests *r = context;
	struct request *request = annotation_tracker__task(&r->tracker, region->task);
	uint64_t key;
	struct work *w = request ? find_work(r, request, g, &key) : NULL;

	if (!w || !w->regions || region->begin == ANNOTATION_NEVER)
		return 0;
	w->regions--;
	return w->regions || w->creator ? 0 : stop_now(r, w);
}

static bool equals(struct trace_string s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.data, text, s.len);
}

/* A number of 500 or more, in decimal digits. */
static bool is_server_error(struct trace_string s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s.len; i++) {
		if (s.data[i] < '0' || s.data[i] > '9')
			return false;
		n = n * 10 + (uint64_t)(s.data[i] - '0');
		if (n > UINT32_MAX)
			return false;
	}
	return n >= 500;
}

static int log_event(void *context, struct tracked_task *task, const struct semantics *m)
{
	struct request *request = (struct request *)task;

	request->failed |= equals(m->name, "error") ||
			   (equals(m->name, "status") && is_server_error(m->message));
	return 0;
}

static const struct annotation_client client = {
	.task_size = sizeof(struct request),
	.regions = true,
	.task_begin = task_begin,
	.task_end = task_end,
	.task_unbegun = task_unbegun,
	.task_deinit = task_deinit,
	.region_begin = region_begin,
	.region_end = region_end,
	.log = log_event,
};

/* A goroutine has ended, before its regions and tasks are told. */
static int goroutine_done(void *context, const struct latency_goroutine *g)
{
	struct requests *r = context;
	const struct worker *worker = map__get(&r->workers, g->id);
	struct work *w = worker ? worker->first : NULL, *next;
	struct latency_stats now;
	int err = 0;

	for (; w && !err; w = next) {
		next = w->worker_next;
		if (latency_stats__copy(&now, &g->stats))
			return -ENOMEM;
		err = stop(r, w, &now);
		latency_stats__deinit(&now);
	}
	return err;
}

struct requests *requests__create(size_t worst)
{
	struct latency_opts opts = {
		.from = INT64_MIN, .to = INT64_MAX, .done = goroutine_done, .places = true
	};
	struct requests *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	annotation_tracker__init(&r->tracker, &client, r);
	requests__set_window(r, INT64_MIN, INT64_MAX);
	opts.context = r;
	r->latency = latency__create(&opts);
	r->worst = calloc(worst + 1, sizeof(*r->worst));
	r->most_worst = worst;
	if (r->latency && r->worst)
		return r;
	requests__destroy(r);
	return NULL;
}

void requests__destroy(struct requests *r)
{
	if (!r)
		return;
	annotation_tracker__deinit(&r->tracker);
	map__deinit(&r->work);
	map__deinit(&r->workers);
	latency__destroy(r->latency);
	requests__free_sums(r);
	free(r);
}

void requests__set_window(struct requests *r, int64_t from, int64_t to)
{
	r->from = from;
	r->to = to;
}

void requests__set_filter(struct requests *r, const struct annotation_filter *filter)
{
	r->filter = *filter;
}

int requests__step(struct requests *r, const struct timeline *t, const struct timeline_step *step,
		   struct error *error)
{
	int err = latency__step(r->latency, t, step, error);

	if (err || !step->event)
		return err;
	err = annotation_tracker__event(&r->tracker, step->event);
	return err ? error__set(error, err, "%s", strerror(-err)) : 0;
}

int requests__finish(struct requests *r)
{
	return annotation_tracker__finish(&r->tracker, r->from);
}

uint64_t requests__unbegun(const struct requests *r)
{
	return r->unbegun;
}

struct trace_string requests__name(const struct requests *r, uint32_t name)
{
	return name_table__at(&r->tracker.names, name);
}

const struct latency *requests__latency(const struct requests *r)
{
	return r->latency;
}
