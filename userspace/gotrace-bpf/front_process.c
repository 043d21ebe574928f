// SPDX-License-Identifier: GPL-2.0
/*
 * The process that answers HTTP requests: see front_process.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/log.h"
#include "service/channel.h"
#include "service/front.h"
#include "service/front_user.h"
#include "service/own_socket.h"
#include "service/router.h"
#include "front_process.h"

#define RESTART_NS     1000000000ull	 /* before another start; doubled for each early end, */
#define RESTART_MAX_NS (16 * RESTART_NS) /* at most to this */
#define EARLY_NS       (60 * RESTART_NS)
#define PATIENCE_MS    2000		 /* for its end */
#define HANGS_NS       (30 * RESTART_NS) /* without a sign of life: FRONT_ALIVE_NS is the interval */
#define OWN_PAUSE_NS   (2 * RESTART_NS)	 /* after which it has to be given time, too */

struct front_process {
	struct front_user user; /* if this process is root */
	int listener;
	struct own_socket socket; /* of the file system, with the same descriptor; fd -1: none */
	pid_t pid;		  /* 0: it does not run */
	int channel;		  /* to it; the router's */
	uint64_t started;	  /* CLOCK_MONOTONIC, ns */
	uint64_t stepped;	  /* when this process last looked; CLOCK_MONOTONIC, ns */
	uint64_t resumed; /* the start, or the end of the latest pause of this process; as above */
	uint64_t pause;	  /* after its next end, ns */
	uint64_t next;	  /* it is not started before; CLOCK_MONOTONIC, ns */
};

/* A user that ran nothing before may run something now. */
static int choose_user(const struct front_process *f, struct front_opts *ret, struct error *error)
{
	return geteuid() ? 0 : front_user__choose(&f->user, &ret->uid, &ret->gid, error);
}

int front_process__create(struct front_process **ret, const char *address, const char *user,
			  struct error *error)
{
	struct front_process *f = calloc(1, sizeof(*f));
	struct front_opts opts;
	int err;

	if (!f)
		return error__set(error, -ENOMEM, "out of memory");
	err = geteuid() ? 0 : front_user__find(&f->user, user, error);
	err = err ?: choose_user(f, &opts, error);
	f->listener = err ? err : front__listen(address, &f->socket, error);
	if (f->listener < 0) {
		err = f->listener;
		free(f);
		return err;
	}
	*ret = f;
	return 0;
}

/* So that a cause that remains does not fill the log. */
static void delay_next(struct front_process *f, uint64_t now)
{
	if (!f->pause || now > f->started + EARLY_NS)
		f->pause = RESTART_NS;
	f->next = now + f->pause;
	if (f->pause < RESTART_MAX_NS)
		f->pause *= 2;
}

/* Reports the end of the process, as by a defect in the parsing of requests. */
static void reap(struct front_process *f, uint64_t now)
{
	int status;

	if (!f->pid || waitpid(f->pid, &status, WNOHANG) != f->pid)
		return;
	f->pid = 0;
	delay_next(f, now);
	if (WIFSIGNALED(status))
		log__msg("the process that answers HTTP requests was terminated by signal %d",
			 WTERMSIG(status));
	else
		log__msg("the process that answers HTTP requests exited with status %d",
			 WEXITSTATUS(status));
}

static int start(struct front_process *f, struct router *router, void (*abandon)(void *ctx),
		 void *ctx, struct error *error)
{
	struct front_opts opts = {};
	int fd[2], listener = f->listener, err = choose_user(f, &opts, error);

	if (err)
		return err;
	err = channel__pair(fd);
	if (err)
		return error__set(error, err, "%s", strerror(-err));
	f->pid = fork();
	if (!f->pid) {
		listener = dup(listener);
		close(fd[0]);
		abandon(ctx); /* `f`, too */
		_exit(front__run(listener, fd[1], &opts) ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	close(fd[1]);
	f->channel = fd[0];
	if (f->pid > 0) {
		err = router__add_requester(router, fd[0]);
	} else {
		err = -errno;
		f->pid = 0;
		close(fd[0]);
	}
	return err ? error__set(error, err, "%s", strerror(-err)) : 0;
}

/* It is killed, and then started again. Both processes may have been suspended together. */
static void end_if_it_hangs(struct front_process *f, const struct router *router, uint64_t now)
{
	uint64_t since = router__last_request(router, f->channel);

	if (now > f->stepped + OWN_PAUSE_NS)
		f->resumed = now;
	f->stepped = now;
	if (since < f->resumed)
		since = f->resumed;
	if (!f->pid || now < since + HANGS_NS)
		return;
	log__msg("the process that answers HTTP requests has not reported for %llu s: replacing it",
		 HANGS_NS / RESTART_NS);
	kill(f->pid, SIGKILL);
	f->resumed = now;
}

void front_process__step(struct front_process *f, struct router *router, uint64_t now,
			 void (*abandon)(void *ctx), void *ctx)
{
	struct error error = {};
	int err;

	reap(f, now);
	end_if_it_hangs(f, router, now);
	/* Without its channel it ends by itself, unless a client has taken it over. */
	if (f->pid && !router__has_requester(router, f->channel))
		kill(f->pid, SIGKILL);
	if (f->pid || now < f->next)
		return;
	f->started = f->resumed = now;
	err = start(f, router, abandon, ctx, &error);
	if (err)
		delay_next(f, now);
	if (err)
		log__msg("cannot start the process that answers HTTP requests: %s", error.text);
}

void front_process__abandon(struct front_process *f)
{
	if (!f)
		return;
	if (f->socket.fd >= 0)
		own_socket__close(&f->socket);
	else
		close(f->listener);
	free(f);
}

/* Its channel is closed, so it ends by itself, unless something is wrong with it. */
static void wait_for_end(const struct front_process *f)
{
	for (unsigned int ms = 0; f->pid; ms++) {
		if (waitpid(f->pid, NULL, ms > PATIENCE_MS ? 0 : WNOHANG))
			return;
		if (ms == PATIENCE_MS)
			kill(f->pid, SIGKILL);
		usleep(1000);
	}
}

void front_process__destroy(struct front_process *f)
{
	if (!f)
		return;
	wait_for_end(f);
	if (f->socket.fd >= 0)
		own_socket__remove(&f->socket);
	front_process__abandon(f);
}
