// SPDX-License-Identifier: GPL-2.0
/*
 * From kernel events to a history: the states of threads, what woke them, what each CPU ran.
 *
 * path_fold.c has the goroutines.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/path_impl.h"

#define NAMES_MAX 65536 /* of threads that are not the target's */

/* Why it has no CPU, as far as that follows from its state; a kernel event may have more. */
static uint8_t why_of(uint8_t run)
{
	switch (run) {
	case KERNEL_SLEEPING:
		return GT_OFF_SLEEPING;
	case KERNEL_BLOCKED:
		return GT_OFF_DISK;
	case KERNEL_STOPPED:
		return GT_OFF_STOPPED;
	default:
		return 0;
	}
}

/*
 * What the thread does from now on, if that is another thing. left: it left a CPU, so if it had
 * none, the kernel has not reported that it got one in between (format/kernel.c), and the wait for
 * one, or the sleep, is another.
 */
static int thread__changes(struct path_fold *f, const struct kernel_thread *kt, int64_t time,
			   bool left, struct path_run **ret)
{
	uint32_t thread;
	struct path_run *run;
	int err = path_fold__get(f, &f->h->threads, kt->tid, &thread);

	*ret = NULL;
	if (err)
		return err;
	run = path_history__last_run(f->h, thread);
	if (run ? run->run == kt->run && run->cpu == kt->cpu && !left : kt->run == KERNEL_UNKNOWN)
		return 0;
	run = path_history__run(f->h, thread, time);
	if (!run)
		return -ENOMEM;
	run->run = kt->run;
	run->why = why_of(kt->run);
	run->sleep = kt->sleep;
	run->cpu = kt->cpu;
	run->call = kt->call;
	run->fault = kt->in_fault;
	run->woken = kt->woken;
	*ret = run;
	return 0;
}

/* The system call that a generation's table has of a thread. */
static int table_call(struct path_fold *f, const struct kernel_thread *kt)
{
	int64_t now = f->tracker.now,
		time = kt->call_since ? (int64_t)(kt->call_since - f->ahead) : now;
	const struct path_call *last;
	const struct path_list *calls;
	uint32_t thread;
	int err = path_fold__get(f, &f->h->threads, kt->tid, &thread);

	if (err)
		return err;
	if (kt->call == KERNEL_NO_CALL) {
		path_history__call_ends(f->h, thread, now);
		return 0;
	}
	calls = &path_thread(f->h, thread)->calls;
	last = calls->n ? (const struct path_call *)calls->at + calls->n - 1 : NULL;
	if (last && last->to == INT64_MAX && last->number == kt->call)
		return 0;
	if (time > now || (last && time <= last->time))
		time = now;
	return path_history__call(f->h, thread, time, kt->call);
}

static int table_thread(struct path_fold *f, const struct kernel_thread *kt)
{
	int64_t now = f->tracker.now, time = kt->since ? (int64_t)(kt->since - f->ahead) : now;
	uint32_t thread = path_history__find_thread(f->h, kt->tid);
	struct path_run *run = thread == PATH_NONE ? NULL : path_history__last_run(f->h, thread);
	struct path_occupant occupant;
	int err;

	if (time > now || kt->run == KERNEL_UNKNOWN || (run && time <= run->time))
		time = now;
	err = thread__changes(f, kt, time, false, &run);
	if (!err && kt->run != KERNEL_UNKNOWN)
		err = table_call(f, kt);
	if (err || !run || kt->run != KERNEL_RUNNING)
		return err;
	occupant = (struct path_occupant){ .time = time, .tid = kt->tid };
	return path_history__on_cpu(f->h, kt->cpu, &occupant);
}

int path_fold__threads(struct path_fold *f, const struct kernel_threads *threads)
{
	struct map_slot *thread;
	size_t n;
	int err = 0;

	/* By tid: of two threads on one CPU the last stays, and the map's order varies by run. */
	thread = map__sorted(&threads->map, &n);
	if (!thread)
		return -ENOMEM;
	for (size_t i = 0; !err && i < n; i++)
		err = table_thread(f, thread[i].value);
	free(thread);
	return err;
}

/* A thread's name; 0: not in this event, but perhaps in another. */
static int learn_name(struct path_fold *f, uint32_t tid, int64_t time,
		      const struct trace_string *name, uint32_t *ret)
{
	struct map *names = &f->h->names;
	int err = intern__text(f->h->texts, *name, ret);

	if (!err && *ret && tid && time < f->h->to &&
	    (names->n < NAMES_MAX || map__get(names, tid)))
		err = map__put(names, tid, (void *)(uintptr_t)*ret);
	return err;
}

/* The name of a system call that kernel__syscall() does not have, once for each. */
static int learn_call(struct path_fold *f, const struct kernel_item *item)
{
	struct map *calls = &f->h->calls;
	uint32_t name;
	int err;

	if (!item->name.len || kernel__syscall(item->number) || calls->n >= NAMES_MAX ||
	    map__get(calls, item->number))
		return 0;
	err = intern__text(f->h->texts, item->name, &name);
	return err ? err : map__put(calls, item->number, (void *)(uintptr_t)name);
}

/*
 * The system calls of a thread: one without an end, because a record was lost, is over when the
 * thread is known to be in none.
 */
