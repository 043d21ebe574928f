// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's side of a part of a trace: its items, and the threads as it begins.
 *
 * Before it in an item's way: trace/kernel_read.c. After it: trace/kernel_write.c. A generation of the
 * input is read when one of the output is open for it, or when it passes before the part has an event:
 * then its items wait for the output's first one.
 */
#include <errno.h>

#include "trace/rewrite_impl.h"
#include "trace/timeline.h"

void rw_kernel__deinit(struct rewrite *r)
{
	kernel_reader__close(r->kernel.reader);
	kernel_writer__destroy(r->kernel.writer);
	kernel_threads__deinit(&r->kernel.threads);
}

static int begin(struct rw_kernel *k)
{
	int err;

	if (!k->writer)
		k->writer = kernel_writer__create();
	if (!k->writer)
		return -ENOMEM;
	kernel_threads__forget_gone(&k->threads);
	err = kernel_writer__begin(k->writer, k->start, &k->threads);
	k->begun = !err;
	return err;
}

static int take_threads(struct rw_kernel *k)
{
	struct kernel_thread thread;
	int err = 0;

	if (k->begun) /* what waits has them already */
		return 0;
	kernel_threads__deinit(&k->threads);
	err = kernel_threads__init(&k->threads);
	while (!err && kernel_reader__thread(k->reader, &thread))
		err = kernel_threads__set(&k->threads, &thread);
	return err;
}

static int take_item(struct rw_kernel *k, const struct kernel_item *item)
{
	int err = 0;

	/* Also at an item behind the part: the threads are written as they are when the part begins. */
	if (item->time >= k->from && !k->begun)
		err = begin(k);
	if (!err && item->time >= k->from && item->time < k->to)
		err = kernel_writer__add(k->writer, item);
	return err ?: kernel_threads__apply(&k->threads, item);
}

/* All of the input's generation: what is before the part moves the threads only. */
static int take_all(struct rw_kernel *k)
{
	struct kernel_item item;
	int err;

	if (!k->reader)
		return 0;
	err = take_threads(k);
	while (!err && kernel_reader__item(k->reader, &item))
		err = take_item(k, &item);
	kernel_reader__close(k->reader);
	k->reader = NULL;
	return err;
}

int rw_kernel__use(struct rewrite *r, const struct dictionary *from, int64_t time)
{
	struct rw_kernel *k = &r->kernel;
	int64_t ahead = timeline__ahead(&r->clock);
	int err = take_all(k);

	if (err)
		return err;
	k->from = r->opts.from == INT64_MIN ? 0 : (uint64_t)(r->opts.from + ahead);
	k->to = r->opts.to ? (uint64_t)(r->opts.to + ahead) : UINT64_MAX;
	k->start = (uint64_t)(time > r->opts.from ? time : r->opts.from) + (uint64_t)ahead;
	err = kernel_reader__open(&k->reader, from);
	return err < 0 ? err : 0;
}

int rw_kernel__write(struct rewrite *r)
{
	struct rw_kernel *k = &r->kernel;
	bool any = k->reader;
	int err = take_all(k);

	if (!err && any && !k->begun)
		err = begin(k);
	if (err || !k->begun)
		return err;
	k->begun = false;
	r->filled |= kernel_writer__size(k->writer) != 0;
	return kernel_writer__end(k->writer, r->writer);
}
