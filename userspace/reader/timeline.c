// SPDX-License-Identifier: GPL-2.0
/*
 * Merges the events of a trace with its kernel events: see reader/timeline.h.
 *
 * Upstream: reader/reader.c and format/kernel_read.c. Downstream: the commands. The items of a
 * generation are read at its EV_SYNC and delivered before the next one. The state of the threads is
 * updated with each item.
 */
#include "reader/timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "reader/order.h"
#include "reader/push.h"

#define VISITS_MAX (1u << 25) /* of threads, after losses: 16,000 losses with 1000 threads */
#define LOSSES_MAX 1024	      /* per generation; more are merged: each visits all threads */

struct lost {
	uint64_t from, to; /* CLOCK_MONOTONIC, ns */
};

struct losses { /* of a generation, by time */
	struct lost *at;
	size_t n, cap;
	size_t next; /* the first one that has not ended */
};

struct timeline {
	struct reader *reader;
	struct kernel_reader *kernel; /* of the current generation; NULL: none */
	struct kernel_threads threads;
	bool table, loss;		    /* of the present step */
	struct trace_event event;	    /* read ahead */
	struct kernel_item item, last_item; /* read ahead; delivered last */
	bool has_event, has_item, ended;
	bool has_kernel;
	struct losses lost;   /* of kernel events */
	struct gaps gaps;     /* of Go's events */
	int64_t go_lost_to;   /* latest end of those that have begun; INT64_MIN: none has */
	int64_t go_lost_from; /* the begin of that one */
	bool in_loss;
	uint64_t lost_from; /* see timeline__lost_from(), CLOCK_MONOTONIC */
	struct request_times requests;
	struct private_short shorts; /* of all generations so far */
	uint64_t visits;	     /* of threads, because of losses: here and by callers */
	bool late_items;	     /* see timeline__keep_late_items() */
	bool gave_up;	     /* too many visits: the state of threads is unknown from now on */
	uint64_t duration;   /* see timeline__duration() */
	int64_t mono_offset; /* CLOCK_MONOTONIC minus the clock of the trace */
};

int timeline__create(struct timeline **ret, struct reader *r)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->reader = r;
	t->go_lost_to = INT64_MIN;
	*ret = t;
	return 0;
}

void timeline__destroy(struct timeline *t)
{
	if (!t)
		return;
	kernel_reader__close(t->kernel);
	kernel_threads__deinit(&t->threads);
	free(t->lost.at);
	request_times__deinit(&t->requests);
	gaps__deinit(&t->gaps);
	free(t);
}

const struct kernel_threads *timeline__threads(const struct timeline *t)
{
	return &t->threads;
}

bool timeline__has_kernel(const struct timeline *t)
{
	return t->has_kernel;
}

bool timeline__lossy(const struct timeline *t)
{
	return t->lost.n;
}

const struct private_short *timeline__short(const struct timeline *t)
{
	return &t->shorts;
}

const struct request_times *timeline__requests(const struct timeline *t)
{
	return &t->requests;
}

uint64_t timeline__mono(const struct timeline *t, int64_t event_time)
{
	return (uint64_t)event_time + (uint64_t)t->mono_offset;
}

int64_t timeline__time(const struct timeline *t, uint64_t mono)
{
	return (int64_t)(mono - (uint64_t)t->mono_offset);
}

/* It ends the trace, at the time of the event before it. */
static bool is_last_sync(const struct trace_event *ev)
{
	return ev->type == EV_SYNC && !ev->sync->generation;
}

int64_t timeline__until(const struct timeline *t)
{
	if (!t->has_event || (t->late_items && is_last_sync(&t->event)))
		return INT64_MAX;
	return t->event.time;
}

void timeline__keep_late_items(struct timeline *t)
{
	t->late_items = true;
}

bool timeline__in_loss(const struct timeline *t)
{
	return t->in_loss;
}

int64_t timeline__lost_from(const struct timeline *t)
{
	return timeline__time(t, t->lost_from);
}

int64_t timeline__go_lost_to(const struct timeline *t)
{
	return t->go_lost_to;
}

int64_t timeline__go_lost_from(const struct timeline *t)
{
	return t->go_lost_from;
}

const struct gaps *timeline__gaps(const struct timeline *t)
{
	return &t->gaps;
}

/* ---- generations ---- */

static int losses__add(struct losses *l, const struct private_loss *loss)
{
	int err = array__grow(&l->at, l->n, &l->cap, sizeof(*l->at));

	if (err)
		return err;
	l->at[l->n++] = (struct lost){ loss->from, loss->to };
	return 0;
}

