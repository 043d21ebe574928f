// SPDX-License-Identifier: GPL-2.0
/*
 * From the kernel's items to a history: what the threads did since when, who woke them, who had which
 * core. path_fold.c has the goroutines.
 */
#include <errno.h>

#include "trace/path_impl.h"

#define NAMES_MAX 65536 /* of threads that are not the target's */

/* Why it has no core, as far as that follows from what it does; an item may say more. */
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

/* What the thread does from now on, if that is another thing. */
static int thread__changes(struct path_fold *f, const struct kernel_thread *kt, int64_t time,
			   struct path_run **ret)
{
	uint32_t thread;
	struct path_run *run;
	int err = path_fold__get(path_history__thread, f, kt->tid, &thread);

	*ret = NULL;
	if (err)
		return err;
	run = path_history__last_run(f->h, thread);
	if (run ? run->run == kt->run && run->cpu == kt->cpu : kt->run == KERNEL_UNKNOWN)
		return 0;
	run = path_history__run(f->h, thread, time);
	if (!run)
		return -ENOMEM;
	run->run = kt->run;
	run->why = why_of(kt->run);
	run->cpu = kt->cpu;
	run->call = kt->call;
	run->fault = kt->in_fault;
	run->woken = kt->woken;
	*ret = run;
	return 0;
}

/* The system call that a generation's table has of a thread. */
static int told_call(struct path_fold *f, const struct kernel_thread *kt)
{
	int64_t now = f->last, time = kt->call_since ? (int64_t)(kt->call_since - f->ahead) : now;
	const struct path_call *last;
	const struct path_list *calls;
	uint32_t thread;
	int err = path_fold__get(path_history__thread, f, kt->tid, &thread);

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

/* A generation begins: what its table says of threads that no item has told of. */
int path_fold__threads(struct path_fold *f, const struct kernel_threads *threads)
{
	int64_t now = f->last, time;
	const struct kernel_thread *kt;
	struct path_core core;
	struct path_run *run;
	uint32_t thread;
	void *value;
	int err = 0;

	for (size_t i = 0; !err && map__next(&threads->map, &i, &value);) {
		kt = value;
		time = kt->since ? (int64_t)(kt->since - f->ahead) : now;
		thread = path_history__find_thread(f->h, kt->tid);
		run = thread == PATH_NONE ? NULL : path_history__last_run(f->h, thread);
		if (time > now || kt->run == KERNEL_UNKNOWN || (run && time <= run->time))
			time = now;
		err = thread__changes(f, kt, time, &run);
		if (!err && kt->run != KERNEL_UNKNOWN)
			err = told_call(f, kt);
		if (err || !run || kt->run != KERNEL_RUNNING)
			continue;
		core = (struct path_core){ .time = time, .tid = kt->tid };
		err = path_history__on_cpu(f->h, kt->cpu, &core);
	}
	return err;
}

/* A thread's name; 0: not told here, and maybe elsewhere. */
static int learn_name(struct path_fold *f, uint32_t tid, const struct trace_string *name,
		      uint32_t *ret)
{
	struct map *names = &f->h->names;
	int err = path_fold__intern(f, name->data, name->len, ret);

	if (!err && *ret && tid && (names->n < NAMES_MAX || map__get(names, tid)))
		err = map__put(names, tid, (void *)(uintptr_t)*ret);
	return err;
}

/* Once of each: a file's name for what kernel__syscall() has none for. */
static int learn_call(struct path_fold *f, const struct kernel_item *item)
{
	struct map *calls = &f->h->calls;
	uint32_t name;
	int err;

	if (!item->name.len || kernel__syscall(item->number) || calls->n >= NAMES_MAX ||
	    map__get(calls, item->number))
		return 0;
	err = path_fold__intern(f, item->name.data, item->name.len, &name);
	return err ? err : map__put(calls, item->number, (void *)(uintptr_t)name);
}

/*
 * The system calls of a thread: one that the items do not end, because a record was lost, is over when the
 * thread is known to be in none.
 */
static int thread__call(struct path_fold *f, const struct kernel_item *item,
			const struct kernel_thread *kt, int64_t time)
{
	uint32_t thread;
	int err = path_fold__get(path_history__thread, f, item->tid, &thread);

	if (err)
		return err;
	if (item->kind == KERNEL_SYS_ENTER)
		return path_history__call(f->h, thread, time, item->number);
	if (kt->call == KERNEL_NO_CALL)
		path_history__call_ends(f->h, thread, time);
	return 0;
}

/* A thread has got, or left, a core. */
static int core__item(struct path_fold *f, const struct kernel_item *item, int64_t time,
		      uint32_t name)
{
	struct path_core core = { .time = time, .tid = item->tid, .name = name };

	if (item->kind == KERNEL_OFF)
		core.tid = item->other;
	if (item->kind != KERNEL_ON)
		core.pid = item->other_pid;
	if (item->kind == KERNEL_CORE) {
		f->h->machine_from = f->h->machine ? f->h->machine_from : time;
		f->h->machine_to = time;
		f->h->machine = true;
	}
	return path_history__on_cpu(f->h, item->cpu, &core);
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
	err = thread__call(f, item, kt, time);
	if (!err)
		err = thread__changes(f, kt, time, &run);
	if (err || !run || item->kind != KERNEL_OFF)
		return err;
	run->why = item->why;
	run->other = item->other;
	run->other_pid = item->other_pid;
	run->name = name;
	return 0;
}

int path_fold__item(struct path_fold *f, const struct kernel_item *item,
		    const struct kernel_threads *threads)
{
	int64_t time = (int64_t)(item->time - f->ahead);
	uint32_t name = 0;
	int err;

	if (item->kind == KERNEL_SYS_ENTER) {
		err = learn_call(f, item);
		if (err)
			return err;
	}
	if (item->kind == KERNEL_OFF || item->kind == KERNEL_WAKING || item->kind == KERNEL_CORE) {
		err = learn_name(f, item->kind == KERNEL_CORE ? item->tid : item->other,
				 &item->name, &name);
		if (err)
			return err;
	}
	err = item->kind == KERNEL_CORE ?
		      0 :
		      run__item(f, item, time, kernel_threads__find(threads, item->tid), name);
	if (!err &&
	    (item->kind == KERNEL_ON || item->kind == KERNEL_OFF || item->kind == KERNEL_CORE))
		err = core__item(f, item, time, name);
	return err;
}
