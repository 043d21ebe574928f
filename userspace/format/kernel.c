// SPDX-License-Identifier: GPL-2.0
/*
 * The state of the target's threads, updated by kernel events.
 *
 * Upstream: sequence/kernel_events.c and reader/timeline.c, which apply the items that they write or
 * read.
 * Downstream: whatever needs the present state of a thread, such as userspace/analysis.
 */
#include "format/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void kernel_threads__deinit(struct kernel_threads *t)
{
	map__free(&t->map);
	map__free(&t->calls);
	t->waits = false;
}

#define CALLS_MAX 4096 /* more than any kernel has */

struct call_name {
	uint32_t len;
	char text[];
};

int kernel_threads__name_call(struct kernel_threads *t, uint32_t number,
			      const struct trace_string *name)
{
	struct call_name *own;

	if (!name->len || kernel__syscall(number) || t->calls.n >= CALLS_MAX ||
	    map__get(&t->calls, number))
		return 0;
	own = map__put_new(&t->calls, number, sizeof(*own) + name->len);
	if (!own)
		return -ENOMEM;
	own->len = name->len;
	memcpy(own->text, name->data, name->len);
	return 0;
}

struct trace_string kernel_threads__syscall(const struct kernel_threads *t, uint32_t number)
{
	const struct call_name *own = map__get(&t->calls, number);
	const char *usual = own ? NULL : kernel__syscall(number);

	if (own)
		return (struct trace_string){ own->text, own->len };
	return (struct trace_string){ usual, usual ? (uint32_t)strlen(usual) : 0 };
}

struct kernel_thread *kernel_threads__find(const struct kernel_threads *t, uint32_t tid)
{
	return map__get(&t->map, tid);
}

/* Returns the thread, which is created if it is new, or NULL if memory is exhausted. */
static struct kernel_thread *kernel_threads__get(struct kernel_threads *t, uint32_t tid)
{
	struct kernel_thread *thread = map__get(&t->map, tid);

	if (thread)
		return thread;
	thread = map__put_new(&t->map, tid, sizeof(*thread));
	if (thread)
		*thread = (struct kernel_thread){ .tid = tid, .call = KERNEL_NO_CALL };
	return thread;
}

int kernel_threads__set(struct kernel_threads *t, const struct kernel_thread *thread)
{
	struct kernel_thread *to = kernel_threads__get(t, thread->tid);

	if (!to)
		return -ENOMEM;
	*to = *thread;
	return 0;
}

static void set_name(struct kernel_thread *thread, const struct trace_string *name)
{
	size_t len = name->len < sizeof(thread->name) ? name->len : sizeof(thread->name);

	if (len)
		memcpy(thread->name, name->data, len);
	thread->name_len = (uint8_t)len;
}

static void set_waker(struct kernel_thread *thread, const struct kernel_item *item)
{
	thread->other = item->other;
	thread->other_pid = item->other_pid;
	thread->interrupt = item->interrupt;
	thread->woken = true;
}

static void forget_waker(struct kernel_thread *thread)
{
	thread->other = thread->other_pid = 0;
	thread->interrupt = thread->woken = false;
}

static void set_run(struct kernel_thread *thread, enum kernel_run run, uint64_t time)
{
	thread->run = (uint8_t)run;
	thread->sleep = GT_SLEEP_PLAIN;
	thread->since = time;
	forget_waker(thread);
}

/* A thread that was woken by another CPU just before it left its own to sleep stays runnable. */
static bool is_awake(const struct kernel_thread *thread, uint8_t why)
{
	return thread->run == KERNEL_RUNNING && thread->woken &&
	       (why == GT_OFF_SLEEPING || why == GT_OFF_DISK);
}

static void leave_cpu(struct kernel_thread *thread, const struct kernel_item *item)
{
	static const uint8_t run[GT_OFF_END] = {
		[GT_OFF_THROTTLED] = KERNEL_THROTTLED, [GT_OFF_SLEEPING] = KERNEL_SLEEPING,
		[GT_OFF_DISK] = KERNEL_BLOCKED,	       [GT_OFF_STOPPED] = KERNEL_STOPPED,
		[GT_OFF_DEAD] = KERNEL_GONE,
	};

	thread->cpu = item->cpu;
	if (is_awake(thread, item->why)) {
		thread->run = KERNEL_RUNNABLE;
		thread->since = item->time;
	} else if (item->why == GT_OFF_PREEMPTED || item->why == GT_OFF_YIELDED) {
		set_run(thread, KERNEL_RUNNABLE, item->time);
		thread->other = item->other;
		thread->other_pid = item->other_pid;
	} else {
		set_run(thread, item->why < GT_OFF_END ? run[item->why] : KERNEL_UNKNOWN,
			item->time);
		thread->sleep = item->sleep;
	}
}

