// SPDX-License-Identifier: GPL-2.0
/*
 * The merge of a trace's events with the kernel's items: trace/timeline.h.
 *
 * The items of a generation are read as its EV_SYNC is met, and are all given out before the next
 * one's. What they say of the threads is kept up as they go by.
 */
#include "trace/timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "trace/order.h"

#define LOOKS_MAX  (1u << 25) /* at threads, because of losses: 16,000 losses with 1000 threads */
#define LOSSES_MAX 1024	      /* of a generation, told apart: each is looked for in all threads */

struct lost {
	uint64_t from, to; /* CLOCK_MONOTONIC, ns */
};

struct timeline {
	struct reader *reader;
	struct kernel_reader *kernel; /* of the generation that was begun last; NULL: none */
	struct kernel_threads threads;
	struct trace_event event;	/* read ahead */
	struct kernel_item item, given; /* read ahead; given out last */
	bool has_event, has_item, ended;
	bool has_kernel;
	struct lost
		*lost; /* of the kernel's records, in the generation, by time, with some between */
	size_t nlost, lost_cap, lost_at;
	uint64_t losses; /* changes by losses so far, of all generations */
	bool in_loss;
	uint64_t looks;	 /* at threads, because of losses: by ours, and by who asks for them */
	bool gave_up;	 /* of so many: from then on nothing is known of threads */
	uint64_t tables; /* of threads, so far */
	uint64_t took;	 /* see timeline__took() */
	int64_t ahead;	 /* of CLOCK_MONOTONIC before the trace's clock */
};

int timeline__create(struct timeline **ret, struct reader *r)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (!t || kernel_threads__init(&t->threads)) {
		free(t);
		return -ENOMEM;
	}
	t->reader = r;
	*ret = t;
	return 0;
}

void timeline__destroy(struct timeline *t)
{
	if (!t)
		return;
	kernel_reader__close(t->kernel);
	kernel_threads__deinit(&t->threads);
	free(t->lost);
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
	return t->nlost;
}

uint64_t timeline__mono(const struct timeline *t, int64_t event_time)
{
	return (uint64_t)event_time + (uint64_t)t->ahead;
}

int64_t timeline__time(const struct timeline *t, uint64_t mono)
{
	return (int64_t)(mono - (uint64_t)t->ahead);
}

int64_t timeline__until(const struct timeline *t)
{
	return t->has_event ? t->event.time : INT64_MAX;
}

bool timeline__in_loss(const struct timeline *t)
{
	return t->in_loss;
}

uint64_t timeline__losses(const struct timeline *t)
{
	return t->losses;
}

uint64_t timeline__tables(const struct timeline *t)
{
	return t->tables;
}

/* ---- generations ---- */

static bool is_ours(const struct private_loss *loss)
{
	return !loss->kind ||
	       (loss->kind < GT_KIND_END && gt_kind_is_kernels((unsigned int)loss->kind));
}

static int add_loss(struct timeline *t, const struct private_loss *loss)
{
	int err = array__grow(&t->lost, t->nlost, &t->lost_cap, sizeof(*t->lost));

	if (err)
		return err;
	t->lost[t->nlost++] = (struct lost){ loss->from, loss->to };
	return 0;
}

