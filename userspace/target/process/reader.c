// SPDX-License-Identifier: GPL-2.0
/*
 * The thread of reader.h, and how it is abandoned.
 *
 * `state` arbitrates between a thread whose read is just ending and a caller that gives up: both
 * try to change it from IN_READ. A thread that lost sleeps forever, so nothing is executed after
 * the read, and only the kernel still writes to the buffers of the read, which belong to the
 * thread: on its stack, or allocated and never freed.
 */
#include "target/process/reader.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"

#define STEP_NS 5000000 /* ns between two calls of `between` */

enum { RUNS, IN_READ, ABANDONED };

struct reader {
	reader_fn fn;
	int err;
	sem_t ended;
	atomic_int state;
	_Atomic uint64_t read_began; /* CLOCK_MONOTONIC, ns */
	char ctx[] __attribute__((aligned(16)));
};

static _Thread_local struct reader *current; /* NULL: not in a thread of reader__run() */

static void begin_read(void)
{
	if (!current)
		return;
	atomic_store(&current->read_began, clock__now());
	atomic_store(&current->state, IN_READ);
}

static void end_read(void)
{
	int was = IN_READ;

	if (!current || atomic_compare_exchange_strong(&current->state, &was, RUNS))
		return;
	for (;;)
		pause();
}

ssize_t reader__vm_read(pid_t pid, const struct iovec *local, const struct iovec *remote, size_t n)
{
	ssize_t done;
	int err;

	begin_read();
	done = process_vm_readv(pid, local, 1, remote, n, 0);
	err = errno;
	end_read();
	errno = err;
	return done;
}

static void *run(void *argument)
{
	struct reader *r = argument;

	current = r;
	r->err = r->fn(r->ctx);
	sem_post(&r->ended);
	return NULL;
}

static bool wait_a_step(struct reader *r)
{
	struct timespec until;
	uint64_t end = clock__now() + STEP_NS;

	until.tv_sec = (time_t)(end / 1000000000);
	until.tv_nsec = (long)(end % 1000000000);
	return !sem_clockwait(&r->ended, CLOCK_MONOTONIC, &until);
}

static bool signal_is_pending(void)
{
	sigset_t set;

	return !sigpending(&set) &&
	       (sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1 ||
		sigismember(&set, SIGHUP) == 1);
}

/* The reason not to wait for its read any longer; 0: none. */
static int give_up_reason(const struct reader *r)
{
	uint64_t began =
		atomic_load(&r->read_began); /* first: the next read may begin in between */
	uint64_t ms = (clock__now() - began) / 1000000;

	if (ms > READER_PATIENCE_MS)
		return -ETIMEDOUT;
	return ms > READER_SIGNAL_MS && signal_is_pending() ? -EINTR : 0;
}

static bool abandon(struct reader *r)
{
	int in_read = IN_READ;

	return atomic_compare_exchange_strong(&r->state, &in_read, ABANDONED);
}

/* Waits for its end unless it is in a read; *ret_err: an errno of `between`. False: abandoned. */
static bool wait_for(struct reader *r, int (*between)(void *), void *between_ctx, int *ret_err)
{
	int err = 0, why;

	while (!wait_a_step(r)) {
		if (!err && between)
			err = between(between_ctx);
		why = err || atomic_load(&r->state) != IN_READ ? err : give_up_reason(r);
		if (why && abandon(r)) {
			*ret_err = why;
			return false;
		}
	}
	*ret_err = err;
	return true;
}

int reader__run(reader_fn fn, void *ctx, size_t size, int (*between)(void *), void *between_ctx)
{
	struct reader *r = malloc(sizeof(*r) + size);
	pthread_t thread;
	int err;

	if (!r)
		return -ENOMEM;
	*r = (struct reader){ .fn = fn };
	memcpy(r->ctx, ctx, size);
	sem_init(&r->ended, 0, 0);
	err = -pthread_create(&thread, NULL, run, r);
	if (err) {
		free(r);
		return err;
	}
	if (!wait_for(r, between, between_ctx, &err)) {
		pthread_detach(thread);
		return err;
	}
	pthread_join(thread, NULL);
	memcpy(ctx, r->ctx, size);
	if (!err)
		err = r->err;
	sem_destroy(&r->ended);
	free(r);
	return err;
}

int reader__blocked(int err, pid_t pid, struct error *error)
{
	if (err == -EINTR)
		return error__set(error, err,
				  "interrupted while the memory of process %d could not be read",
				  pid);
	return error__set(
		error, err,
		"cannot read the memory of process %d: a page of it did not arrive "
		"within %d s; its userfaultfd handler or FUSE file system does not respond: "
		"restart that and try again",
		pid, READER_PATIENCE_MS / 1000);
}
