/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The connections of gotrace view's server, so that clients that send nothing or read nothing
 * cannot keep others out. Used by view_server.c; upstream: libmicrohttpd, whose threads call it.
 */
#ifndef VIEWS_VIEW_CLIENTS_H
#define VIEWS_VIEW_CLIENTS_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define VIEW_CONNECTIONS 64u /* at most; each may hold an answer of some megabytes */

struct view_client {
	int fd;		 /* of libmicrohttpd; -1: this element is free */
	uint64_t number; /* grows with each connection, and each request with the token */
	bool trusted;	 /* a request had the token */
	bool ended;	 /* libmicrohttpd will notice */
};

struct view_clients {
	pthread_mutex_t lock;
	struct view_client client[VIEW_CONNECTIONS];
	unsigned int used; /* that have not ended */
	uint64_t number;   /* of the next one */
};

void view_clients__init(struct view_clients *c);
void view_clients__deinit(struct view_clients *c);
/* For MHD_OPTION_NOTIFY_CONNECTION, with a struct view_clients. */
void view_clients__notify(void *clients, struct MHD_Connection *mhd, void **context,
			  enum MHD_ConnectionNotificationCode code);
/* The connection has sent the token. */
void view_clients__trust(struct view_clients *c, struct MHD_Connection *mhd);

#endif
