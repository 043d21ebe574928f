// SPDX-License-Identifier: GPL-2.0
/*
 * The history for `gotrace path`: see path.h. Filled by path_fold.c and path_threads.c, read by
 * path_walk.c.
 *
 * Lists only grow at their end. Of the time before the window a list keeps its last item, so that
 * memory is proportional to the window: 24 bytes per change of a goroutine and per system call, 32
 * per change of a thread, and 16 each for the goroutine of a thread and of a P.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/path.h"

_Static_assert(sizeof(struct path_state) == 24, "bytes per change of a goroutine");
_Static_assert(sizeof(struct path_call) == 24, "bytes per system call");
_Static_assert(sizeof(struct path_run) == 32, "bytes per change of a thread");
_Static_assert(sizeof(struct path_on) == 16, "bytes per goroutine of a thread or P");

int path_history__init(struct path_history *h, size_t limit)
{
	*h = (struct path_history){
		.goroutines.size = sizeof(struct path_goroutine),
		.threads.size = sizeof(struct path_thread),
		.procs.size = sizeof(struct path_proc),
		.cpus.size = sizeof(struct path_cpu),
		.from = INT64_MIN,
		.to = INT64_MAX,
		.limit = limit,
		.texts = intern__create(),
	};
	return h->texts ? 0 : -ENOMEM;
}

static void list__deinit(struct path_list *list)
{
	free(list->at);
	*list = (struct path_list){};
}

static void table__deinit(struct path_table *t)
{
	map__deinit(&t->index);
	free(t->at);
}

void path_history__deinit(struct path_history *h)
{
	for (uint32_t i = 0; i < h->goroutines.n; i++)
		list__deinit(&path_goroutine(h, i)->states);
	for (uint32_t i = 0; i < h->threads.n; i++) {
		list__deinit(&path_thread(h, i)->runs);
		list__deinit(&path_thread(h, i)->calls);
		list__deinit(&path_thread(h, i)->moves);
		list__deinit(&path_thread(h, i)->on);
	}
	for (uint32_t i = 0; i < h->procs.n; i++)
		list__deinit(&path_proc(h, i)->on);
	for (uint32_t i = 0; i < h->cpus.n; i++)
		list__deinit(&((struct path_cpu *)h->cpus.at)[i].occupants);
	list__deinit(&h->stops);
	table__deinit(&h->goroutines);
	table__deinit(&h->threads);
	table__deinit(&h->procs);
	table__deinit(&h->cpus);
	map__deinit(&h->names);
	map__deinit(&h->calls);
	intern__destroy(h->texts);
}

bool path_history__full(const struct path_history *h)
{
	return h->memory + intern__memory(h->texts) > h->limit;
}

/*
 * Makes room for one more of `size` bytes; `more` bytes are needed elsewhere for each. False: no
 * memory.
 */
static bool grow(struct path_history *h, void **at, uint32_t n, uint32_t *cap, size_t size,
		 size_t more)
{
	uint32_t bigger = *cap ? *cap * 2 : 4;
	void *moved;

	if (n < *cap)
		return true;
	moved = bigger > *cap ? reallocarray(*at, bigger, size) : NULL;
	if (!moved)
		return false;
	h->memory += (bigger - *cap) * (size + more);
	*at = moved;
	*cap = bigger;
	return true;
}

/* ---- tables ---- */

struct path_goroutine *path_goroutine(const struct path_history *h, uint32_t index)
{
	return (struct path_goroutine *)h->goroutines.at + index;
}

struct path_thread *path_thread(const struct path_history *h, uint32_t index)
{
	return (struct path_thread *)h->threads.at + index;
}

struct path_proc *path_proc(const struct path_history *h, uint32_t index)
{
	return (struct path_proc *)h->procs.at + index;
}

static uint32_t table__find(const struct path_table *t, uint64_t id)
{
	return (uint32_t)(uintptr_t)map__get(&t->index, id) - 1; /* 0 - 1: PATH_NONE */
}

/* Every struct of a table begins with its id; the rest of a new one is 0. */
uint32_t path_table__get(struct path_history *h, struct path_table *t, uint64_t id)
{
	uint32_t i = table__find(t, id);

	if (i != PATH_NONE)
		return i;
	if (!grow(h, &t->at, t->n, &t->cap, t->size, 2 * sizeof(struct map_slot)))
		return PATH_NONE;
	if (map__put(&t->index, id, (void *)((uintptr_t)t->n + 1)))
		return PATH_NONE;
	memset((char *)t->at + t->n * t->size, 0, t->size);
	memcpy((char *)t->at + t->n * t->size, &id, sizeof(id));
	return t->n++;
}

uint32_t path_history__find_goroutine(const struct path_history *h, uint64_t id)
{
	return table__find(&h->goroutines, id);
}

uint32_t path_history__find_thread(const struct path_history *h, uint64_t id)
{
	return table__find(&h->threads, id);
}

