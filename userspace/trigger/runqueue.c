// SPDX-License-Identifier: GPL-2.0
/*
 * Trigger runqueue: see runqueue.h.
 *
 * The sequencer computes the state of each thread by the same rules as the readers. A thread waits
 * for a CPU while it is runnable: woken, preempted, or after it has yielded. One whose cgroup has
 * used up its CPU quota is throttled, which is another state and not counted.
 */
#include "trigger/runqueue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sequence/sequencer.h"
#include "trigger/wait_list.h"

struct runqueue {
	struct triggers *t;
	struct wait_table table; /* by tid */
	struct wait_list threads;
};

static bool evaluate(void *ctx, const struct condition *c, const struct wait *wait,
		     char ret[WAIT_TEXT_MAX])
{
	(void)ctx;
	snprintf(ret, WAIT_TEXT_MAX, "thread %llu waited for a CPU for %.1f ms",
		 (unsigned long long)wait->key, (double)c->limit / 1e6);
	return true;
}

int runqueue__create(struct runqueue **ret, struct triggers *t)
{
	struct runqueue *r = calloc(1, sizeof(*r));

	*ret = r;
	if (!r)
		return -ENOMEM;
	r->t = t;
	wait_table__init(&r->table, t, evaluate, r);
	wait_list__watch(&r->threads, t, TRIGGER_RUNQUEUE);
	if (r->threads.n)
		return 0;
	runqueue__destroy(r);
	*ret = NULL;
	return 0;
}

void runqueue__destroy(struct runqueue *r)
{
	if (!r)
		return;
	wait_table__deinit(&r->table);
	free(r);
}

/* A wait continues: another item of the thread, such as its new name, does not begin a new one. */
static bool is_known(const struct runqueue *r, const struct kernel_thread *thread)
{
	const struct wait *wait = map__get(&r->table.by_key, thread->tid);

	return wait && wait->list && wait->since == thread->since;
}

static void update(struct runqueue *r, uint32_t tid, uint64_t time)
{
	const struct kernel_thread *thread = sequencer__thread(r->t->sequencer, tid);

	if (!thread || thread->run != KERNEL_RUNNABLE || !thread->since)
		wait_table__end(&r->table, tid, time);
	else if (!is_known(r, thread))
		wait_table__begin(&r->table, &r->threads, tid, thread->since, 0);
}

void runqueue__kernel(struct runqueue *r, const struct kernel_item *item)
{
	uint32_t waker = kernel_item__waker(item);

	if (waker)
		update(r, waker, item->time);
	if (item->kind == KERNEL_ENDED)
		wait_table__forget(&r->table, item->tid, item->time);
	else
		update(r, item->tid, item->time);
}

/* Losses of kernel events are not among the doubts about goroutines. */
void runqueue__watermark(struct runqueue *r, uint64_t time)
{
	struct wait_list *const threads = &r->threads;

	wait_table__watermark(&r->table, &threads, 1, sequencer__losses(r->t->sequencer), time);
}
