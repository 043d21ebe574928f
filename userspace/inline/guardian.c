// SPDX-License-Identifier: GPL-2.0
/* See guardian.h. One packet of the socket is a request, or its answer. */
#include "inline/guardian.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inline/claim.h"
#include "inline/guardian_filter.h"
#include "inline/confine.h"
#include "lib/log.h"

#define RETRY_MS 100 /* between attempts to restore the code, once the recorder has ended */
#define NICE	 (-10)

#define RETRIES	 50 /* then less often */
#define LATER_MS 5000
#define PATIENCE 30   /* s, for an answer */
#define CLAIM_MS 2000 /* until the guardian of the last recording has ended */

enum request { INSTALL, SWITCH_ON, SWITCH_OFF, REMOVE };

struct answer {
	int err;
	struct error error;
	struct gt_inline in;
	uint64_t held_ns;
};

/* ---- in the guardian ---- */

/*
 * Changes the target while other processes of the machine do not delay this one, which sleeps most of
 * that time. Without CAP_SYS_NICE they do. A policy that the user has chosen remains.
 */
static int hurry(int (*change)(struct installation *, struct error *), struct installation *s,
		 struct error *error)
{
	const struct sched_param normal = {}, realtime = { .sched_priority = 1 };
	bool raised = sched_getscheduler(0) == SCHED_OTHER &&
		      !sched_setscheduler(0, SCHED_FIFO, &realtime);
	int err = change(s, error);

	if (raised)
		sched_setscheduler(0, SCHED_OTHER, &normal);
	return err;
}

static int install(struct installation *s, struct error *error)
{
	int err = claim__take(s->proc->pid, s->mem_fd, CLAIM_MS, error);

	return err ? err : hurry(installation__install, s, error);
}

static bool has_ended(int tracer)
{
	struct pollfd fd = { .fd = tracer };

	return poll(&fd, 1, 0) > 0;
}

/* False: there is none any more. Without its tracer this process can do nothing; the recorder starts another. */
static bool await_request(int socket, int tracer, enum request *ret)
{
	struct pollfd fd[] = { { .fd = socket, .events = POLLIN }, { .fd = tracer } };

	while (poll(fd, 2, -1) < 0 && errno == EINTR)
		;
	return recv(socket, ret, sizeof(*ret), MSG_DONTWAIT) == sizeof(*ret);
}

static void answer(struct installation *s, int socket, int tracer, enum request request)
{
	struct answer a = {};

	if (request == INSTALL)
		a.err = install(s, &a.error);
	else if (request == REMOVE)
		a.err = hurry(installation__remove, s, &a.error);
	else
		a.err = installation__switch(s, request == SWITCH_ON);
	if (a.err && has_ended(tracer))
		return;
	a.in = s->in;
	a.held_ns = s->held_ns;
	send(socket, &a, sizeof(a), MSG_NOSIGNAL);
}

/*
 * Holds the claim only during the attempt: another recorder, which may have more privileges, can take
 * it between two attempts, and removes what is left.
 */
static int try_to_restore(struct installation *s, struct error *error)
{
	int err = claim__take(s->proc->pid, s->mem_fd, 0, error);

	if (err != -EBUSY)
		err = hurry(installation__remove, s, error);
	claim__release(s->mem_fd);
	return err;
}

/* The recorder has ended, whatever the reason. */
static void restore(struct installation *s, int pidfd, int tracer)
{
	struct pollfd fd[] = { { .fd = pidfd, .events = POLLIN }, { .fd = tracer } };
	struct error why = {};
	int tries = 0;

	/* The recorder's terminal or pipe is not for this process any more. */
	log__to_syslog();
	dup2(STDOUT_FILENO, STDERR_FILENO);
	while (try_to_restore(s, &why)) {
		if (!tries++)
			log__msg("%s; trying again until that is possible", why.text);
		why.text[0] = '\0';
		if (poll(fd, 2, tries < RETRIES ? RETRY_MS : LATER_MS) > 0)
			return;
	}
}

static void serve(struct installation *s, int socket)
{
	struct process *proc = (struct process *)s->proc;
	const int keep[] = { socket, proc->exe_fd, proc->pidfd, s->mem_fd, s->proc_fd };
	struct elf_image *elf;
	enum request request;
	int tracer;

	prctl(PR_SET_NAME, "gotrace-guard");
	signal(SIGPIPE, SIG_IGN);
	setsid(); /* a signal to the recorder's process group is not for this process */
	setpriority(PRIO_PROCESS, 0, NICE);
	if (confine__keep_only(keep, 5) || elf_image__open(&elf, proc->exe_fd, proc->exe, NULL))
		return;
	tracer = tracer__start(proc->pid);
	if (tracer < 0 || guardian__confine(s->proc_fd))
		return;
	s->elf = elf;
	if (s->patched) /* in place of a guardian that was killed */
		claim__take(proc->pid, s->mem_fd, CLAIM_MS, NULL);
	while (await_request(socket, tracer, &request))
		answer(s, socket, tracer, request);
	if (!has_ended(tracer))
		restore(s, proc->pidfd, tracer);
}

/* ---- in the recorder ---- */

int guardian__start(struct guardian *g, const struct installation *s, struct error *error)
{
	const struct timeval patience = { .tv_sec = PATIENCE };
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error__set(error, -errno, "socketpair: %s", strerror(errno));
	g->socket = ends[0];
	g->pid = fork();
	if (!g->pid) {
		struct installation own = *s;

		close(ends[0]);
		serve(&own, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	setsockopt(g->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (g->pid > 0)
		return 0;
	close(g->socket);
	g->pid = 0;
	return error__set(error, -errno, "cannot create a process: %s", strerror(errno));
}

static int ask(struct guardian *g, enum request request, struct installation *ret,
	       struct error *error)
{
	struct answer a;

	if (!g->pid || send(g->socket, &request, sizeof(request), MSG_NOSIGNAL) < 0 ||
	    recv(g->socket, &a, sizeof(a), 0) != sizeof(a))
		return error__set(error, -EPIPE, "the guardian of inline probes has ended");
	if (ret) {
		ret->in = a.in;
		ret->held_ns = a.held_ns;
	}
	return a.err ? error__set(error, a.err, "%s", a.error.text) : 0;
}

int guardian__install(struct guardian *g, struct installation *s, struct error *error)
{
	const struct installation before = *s;
	struct error why = {};
	int err = ask(g, INSTALL, s, &why);

	/* It was killed: the next one finds what it has done. */
	if (err == -EPIPE) {
		*s = before;
		why.text[0] = '\0';
		guardian__stop(g);
		err = guardian__start(g, s, &why);
		if (!err)
			err = ask(g, INSTALL, s, &why);
	}
	s->patched = !err;
	return err ? error__set(error, err, "%s", why.text) : 0;
}

int guardian__switch(struct guardian *g, bool on)
{
	return ask(g, on ? SWITCH_ON : SWITCH_OFF, NULL, NULL);
}

int guardian__remove(struct guardian *g, struct error *error)
{
	return ask(g, REMOVE, NULL, error);
}

bool guardian__is_alive(const struct guardian *g)
{
	struct pollfd fd = { .fd = g->socket, .events = POLLIN };

	return g->pid && !poll(&fd, 1, 0);
}

#define PATIENCE_MS 2000

void guardian__stop(struct guardian *g)
{
	if (!g->pid)
		return;
	close(g->socket);
	for (int ms = 0; ms < PATIENCE_MS && !waitpid(g->pid, NULL, WNOHANG); ms++)
		usleep(1000);
	g->pid = 0;
}
