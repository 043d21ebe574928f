// SPDX-License-Identifier: GPL-2.0
/*
 * Reports to the service manager: see notify.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/opts.h"
#include "service/notify.h"

#define MESSAGE_MAX  512
#define WATCHDOG_MAX 86400000000ull /* us */

/* A path, or the name of an abstract socket after '@'. Returns the length of the address; 0: neither. */
static socklen_t address(const char *name, struct sockaddr_un *ret)
{
	size_t len = strlen(name);

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if ((name[0] != '/' && name[0] != '@') || len < 2 || len >= sizeof(ret->sun_path))
		return 0;
	memcpy(ret->sun_path, name, len);
	if (name[0] == '/')
		return sizeof(*ret);
	ret->sun_path[0] = 0; /* no byte 0 at its end */
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

static int connect_to(const char *name)
{
	struct sockaddr_un at;
	socklen_t len = address(name, &at);
	int fd, err;

	if (!len)
		return -EINVAL;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (struct sockaddr *)&at, len))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* How often the manager expects a report, ns; 0: never, or that of another process. */
static uint64_t watchdog_time(void)
{
	const char *time = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t us, of;

	if (!time || !opts__number(time, 1, WATCHDOG_MAX, &us))
		return 0;
	if (pid && (!opts__number(pid, 1, INT32_MAX, &of) || (pid_t)of != getpid()))
		return 0;
	return us * 1000;
}

void notify__open(struct notify *n)
{
	const char *name = getenv("NOTIFY_SOCKET");

	*n = (struct notify){ .fd = -1 };
	if (name && *name) {
		n->fd = connect_to(name);
		if (n->fd < 0)
			log__msg("cannot report to the service manager at %s: %s", name,
				 strerror(-n->fd));
		else
			n->watchdog_ns = watchdog_time();
	}
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

void notify__send(const struct notify *n, const char *fmt, ...)
{
	char text[MESSAGE_MAX];
	va_list ap;
	int len;

	if (n->fd < 0)
		return;
	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len >= (int)sizeof(text))
		len = sizeof(text) - 1;
	if (len > 0 && send(n->fd, text, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		log__debug("cannot report to the service manager: %s", strerror(errno));
}

void notify__alive(struct notify *n, uint64_t now)
{
	if (!n->watchdog_ns || now < n->next)
		return;
	notify__send(n, "WATCHDOG=1");
	n->next = now + n->watchdog_ns / 2;
}

void notify__close(struct notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
	n->watchdog_ns = 0;
}
