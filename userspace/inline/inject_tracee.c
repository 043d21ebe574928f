// SPDX-License-Identifier: GPL-2.0
/*
 * One traced thread of the target, bounded in time.
 *
 * All ptrace requests must come from the thread that attached, and only a stopped thread can be
 * detached. A thread that does not stop (its cgroup is frozen, or a system call of it hangs on a
 * lock or a file system) therefore needs someone to wait for it, or it would remain stopped when it
 * does. So a thread of this process makes the requests and waits without a limit; its caller waits
 * for it with a limit. A job that is late ends by detaching.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>

#include "inline/inject_tracee.h"

#define STOP_SECONDS 3 /* until a thread has stopped */
#define CALL_SECONDS 3 /* until a system call has returned */
#define STACK_SIZE   (64 << 10)

static void free_tracee(struct tracee *t)
{
	pthread_cond_destroy(&t->wake);
	pthread_cond_destroy(&t->done);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static void *serve(void *arg)
{
	struct tracee *t = arg;
	bool orphan;

	pthread_mutex_lock(&t->lock);
	while (t->job || !t->quit) {
		long (*job)(struct tracee *) = t->job;
		long result;

		if (!job) {
			pthread_cond_wait(&t->wake, &t->lock);
			continue;
		}
		pthread_mutex_unlock(&t->lock);
		result = job(t);
		if (t->late && t->held)
			job__release(t);
		pthread_mutex_lock(&t->lock);
		t->result = result;
		t->job = NULL;
		pthread_cond_signal(&t->done);
	}
	orphan = t->orphan;
	pthread_mutex_unlock(&t->lock);
	if (t->held)
		job__release(t);
	if (orphan)
		free_tracee(t);
	return NULL;
}

static long run(struct tracee *t, long (*job)(struct tracee *), time_t seconds)
{
	struct timespec until;
	long result;

	if (t->late)
		return -ETIMEDOUT;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += seconds;
	pthread_mutex_lock(&t->lock);
	t->job = job;
	pthread_cond_signal(&t->wake);
	while (t->job && !t->late)
		if (pthread_cond_timedwait(&t->done, &t->lock, &until) == ETIMEDOUT && t->job)
			t->late = true;
	result = t->late ? -ETIMEDOUT : t->result;
	pthread_mutex_unlock(&t->lock);
	return result;
}

/* The thread takes no signals, which are for the others. */
static int start(struct tracee *t)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&t->thread, &attr, serve, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}

int tracee__create(struct tracee **ret, pid_t pid)
{
	struct tracee *t = calloc(1, sizeof(*t));
	pthread_condattr_t attr;
	int err;

	if (!t)
		return -ENOMEM;
	t->pid = pid;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->wake, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->done, &attr);
	pthread_condattr_destroy(&attr);
	err = start(t);
	if (err)
		free_tracee(t);
	else
		*ret = t;
	return err;
}

void tracee__destroy(struct tracee *t)
{
	pthread_t thread;
	bool orphan;

	if (!t)
		return;
	if (t->ended) {
		free_tracee(t);
		return;
	}
	thread = t->thread;
	pthread_mutex_lock(&t->lock);
	t->quit = true;
	orphan = t->orphan = t->job;
	if (orphan)
		pthread_detach(thread);
	pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&t->lock);
	if (orphan)
		return;
	pthread_join(thread, NULL);
	free_tracee(t);
}

static void stop(struct tracee *t)
{
	pthread_mutex_lock(&t->lock);
	t->quit = true;
	pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
}

/*
 * A thread that has ended remains a zombie of its tracer, and an execve() waits for it. One that has
 * called execve() is still traced, by the TID of the process. The end of the tracing thread releases
 * both.
 */
static void release_lost(struct tracee *t)
{
	stop(t);
	t->quit = false;
	if (start(t)) /* no more jobs, and no thread to join */
		t->late = t->ended = true;
}

int tracee__hold(struct tracee *t, pid_t tid, bool has_filter, struct user_regs_struct *ret)
{
	int err;

	t->tid = tid;
	t->has_filter = has_filter;
	err = (int)run(t, job__hold, STOP_SECONDS);
	if (err == -ESRCH)
		release_lost(t);
	if (!err)
		*ret = t->regs;
	return err == -EAGAIN ? -ESRCH : err;
}

int tracee__peek(struct tracee *t, uint64_t addr, uint64_t *ret)
{
	int err;

	t->addr = addr;
	err = (int)run(t, job__peek, STOP_SECONDS);
	if (!err)
		*ret = t->word;
	return err;
}

long tracee__call(struct tracee *t, uint64_t stub, const struct user_regs_struct *home, long number,
		  const uint64_t arg[6])
{
	if (t->late)
		return -ETIMEDOUT;
	t->stub = stub;
	t->number = number;
	t->call = *home;
	regs__set_call(&t->call, stub, SYS_sched_yield, arg);
	return run(t, job__call, CALL_SECONDS);
}

bool tracee__can_batch(const struct tracee *t)
{
	return t->can_batch;
}

long tracee__batch(struct tracee *t, uint64_t stub, const struct user_regs_struct *home,
		   uint64_t table, size_t n, size_t *ret_done)
{
	long err;

	*ret_done = 0;
	if (t->late)
		return -ETIMEDOUT;
	t->stub = stub;
	t->call = *home;
	stub__begin_batch(&t->call, stub, table, n);
	err = run(t, job__batch, CALL_SECONDS);
	if (err)
		return err;
	*ret_done = stub__batch_done(&t->call, table);
	return stub__batch_result(&t->call);
}

int tracee__restore(struct tracee *t)
{
	return (int)run(t, job__restore, STOP_SECONDS);
}

int tracee__release(struct tracee *t)
{
	return (int)run(t, job__release, STOP_SECONDS);
}
