// SPDX-License-Identifier: GPL-2.0
/*
 * The connections of the server of gotrace view: see view_clients.h.
 *
 * libmicrohttpd accepts no more connections than its limit, so those of clients that send nothing
 * could keep the browser out. Before the limit is reached, each new connection ends the oldest one:
 * of those on which the token has not been sent, except the newest ones; or else of all.
 */
#include "gotrace/views/view_clients.h"

#include <sys/socket.h>

/* Connections beyond these end older ones; the rest is for those that are about to be closed. */
#define USED_MAX (VIEW_CONNECTIONS / 4 * 3)
#define NEWEST	 16u /* they may be about to send the token */

void view_clients__init(struct view_clients *c)
{
	*c = (struct view_clients){};
	pthread_mutex_init(&c->lock, NULL);
	for (unsigned int i = 0; i < VIEW_CONNECTIONS; i++)
		c->client[i].fd = -1;
}

void view_clients__deinit(struct view_clients *c)
{
	pthread_mutex_destroy(&c->lock);
}

static bool is_protected(const struct view_clients *c, const struct view_client *client)
{
	return client->trusted || client->number + NEWEST >= c->number;
}

/* Whether a is to be ended before b. */
static bool is_before(const struct view_clients *c, const struct view_client *a,
		      const struct view_client *b)
{
	if (is_protected(c, a) != is_protected(c, b))
		return is_protected(c, b);
	return a->number < b->number;
}

static void end_one(struct view_clients *c)
{
	struct view_client *first = NULL;

	for (unsigned int i = 0; i < VIEW_CONNECTIONS; i++) {
		struct view_client *client = &c->client[i];

		if (client->fd >= 0 && !client->ended && (!first || is_before(c, client, first)))
			first = client;
	}
	if (!first)
		return;
	shutdown(first->fd, SHUT_RDWR); /* libmicrohttpd notices, and closes it */
	first->ended = true;
	c->used--;
}

static struct view_client *find_free(struct view_clients *c)
{
	for (unsigned int i = 0; i < VIEW_CONNECTIONS; i++)
		if (c->client[i].fd < 0)
			return &c->client[i];
	return NULL;
}

static void begin(struct view_clients *c, int fd, void **context)
{
	struct view_client *client = find_free(c);

	*context = client;
	if (!client) {
		shutdown(fd, SHUT_RDWR);
		return;
	}
	*client = (struct view_client){ .fd = fd, .number = c->number++ };
	if (++c->used > USED_MAX)
		end_one(c);
}

void view_clients__notify(void *clients, struct MHD_Connection *mhd, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct view_clients *c = clients;
	struct view_client *client = *context;

	pthread_mutex_lock(&c->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		begin(c,
		      MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
		      context);
	} else if (client) {
		c->used -= !client->ended;
		client->fd = -1;
	}
	pthread_mutex_unlock(&c->lock);
}

void view_clients__trust(struct view_clients *c, struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct view_client *client = info ? info->socket_context : NULL;

	pthread_mutex_lock(&c->lock);
	if (client) {
		client->trusted = true;
		client->number = c->number++;
	}
	pthread_mutex_unlock(&c->lock);
}
