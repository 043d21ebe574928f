// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the longest waits of goroutines: see waits.h.
 *
 * A heap holds the longest ones so far. The start function of a goroutine may become known after its
 * wait, by a later stack, and only the name shows whether the goroutine is one of the runtime's. So
 * the heap holds SPARE more waits than requested, and names are looked up again at the end.
 */
#include "analysis/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/durations.h"
#include "analysis/goroutine_tracker.h"
#include "analysis/summary.h"
#include "format/parked_read.h"
#include "lib/array.h"
#include "lib/heap.h"
#include "reader/parking.h"

#define SPARE	      1024u	  /* the runtime has a few goroutines, and one per P */
#define STACKS_MEMORY (64u << 20) /* bytes of texts and stacks; beyond this, stacks are unknown */

/* a goroutine */
struct waiter {
	struct tracked_goroutine go;
	uint64_t serial; /* unlike its id, never used again */
	uint32_t reason, stack;
	uint8_t kind;
	bool waits;	/* its state is a wait of a requested kind */
	bool unbegun;	/* the begin of its state is not in the trace */
	bool nameless;	/* a wait refers to it, but its start function is not known yet */
	int64_t waited; /* if `unbegun`: for how long it had been in that state, at least; or 0 */
};

struct waits {
	struct waits_opts opts;
	int64_t from, end;
	int64_t lost_to;
	struct goroutine_tracker tracker; /* of struct waiter */
	struct intern *texts;
	struct map stacks; /* of the generation, by id: to interned id + 1 */
	struct map named;  /* start functions that became known late, by serial: interned */
	struct wait *heap; /* the one to give up first on top; sorted at the end */
	size_t n, cap;
	uint64_t serials, numbers;
};

static const struct goroutine_client client;

struct waits *waits__create(const struct waits_opts *opts)
{
	struct waits *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->opts = *opts;
	w->lost_to = INT64_MIN;
	w->from = INT64_MIN;
	w->texts = intern__create();
	if (!w->texts) {
		free(w);
		return NULL;
	}
	goroutine_tracker__init(&w->tracker, &client, w, w->texts);
	if (opts->select && goroutine_tracker__set_labels(&w->tracker, opts->select)) {
		waits__destroy(w);
		return NULL;
	}
	return w;
}

void waits__destroy(struct waits *w)
{
	if (!w)
		return;
	goroutine_tracker__deinit(&w->tracker);
	map__deinit(&w->stacks);
	map__deinit(&w->named);
	intern__destroy(w->texts);
	free(w->heap);
	free(w);
}

void waits__set_begin(struct waits *w, int64_t from)
{
	w->from = from;
}

void waits__lose_before(struct waits *w, int64_t time)
{
	w->lost_to = time;
}

struct trace_string waits__text(const struct waits *w, uint32_t text)
{
	return intern__text_at(w->texts, text);
}

bool waits__frame(const struct waits *w, uint32_t stack, size_t i, struct trace_string *ret)
{
	const struct intern_frame *frames;
	size_t n = 0;

	frames = stack ? intern__stack_at(w->texts, stack, &n) : NULL;
	if (!frames || i >= n)
		return false;
	*ret = intern__text_at(w->texts, frames[i].func);
	return true;
}

/* ---- the longest so far ---- */

static uint64_t wait__ns(const struct wait *wait)
{
	return (uint64_t)wait->to - (uint64_t)wait->from;
}

/* Whether `a` is to be given up before `b`: a total order. */
static bool is_less(const struct wait *a, const struct wait *b)
{
	if (wait__ns(a) != wait__ns(b))
		return wait__ns(a) < wait__ns(b);
	if (a->from != b->from)
		return a->from > b->from;
	if (a->goroutine != b->goroutine)
		return a->goroutine > b->goroutine;
	return a->number > b->number;
}

DEFINE_HEAP(shortest, struct wait, is_less)

