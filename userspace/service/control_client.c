// SPDX-License-Identifier: GPL-2.0
/*
 * Clients of the control socket: see control.h.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/clock.h"
#include "service/control.h"
#include "service/peer.h"

/* Another user may have created a socket with this path while no daemon was running. */
static int check_listener(int fd, const char *path, struct error *error)
{
	int err = peer__check(fd);

	if (err == -EPERM)
		return error__set(error, err,
				  "%s: the process that listens there is of another user", path);
	return err ? error__set(error, err, "%s: %s", path, strerror(-err)) : 0;
}

static int connect_to(int fd, const struct sockaddr_un *at, struct error *error)
{
	int err = connect(fd, (const struct sockaddr *)at, sizeof(*at)) ? -errno : 0;

	if (err == -ENOENT || err == -ECONNREFUSED)
		return error__set(error, err,
				  "%s: no 'gotrace-bpf serve' is running with this control socket",
				  at->sun_path);
	if (err == -EACCES)
		return error__set(error, err,
				  "%s: permission denied: only root and the user who runs "
				  "'gotrace-bpf serve' can connect",
				  at->sun_path);
	if (err == -EAGAIN)
		return error__set(error, err, "%s: too many connections", at->sun_path);
	if (err)
		return error__set(error, err, "%s: %s", at->sun_path, strerror(-err));
	return check_listener(fd, at->sun_path, error);
}

int control__connect(const char *path, struct error *error)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(path) >= sizeof(at.sun_path))
		return error__set(error, -ENAMETOOLONG,
				  "%.200s: the path of a socket has at most %zu bytes", path,
				  sizeof(at.sun_path) - 1);
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error__set(error, -errno, "socket: %s", strerror(errno));
	err = connect_to(fd, &at, error);
	if (err)
		close(fd);
	return err ?: fd;
}

static int hear(int socket, uint64_t until, struct channel_answer *ret)
{
	struct pollfd fd = { .fd = socket, .events = POLLIN };
	int err = channel__receive(socket, ret);

	for (uint64_t now = clock__now(); err == -EAGAIN; now = clock__now()) {
		if (now >= until)
			return -ETIMEDOUT;
		poll(&fd, 1, (int)((until - now) / 1000000) + 1);
		err = channel__receive(socket, ret);
	}
	return err;
}

int control__ask(int socket, const struct channel_request *request, int fd, uint64_t ns,
		 struct error *error)
{
	uint64_t until = clock__now() + ns;
	struct channel_answer answer = {};
	int err = channel__ask(socket, request, fd);

	if (!err)
		do
			err = hear(socket, until, &answer);
		while (!err && answer.id != request->id);
	if (!err && answer.error)
		return error__set(error, answer.error, "%s",
				  answer.text[0] ? answer.text : strerror(-answer.error));
	if (err == -EPIPE)
		return error__set(error, err, "'gotrace-bpf serve' closed the connection");
	if (err == -ETIMEDOUT)
		return error__set(error, err, "'gotrace-bpf serve' did not answer in time");
	return err ? error__set(error, err, "control socket: %s", strerror(-err)) : 0;
}
