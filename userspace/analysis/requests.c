// SPDX-License-Identifier: GPL-2.0
/*
 * What tasks, regions and logs mean for requests: see requests.h.
 *
 * A client of annotation_tracker.c. requests_work.c counts the time of the goroutines that work for
 * a request, requests_path.c finds what it waited for, requests_sum.c sums up requests that have ended.
 */
#include "analysis/requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/requests_impl.h"
#include "lib/array.h"

static int task_begin(void *context, struct tracked_task *task)
{
	struct request *request = (struct request *)task;
	struct requests *r = context;
	int err = request__find_ancestors(r, request);

	request->handled_from = r->tracker.now;
	if (err)
		return err;
	return request->first ? request__hold_ancestors(r, request, task->g) :
				request__hold(r, request, task->g, false);
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
		.before = time_sub(request->handled_from, task->begin),
		.after = request->handled_to ? time_sub(time, request->handled_to) : 0,
		.source = request->source,
		.name = task->name,
	};
	bool wanted;
	int err = ended ? request__release_all(r, request) : 0;

	if (err || time < r->from || time >= r->to)
		return err;
	err = annotation_filter__accepts(&r->filter, &r->tracker.names, task->g, task->name,
					 &wanted);
	r->left_out += !err && !wanted;
	if (err || !wanted)
		return err;
	if (!ended)
		return requests__count_unfinished(r, task->name);
	while (!err && request->first)
		err = work__stop(r, request->first);
	if (!err && r->paths)
		err = request__find_path(r, request, &single);
	if (err)
		return err;
	single.failed = request->failed;
	single.time = request->time;
	request->time = (struct latency_stats){};
	if (!r->ended)
		return requests__count(r, &single);
	err = r->ended(r->done_context, &single);
	latency_stats__deinit(&single.time);
	return err;
}

static int task_unbegun(void *context, int64_t time)
{
	struct requests *r = context;

	bool accepted = annotation_filter__accepts_unknown(&r->filter);
	bool in_window = time >= r->from && time < r->to;

	r->unbegun += in_window && accepted;
	r->left_out += in_window && !accepted;
	return 0;
}

static void task_deinit(void *context, struct tracked_task *task)
{
	struct request *request = (struct request *)task;

	while (request->first)
		work__drop(context, request->first);
	request__free_members(context, request);
	free(request->ancestors);
	latency_stats__deinit(&request->time);
}

static int region_begin(void *context, uint64_t g, const struct tracked_region *region)
{
	struct requests *r = context;
	struct request *request = annotation_tracker__task(&r->tracker, region->task);

	return request ? request__hold(r, request, g, true) : 0;
}