/* Gaps show where Go's events are missing. A loss of an unknown kind may concern both. */
static int add_loss(struct timeline *t, const struct private_loss *loss)
{
	if (loss->kind &&
	    (loss->kind >= GT_KIND_END || !gt_kind_is_kernels((unsigned int)loss->kind)))
		return 0;
	return losses__add(&t->lost, loss);
}

static int compare_losses(const void *a, const void *b)
{
	const struct lost *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Merges losses that overlap, and neighbours if there are more than LOSSES_MAX. */
static void losses__sort(struct losses *l)
{
	size_t each = l->n / LOSSES_MAX + 1, n = 0;
	struct lost *last = NULL;

	if (!l->n)
		return;
	array__sort(l->at, l->n, sizeof(*l->at), compare_losses);
	for (size_t i = 0; i < l->n; i++) {
		if (last && (l->at[i].from <= last->to || i % each)) {
			if (last->to < l->at[i].to)
				last->to = l->at[i].to;
			continue;
		}
		last = &l->at[n++];
		*last = l->at[i];
	}
	l->n = n;
}

static int read_private(struct timeline *t, const struct dictionary *dictionary)
{
	struct private_reader r;
	struct private_record record;
	struct private_loss loss;
	int err;

	t->lost.n = t->lost.next = 0;
	t->in_loss = false;
	private_reader__init(&r, dictionary);
	while ((err = private_reader__next(&r, &record)) > 0) {
		while (err >= 0 && record.kind == PRIVATE_LOSSES &&
		       private_read__loss(&record.data, &loss))
			err = add_loss(t, &loss);
		if (record.kind == PRIVATE_SHORT)
			private_read__add_short(&record.data, &t->shorts);
		if (err < 0)
			break;
	}
	private_reader__deinit(&r);
	losses__sort(&t->lost);
	return err;
}

static void mark_gone(struct kernel_threads *threads)
{
	struct kernel_thread *thread;
	void *value;

	for (size_t i = 0; map__next(&threads->map, &i, &value);) {
		thread = value;
		thread->run = KERNEL_GONE;
	}
}

/* A trace with that many losses was crafted to be slow to read. */
static void give_up(struct timeline *t)
{
	t->gave_up = true;
	mark_gone(&t->threads);
	kernel_threads__forget_gone(&t->threads);
}

/*
 * The state of threads is uncertain during a loss. After its end, what they did before it is
 * unknown.
 */
static void pass_losses(struct timeline *t, uint64_t now)
{
	const struct order *order = reader__order(t->reader);
	struct losses *l = &t->lost;
	size_t before = l->next;
	bool was_in = t->in_loss;

	if (t->gave_up)
		return;
	while (l->next < l->n && l->at[l->next].to <= now)
		l->next++;
	t->in_loss = l->next < l->n && l->at[l->next].from <= now;
	if (l->next == before && t->in_loss == was_in)
		return;
	t->loss = true;
	t->lost_from = l->at[before].from;
	t->visits += t->threads.map.cap + (order ? order->m.n : 0);
	if (t->visits > VISITS_MAX)
		give_up(t);
	else if (l->next != before)
		kernel_threads__lose_before(&t->threads, l->at[l->next - 1].to);
}

static void pass_gaps(struct timeline *t, int64_t now)
{
	const struct gap *gap = gaps__latest(&t->gaps, now);

	if (!gap || gap->to <= t->go_lost_to)
		return;
	/* Nothing is known between two that begin before one event. */
	gap = gaps__first(&t->gaps, t->go_lost_to);
	t->go_lost_from = gap->from;
	t->go_lost_to = gaps__latest(&t->gaps, now)->to;
}

/* Reads the initial state of the threads. A thread that is not in the table has ended. */
static int take_threads(struct timeline *t)
{
	struct kernel_thread thread;
	struct trace_string call;
	bool first = true;
	int err = 0;

	while (!err && kernel_reader__thread(t->kernel, &thread)) {
		t->has_kernel = true;
		if (t->gave_up)
			continue;
		if (first)
			mark_gone(&t->threads);
		first = false;
		err = kernel_threads__set(&t->threads, &thread);
		call = kernel_reader__call(t->kernel);
		if (!err)
			err = kernel_threads__name_call(&t->threads, thread.call, &call);
	}
	if (!first)
		kernel_threads__forget_gone(&t->threads);
	t->table |= !first;
	return err;
}

static void take_item(struct timeline *t)
{
	t->has_item = t->kernel && kernel_reader__item(t->kernel, &t->item);
}

static int begin_generation(struct timeline *t)
{
	const struct trace_event *sync = &t->event;
	int err;

	kernel_reader__close(t->kernel);
	t->kernel = NULL;
	t->has_item = false;
	if (!sync->dictionary)
		return 0;
	if (sync->sync->clock.known)
		t->mono_offset = timeline__mono_offset(&sync->sync->clock);
	err = read_private(t, sync->dictionary);
	err = err ?: gaps__begin_generation(&t->gaps, sync);
	if (!err)
		err = request_times__read(&t->requests, sync->dictionary);
	if (!err)
		err = kernel_reader__open(&t->kernel, sync->dictionary);
	t->threads.waits = err > 0 && kernel_reader__has_waits(t->kernel);
	if (err > 0)
		err = take_threads(t);
	if (err)
		return err;
	pass_losses(t, timeline__mono(t, sync->time));
	take_item(t);
	t->has_kernel |= t->has_item;
	return 0;
}

/* ---- steps ---- */

static int read_event(struct timeline *t, struct error *error)
{
	int err = reader__next(t->reader, &t->event, error);

	t->has_event = err > 0;
	t->ended = !err && !reader__is_pushed(t->reader);
	return err < 0 ? err : 0;
}

/* Whether the item comes before the event that was read ahead, if there is one. */
static bool item_is_next(const struct timeline *t)
{
	if (!t->has_item)
		return false;
	return !t->has_event || t->event.type == EV_SYNC ||
	       t->item.time <= timeline__mono(t, t->event.time);
}

/* The begin of what ends with the item, from the state of its thread; 0: unknown. */
static uint64_t start_of(const struct kernel_thread *thread, const struct kernel_item *item)
{
	switch (item->kind) {
	case KERNEL_ON:
		return thread->run == KERNEL_RUNNABLE ? thread->since : 0;
	case KERNEL_SYS_EXIT:
		return thread->call == item->number ? thread->call_since : 0;
	case KERNEL_FAULT_END:
		return thread->in_fault ? thread->fault_since : 0;
	}
	return 0;
}

static uint64_t duration_of(const struct timeline *t)
{
	const struct kernel_item *item = &t->last_item;
	const struct kernel_thread *thread = kernel_threads__find(&t->threads, item->tid);
	uint64_t begin = thread ? start_of(thread, item) : 0;

	return begin && begin <= item->time ? item->time - begin : UINT64_MAX;
}

static int deliver_item(struct timeline *t)
{
	t->last_item = t->item;
	take_item(t);
	pass_losses(t, t->last_item.time);
	t->duration = duration_of(t);
	if (t->gave_up)
		return 1;
	return kernel_threads__apply(&t->threads, &t->last_item) ? -ENOMEM : 1;
}

int timeline__next(struct timeline *t, struct timeline_step *ret, struct error *error)
{
	int err = 0;

	t->table = t->loss = false;
	if (!t->has_event && !t->ended)
		err = read_event(t, error);
	if (err)
		return err;
	if (!t->has_event && !t->ended) /* items at the end of a generation precede the next one */
		return 0;
	if (item_is_next(t)) {
		err = deliver_item(t);
		ret->event = NULL;
		ret->item = &t->last_item;
	} else if (!t->has_event) {
		return 0;
	} else {
		err = t->event.type == EV_SYNC ? begin_generation(t) : 0;
		t->has_event = false;
		if (t->lost.next < t->lost.n)
			pass_losses(t, timeline__mono(t, t->event.time));
		if (t->gaps.n)
			pass_gaps(t, t->event.time);
		ret->event = &t->event;
		ret->item = NULL;
	}
	ret->table = t->table;
	ret->loss = t->loss;
	return err < 0 ? error__set(error, err, "out of memory") : 1;
}

int timeline__next_rest(struct timeline *t, struct timeline_step *ret, struct error *error)
{
	int err;

	t->table = t->loss = false;
	if (t->has_event || !t->has_item)
		return 0;
	err = deliver_item(t);
	*ret = (struct timeline_step){ .item = &t->last_item, .loss = t->loss };
	return err < 0 ? error__set(error, err, "out of memory") : 1;
}

uint64_t timeline__duration(const struct timeline *t)
{
	return t->duration;
}

uint64_t timeline__goroutine(const struct timeline *t, uint32_t tid)
{
	const struct order *order = reader__order(t->reader);
	const struct order_m *m = order ? map__get(&order->m, tid) : NULL;

	/* The reader is one event ahead; the event's context is the one before it. */
	if (t->has_event && t->event.m == tid && t->event.type != EV_CPU_SAMPLE)
		return t->event.g;
	return m ? m->g : TRACE_NO_G;
}
