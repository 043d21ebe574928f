// SPDX-License-Identifier: GPL-2.0
/*
 * The goroutines that work for open requests, and what they spend meanwhile.
 *
 * Between requests.c, which determines for which requests a goroutine works, and latency.c, which has
 * the times of goroutines. A struct work, one goroutine working for one request, exists as long as
 * there is a reason for it, a "hold": the goroutine created the request or one of its subtasks, or
 * has a region of one of these open. Each hold of a subtask is also one of its ancestors, but only of
 * the nearest REQUEST_ANCESTORS, so that the cost of a region is bounded.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/requests_impl.h"
#include "lib/hash.h"

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

void work__drop(struct requests *r, struct work *w)
{
	*(w->request_prev ? &w->request_prev->request_next : &w->request->first) = w->request_next;
	*(w->request_next ? &w->request_next->request_prev : &w->request->last) = w->request_prev;
	*(w->worker_prev ? &w->worker_prev->worker_next : &w->worker->first) = w->worker_next;
	if (w->worker_next)
		w->worker_next->worker_prev = w->worker_prev;
	work__end_member(r, w);
	if (!w->worker->first)
		worker__free(r, map__remove(&r->workers, w->worker->g));
	map__remove(&r->work, w->key);
	latency_stats__deinit(&w->before);
	free(w);
}

int work__stop_at(struct requests *r, struct work *w, struct latency_stats *now)
{
	int err;

	/* another goroutine with the same ID */
	if (now->reasons.n < w->before.reasons.n || now->tasks.n < w->before.tasks.n ||
	    now->places.n < w->before.places.n || now->calls.n < w->before.calls.n)
		return work__drop(r, w), 0;
	latency_stats__subtract(now, &w->before);
	/* A trace may report late that a mark assist went on; real ones do at the first event. */
	if (now->gc_assist > now->part[PART_ONCPU])
		now->gc_assist = now->part[PART_ONCPU];
	/* Sums of many requests have to be searched for what each of them has. */
	durations__drop_empty(&now->places);
	durations__drop_empty(&now->calls);
	err = latency_stats__add(&w->request->time, now);
	work__drop(r, w);
	return err;
}

int work__stop(struct requests *r, struct work *w)
{
	struct latency_stats now;
	int err = r->paths ? latency__flush(r->latency, w->worker->g) : 0;
	int got = err ? err : latency__so_far(r->latency, w->worker->g, &now);

	if (got <= 0)
		return work__drop(r, w), got;
	err = work__stop_at(r, w, &now);
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
	if (!*ret) {
		latency_stats__deinit(&now);
		return -ENOMEM;
	}
	(*ret)->before = now;
	return r->paths ? work__begin_member(r, *ret) : 0;
}

/* An ancestor that is still open, or NULL. IDs may be used again. */
static struct request *ancestor(const struct requests *r, const struct request *request, size_t i)
{
	const struct request_id *id = &request->ancestors[i];
	struct request *found = annotation_tracker__task(&r->tracker, id->task);

	return found && found->serial == id->serial ? found : NULL;
}

int request__find_ancestors(struct requests *r, struct request *request)
{
	const struct request *parent =
		request->task.parent == TRACE_NO_TASK ?
			NULL :
			annotation_tracker__task(&r->tracker, request->task.parent);
	size_t n;

	request->serial = ++r->serials;
	if (!parent || parent == request)
		return 0;
	n = parent->nancestors < REQUEST_ANCESTORS ? parent->nancestors + 1 : REQUEST_ANCESTORS;
	request->ancestors = calloc(n, sizeof(*request->ancestors));
	if (!request->ancestors)
		return -ENOMEM;
	request->nancestors = (uint8_t)n;
	request->ancestors[0] = (struct request_id){ parent->task.id, parent->serial };
	for (size_t i = 1; i < n; i++)
		request->ancestors[i] = parent->ancestors[i - 1];
	return 0;
}

/* Adds a hold of one request. NULL in *ret: it does no work that could be counted. */
static int hold_one(struct requests *r, struct request *request, uint64_t g, struct work **ret)
{
	int err = start(r, request, g, ret);

	if (*ret)
		(*ret)->holds++;
	return err;
}

static int release_one(struct requests *r, struct request *request, uint64_t g, uint32_t n)
{
	uint64_t key;
	struct work *w = request ? find_work(r, request, g, &key) : NULL;

	if (!w)
		return 0;
	w->holds -= n < w->holds ? n : w->holds;
	return w->holds ? 0 : work__stop(r, w);
}

int request__hold(struct requests *r, struct request *request, uint64_t g, bool region)
{
	struct work *w;
	int err = hold_one(r, request, g, &w);

	if (!err && w && region)
		w->regions++;
	return err ? err : request__hold_ancestors(r, request, g);
}

int request__hold_ancestors(struct requests *r, struct request *request, uint64_t g)
{
	struct work *unused;
	int err = 0;

	for (size_t i = 0; !err && i < request->nancestors; i++)
		if (ancestor(r, request, i))
			err = hold_one(r, ancestor(r, request, i), g, &unused);
	return err;
}

static int release_ancestors(struct requests *r, const struct request *request, uint64_t g,
			     uint32_t n)
{
	int err = 0;

	for (size_t i = 0; n && !err && i < request->nancestors; i++)
		err = release_one(r, ancestor(r, request, i), g, n);
	return err;
}

int request__release_region(struct requests *r, struct request *request, uint64_t g)
{
	uint64_t key;
	struct work *w = find_work(r, request, g, &key);
	int err;

	if (!w || !w->regions)
		return 0;
	w->regions--;
	err = release_one(r, request, g, 1);
	return err ? err : release_ancestors(r, request, g, 1);
}

int request__release_all(struct requests *r, struct request *request)
{
	uint64_t key;
	int err = 0;

	if (!request->nancestors)
		return 0;
	/* The creator's hold lasts as long as the goroutine does. */
	if (find_work(r, request, request->task.g, &key))
		err = release_ancestors(r, request, request->task.g, 1);
	for (const struct work *w = request->first; !err && w; w = w->request_next)
		err = release_ancestors(r, request, w->worker->g, w->regions);
	return err;
}
