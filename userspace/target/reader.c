// SPDX-License-Identifier: GPL-2.0
/*
 * The thread of reader.h, and how it is abandoned.
 *
 * `state` decides between a thread whose read ends just now and a caller that gives up: both try to
 * change it from IN_READ. A thread that lost sleeps for ever, so nothing after the read is
 * executed, and only the kernel still writes to the read's buffers, which are the thread's own: on
 * its stack, or allocated and never freed.
 */
#include "target/reader.h"

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

#define STEP_NS 5000000 /* between two calls of `between` */

enum { RUNS, IN_READ, ABANDONED };

struct reader {
	reader_fn fn;
	int code;
	sem_t ended;
	atomic_int state;
	_Atomic uint64_t read_began; /* CLOCK_MONOTONIC, ns */
	char ctx[] __attribute__((aligned(16)));
};

static _Thread_local struct reader *current; /* NULL: not a thread of reader__run() */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void begin_read(void)
{
	if (!current)
		return;
	atomic_store(&current->read_began, now());
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
	int e;

	begin_read();
	done = process_vm_readv(pid, local, 1, remote, n, 0);
	e = errno;
	end_read();
	errno = e;
	return done;
}

static void *run(void *argument)
{
	struct reader *r = argument;

	current = r;
	r->code = r->fn(r->ctx);
	sem_post(&r->ended);
	return NULL;
}

static bool wait_a_step(struct reader *r)
{
	struct timespec until;
	uint64_t end = now() + STEP_NS;

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

/* Why its read is not to be waited for any longer; 0: it is. */
static int why_not(const struct reader *r)
{
	uint64_t ms = (now() - atomic_load(&r->read_began)) / 1000000;

	if (ms > READER_PATIENCE_MS)
		return -ETIMEDOUT;
	return ms > READER_SIGNAL_MS && signal_is_pending() ? -EINTR : 0;
}

static bool abandon(struct reader *r)
{
	int in_read = IN_READ;

	return atomic_compare_exchange_strong(&r->state, &in_read, ABANDONED);
}

/* Until it ends, which it does unless it is in a read; *ret_code: an errno of `between`. */
static bool wait_for(struct reader *r, int (*between)(void *), void *between_ctx, int *ret_code)
{
	int code = 0, why;

	while (!wait_a_step(r)) {
		if (!code && between)
			code = between(between_ctx);
		why = code || atomic_load(&r->state) != IN_READ ? code : why_not(r);
		if (why && abandon(r)) {
			*ret_code = why;
			return false;
		}
	}
	*ret_code = code;
	return true;
}

int reader__run(reader_fn fn, void *ctx, size_t size, int (*between)(void *), void *between_ctx)
{
	struct reader *r = malloc(sizeof(*r) + size);
	pthread_t thread;
	int code;

	if (!r)
		return -ENOMEM;
	*r = (struct reader){ .fn = fn };
	memcpy(r->ctx, ctx, size);
	sem_init(&r->ended, 0, 0);
	code = -pthread_create(&thread, NULL, run, r);
	if (code) {
		free(r);
		return code;
	}
	if (!wait_for(r, between, between_ctx, &code)) {
		pthread_detach(thread);
		return code;
	}
	pthread_join(thread, NULL);
	memcpy(ctx, r->ctx, size);
	if (!code)
		code = r->code;
	sem_destroy(&r->ended);
	free(r);
	return code;
}

int reader__blocked(int code, pid_t pid, struct error *err)
{
	if (code == -EINTR)
		return error__set(err, code,
				  "interrupted while the memory of process %d could not be "
				  "read",
				  pid);
	return error__set(
		err, code,
		"cannot read the memory of process %d: a page of it did not arrive "
		"within %d s; a userfaultfd handler or a FUSE file system of it does not answer",
		pid, READER_PATIENCE_MS / 1000);
}
