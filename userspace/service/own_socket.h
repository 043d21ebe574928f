/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A Unix socket that listens in a directory of this user alone, so that no other user can have placed
 * anything there. What a process that was killed has left is replaced.
 *
 * Upstream: control.c, and front_listen.c for HTTP.
 */
#ifndef SERVICE_OWN_SOCKET_H
#define SERVICE_OWN_SOCKET_H

#include <sys/types.h>

#include "lib/error.h"

struct own_socket_opts {
	int type; /* SOCK_STREAM or SOCK_SEQPACKET, with flags */
	int backlog;
	const char *what;   /* for messages: "control socket" */
	const char *option; /* the option with its path, without "--" */
};

struct own_socket {
	int fd;	 /* listens */
	int dir; /* its directory */
	char name[64];
	dev_t dev; /* of the socket in the directory, as `ino` */
	ino_t ino;
};

/*
 * Creates the directory, with mode 0700, if there is none, and the socket with mode 0600. On failure
 * nothing is left, and the result is a negative errno with the reason: -EPERM: another user has access
 * to the directory; -EEXIST: a file of another kind, or of another user; -EADDRINUSE: a process listens.
 */
int own_socket__open(struct own_socket *ret, const char *path, const struct own_socket_opts *opts,
		     struct error *error);
/* Removes the socket from its directory, unless another one is in its place. */
void own_socket__remove(struct own_socket *s);
void own_socket__close(struct own_socket *s);

#endif
