// SPDX-License-Identifier: GPL-2.0
/*
 * One traced thread of the target, bounded in time.
 *
 * All ptrace requests must come from the thread that attached, and only a stopped thread can be
 * detached. A thread that does not stop (its cgroup is frozen, or a system call of it hangs on a
 * lock or a file system) therefore needs someone to wait for it, or it would remain stopped when it
 * does. So a thread of another process makes the requests and waits without a limit (inject_tracer.c);
 * this one waits for it with a limit, and then closes the connection, after which that thread detaches
 * as soon as it can.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inline/inject_tracee.h"

#define STOP_SECONDS 3 /* until a thread has stopped */
#define CALL_SECONDS 3 /* until a system call has returned */

struct tracee {
	pid_t pid;
	int socket; /* -1: not connected any more */
	bool can_batch;
	uint64_t held_at,
		held_ns; /* the time from the stop until the thread went on; 0: it is unknown */
};

static void disconnect(struct tracee *t)
{
	if (t->socket >= 0)
		close(t->socket);
	t->socket = -1;
}

/* -ETIMEDOUT: not within the time, or the tracing process has ended. No job is possible then. */
static long run(struct tracee *t, const struct tracee_request *request, int seconds,
		struct tracee_answer *ret)
{
	struct pollfd fd = { .fd = t->socket, .events = POLLIN };

	if (t->socket >= 0 &&
	    send(t->socket, request, sizeof(*request), MSG_NOSIGNAL) == sizeof(*request) &&
	    poll(&fd, 1, seconds * 1000) > 0 &&
	    recv(t->socket, ret, sizeof(*ret), MSG_DONTWAIT) == sizeof(*ret))
		return ret->result;
	disconnect(t);
	return -ETIMEDOUT;
}

static int run_simple(struct tracee *t, enum job job)
{
	const struct tracee_request request = { .job = job };
	struct tracee_answer answer;

	return (int)run(t, &request, STOP_SECONDS, &answer);
}

int tracee__create(struct tracee **ret, pid_t pid)
{
	struct tracee *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->pid = pid;
	t->socket = tracer__connect(pid);
	err = t->socket;
	if (err < 0)
		free(t);
	else
		*ret = t;
	return err < 0 ? err : 0;
}

void tracee__destroy(struct tracee *t)
{
	if (!t)
		return;
	run_simple(t, JOB_END);
	disconnect(t);
	free(t);
}

/*
 * A thread that has ended remains a zombie of its tracer, and an execve() waits for it. One that has
 * called execve() is still traced, by the TID of the process. The end of the tracing thread releases
 * both.
 */
static void release_lost(struct tracee *t)
{
	run_simple(t, JOB_END);
	disconnect(t);
	t->socket = tracer__connect(t->pid);
}

int tracee__hold(struct tracee *t, pid_t tid, bool has_filter, struct user_regs_struct *ret)
{
	const struct tracee_request request = { .job = JOB_HOLD,
						.tid = tid,
						.has_filter = has_filter };
	struct tracee_answer answer;
	int err = (int)run(t, &request, STOP_SECONDS, &answer);

	if (err == -ESRCH)
		release_lost(t);
	if (err)
		return err == -EAGAIN ? -ESRCH : err;
	t->can_batch = answer.can_batch;
	t->held_at = answer.time;
	*ret = answer.regs;
	return 0;
}

int tracee__peek(struct tracee *t, uint64_t addr, uint64_t *ret)
{
	const struct tracee_request request = { .job = JOB_PEEK, .addr = addr };
	struct tracee_answer answer;
	int err = (int)run(t, &request, STOP_SECONDS, &answer);

	if (!err)
		*ret = answer.word;
	return err;
}

long tracee__call(struct tracee *t, uint64_t stub, const struct user_regs_struct *home, long number,
		  const uint64_t arg[6])
{
	struct tracee_request request = {
		.job = JOB_CALL,
		.stub = stub,
		.number = number,
		.call = *home,
	};
	struct tracee_answer answer;

	regs__set_call(&request.call, stub, SYS_sched_yield, arg);
	return run(t, &request, CALL_SECONDS, &answer);
}

bool tracee__can_batch(const struct tracee *t)
{
	return t->can_batch;
}

long tracee__batch(struct tracee *t, uint64_t stub, const struct user_regs_struct *home,
		   uint64_t table, size_t n, size_t *ret_done)
{
	struct tracee_request request = { .job = JOB_BATCH, .stub = stub, .call = *home };
	struct tracee_answer answer;
	long err;

	*ret_done = 0;
	stub__begin_batch(&request.call, stub, table, n);
	err = run(t, &request, CALL_SECONDS, &answer);
	if (err)
		return err;
	*ret_done = stub__batch_done(&answer.regs, table);
	return stub__batch_result(&answer.regs);
}

int tracee__restore(struct tracee *t)
{
	return run_simple(t, JOB_RESTORE);
}

int tracee__release(struct tracee *t)
{
	const struct tracee_request request = { .job = JOB_RELEASE };
	struct tracee_answer answer;
	int err = (int)run(t, &request, STOP_SECONDS, &answer);

	if (!err)
		t->held_ns = answer.time - t->held_at;
	return err;
}

uint64_t tracee__held_ns(const struct tracee *t)
{
	return t ? t->held_ns : 0;
}