const struct path_list *path_history__cpu(const struct path_history *h, uint64_t cpu)
{
	uint32_t i = table__find(&h->cpus, cpu);

	return i == PATH_NONE ? NULL : &((struct path_cpu *)h->cpus.at)[i].occupants;
}

/* ---- lists: their items begin with their time ---- */

static void *list__item(const struct path_list *list, size_t size, uint32_t i)
{
	return (char *)list->at + i * size;
}

static int64_t list__time(const struct path_list *list, size_t size, uint32_t i)
{
	return *(const int64_t *)list__item(list, size, i);
}

/*
 * A new last item of that time, all else 0. It takes the place of the one before if that would have
 * no time at all, or lies before the window as well.
 */
static void *list__add(struct path_history *h, struct path_list *list, size_t size, int64_t time)
{
	int64_t last = list->n ? list__time(list, size, list->n - 1) : INT64_MIN;
	void *item;

	if (time < last)
		time = last;
	if (!list->n || (time > last && time > h->from)) {
		if (!grow(h, &list->at, list->n, &list->cap, size, 0))
			return NULL;
		list->n++;
	}
	item = list__item(list, size, list->n - 1);
	memset(item, 0, size);
	*(int64_t *)item = time;
	return item;
}

uint32_t path_list__before(const struct path_list *list, size_t size, int64_t time)
{
	uint32_t low = 0, high = list->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (list__time(list, size, middle) < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct path_state *path_history__state(struct path_history *h, uint32_t goroutine, int64_t time)
{
	return list__add(h, &path_goroutine(h, goroutine)->states, sizeof(struct path_state), time);
}

struct path_run *path_history__run(struct path_history *h, uint32_t thread, int64_t time)
{
	return list__add(h, &path_thread(h, thread)->runs, sizeof(struct path_run), time);
}

int path_history__call(struct path_history *h, uint32_t thread, int64_t time, uint32_t number)
{
	struct path_call *call;

	path_history__call_ends(h, thread, time);
	call = list__add(h, &path_thread(h, thread)->calls, sizeof(*call), time);
	if (!call)
		return -ENOMEM;
	call->to = INT64_MAX;
	call->number = number;
	return 0;
}

void path_history__call_ends(struct path_history *h, uint32_t thread, int64_t time)
{
	const struct path_list *calls = &path_thread(h, thread)->calls;
	struct path_call *last = calls->n ? list__item(calls, sizeof(*last), calls->n - 1) : NULL;

	if (last && last->to == INT64_MAX)
		last->to = time > last->time ? time : last->time;
}

int path_history__on(struct path_history *h, struct path_list *list, int64_t time,
		     uint32_t goroutine)
{
	struct path_on *on = list__add(h, list, sizeof(*on), time);

	if (!on)
		return -ENOMEM;
	on->goroutine = goroutine;
	return 0;
}

uint32_t path_list__on_before(const struct path_list *list, int64_t time)
{
	uint32_t n = path_list__before(list, sizeof(struct path_on), time);

	return n ? ((const struct path_on *)list->at)[n - 1].goroutine : PATH_NONE;
}

int path_history__on_cpu(struct path_history *h, uint64_t cpu, const struct path_occupant *next)
{
	uint32_t i = path_table__get(h, &h->cpus, cpu);
	struct path_occupant *occupant;
	int64_t time;

	if (i == PATH_NONE)
		return -ENOMEM;
	occupant = list__add(h, &((struct path_cpu *)h->cpus.at)[i].occupants, sizeof(*occupant),
			     next->time);
	if (!occupant)
		return -ENOMEM;
	time = occupant->time;
	*occupant = *next;
	occupant->time = time;
	return 0;
}

int path_history__moved(struct path_history *h, uint32_t thread, int64_t time, uint16_t from,
			uint16_t to)
{
	struct path_move *move = list__add(h, &path_thread(h, thread)->moves, sizeof(*move), time);

	if (!move)
		return -ENOMEM;
	move->from = from;
	move->to = to;
	return 0;
}

int path_history__stop(struct path_history *h, int64_t time, bool stopped)
{
	struct path_stop *stop = list__add(h, &h->stops, sizeof(*stop), time);

	if (!stop)
		return -ENOMEM;
	stop->stopped = stopped;
	return 0;
}

void path_history__forget(struct path_history *h, uint32_t goroutine)
{
	struct path_list *states = &path_goroutine(h, goroutine)->states;

	h->memory -= states->cap * sizeof(struct path_state);
	list__deinit(states);
}

struct path_state *path_history__last_state(const struct path_history *h, uint32_t goroutine)
{
	const struct path_list *states = &path_goroutine(h, goroutine)->states;

	return states->n ? list__item(states, sizeof(struct path_state), states->n - 1) : NULL;
}

struct path_run *path_history__last_run(const struct path_history *h, uint32_t thread)
{
	const struct path_list *runs = &path_thread(h, thread)->runs;

	return runs->n ? list__item(runs, sizeof(struct path_run), runs->n - 1) : NULL;
}
