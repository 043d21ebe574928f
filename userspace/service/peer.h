/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user at the other end of a Unix socket. Both ends of the control socket check it: control.c
 * before it accepts a client, control_client.c before it sends a request.
 */
#ifndef GOTRACE_SERVICE_PEER_H
#define GOTRACE_SERVICE_PEER_H

/*
 * Checks that the peer of a connected Unix socket, which stays the caller's, is root or the
 * effective user of this process. The user is that of the peer's connect() or listen(). 0, -EPERM
 * if it is another user, or the negative errno with which the user could not be read.
 */
int peer__check(int fd);

#endif
