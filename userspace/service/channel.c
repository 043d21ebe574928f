// SPDX-License-Identifier: GPL-2.0
/*
 * Requests between the processes of 'gotrace-bpf serve': see channel.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/printable.h"
#include "service/channel.h"

/* A message may carry more descriptors than are valid: all that fit are received, and closed. */
#define FDS_MAX 4

union fds {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
};

int channel__pair(int ret[2])
{
	int type = SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC;

	return socketpair(AF_UNIX, type, 0, ret) ? -errno : 0;
}

static int send_message(int channel, const void *data, size_t size, int fd)
{
	struct iovec iov = { (void *)data, size };
	union fds fds = {};
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (fd >= 0) {
		msg.msg_control = &fds;
		msg.msg_controllen = CMSG_SPACE(sizeof(int));
		fds.header.cmsg_len = CMSG_LEN(sizeof(int));
		fds.header.cmsg_level = SOL_SOCKET;
		fds.header.cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(&fds.header), &fd, sizeof(fd));
	}
	do
		n = sendmsg(channel, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	return (size_t)n == size ? 0 : -EIO;
}

/* Passes the only descriptor of the message on; if there are several, closes all. Returns how many. */
static unsigned int take_fds(struct msghdr *msg, int *ret)
{
	unsigned int n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= c->cmsg_len; at += sizeof(int)) {
			if (*ret >= 0)
				close(*ret);
			memcpy(ret, CMSG_DATA(c) + at, sizeof(int));
			n++;
		}
	}
	if (n > 1) {
		close(*ret);
		*ret = -1;
	}
	return n;
}

/* Receives a message of exactly `size` bytes with at most `most` descriptors, 0 or 1. As channel__take(). */
static int receive(int channel, void *data, size_t size, unsigned int most, int *ret_fd)
{
	struct iovec iov = { data, size };
	union fds fds = {};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &fds,
		.msg_controllen = sizeof(fds),
	};
	unsigned int got;
	ssize_t n;

	*ret_fd = -1;
	do
		n = recvmsg(channel, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	got = take_fds(&msg, ret_fd);
	if (n == 0 && !got)
		return -EPIPE;
	if ((size_t)n == size && got <= most && !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return 0;
	if (*ret_fd >= 0)
		close(*ret_fd);
	*ret_fd = -1;
	return -EBADMSG;
}

/* Only shared memory has seals. */
static bool is_memory(int fd)
{
	return fcntl(fd, F_GET_SEALS) >= 0;
}

static bool has_option(int fd, int option, int expected)
{
	socklen_t len = sizeof(int);
	int value;

	return !getsockopt(fd, SOL_SOCKET, option, &value, &len) && value == expected;
}

static bool is_stream(int fd)
{
	return has_option(fd, SO_DOMAIN, AF_UNIX) && has_option(fd, SO_TYPE, SOCK_STREAM);
}

static bool is_valid(const struct channel_request *r, int fd)
{
	if (r->pid < 0 || r->kind < CHANNEL_TARGETS || r->kind >= CHANNEL_KINDS)
		return false;
	if (r->kind == CHANNEL_ALIVE)
		return !r->ns && fd < 0;
	if (r->kind == CHANNEL_TRACE)
		return r->ns && r->ns <= CHANNEL_TRACE_MAX && is_stream(fd);
	return !r->ns && is_memory(fd);
}

int channel__ask(int channel, const struct channel_request *request, int fd)
{
	return send_message(channel, request, sizeof(*request), fd);
}

int channel__take(int channel, struct channel_request *ret, int *ret_fd)
{
	int err = receive(channel, ret, sizeof(*ret), 1, ret_fd);

	if (err || is_valid(ret, *ret_fd))
		return err;
	if (*ret_fd >= 0)
		close(*ret_fd);
	*ret_fd = -1;
	return -EBADMSG;
}

int channel__answer(int channel, uint64_t id, int err, const char *text)
{
	struct channel_answer answer = { .id = id, .error = err };
	size_t len = text ? strnlen(text, sizeof(answer.text) - 1) : 0;

	if (len)
		memcpy(answer.text, text, len);
	printable__clean(answer.text, sizeof(answer.text)); /* a path may be in it */
	return send_message(channel, &answer, sizeof(answer), -1);
}

int channel__receive(int channel, struct channel_answer *ret)
{
	int fd, err = receive(channel, ret, sizeof(*ret), 0, &fd);

	if (err)
		return err;
	printable__clean(ret->text, sizeof(ret->text));
	return ret->error > 0 || ret->error < -4095 ? -EBADMSG : 0;
}

int channel__memory(void)
{
	int fd = memfd_create("gotrace-result", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return fd < 0 ? -errno : fd;
}

int channel__put(int memory, const void *data, size_t size)
{
	size_t at = 0;

	if (size > CHANNEL_RESULT_MAX)
		return -EFBIG;
	while (at < size) {
		ssize_t n = pwrite(memory, (const char *)data + at, size - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += (size_t)n;
	}
	return 0;
}

int channel__get(int memory, size_t max, void **ret, size_t *size)
{
	struct stat st;
	size_t at = 0;
	ssize_t n = 0;
	char *data;

	if (fstat(memory, &st))
		return -errno;
	if (st.st_size < 0 || (uint64_t)st.st_size > max)
		return -EFBIG;
	data = malloc((size_t)st.st_size + 1);
	if (!data)
		return -ENOMEM;
	/* The other side may still change the file: only what was read counts. */
	while (at < (size_t)st.st_size &&
	       ((n = pread(memory, data + at, (size_t)st.st_size - at, (off_t)at)) > 0 ||
		(n < 0 && errno == EINTR)))
		at += n > 0 ? (size_t)n : 0;
	if (n < 0) {
		int err = -errno;

		free(data);
		return err;
	}
	data[at] = '\0';
	*ret = data;
	*size = at;
	return 0;
}

int channel__stream(int ret[2])
{
	int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

	return socketpair(AF_UNIX, type, 0, ret) ? -errno : 0;
}

long channel__send(int stream, const void *data, size_t size)
{
	ssize_t n;

	do
		n = send(stream, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	return n;
}
