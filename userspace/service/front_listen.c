// SPDX-License-Identifier: GPL-2.0
/*
 * The addresses that the front listens on: see front.h. Only loopback and Unix sockets, since there
 * is neither encryption nor authentication. Runs in the supervisor, which may have the privilege to
 * bind.
 */
#include "service/front.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/opts.h"
#include "service/own_socket.h"

#define BACKLOG 1024 /* connections that the kernel keeps before they are accepted */

#define TYPE	(SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC)

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static int invalid(const char *address, const char *reason, struct error *error)
{
	return error__set(error, -EINVAL,
			  "cannot listen on '%.100s': %s; use 127.0.0.1:PORT, [::1]:PORT or "
			  "unix:PATH",
			  address, reason);
}

static int parse_host(const char *host, uint16_t port, union address *ret, socklen_t *len)
{
	size_t n = strlen(host);
	char literal[64];

	*ret = (union address){};
	if (host[0] == '[' && host[n - 1] == ']') {
		snprintf(literal, sizeof(literal), "%.*s", (int)n - 2, host + 1);
		ret->six.sin6_family = AF_INET6;
		ret->six.sin6_port = htons(port);
		*len = sizeof(ret->six);
		if (inet_pton(AF_INET6, literal, &ret->six.sin6_addr) != 1)
			return -EINVAL;
		return IN6_IS_ADDR_LOOPBACK(&ret->six.sin6_addr) ? 0 : -EADDRNOTAVAIL;
	}
	ret->four.sin_family = AF_INET;
	ret->four.sin_port = htons(port);
	*len = sizeof(ret->four);
	if (!strcmp(host, "localhost"))
		host = "127.0.0.1";
	if (inet_pton(AF_INET, host, &ret->four.sin_addr) != 1)
		return -EINVAL;
	return ntohl(ret->four.sin_addr.s_addr) >> 24 == 127 ? 0 : -EADDRNOTAVAIL;
}

static int parse(const char *text, union address *ret, socklen_t *len, struct error *error)
{
	const char *colon = strrchr(text, ':');
	uint64_t port;
	char host[64];
	int err;

	if (!colon || colon == text || !opts__number(colon + 1, 0, UINT16_MAX, &port))
		return invalid(text, "expected an address and a port", error);
	if ((size_t)(colon - text) >= sizeof(host))
		return invalid(text, "not an address", error);
	snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
	err = parse_host(host, (uint16_t)port, ret, len);
	if (err == -EADDRNOTAVAIL)
		return invalid(text, "not a loopback address, and clients are not authenticated",
			       error);
	return err ? invalid(text, "not an address", error) : 0;
}

static int failed(int fd, const char *address, struct error *error)
{
	int err = -errno;

	if (fd >= 0)
		close(fd);
	return error__set(error, err, "cannot listen on '%.100s': %s%s", address, strerror(-err),
			  err == -EAFNOSUPPORT ? "; a service of systemd may use Unix sockets "
						 "only: see /etc/gotrace-bpf.conf.example" :
						 "");
}

static int listen_at(const char *text, struct error *error)
{
	union address address;
	socklen_t len;
	const int yes = 1;
	int fd, err = parse(text, &address, &len, error);
	char name[INET6_ADDRSTRLEN] = "[::1]";

	if (err)
		return err;
	fd = socket(address.any.sa_family, TYPE, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    bind(fd, &address.any, len) || listen(fd, BACKLOG) ||
	    getsockname(fd, &address.any, &len))
		return failed(fd, text, error);
	if (address.any.sa_family == AF_INET)
		inet_ntop(AF_INET, &address.four.sin_addr, name, sizeof(name));
	log__msg("listening on http://%s:%u/", name,
		 ntohs(address.any.sa_family == AF_INET ? address.four.sin_port :
							  address.six.sin6_port));
	return fd;
}

static int listen_in(const char *text, const char *path, struct own_socket *ret,
		     struct error *error)
{
	static const struct own_socket_opts opts = {
		.type = TYPE,
		.backlog = BACKLOG,
		.what = "socket for HTTP",
		.option = "http",
	};
	int err = *path ? own_socket__open(ret, path, &opts, error) :
			  invalid(text, "the path is empty", error);

	if (err) /* whatever is there, the address is in use */
		return err == -EEXIST ? -EADDRINUSE : err;
	log__msg("listening on %s", text);
	return ret->fd;
}

int front__listen(const char *address, struct own_socket *ret, struct error *error)
{
	static const char unix_prefix[] = "unix:";
	const size_t len = sizeof(unix_prefix) - 1;

	*ret = (struct own_socket){ .fd = -1 };
	return strncmp(address, unix_prefix, len) ? listen_at(address, error) :
						    listen_in(address, address + len, ret, error);
}
