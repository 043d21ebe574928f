// SPDX-License-Identifier: GPL-2.0
/*
 * The front and the requests: see supervisor.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/json.h"
#include "lib/log.h"
#include "service/channel.h"
#include "supervisor.h"

struct supervisor {
	struct supervisor_opts opts;
	struct router *router;
};

static int print_targets(FILE *out, const struct router_part *part, size_t n, struct error *error)
{
	struct json j;

	json__init(&j, out, false);
	json__open(&j, NULL, '[');
	for (size_t i = 0; i < n; i++) {
		json__open(&j, NULL, '{');
		json__i64(&j, "pid", part[i].pid);
		json__string(&j, "state", part[i].is_ready ? "recording" : "starting");
		json__close(&j, '}');
	}
	json__close(&j, ']');
	return 0;
}

int supervisor__create(struct supervisor **ret, const struct supervisor_opts *opts,
		       struct error *error)
{
	const struct router_opts router = {
		.targets = { print_targets, 4096 },
	};
	struct supervisor *s = calloc(1, sizeof(*s));

	if (s)
		s->router = router__create(&router);
	if (!s || !s->router) {
		free(s);
		return error__set(error, -ENOMEM, "out of memory");
	}
	s->opts = *opts;
	*ret = s;
	return 0;
}

void supervisor__abandon(struct supervisor *s)
{
	if (!s)
		return;
	router__destroy(s->router);
	free(s);
}

void supervisor__destroy(struct supervisor *s)
{
	supervisor__abandon(s);
}

int supervisor__add(struct supervisor *s, unsigned int slot, int pid)
{
	int fd[2], err = channel__pair(fd);

	if (err)
		return err;
	router__add_recorder(s->router, slot, pid, fd[0]);
	return fd[1];
}

void supervisor__set_ready(struct supervisor *s, unsigned int slot)
{
	router__set_ready(s->router, slot);
}

void supervisor__remove(struct supervisor *s, unsigned int slot)
{
	router__remove_recorder(s->router, slot);
}

unsigned int supervisor__fds(const struct supervisor *s, struct pollfd *fd)
{
	return router__fds(s->router, fd);
}

void supervisor__step(struct supervisor *s)
{
	router__step(s->router, clock__now());
}
