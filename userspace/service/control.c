// SPDX-License-Identifier: GPL-2.0
/*
 * The control socket: see control.h. How the socket is created is in own_socket.c.
 *
 * A client is a descriptor with a serial number, so that an answer that comes too late is not sent to
 * another client with the same descriptor.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "service/control.h"
#include "service/own_socket.h"
#include "service/peer.h"

#define BACKLOG 16

struct client {
	int fd;
	uint64_t serial;
	uint64_t since; /* of its connection, or its last request or answer */
	unsigned int pending;
	bool gone; /* to be disconnected by the next step */
};

struct control {
	struct own_socket socket;
	struct client client[CONTROL_CLIENTS];
	unsigned int n;
	uint64_t serials;
	bool refused; /* that was reported */
};

int control__open(struct control **ret, const char *path, struct error *error)
{
	static const struct own_socket_opts opts = {
		.type = SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC,
		.backlog = BACKLOG,
		.what = "control socket",
		.option = "control",
	};
	struct control *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return error__set(error, -ENOMEM, "out of memory");
	err = own_socket__open(&c->socket, path, &opts, error);
	if (err)
		free(c);
	else
		*ret = c;
	return err;
}

void control__abandon(struct control *c)
{
	if (!c)
		return;
	for (unsigned int i = 0; i < c->n; i++)
		close(c->client[i].fd);
	own_socket__close(&c->socket);
	free(c);
}

void control__close(struct control *c)
{
	if (c)
		own_socket__remove(&c->socket);
	control__abandon(c);
}

unsigned int control__fds(const struct control *c, struct pollfd *fd)
{
	fd[0] = (struct pollfd){ .fd = c->socket.fd, .events = POLLIN };
	for (unsigned int i = 0; i < c->n; i++)
		fd[i + 1] = (struct pollfd){ .fd = c->client[i].fd, .events = POLLIN };
	return c->n + 1;
}

/* The mode of the socket keeps others out; peer__check() also does if the mode was changed. */
static void accept_client(struct control *c, int fd, uint64_t now)
{
	if (c->n == CONTROL_CLIENTS || peer__check(fd)) {
		if (!c->refused)
			log__msg("a connection to the control socket was refused: %s",
				 c->n == CONTROL_CLIENTS ? "too many connections" :
							   "it is of another user");
		c->refused = true;
		close(fd);
		return;
	}
	c->client[c->n++] = (struct client){ .fd = fd, .serial = ++c->serials, .since = now };
}

/* A limited number, so that a flood of connections does not keep the caller from its other tasks. */
static void accept_clients(struct control *c, uint64_t now)
{
	for (unsigned int i = 0; i < CONTROL_CLIENTS; i++) {
		int fd = accept4(c->socket.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return;
		accept_client(c, fd, now);
	}
}

static void drop_gone(struct control *c)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->n; i++) {
		if (c->client[i].gone)
			close(c->client[i].fd);
		else
			c->client[n++] = c->client[i];
	}
	c->n = n;
}

/* Handles one request. Whether the client stays. */
static bool take(struct client *client, uint64_t now, control_fn fn, void *ctx)
{
	struct channel_request request;
	int fd, err = channel__take(client->fd, &request, &fd);

	if (err == -EAGAIN)
		return client->pending || now < client->since + CONTROL_IDLE_NS;
	if (err)
		return false;
	client->since = now;
	if (client->pending == CONTROL_REQUESTS) {
		close(fd);
		return false;
	}
	client->pending++;
	fn(ctx, client->serial, &request, fd);
	return true;
}

void control__step(struct control *c, uint64_t now, control_fn fn, void *ctx)
{
	for (unsigned int i = 0; i < c->n; i++) /* `fn` may answer at once */
		if (!c->client[i].gone && !take(&c->client[i], now, fn, ctx))
			c->client[i].gone = true;
	drop_gone(c);
	accept_clients(c, now);
}

void control__answer(struct control *c, uint64_t client, uint64_t id, int err, const char *text)
{
	for (unsigned int i = 0; i < c->n; i++) {
		struct client *to = &c->client[i];

		if (to->serial != client)
			continue;
		to->pending -= to->pending > 0;
		to->since = clock__now();
		to->gone |= channel__answer(to->fd, id, err, text) != 0;
		return;
	}
}
