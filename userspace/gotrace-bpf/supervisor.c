// SPDX-License-Identifier: GPL-2.0
/*
 * The front and the requests: see supervisor.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "metrics/metrics.h"
#include "service/channel.h"
#include "target/process/process.h"
#include "front_process.h"
#include "supervisor.h"
#include "target_metrics.h"
#include "target_status.h"

struct supervisor {
	struct supervisor_opts opts;
	struct router *router;
	struct front_process *front; /* NULL: none */
	struct serve_control *control;
	unsigned int recorded; /* processes, also those that are being attached */
};

int supervisor__create(struct supervisor **ret, const struct supervisor_opts *opts,
		       struct error *error)
{
	struct router_opts router = {
		.targets = { target_status__print_json, TARGET_STATUS_MAX },
		.stats = { target_status__print_bytes, TARGET_STATUS_MAX },
		.metrics = { target_metrics__print, METRICS_SNAPSHOT_MAX },
		.answer = serve_control__answer,
	};
	struct supervisor *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return error__set(error, -ENOMEM, "out of memory");
	s->opts = *opts;
	err = serve_control__create(&s->control, &opts->control, error);
	router.ctx = s->control;
	s->router = err ? NULL : router__create(&router);
	if (!err && !s->router)
		err = error__set(error, -ENOMEM, "out of memory");
	if (!err && opts->http)
		err = front_process__create(&s->front, opts->http, opts->user, error);
	if (err)
		supervisor__destroy(s);
	else
		*ret = s;
	return err;
}

void supervisor__abandon(struct supervisor *s)
{
	if (!s)
		return;
	router__destroy(s->router);
	serve_control__abandon(s->control);
	front_process__abandon(s->front);
	free(s);
}

void supervisor__destroy(struct supervisor *s)
{
	if (!s)
		return;
	serve_control__destroy(s->control);
	s->control = NULL;
	router__destroy(s->router);
	s->router = NULL;
	front_process__destroy(s->front);
	s->front = NULL;
	supervisor__abandon(s);
}

int supervisor__add(struct supervisor *s, unsigned int slot, int pid)
{
	int fd[2], err = channel__pair(fd);
	char name[ROUTER_NAME] = "";

	if (err)
		return err;
	/* The name now: before the recorder ends, another process can have the PID. */
	process__status(pid, "status", "Name", name, sizeof(name));
	router__add_recorder(s->router, slot, pid, name, fd[0]);
	s->recorded++;
	return fd[1];
}

void supervisor__set_ready(struct supervisor *s, unsigned int slot)
{
	router__set_ready(s->router, slot);
}

bool supervisor__take_invalid(struct supervisor *s, unsigned int slot)
{
	return router__take_invalid(s->router, slot);
}

void supervisor__remove(struct supervisor *s, unsigned int slot)
{
	router__remove_recorder(s->router, slot);
	s->recorded--;
}

unsigned int supervisor__fds(const struct supervisor *s, struct pollfd *fd)
{
	unsigned int n = router__fds(s->router, fd);

	return n + serve_control__fds(s->control, fd + n);
}

struct fork_context {
	struct supervisor *supervisor;
	void (*forked)(void *ctx);
	void *ctx;
};

/* In the front. */
static void abandon(void *ctx)
{
	const struct fork_context *c = ctx;

	c->forked(c->ctx);
	supervisor__abandon(c->supervisor);
}

void supervisor__step(struct supervisor *s, void (*forked)(void *ctx), void *ctx)
{
	struct fork_context in_front = { s, forked, ctx };
	uint64_t now = clock__now();

	if (s->front)
		front_process__step(s->front, s->router, now, abandon, &in_front);
	router__step(s->router, now);
	serve_control__step(s->control, s->router, s->recorded, now);
}

void supervisor__stopping(struct supervisor *s)
{
	serve_control__stopping(s->control);
}
