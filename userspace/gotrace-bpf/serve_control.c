// SPDX-License-Identifier: GPL-2.0
/*
 * The control socket and the service manager: see serve_control.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/log.h"
#include "service/notify.h"
#include "service/router.h"
#include "serve_control.h"

struct serve_control {
	struct control *control; /* NULL: none */
	struct notify notify;
	unsigned int reported; /* number of processes in the last status */
	bool is_ready, is_stopping;
};

/* The context of one step. */
struct step {
	struct router *router;
	uint64_t now;
};

static int open_control(struct serve_control *s, const struct serve_control_opts *opts,
			struct error *error)
{
	struct error why = {};
	int err = opts->path ? control__open(&s->control, opts->path, &why) : 0;

	if (err && opts->is_required)
		return error__set(error, err, "%s", why.text);
	if (err)
		log__msg("no control socket: %s", why.text);
	return 0;
}

int serve_control__create(struct serve_control **ret, const struct serve_control_opts *opts,
			  struct error *error)
{
	struct serve_control *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return error__set(error, -ENOMEM, "out of memory");
	err = open_control(s, opts, error);
	if (err) {
		free(s);
		return err;
	}
	notify__open(&s->notify);
	*ret = s;
	return 0;
}

void serve_control__abandon(struct serve_control *s)
{
	if (!s)
		return;
	control__abandon(s->control);
	notify__close(&s->notify);
	free(s);
}

void serve_control__destroy(struct serve_control *s)
{
	if (!s)
		return;
	control__close(s->control);
	s->control = NULL;
	serve_control__abandon(s);
}

unsigned int serve_control__fds(const struct serve_control *s, struct pollfd *fd)
{
	return s->control ? control__fds(s->control, fd) : 0;
}

/* Called by control__step(). */
static void handle_request(void *ctx, uint64_t client, const struct channel_request *request,
			   int fd)
{
	const struct step *step = ctx;

	router__request(step->router, client, request, fd, step->now);
}

void serve_control__answer(void *ctx, uint64_t client, uint64_t id, int err, const char *text)
{
	struct serve_control *s = ctx;

	control__answer(s->control, client, id, err, text);
}

/* The manager shows the last status; the first report also states that requests are answered. */
static void report(struct serve_control *s, unsigned int recorded)
{
	if (s->is_stopping || (s->is_ready && s->reported == recorded))
		return;
	notify__send(&s->notify, "%sSTATUS=%u %s recorded", s->is_ready ? "" : "READY=1\n",
		     recorded, recorded == 1 ? "process is" : "processes are");
	s->is_ready = true;
	s->reported = recorded;
}

void serve_control__step(struct serve_control *s, struct router *router, unsigned int recorded,
			 uint64_t now)
{
	struct step step = { router, now };

	if (s->control)
		control__step(s->control, now, handle_request, &step);
	report(s, recorded);
	notify__alive(&s->notify, now);
}

void serve_control__stopping(struct serve_control *s)
{
	if (!s->is_stopping)
		notify__send(&s->notify, "STOPPING=1\nSTATUS=the recordings are ending");
	s->is_stopping = true;
}