/* How many waits are kept of goroutines whose names, once they are known, may be unwanted. */
static size_t spare(const struct waits *w)
{
	return w->opts.select && w->opts.select->function.text ? 16 * SPARE : SPARE;
}

static int keep(struct waits *w, const struct wait *wait)
{
	if (w->n == w->opts.longest + spare(w)) {
		w->heap[0] = *wait;
		shortest__down(w->heap, w->n, 0);
		return 0;
	}
	if (array__grow(&w->heap, w->n, &w->cap, sizeof(*w->heap)))
		return -ENOMEM;
	w->heap[w->n++] = *wait;
	shortest__up(w->heap, w->n - 1);
	return 0;
}

/* Whether waits of that goroutine are wanted. 0 or -ENOMEM. */
static int is_wanted(const struct waits *w, uint64_t goroutine, uint32_t function, bool *ret)
{
	struct trace_string name = intern__text_at(w->texts, function);
	struct selection *select = w->opts.select;

	*ret = (w->opts.runtime || !summary__is_system(name)) &&
	       (!select || !select->have_goroutine || select->goroutine == goroutine);
	return *ret && select ? selection__function(select, function, name, ret) : 0;
}

/* Its start function, which may become known later. */
static uint32_t function_of(struct waiter *g)
{
	g->nameless |= !g->go.name;
	return g->go.name;
}

/* The goroutine that ends a wait, if that is not its own. */
static void set_by(struct waits *w, struct wait *wait, const struct trace_event *ev,
		   const struct semantics *m)
{
	struct waiter *by = NULL;

	wait->thread = ev->m;
	wait->proc = ev->p;
	if (ev->g != wait->goroutine &&
	    parking__ended_by_goroutine(ev, m->stack, intern__text_at(w->texts, wait->reason))) {
		wait->by = ev->g;
		by = goroutine_tracker__find(&w->tracker, ev->g);
	}
	if (by) {
		wait->by_function = function_of(by);
		wait->by_serial = by->serial;
	}
}

static bool is_candidate(const struct waits *w, const struct wait *wait)
{
	return wait->from < wait->to &&
	       (w->n < w->opts.longest + spare(w) || is_less(&w->heap[0], wait));
}

/* A candidate of that goroutine: kept, unless it is known to be unwanted. */
static int consider(struct waits *w, struct waiter *g, struct wait *wait)
{
	bool wanted = true;
	int err = 0;

	if (w->opts.select && w->opts.select->nlabels && !g->go.labels.selected)
		return 0;
	wait->function = function_of(g);
	if (wait->function)
		err = is_wanted(w, wait->goroutine, wait->function, &wanted);
	return err || !wanted ? err : keep(w, wait);
}

/* Its wait has ended at `to`, or, without an event, goes on. */
static int add(struct waits *w, struct waiter *g, int64_t to, const struct trace_event *ev,
	       const struct semantics *m)
{
	struct wait wait = {
		.from = g->go.since > w->from ? g->go.since : w->from,
		.to = to,
		.goroutine = g->go.id,
		.by = TRACE_NO_G,
		.thread = TRACE_NO_M,
		.proc = TRACE_NO_P,
		.kind = g->kind,
		.reason = g->reason,
		.stack = g->stack,
		.began_before = g->unbegun || g->go.since < w->from,
		.before = time_add(g->waited,
				   g->go.since < w->from ? time_sub(w->from, g->go.since) : 0),
		.goes_on = !ev,
		.lost = g->go.since < w->lost_to,
		.serial = g->serial,
		.number = w->numbers++,
	};

	if (!is_candidate(w, &wait))
		return 0;
	if (ev)
		set_by(w, &wait, ev, m);
	return consider(w, g, &wait);
}

