// SPDX-License-Identifier: GPL-2.0
/*
 * The user at the other end of a Unix socket: see peer.h.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/peer.h"

int peer__check(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return -errno;
	return peer.uid == 0 || peer.uid == geteuid() ? 0 : -EPERM;
}
