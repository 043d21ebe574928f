// SPDX-License-Identifier: GPL-2.0
/*
 * The profile of threads that are off their CPUs, though Go considers their goroutines to be
 * running or in a system call: see profile.h.
 *
 * A thread leaves its CPU with one kernel event and gets one again with another. The time between
 * them is that until it was woken, which the reason of the first event names, and that in the run
 * queue, which is the duration of the second. The stack is that of the goroutine's system call; Go
 * has no event with the stack of a goroutine that runs.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/durations.h"
#include "profile/profile_impl.h"

/* a thread that is off its CPU */
struct off_thread {
	int64_t since;
	uint64_t goroutine;
	uint32_t stack;
	uint32_t leaf; /* why it is */
};

/* What it waits for: the reason, and the system call in which it is. 0 or -ENOMEM. */
static int name_reason(struct profile *p, const struct profile_item *i, uint32_t *ret)
{
	const struct kernel_thread *thread = kernel_threads__find(i->threads, i->item->tid);
	struct trace_string call = {};

	if (thread && thread->call != KERNEL_NO_CALL)
		call = kernel_threads__syscall(i->threads, thread->call);
	return profile__leaf(p, kernel__why(i->item->why), call, ret);
}

/*
 * The thread has a CPU, but the event that it got one is missing, which happens (format/kernel.c):
 * the time without one has no known end.
 */
static void forget(struct profile *p, uint32_t tid)
{
	free(map__remove(&p->off, tid));
}

static int leave_cpu(struct profile *p, const struct profile_item *i)
{
	struct profiled *g = goroutine_tracker__find(&p->tracker, i->goroutine);
	struct off_thread *off;

	forget(p, i->item->tid);
	if (!g)
		return 0;
	off = map__put_new(&p->off, i->item->tid, sizeof(*off));
	if (!off)
		return -ENOMEM;
	*off = (struct off_thread){ .since = i->time, .goroutine = g->go.id };
	if (g->go.state == GO_STATE_SYSCALL)
		off->stack = g->stack;
	return name_reason(p, i, &off->leaf);
}

static int add_part(struct profile *p, const struct off_thread *off, uint32_t tid, uint32_t leaf,
		    int64_t begin, int64_t end)
{
	const struct held held = {
		.ns = profile__part(p, begin, end),
		.thread = tid,
		.stack = off->stack,
		.leaf = leaf,
	};

	return held.ns ? profile__add(p, goroutine_tracker__find(&p->tracker, off->goroutine),
				      &held) :
			 0;
}

/* Without a known duration in the run queue, all of the time has the reason. */
static int get_cpu(struct profile *p, const struct profile_item *i)
{
	struct off_thread *off = map__remove(&p->off, i->item->tid);
	int64_t woken = i->time;
	uint32_t queue;
	int err;

	if (!off)
		return 0;
	if (i->duration <= INT64_MAX)
		woken = time_sub(i->time, (int64_t)i->duration);
	if (woken < off->since)
		woken = off->since;
	err = profile__leaf(p, "waiting for a CPU", (struct trace_string){}, &queue);
	if (!err)
		err = add_part(p, off, i->item->tid, off->leaf, off->since, woken);
	if (!err)
		err = add_part(p, off, i->item->tid, queue, woken, i->time);
	free(off);
	return err;
}

int profile__item(struct profile *p, const struct profile_item *i)
{
	if (p->opts.kind != PROFILE_OFFCPU)
		return 0;
	switch (i->item->kind) {
	case KERNEL_OFF:
		return leave_cpu(p, i);
	case KERNEL_ON:
		return get_cpu(p, i);
	case KERNEL_SYS_ENTER:
	case KERNEL_SYS_EXIT:
		forget(p, i->item->tid);
		return 0;
	case KERNEL_WAKING:
		if (!i->item->interrupt)
			forget(p, i->item->other);
		return 0;
	default:
		return 0;
	}
}

void profile__lose_threads(struct profile *p)
{
	map__free(&p->off);
	p->off = (struct map){};
}