/* A thread with this goroutine waited for a CPU from `begin` to `to`, or longer. */
static int add_runqueue(struct waits *w, uint64_t goroutine, uint64_t thread, int64_t begin,
			int64_t to, bool goes_on)
{
	struct waiter *g = goroutine_tracker__find(&w->tracker, goroutine);
	struct wait wait = {
		.from = begin > w->from ? begin : w->from,
		.to = to,
		.goroutine = goroutine,
		.by = TRACE_NO_G,
		.thread = thread,
		.proc = TRACE_NO_P,
		.kind = WAIT_RUNQUEUE,
		.stack = g ? g->stack : 0,
		.began_before = begin < w->from,
		.before = begin < w->from ? time_sub(w->from, begin) : 0,
		.goes_on = goes_on,
		.serial = g ? g->serial : 0,
		.number = w->numbers++,
	};

	return g && is_candidate(w, &wait) ? consider(w, g, &wait) : 0;
}

/* ---- events ---- */

static int get_text(struct waits *w, const struct dictionary *dictionary, uint64_t string,
		    uint32_t *ret)
{
	struct trace_string text;

	if (!dictionary__string(dictionary, string, &text))
		return 0;
	return intern__text(w->texts, text, ret);
}

static int intern_stack(struct waits *w, const struct dictionary *dictionary, uint64_t stack,
			uint32_t *ret)
{
	struct intern_frame frames[WAITS_FRAMES] = {};
	size_t n = dictionary__frames(dictionary, stack);

	if (n > WAITS_FRAMES)
		n = WAITS_FRAMES;
	if (!n || intern__memory(w->texts) > STACKS_MEMORY)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (get_text(w, dictionary, dictionary__frame(dictionary, stack, i)->func,
			     &frames[i].func))
			return -ENOMEM;
	*ret = intern__stack(w->texts, frames, n);
	return *ret ? 0 : -ENOMEM;
}

/* Each stack of a generation is interned once. */
static int get_stack(struct waits *w, const struct dictionary *dictionary, uint64_t stack,
		     uint32_t *ret)
{
	uintptr_t known = (uintptr_t)map__get(&w->stacks, stack);
	int err;

	*ret = 0;
	if (known) {
		*ret = (uint32_t)(known - 1);
		return 0;
	}
	err = intern_stack(w, dictionary, stack, ret);
	return err ? err : map__put(&w->stacks, stack, (void *)((uintptr_t)*ret + 1));
}

static int goroutine__appear(void *context, void *goroutine, const struct trace_event *ev,
			     const struct semantics *m)
{
	struct waits *w = context;
	struct waiter *g = goroutine;

	(void)ev;
	(void)m;
	g->serial = ++w->serials;
	return 0;
}

static int goroutine__leave(void *context, void *goroutine, const struct trace_event *ev,
			    const struct semantics *m)
{
	struct waits *w = context;
	struct waiter *g = goroutine;

	return g->waits ? add(w, g, w->tracker.now, ev, m) : 0;
}

static bool find_kind(const struct waits *w, uint8_t state, uint8_t *ret)
{
	switch (state) {
	case GO_STATE_WAITING:
		*ret = WAIT_BLOCK;
		break;
	case GO_STATE_RUNNABLE:
		*ret = WAIT_SCHED;
		break;
	case GO_STATE_SYSCALL:
		*ret = WAIT_SYSCALL;
		break;
	default:
		return false;
	}
	return w->opts.kind[*ret];
}

/*
 * A goroutine that becomes runnable keeps the stack with which it was blocked, until it runs: its
 * next event has none.
 */
static int goroutine__enter(void *context, void *goroutine, const struct trace_event *ev,
			    const struct semantics *m)
{
	struct waits *w = context;
	struct waiter *g = goroutine;
	int err = 0;

	if (g->nameless && g->go.name) {
		g->nameless = false;
		err = map__put(&w->named, g->serial, (void *)(uintptr_t)g->go.name);
	}
	if (m->from == GO_STATE_UNDETERMINED)
		g->go.since = g->go.created;
	g->unbegun = m->from == GO_STATE_UNDETERMINED;
	g->waited = g->unbegun && m->to == GO_STATE_WAITING ?
			    parked_list__waited(&ev->dictionary->parked, m->id) :
			    0;
	g->waits = find_kind(w, m->to, &g->kind);
	g->reason = 0;
	if (!err && m->to == GO_STATE_WAITING && g->waits)
		err = intern__text(w->texts, m->name, &g->reason);
	if (m->to == GO_STATE_RUNNING || m->to == GO_STATE_NOT_EXIST)
		g->stack = 0;
	else if (!err && m->transition_stack)
		err = get_stack(w, ev->dictionary, m->transition_stack, &g->stack);
	return err;
}

