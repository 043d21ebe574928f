/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control socket of 'gotrace-bpf serve': a Unix socket at which root, and the user who runs it, ask
 * the same requests as the front (channel.h).
 *
 * Upstream: gotrace-bpf/serve_control.c, which answers by router.c, and status.c, which asks. No call but
 * control__open() and control__ask() blocks; clients, their requests and their silence are limited.
 */
#ifndef SERVICE_CONTROL_H
#define SERVICE_CONTROL_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "service/channel.h"

#define CONTROL_PATH	 "/run/gotrace-bpf/control"
#define CONTROL_CLIENTS	 16
#define CONTROL_FDS	 (CONTROL_CLIENTS + 1)
#define CONTROL_REQUESTS 4		      /* of a client without an answer */
#define CONTROL_IDLE_NS	 (10 * 1000000000ull) /* without a request that is being answered */

struct control;

/*
 * A request of a client, to be answered by control__answer() with the same `client`; `fd` is the
 * callee's to close.
 */
typedef void (*control_fn)(void *ctx, uint64_t client, const struct channel_request *request,
			   int fd);

/*
 * Creates the socket `path`, mode 0600, and its directory, mode 0700, if that does not exist. Refused,
 * with the reason: a directory that is a symbolic link, or of another user, or that another user can
 * access; a file that is not a socket of ours; a socket at which a process listens (-EADDRINUSE). A
 * socket of a process that has ended is replaced. 0 or a negative errno.
 */
int control__open(struct control **ret, const char *path, struct error *error);
/* Disconnects all clients and removes the socket, unless another one is in its place. NULL allowed. */
void control__close(struct control *c);
/* The same in a process that was forked: it only closes its copies. NULL allowed. */
void control__abandon(struct control *c);

/* Fills fd[], of CONTROL_FDS, with what to wait for: the socket, and the clients. Returns the number. */
unsigned int control__fds(const struct control *c, struct pollfd *fd);
/*
 * Accepts clients, passes their requests to `fn`, and disconnects those that break a rule or are
 * silent. `now`: CLOCK_MONOTONIC, ns.
 */
void control__step(struct control *c, uint64_t now, control_fn fn, void *ctx);
/* As channel__answer(); no effect if the client has gone. */
void control__answer(struct control *c, uint64_t client, uint64_t id, int err, const char *text);

/*
 * For clients: connects to the socket, whose listener must be root or the same user. A descriptor, or
 * a negative errno and the reason: -ENOENT, -ECONNREFUSED: there is no such process.
 */
int control__connect(const char *path, struct error *error);
/*
 * Sends the request with `fd`, and waits up to `ns` for the answer. 0, or a negative errno and the
 * reason, also that of the answer.
 */
int control__ask(int socket, const struct channel_request *request, int fd, uint64_t ns,
		 struct error *error);

#endif
