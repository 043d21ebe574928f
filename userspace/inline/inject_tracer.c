// SPDX-License-Identifier: GPL-2.0
/*
 * The process that traces threads of the target: see inject_tracee.c.
 *
 * It has no filter of system calls, which PTRACE_O_SUSPEND_SECCOMP requires, and therefore nothing else:
 * no file but a pidfd, by which it recognizes threads of another process, an empty root directory, and the capabilities for ptrace. It is started before its parent gets
 * a filter. Each connection has a thread, whose end releases what it traces.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inline/inject_tracee.h"
#include "inline/confine.h"

#define STACK_SIZE (64 << 10)

/* ---- in that process ---- */

bool tracer__is_abandoned(const struct traced *t)
{
	char byte;

	return !recv(t->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
}

/* A thread that is held keeps its TID. */
static bool is_of_process(const struct traced *t, pid_t tid)
{
	return !syscall(SYS_tgkill, t->pid, tid, 0) &&
	       !syscall(SYS_pidfd_send_signal, t->pidfd, 0, NULL, 0);
}

static long do_job(struct traced *t, const struct tracee_request *r, struct tracee_answer *a)
{
	static long (*const jobs[])(struct traced *) = {
		[JOB_HOLD] = job__hold,	      [JOB_PEEK] = job__peek,
		[JOB_CALL] = job__call,	      [JOB_BATCH] = job__batch,
		[JOB_RESTORE] = job__restore, [JOB_RELEASE] = job__release,
	};

	if ((unsigned int)r->job >= sizeof(jobs) / sizeof(jobs[0]))
		return -EINVAL;
	if (r->job == JOB_HOLD) {
		if (t->held || !is_of_process(t, r->tid))
			return -ESRCH;
		t->tid = r->tid;
		t->has_filter = r->has_filter;
	} else if (r->job != JOB_RELEASE && !t->held) {
		return -ESRCH;
	}
	t->number = r->number;
	t->addr = r->addr;
	t->stub = r->stub;
	t->call = r->call;
	a->result = jobs[r->job](t);
	if (r->job == JOB_HOLD && !a->result && !is_of_process(t, t->tid)) {
		job__release(t); /* its TID was that of a thread which has ended meanwhile */
		a->result = -ESRCH;
	}
	a->can_batch = t->can_batch;
	a->word = t->word;
	a->time = t->time;
	a->regs = r->job == JOB_BATCH ? t->call : t->regs;
	return a->result;
}

/* While other processes do not delay it: a thread of the target is held meanwhile. */
static void hurry(void)
{
	const struct sched_param realtime = { .sched_priority = 1 };

	if (sched_getscheduler(0) == SCHED_OTHER)
		sched_setscheduler(0, SCHED_FIFO, &realtime);
}

static void *serve(void *arg)
{
	struct traced *t = arg;
	struct tracee_request request;

	hurry();
	while (recv(t->socket, &request, sizeof(request), 0) == sizeof(request) &&
	       request.job != JOB_END) {
		struct tracee_answer answer = {};

		answer.result = do_job(t, &request, &answer);
		if (send(t->socket, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	if (t->held)
		job__release(t);
	close(t->socket);
	free(t);
	return NULL;
}

/* A connection, as its control message has it; -1: that descriptor could not be opened. False: no more. */
static bool receive_socket(int control, int *ret)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} ancillary = {};
	char byte;
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &ancillary,
		.msg_controllen = sizeof(ancillary),
	};
	struct cmsghdr *header;

	*ret = -1;
	if (recvmsg(control, &message, MSG_CMSG_CLOEXEC) != 1)
		return false;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(ret, CMSG_DATA(header), sizeof(*ret));
	return true;
}

static void start_thread(pid_t pid, int pidfd, int socket)
{
	struct traced *t = calloc(1, sizeof(*t));
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (t)
		*t = (struct traced){ .pid = pid, .pidfd = pidfd, .socket = socket };
	if (!t || pthread_create(&thread, &attr, serve, t)) {
		close(socket);
		free(t);
	}
	pthread_attr_destroy(&attr);
}

static void trace_for_ever(pid_t pid, int pidfd, int control)
{
	static const cap_value_t caps[] = { CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_SYS_NICE, CAP_KILL };
	const int keep[] = { control, pidfd };
	sigset_t all;
	int socket;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "gotrace-tracer");
	if (confine__keep_only(keep, 2))
		_exit(1);
	dup2(STDOUT_FILENO,
	     STDERR_FILENO); /* else a pipe of the recorder would stay open after it */
	confine__enter_empty_root();
	if (confine__keep_capabilities(caps, sizeof(caps) / sizeof(caps[0])))
		_exit(1);
	while (receive_socket(control, &socket))
		if (socket >= 0)
			start_thread(pid, pidfd, socket);
	/* Its threads end as soon as they can release what they trace. pthread_exit() would load a library. */
	syscall(SYS_exit, 0);
}

/* ---- in its parent ---- */

static struct {
	pid_t pid; /* that it traces; 0: none */
	int control;
} tracer = { .control = -1 };

int tracer__start(pid_t pid)
{
	int pidfd, ends[2];
	pid_t child;

	if (tracer.pid == pid)
		return tracer.control;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		close(pidfd);
		return -errno;
	}
	child = fork();
	if (!child) {
		close(ends[0]);
		trace_for_ever(pid, pidfd, ends[1]);
	}
	close(pidfd);
	close(ends[1]);
	if (child < 0 || tracer.control >= 0)
		close(child < 0 ? ends[0] : tracer.control);
	if (child < 0)
		return -EAGAIN;
	tracer.pid = pid;
	tracer.control = ends[0];
	return tracer.control;
}

static int send_socket(int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} ancillary = {};
	struct iovec data = { "", 1 };
	const struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &ancillary,
		.msg_controllen = sizeof(ancillary),
	};

	ancillary.header = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	};
	memcpy(CMSG_DATA(&ancillary.header), &fd, sizeof(fd));
	return sendmsg(tracer.control, &message, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

int tracer__connect(pid_t pid)
{
	int err = tracer__start(pid), ends[2];

	if (err >= 0)
		err = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) ? -errno : 0;
	if (err)
		return err;
	err = send_socket(ends[1]);
	close(ends[1]);
	if (!err)
		return ends[0];
	close(ends[0]);
	tracer.pid = 0; /* it was killed: another one, unless a filter forbids that */
	return err;
}