/* At the end of the trace; that of a goroutine is no wait. */
static int goroutine__end(void *context, void *goroutine)
{
	struct waits *w = context;
	struct waiter *g = goroutine;

	return g->waits ? add(w, g, w->end, NULL, NULL) : 0;
}

static int sync__event(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct waits *w = context;

	(void)ev;
	if (m->kind == SEMANTICS_SYNC) {
		map__deinit(&w->stacks);
		w->stacks = (struct map){};
	}
	return 0;
}

static const struct goroutine_client client = {
	.size = sizeof(struct waiter),
	.appear = goroutine__appear,
	.leave = goroutine__leave,
	.enter = goroutine__enter,
	.end = goroutine__end,
	.other = sync__event,
};

int waits__event(struct waits *w, const struct trace_event *ev)
{
	return goroutine_tracker__event(&w->tracker, &client, ev, ev->time);
}

int waits__item(struct waits *w, const struct kernel_item *item, int64_t time, uint64_t duration,
		uint64_t goroutine)
{
	if (!w->opts.kind[WAIT_RUNQUEUE] || item->kind != KERNEL_ON || duration > INT64_MAX)
		return 0;
	return add_runqueue(w, goroutine, item->tid, time_sub(time, (int64_t)duration), time,
			    false);
}

/* ---- the end ---- */

/* Threads that wait for a CPU at the end. */
static int add_runnable_threads(struct waits *w, const struct path_history *h)
{
	const struct path_thread *thread;
	const struct path_run *run;
	uint32_t n, on;
	int err = 0;

	for (uint32_t i = 0; !err && i < h->threads.n; i++) {
		thread = path_thread(h, i);
		n = path_list__before(&thread->runs, sizeof(*run), w->end);
		on = path_list__on_before(&thread->on, w->end);
		run = n ? (const struct path_run *)thread->runs.at + n - 1 : NULL;
		if (run && run->run == KERNEL_RUNNABLE && on != PATH_NONE)
			err = add_runqueue(w, path_goroutine(h, on)->id, thread->id, run->time,
					   w->end, true);
	}
	return err;
}

static uint32_t late_name(const struct waits *w, uint32_t name, uint64_t serial)
{
	return name ? name : (uint32_t)(uintptr_t)map__get(&w->named, serial);
}

static int longest_first(const void *left, const void *right)
{
	const struct wait *a = left, *b = right;

	return is_less(a, b) - is_less(b, a);
}

int waits__finish(struct waits *w, int64_t end, const struct path_history *h,
		  const struct wait **ret, size_t *ret_n)
{
	bool wanted;
	size_t n = 0;
	int err;

	w->end = end;
	err = h && w->opts.kind[WAIT_RUNQUEUE] ? add_runnable_threads(w, h) : 0;
	if (!err)
		err = goroutine_tracker__finish(&w->tracker);
	if (err)
		return err;
	for (size_t i = 0; i < w->n; i++) {
		struct wait *wait = &w->heap[i];

		wait->function = late_name(w, wait->function, wait->serial);
		wait->by_function = late_name(w, wait->by_function, wait->by_serial);
		err = is_wanted(w, wait->goroutine, wait->function, &wanted);
		if (err)
			return err;
		if (wanted)
			w->heap[n++] = *wait;
	}
	array__sort(w->heap, n, sizeof(*w->heap), longest_first);
	w->n = n;
	*ret = w->heap;
	*ret_n = n < w->opts.longest ? n : w->opts.longest;
	return 0;
}