static int region_end(void *context, uint64_t g, const struct tracked_region *region, int64_t time,
		      bool ended)
{
	struct requests *r = context;
	struct request *request = annotation_tracker__task(&r->tracker, region->task);

	if (!request || region->begin == ANNOTATION_NEVER)
		return 0;
	return request__release_region(r, request, g);
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

	request->failed |= trace_string__equals(m->name, "error") ||
			   (trace_string__equals(m->name, "status") && is_server_error(m->message));
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

/* A goroutine has ended. Called before its regions and tasks end. */
int requests__goroutine_done(struct requests *r, const struct latency_goroutine *g)
{
	const struct worker *worker = map__get(&r->workers, g->id);
	struct work *w = worker ? worker->first : NULL, *next;
	struct latency_stats now;
	int err = 0;

	for (; w && !err; w = next) {
		next = w->worker_next;
		if (latency_stats__copy(&now, &g->stats))
			return -ENOMEM;
		err = work__stop_at(r, w, &now);
		latency_stats__deinit(&now);
	}
	return err;
}

static int goroutine_done(void *context, const struct latency_goroutine *g)
{
	struct requests *r = context;
	int err = r->done ? r->done(r->done_context, g) : 0;

	return err ? err : requests__goroutine_done(r, g);
}

static int goroutine_slice(void *context, const struct latency_slice *slice)
{
	return trails__slice(context, slice);
}

static struct requests *create(size_t worst, bool endless, bool paths)
{
	struct latency_opts opts = {
		.from = INT64_MIN,
		.to = INT64_MAX,
		.done = goroutine_done,
		.slice = paths ? goroutine_slice : NULL,
		.places = !endless,
	};
	struct requests *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->endless = endless;
	r->paths = paths;
	r->path_budget = PATH_STEPS_MAX;
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

struct requests *requests__create(size_t worst)
{
	return create(worst, false, true);
}

struct requests *requests__create_pathless(void)
{
	return create(0, false, false);
}

struct requests *requests__create_endless(int (*done)(void *context,
						      const struct latency_goroutine *g),
					  void *context)
{
	struct requests *r = create(0, true, false);

	if (r) {
		r->done = done;
		r->done_context = context;
	}
	return r;
}

struct requests *requests__create_single(int (*ended)(void *context,
						      const struct request_single *single),
					 void *context)
{
	struct requests *r = create(0, true, false);

	if (r) {
		r->ended = ended;
		r->done_context = context;
	}
	return r;
}

void requests__share(struct requests *r, struct latency *latency)
{
	latency__destroy(r->latency);
	r->latency = latency;
	r->shared = true;
}

void requests__destroy(struct requests *r)
{
	if (!r)
		return;
	annotation_tracker__deinit(&r->tracker);
	map__deinit(&r->schedule.unborn);
	free(r->schedule.task);
	free(r->schedule.late);
	map__deinit(&r->work);
	map__deinit(&r->workers);
	if (!r->shared)
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

/* ---- from the arrival to the answer ---- */

/* A request whose task does not begin in the generation of its arrival never begins. */
static void drop_foreseen(struct requests *r)
{
	struct request_schedule *s = &r->schedule;

	for (size_t i = 0; i < s->n; i++)
		annotation_tracker__drop_foreseen(&r->tracker, s->task[i]);
	s->n = 0;
	map__deinit(&s->unborn);
}

static int arrives(struct requests *r, const struct private_request *arrival, int64_t time)
{
	static const enum request_source sources[REQUEST_WHATS] = {
		[REQUEST_ARRIVED] = REQUEST_FROM_ARRIVAL,
		[REQUEST_READY] = REQUEST_FROM_READY,
		[REQUEST_READ] = REQUEST_FROM_READ,
	};
	struct request_schedule *s = &r->schedule;
	struct request *request;
	int err;

	if (array__grow(&s->task, s->n, &s->cap, sizeof(*s->task)))
		return -ENOMEM;
	request = annotation_tracker__foresee(&r->tracker, arrival->task, arrival->g, time, &err);
	if (!request)
		return err;
	s->task[s->n++] = arrival->task;
	request->source = sources[arrival->what];
	latency__pass(r->latency, time);
	if (r->paths && arrival->what == REQUEST_ARRIVED)
		err = latency__data_ready(r->latency, arrival->g);
	err = err ? err : request__hold(r, request, arrival->g, false);
	if (err || request->first)
		return err;
	return arrival->task ? map__put(&s->unborn, arrival->g, (void *)(uintptr_t)arrival->task) :
			       0;
}

/* A goroutine was created: a request may have arrived for it before. */
static int born(struct requests *r, uint64_t g)
{
	void *task = map__remove(&r->schedule.unborn, g);
	struct request *request =
		task ? annotation_tracker__task(&r->tracker, (uintptr_t)task) : NULL;

	return request && request->task.foreseen ? request__hold(r, request, g, false) : 0;
}

/* The answer of a request, whose task ends with the event, is written until `time`. */
static int ends_late(struct requests *r, const struct trace_event *ev, int64_t time)
{
	struct request_schedule *s = &r->schedule;
	size_t i = s->nlate;
	struct request *request = annotation_tracker__task(&r->tracker, ev->arg[0]);

	if (array__grow(&s->late, s->nlate, &s->late_cap, sizeof(*s->late)))
		return -ENOMEM;
	for (; i && s->late[i - 1].time < time; i--)
		s->late[i] = s->late[i - 1];
	s->late[i] = (struct late_end){ ev->arg[0], ev->g, time };
	s->nlate++;
	request->handled_to = ev->time;
	return 0;
}

static int end_late(struct requests *r)
{
	const struct late_end *late = &r->schedule.late[--r->schedule.nlate];
	const struct trace_event ev = {
		.type = EV_USER_TASK_END, .time = late->time, .g = late->g, .arg = { late->task }
	};

	latency__pass(r->latency, late->time);
	return annotation_tracker__event(&r->tracker, &ev);
}

static int64_t time_of(const struct timeline *t, const struct timeline_step *step)
{
	int64_t time;

	if (step->event)
		return step->event->time;
	time = timeline__time(t, step->item->time);
	return time < timeline__until(t) ? time : timeline__until(t);
}

int requests__pass(struct requests *r, const struct timeline *t, const struct timeline_step *step,
		   struct error *error)
{
	const struct request_times *times = timeline__requests(t);
	struct request_schedule *s = &r->schedule;
	int64_t now = time_of(t, step), arrival, end;
	int err = 0;

	if (s->generations != times->generations) {
		drop_foreseen(r);
		s->generations = times->generations;
		s->next = 0;
	}
	while (!err) {
		arrival = s->next < times->narrivals ?
				  timeline__time(t, times->arrival[s->next].time) :
				  INT64_MAX;
		end = s->nlate ? s->late[s->nlate - 1].time : INT64_MAX;
		if (arrival >= now && end >= now)
			return 0;
		err = end <= arrival ? end_late(r) :
				       arrives(r, &times->arrival[s->next++], arrival);
	}
	return error__set(error, err, "%s", strerror(-err));
}

/* An event after the analysis of goroutines has got it. */
static int apply(struct requests *r, const struct timeline *t, const struct trace_event *ev)
{
	int64_t end;
	uint64_t mono;
	int err = 0;

	if (ev->type == EV_USER_TASK_END && annotation_tracker__task(&r->tracker, ev->arg[0]) &&
	    r->schedule.nlate < LATE_ENDS_MAX) {
		mono = request_times__answer(timeline__requests(t), ev->arg[0]);
		end = mono ? timeline__time(t, mono) : INT64_MIN;
		if (end > ev->time)
			return ends_late(r, ev, end);
	}
	if ((ev->type == EV_GO_CREATE || ev->type == EV_GO_CREATE_BLOCKED) && r->schedule.unborn.n)
		err = born(r, ev->arg[0]);
	return err ? err : annotation_tracker__event(&r->tracker, ev);
}

int requests__step(struct requests *r, const struct timeline *t, const struct timeline_step *step,
		   struct error *error)
{
	int err = requests__pass(r, t, step, error);

	if (!err && !r->shared)
		err = latency__step(r->latency, t, step, error);
	if (err || !step->event)
		return err;
	err = apply(r, t, step->event);
	return err ? error__set(error, err, "%s", strerror(-err)) : 0;
}

int requests__finish(struct requests *r)
{
	int err = 0;

	drop_foreseen(r);
	while (!err && r->schedule.nlate)
		err = end_late(r);
	return err ? err : annotation_tracker__finish(&r->tracker, r->from);
}

uint64_t requests__left_out(const struct requests *r)
{
	return r->left_out;
}

uint64_t requests__unbegun(const struct requests *r)
{
	return r->unbegun;
}

uint64_t requests__pathless(const struct requests *r)
{
	return r->pathless;
}

struct trace_string requests__name(const struct requests *r, uint32_t name)
{
	return name_table__at(&r->tracker.names, name);
}

size_t requests__open(const struct requests *r)
{
	return r->tracker.tasks.n;
}

struct latency *requests__latency(const struct requests *r)
{
	return r->latency;
}