static int by_beginning(const void *a, const void *b)
{
	const struct lost *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Those that touch are one, and of more than can be told apart so are neighbours. */
static void sort_losses(struct timeline *t)
{
	size_t each = t->nlost / LOSSES_MAX + 1, n = 0;
	struct lost *last = NULL;

	if (!t->nlost)
		return;
	qsort(t->lost, t->nlost, sizeof(*t->lost), by_beginning);
	for (size_t i = 0; i < t->nlost; i++) {
		if (last && (t->lost[i].from <= last->to || i % each)) {
			if (last->to < t->lost[i].to)
				last->to = t->lost[i].to;
			continue;
		}
		last = &t->lost[n++];
		*last = t->lost[i];
	}
	t->nlost = n;
}

static int read_losses(struct timeline *t, const struct dictionary *words)
{
	struct private_reader r;
	struct private_record record;
	struct private_loss loss;
	int code;

	t->nlost = t->lost_at = 0;
	t->in_loss = false;
	private_reader__init(&r, words);
	while ((code = private_reader__next(&r, &record)) > 0)
		while (code >= 0 && record.kind == PRIVATE_LOSSES &&
		       private_read__loss(&record.data, &loss))
			code = is_ours(&loss) ? add_loss(t, &loss) : 0;
	private_reader__deinit(&r);
	sort_losses(t);
	return code;
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

/* A trace with that many was made to be slow to read. */
static void give_up(struct timeline *t)
{
	t->gave_up = true;
	mark_gone(&t->threads);
	kernel_threads__forget_gone(&t->threads);
}

/*
 * In the midst of a loss what threads do is a guess, and what they did before one that has ended by now
 * says nothing of what they do.
 */
static void pass_losses(struct timeline *t, uint64_t now)
{
	const struct order *order = reader__order(t->reader);
	size_t before = t->lost_at;
	bool was_in = t->in_loss;

	if (t->gave_up)
		return;
	while (t->lost_at < t->nlost && t->lost[t->lost_at].to <= now)
		t->lost_at++;
	t->in_loss = t->lost_at < t->nlost && t->lost[t->lost_at].from <= now;
	if (t->lost_at == before && t->in_loss == was_in)
		return;
	t->losses++;
	t->looks += t->threads.map.cap + (order ? order->m.n : 0);
	if (t->looks > LOOKS_MAX)
		give_up(t);
	else if (t->lost_at != before)
		kernel_threads__lose_before(&t->threads, t->lost[t->lost_at - 1].to);
}

/* The generation's own table says what its items start from; who is not in it has ended. */
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
	if (!first) {
		kernel_threads__forget_gone(&t->threads);
		t->tables++;
	}
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
	if (!sync->words)
		return 0;
	if (sync->sync->clock.known)
		t->ahead = timeline__ahead(&sync->sync->clock);
	err = read_losses(t, sync->words);
	if (!err)
		err = kernel_reader__open(&t->kernel, sync->words);
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

static int read_event(struct timeline *t, struct error *err)
{
	int code = reader__next(t->reader, &t->event, err);

	t->has_event = code > 0;
	t->ended = !code;
	return code < 0 ? code : 0;
}

/* Whether the item stands before the event that was read ahead, if there is one. */
static bool item_is_next(const struct timeline *t)
{
	if (!t->has_item)
		return false;
	return !t->has_event || t->event.type == EV_SYNC ||
	       t->item.time <= timeline__mono(t, t->event.time);
}

/* When it began, what ends with the item, by what is known of its thread until then. 0: not known. */
static uint64_t begin_of(const struct kernel_thread *thread, const struct kernel_item *item)
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

static uint64_t took(const struct timeline *t)
{
	const struct kernel_item *item = &t->given;
	const struct kernel_thread *thread = kernel_threads__find(&t->threads, item->tid);
	uint64_t begin = thread ? begin_of(thread, item) : 0;

	return begin && begin <= item->time ? item->time - begin : UINT64_MAX;
}

static int give_item(struct timeline *t, struct timeline_step *ret)
{
	t->given = t->item;
	take_item(t);
	pass_losses(t, t->given.time);
	t->took = took(t);
	*ret = (struct timeline_step){ .item = &t->given };
	if (t->gave_up)
		return 1;
	return kernel_threads__apply(&t->threads, &t->given) ? -ENOMEM : 1;
}

int timeline__next(struct timeline *t, struct timeline_step *ret, struct error *err)
{
	int code = 0;

	if (!t->has_event && !t->ended)
		code = read_event(t, err);
	if (code)
		return code;
	if (item_is_next(t)) {
		code = give_item(t, ret);
	} else if (!t->has_event) {
		return 0;
	} else {
		code = t->event.type == EV_SYNC ? begin_generation(t) : 0;
		t->has_event = false;
		if (t->lost_at < t->nlost)
			pass_losses(t, timeline__mono(t, t->event.time));
		*ret = (struct timeline_step){ .event = &t->event };
	}
	return code < 0 ? error__set(err, code, "no memory") : 1;
}

uint64_t timeline__took(const struct timeline *t)
{
	return t->took;
}

uint64_t timeline__goroutine(const struct timeline *t, uint32_t tid)
{
	const struct order *order = reader__order(t->reader);
	const struct order_m *m = order ? map__get(&order->m, tid) : NULL;

	/* The reader is one event ahead: before it the thread had the one that the event is of. */
	if (t->has_event && t->event.m == tid && t->event.type != EV_CPU_SAMPLE)
		return t->event.g;
	return m ? m->g : TRACE_NO_G;
}
