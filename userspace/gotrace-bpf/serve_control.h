/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the operator of 'gotrace-bpf serve' uses: the control socket, and reports to the service manager.
 *
 * Upstream: supervisor.c. Downstream: service/control.c, service/notify.c, and service/router.c for
 * the requests of clients.
 */
#ifndef SERVE_CONTROL_H
#define SERVE_CONTROL_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"
#include "service/control.h"

struct router;
struct serve_control;

struct serve_control_opts {
	const char *path; /* of the control socket; NULL: none */
	bool is_required; /* else the daemon also runs without it, with a message */
};

/* 0, or a negative errno and the reason. */
int serve_control__create(struct serve_control **ret, const struct serve_control_opts *opts,
			  struct error *error);
/* Removes the socket. NULL allowed. */
void serve_control__destroy(struct serve_control *s);
/* The same in a process that was forked: it only closes its copies. NULL allowed. */
void serve_control__abandon(struct serve_control *s);

/* Fills fd[], of CONTROL_FDS, with what to wait for. Returns the number. */
unsigned int serve_control__fds(const struct serve_control *s, struct pollfd *fd);
/*
 * To be called in each round of the loop, with the number of processes that are recorded: passes the
 * requests of clients to the router, and reports to the service manager. `now`: CLOCK_MONOTONIC, ns.
 */
void serve_control__step(struct serve_control *s, struct router *router, unsigned int recorded,
			 uint64_t now);
/* An answer of the router: for router_opts.answer, whose context is the struct serve_control. */
void serve_control__answer(void *ctx, uint64_t client, uint64_t id, int err, const char *text);
/* The recorders are ending; that takes a moment. */
void serve_control__stopping(struct serve_control *s);

#endif