/*
 * A thread that makes a system call, takes a page fault or wakes another is on a CPU, even if no
 * KERNEL_ON was seen: a 6.18 kernel of a virtual machine reports no switch away from a thread of
 * process 1, to perf and ftrace neither.
 */
static void confirm_running(struct kernel_thread *thread, const struct kernel_item *item)
{
	if (thread->run != KERNEL_RUNNING)
		set_run(thread, KERNEL_RUNNING, item->time);
	else
		forget_waker(thread);
	thread->cpu = item->cpu;
}

/* A wake-up of a thread that is already runnable came too late and is ignored. */
static void wake(struct kernel_thread *thread, const struct kernel_item *item)
{
	switch (thread->run) {
	case KERNEL_RUNNING: /* see is_awake(); a thread that wakes itself has not left its CPU */
		if (item->other != item->tid)
			set_waker(thread, item);
		break;
	case KERNEL_UNKNOWN:
	case KERNEL_SLEEPING:
	case KERNEL_BLOCKED:
	case KERNEL_STOPPED:
		set_run(thread, KERNEL_RUNNABLE, item->time);
		set_waker(thread, item);
		break;
	}
}

/* A tid can be reused: discard all state of the previous thread. */
static void set_created(struct kernel_thread *thread, const struct kernel_item *item)
{
	*thread = (struct kernel_thread){ .tid = item->tid,
					  .cpu = item->cpu,
					  .call = KERNEL_NO_CALL };
	set_run(thread, KERNEL_RUNNABLE, item->time);
	set_waker(thread, item);
	set_name(thread, &item->name);
}

static void leave_call(struct kernel_thread *thread)
{
	thread->call = KERNEL_NO_CALL;
	thread->call_since = 0;
}

static void leave_fault(struct kernel_thread *thread)
{
	thread->in_fault = false;
	thread->fault_since = 0;
}

uint32_t kernel_item__waker(const struct kernel_item *item)
{
	bool wakes = item->kind == KERNEL_WAKING && !item->interrupt && item->other != item->tid;

	return wakes ? item->other : 0;
}

int kernel_threads__apply(struct kernel_threads *t, const struct kernel_item *item)
{
	struct kernel_thread *thread, *waker;

	if (kernel_item__is_of_cpu(item))
		return 0;
	thread = kernel_threads__get(t, item->tid);
	if (!thread)
		return -ENOMEM;
	switch (item->kind) {
	case KERNEL_ON:
		set_run(thread, KERNEL_RUNNING, item->time);
		thread->cpu = item->cpu;
		break;
	case KERNEL_OFF:
		leave_cpu(thread, item);
		break;
	case KERNEL_WAKING:
		waker = kernel_threads__find(t, kernel_item__waker(item));
		if (waker)
			confirm_running(waker, item);
		wake(thread, item);
		break;
	case KERNEL_SYS_ENTER:
		confirm_running(thread, item);
		thread->call = item->number;
		thread->call_since = item->time;
		return kernel_threads__name_call(t, item->number, &item->name);
	case KERNEL_SYS_EXIT:
		confirm_running(thread, item);
		leave_call(thread);
		break;
	case KERNEL_CREATED:
		set_created(thread, item);
		break;
	case KERNEL_ENDED:
		set_run(thread, KERNEL_GONE, item->time);
		leave_call(thread);
		leave_fault(thread);
		break;
	case KERNEL_NAMED:
		set_name(thread, &item->name);
		break;
	case KERNEL_FAULT_BEGIN:
		confirm_running(thread, item);
		thread->in_fault = true;
		thread->fault_since = item->time;
		break;
	case KERNEL_FAULT_END:
		confirm_running(thread, item);
		leave_fault(thread);
		break;
	}
	return 0;
}

void kernel_threads__forget_gone(struct kernel_threads *t)
{
	struct kernel_thread *thread;

	/* Removal may move entries back to slots already visited, so the slot is examined again. */
	for (size_t i = 0; i < t->map.cap;) {
		thread = t->map.slot[i].value;
		if (thread && thread->run == KERNEL_GONE)
			free(map__remove(&t->map, thread->tid));
		else
			i++;
	}
}

void kernel_threads__lose_before(struct kernel_threads *t, uint64_t time)
{
	struct kernel_thread *thread;
	void *value;

	for (size_t i = 0; map__next(&t->map, &i, &value);) {
		thread = value;
		if (thread->run == KERNEL_GONE)
			continue;
		if (thread->since < time)
			set_run(thread, KERNEL_UNKNOWN, 0);
		if (thread->call_since < time)
			leave_call(thread);
		if (thread->fault_since < time)
			leave_fault(thread);
	}
}

void kernel_threads__lose(struct kernel_threads *t)
{
	kernel_threads__lose_before(t, UINT64_MAX);
}
