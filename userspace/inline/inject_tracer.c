// SPDX-License-Identifier: GPL-2.0
/*
 * The process that traces threads of the target: see inject_tracee.c.
 *
 * It has no filter of system calls, which PTRACE_O_SUSPEND_SECCOMP requires, and therefore nothing else:
 * no file, an empty root directory, and the capabilities for ptrace. It is started before its parent gets
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
#include "lib/confine.h"

#define STACK_SIZE (64 << 10)

/* ---- in that process ---- */

bool tracer__is_abandoned(const struct traced *t)
{
	char byte;

	return !recv(t->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
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
		if (t->held || syscall(SYS_tgkill, t->pid, r->tid, 0))
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
	a->can_batch = t->can_batch;
	a->word = t->word;
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

/* A connection, as its control message has it; -1: none. */
static int receive_socket(int control)
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
	int fd;

	if (recvmsg(control, &message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

static void start_thread(pid_t pid, int socket)
{
	struct traced *t = calloc(1, sizeof(*t));
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (t)
		*t = (struct traced){ .pid = pid, .socket = socket };
	if (!t || pthread_create(&thread, &attr, serve, t)) {
		close(socket);
		free(t);
	}
	pthread_attr_destroy(&attr);
}

static void trace_for_ever(pid_t pid, int control)
{
	static const cap_value_t caps[] = { CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_SYS_NICE, CAP_KILL };
	sigset_t all;
	int socket;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "gotrace-tracer");
	confine__keep_only(&control, 1);
	dup2(STDOUT_FILENO,
	     STDERR_FILENO); /* else a pipe of the recorder would stay open after it */
	confine__enter_empty_root();
	confine__keep_capabilities(caps, sizeof(caps) / sizeof(caps[0]));
	while ((socket = receive_socket(control)) >= 0)
		start_thread(pid, socket);
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
	pid_t child;
	int ends[2];

	if (tracer.pid == pid)
		return tracer.control;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	child = fork();
	if (!child) {
		close(ends[0]);
		trace_for_ever(pid, ends[1]);
	}
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
