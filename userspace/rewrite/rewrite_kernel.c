// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel events within a part of a trace, and the state of the threads at its start.
 *
 * Upstream: format/kernel_read.c. Downstream: format/kernel_write.c. A generation of the input is
 * read when one of the output is open for it. If it ends before the part has an event, its items
 * wait for the first generation of the output.
 */
#include <errno.h>
#include <string.h>

#include "reader/timeline.h"
#include "rewrite/rewrite_impl.h"
#include "writer/private_write.h"

void rw_kernel__deinit(struct rewrite *r)
{
	kernel_reader__close(r->kernel.reader);
	kernel_writer__destroy(r->kernel.writer);
	kernel_threads__deinit(&r->kernel.threads);
}

static int begin_writer(struct rw_kernel *k)
{
	int err;

	if (!k->writer)
		k->writer = kernel_writer__create();
	if (!k->writer)
		return -ENOMEM;
	kernel_threads__forget_gone(&k->threads);
	err = kernel_writer__begin(k->writer, k->start, &k->threads);
	k->has_threads = !err;
	return err;
}

static void rename_thread(struct anonymizer *names, struct kernel_thread *thread)
{
	struct trace_string name = { thread->name, thread->name_len };

	name = anonymizer__name(names, ANONYMOUS_THREAD, name);
	memcpy(thread->name, name.data, name.len);
	thread->name_len = (uint8_t)name.len;
}

/* Not of system calls, whose names are those of the kernel. */
static void rename_item(struct anonymizer *names, struct kernel_item *item)
{
	if (item->kind != KERNEL_SYS_ENTER && item->kind != KERNEL_SYS_EXIT)
		item->name = anonymizer__name(names, ANONYMOUS_THREAD, item->name);
}

static int take_threads(struct rw_kernel *k, struct anonymizer *names)
{
	struct kernel_thread thread;
	struct trace_string call;
	int err = 0;

	if (k->has_threads) /* the waiting items include them */
		return 0;
	kernel_threads__deinit(&k->threads);
	k->threads.waits = kernel_reader__has_waits(k->reader);
	while (!err && kernel_reader__thread(k->reader, &thread)) {
		if (names)
			rename_thread(names, &thread);
		err = kernel_threads__set(&k->threads, &thread);
		call = kernel_reader__call(k->reader);
		if (!err)
			err = kernel_threads__name_call(&k->threads, thread.call, &call);
	}
	return err;
}

static int take_item(struct rw_kernel *k, const struct kernel_item *item)
{
	int err = 0;

	/* Also for an item after the part: the threads' state at its start is needed. */
	if (item->time >= k->from && !k->has_threads)
		err = begin_writer(k);
	if (!err && item->time >= k->from && item->time < k->to)
		err = kernel_writer__add(k->writer, item);
	return err ?: kernel_threads__apply(&k->threads, item);
}

/* Reads all items of the input's generation. Items before the part only update the threads. */
static int take_all(struct rw_kernel *k, struct anonymizer *names)
{
	struct kernel_item item;
	int err;

	if (!k->reader)
		return 0;
	err = take_threads(k, names);
	while (!err && kernel_reader__item(k->reader, &item)) {
		if (names)
			rename_item(names, &item);
		err = take_item(k, &item);
	}
	kernel_reader__close(k->reader);
	k->reader = NULL;
	return err;
}

int rw_kernel__use(struct rewrite *r, const struct dictionary *from, int64_t time)
{
	struct rw_kernel *k = &r->kernel;
	int64_t offset = timeline__mono_offset(&r->clock);
	int err = take_all(k, r->opts.names);

	if (err)
		return err;
	k->from = r->opts.from == INT64_MIN ? 0 : (uint64_t)(r->opts.from + offset);
	k->to = r->opts.to ? (uint64_t)(r->opts.to + offset) : UINT64_MAX;
	k->start = (uint64_t)(time > r->opts.from ? time : r->opts.from) + (uint64_t)offset;
	err = kernel_reader__open(&k->reader, from);
	return err < 0 ? err : 0;
}

void rw_kernel__move(struct rewrite *r)
{
	struct rw_kernel *k = &r->kernel;

	k->from = (uint64_t)(r->opts.from + timeline__mono_offset(&r->clock));
	k->start = k->from;
}

int rw_kernel__write(struct rewrite *r)
{
	struct rw_kernel *k = &r->kernel;
	bool any = k->reader;
	int err = take_all(k, r->opts.names);

	if (!err && any && !k->has_threads)
		err = begin_writer(k);
	if (err || !k->has_threads)
		return err;
	k->has_threads = false;
	r->filled |= kernel_writer__size(k->writer) != 0;
	return private__kernel(r->writer, k->writer);
}
