/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What 'gotrace-bpf serve' adds to a recording of several processes: the front, and requests to the
 * recorders.
 *
 * Upstream: serve.c, which creates it, and targets.c, whose loop drives it. Downstream:
 * service/router.c, service/front.c.
 */
#ifndef SUPERVISOR_H
#define SUPERVISOR_H

#include <poll.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"
#include "service/router.h"
#include "serve_control.h"

#define SUPERVISOR_FDS (ROUTER_FDS + CONTROL_FDS)

struct supervisor;

struct supervisor_opts {
	const char *http; /* HOST:PORT; NULL: no front */
	const char *user; /* of the front; NULL: one is chosen */
	struct serve_control_opts control;
};

/* Listens; the front starts with the first supervisor__step(). 0, or a negative errno and the reason. */
int supervisor__create(struct supervisor **ret, const struct supervisor_opts *opts,
		       struct error *error);
/* Ends the front, once it has passed the last answers on. NULL allowed. */
void supervisor__destroy(struct supervisor *s);
/* The same in a process that was forked: it only closes its copies. */
void supervisor__abandon(struct supervisor *s);

/* A recorder starts in a slot. Returns its end of the channel, which the caller closes, or -errno. */
int supervisor__add(struct supervisor *s, unsigned int slot, int pid);
void supervisor__set_ready(struct supervisor *s, unsigned int slot); /* it records */
/* Once true if its recorder has sent something invalid: it should be ended. */
bool supervisor__take_invalid(struct supervisor *s, unsigned int slot);
void supervisor__remove(struct supervisor *s, unsigned int slot); /* it has ended */

/* Fills fd[], of SUPERVISOR_FDS, with what to wait for. Returns the number. */
unsigned int supervisor__fds(const struct supervisor *s, struct pollfd *fd);
/*
 * Handles what has arrived. `forked` is called in the process that answers HTTP requests when it
 * starts: it releases what that process must not share, such as memory of the recorders.
 */
void supervisor__step(struct supervisor *s, void (*forked)(void *ctx), void *ctx);
void supervisor__stopping(struct supervisor *s); /* the recorders are ending */

#endif
