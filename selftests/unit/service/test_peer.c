// SPDX-License-Identifier: GPL-2.0
/*
 * The user at the other end of a Unix socket: ours, root, another one, and what is not a socket.
 */
#include <fcntl.h>
#include <sys/socket.h>

#include "unit/test.h"
#include "service/peer.h"

#define OTHER 65534

/* A socket pair belongs to the effective user who created it. */
static void pair(int ret[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ret), 0);
}

static void close_pair(const int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

TEST(own_user)
{
	int fd[2];

	pair(fd);
	assert_int_equal(peer__check(fd[0]), 0);
	assert_int_equal(peer__check(fd[1]), 0);
	close_pair(fd);
}

TEST(other_user)
{
	int root[2], other[2], own, of_root;

	if (geteuid())
		skip();
	pair(root);
	assert_int_equal(seteuid(OTHER), 0);
	pair(other);
	own = peer__check(other[0]);
	of_root = peer__check(root[0]);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(own, 0);
	assert_int_equal(of_root, 0);
	assert_int_equal(peer__check(root[0]), 0);
	assert_int_equal(peer__check(other[0]), -EPERM);
	close_pair(root);
	close_pair(other);
}

TEST(no_socket)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(peer__check(fd), -ENOTSOCK);
	assert_int_equal(peer__check(-1), -EBADF);
	close(fd);
}
