/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Unix socket of control.c: created only where no other user can have placed anything.
 */
#ifndef SERVICE_CONTROL_SOCKET_H
#define SERVICE_CONTROL_SOCKET_H

#include <sys/types.h>

#include "lib/error.h"

struct control_socket {
	int fd;	 /* listens, non-blocking */
	int dir; /* its directory */
	char name[64];
	dev_t dev; /* of the socket in the directory, as `ino` */
	ino_t ino;
};

/* As control__open(). On failure nothing is left. */
int control_socket__open(struct control_socket *ret, const char *path, struct error *error);
/* Removes the socket from its directory, unless another one is in its place. */
void control_socket__remove(struct control_socket *s);
void control_socket__close(struct control_socket *s);

#endif