static int thread__call(struct path_fold *f, const struct kernel_item *item,
			const struct kernel_thread *kt, int64_t time)
{
	uint32_t thread;
	int err = path_fold__get(f, &f->h->threads, item->tid, &thread);

	if (err)
		return err;
	if (item->kind == KERNEL_SYS_ENTER)
		return path_history__call(f->h, thread, time, item->number);
	if (kt->call == KERNEL_NO_CALL)
		path_history__call_ends(f->h, thread, time);
	return 0;
}

/* What a system call returns when a signal interrupts it: the kernel restarts it, or the caller. */
static bool is_interrupted(uint64_t result)
{
	enum { ERESTARTSYS = 512, ERESTARTNOHAND = 514, ERESTART_RESTARTBLOCK = 516 };
	uint64_t error = -result;

	return error == EINTR || (error >= ERESTARTSYS && error <= ERESTARTNOHAND) ||
	       error == ERESTART_RESTARTBLOCK;
}

/*
 * The thread's last sleep, if it was in the system call that has returned this, or just before that
 * in another one of this number.
 */
static void note_result(struct path_fold *f, const struct kernel_item *item)
{
	uint32_t thread = path_history__find_thread(f->h, item->tid), left = RETRY_STEPS;
	const struct path_list *runs;
	struct path_run *run;

	if (thread == PATH_NONE || is_interrupted(item->value))
		return;
	runs = &path_thread(f->h, thread)->runs;
	run = runs->at;
	for (uint32_t i = runs->n; i-- && left-- && run[i].call == item->number;) {
		if (path_run__is_asleep(run[i].run)) {
			run[i].done = true;
			return;
		}
	}
}

/* A thread has got, or left, a CPU. */
static int cpu__item(struct path_fold *f, const struct kernel_item *item, int64_t time,
		     uint32_t name)
{
	struct path_occupant occupant = { .time = time, .tid = item->tid, .name = name };

	if (f->h->machine && kernel_item__is_unknown(item)) /* perf has it */
		return 0;
	occupant.before = item->before;
	if (item->kind == KERNEL_OFF)
		occupant.tid = item->other;
	if (item->kind != KERNEL_ON)
		occupant.pid = item->other_pid;
	if (item->kind == KERNEL_CPU) {
		f->h->machine_from = f->h->machine ? f->h->machine_from : time;
		f->h->machine_to = time;
		f->h->machine = true;
	}
	return path_history__on_cpu(f->h, item->cpu, &occupant);
}

static int run__item(struct path_fold *f, const struct kernel_item *item, int64_t time,
		     const struct kernel_thread *kt, uint32_t name)
{
	uint32_t thread = path_history__find_thread(f->h, item->tid);
	struct path_run *last = thread == PATH_NONE ? NULL : path_history__last_run(f->h, thread),
			*run;
	int err;

	if (!kt)
		return 0;
	if (item->kind == KERNEL_WAKING && last && path_run__is_asleep(last->run) &&
	    !path_run__is_asleep(kt->run)) {
		last->over = true;
		last->other = item->other;
		last->other_pid = item->other_pid;
		last->name = name;
		last->interrupt = item->interrupt;
	}
	if (item->kind == KERNEL_SYS_EXIT)
		note_result(f, item);
	err = thread__call(f, item, kt, time);
	if (!err)
		err = thread__changes(f, kt, time, item->kind == KERNEL_OFF, &run);
	if (err || !run || item->kind != KERNEL_OFF)
		return err;
	run->why = item->why;
	run->other = item->other;
	run->other_pid = item->other_pid;
	run->name = name;
	return 0;
}

/* A thread that waits for a CPU waits for another one. */
static int move__item(struct path_fold *f, const struct kernel_item *item, int64_t time)
{
	uint32_t thread;
	int err = path_fold__get(f, &f->h->threads, item->tid, &thread);

	return err ? err :
		     path_history__moved(f->h, thread, time, (uint16_t)item->other, item->cpu);
}

/* A thread that wakes another one has a CPU, even if no event has shown that it got one. */
static int waker__item(struct path_fold *f, const struct kernel_item *item, int64_t time,
		       const struct kernel_threads *threads)
{
	const struct kernel_thread *waker = kernel_threads__find(threads, kernel_item__waker(item));
	struct path_run *run;

	return waker ? thread__changes(f, waker, time, false, &run) : 0;
}

int path_fold__item(struct path_fold *f, const struct kernel_item *item,
		    const struct kernel_threads *threads)
{
	int64_t time = (int64_t)(item->time - f->ahead);
	bool of_cpu = kernel_item__is_of_cpu(item);
	uint32_t name = 0;
	int err;

	if (item->kind == KERNEL_SYS_ENTER) {
		err = learn_call(f, item);
		if (err)
			return err;
	}
	if (item->kind == KERNEL_OFF || item->kind == KERNEL_WAKING || of_cpu) {
		err = learn_name(f, of_cpu ? item->tid : item->other, time, &item->name, &name);
		if (err)
			return err;
	}
	f->h->waits |= threads->waits;
	if (item->kind == KERNEL_MOVED)
		return move__item(f, item, time);
	err = waker__item(f, item, time, threads);
	if (!err && !of_cpu)
		err = run__item(f, item, time, kernel_threads__find(threads, item->tid), name);
	if (!err && (item->kind == KERNEL_ON || item->kind == KERNEL_OFF || of_cpu))
		err = cpu__item(f, item, time, name);
	return err;
}
