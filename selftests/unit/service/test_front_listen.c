// SPDX-License-Identifier: GPL-2.0
/* Which addresses the front listens on. */
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "unit/test.h"
#include "service/front.h"
#include "service/own_socket.h"

static struct own_socket own;

static void address_of(int fd, struct sockaddr_storage *ret)
{
	socklen_t len = sizeof(*ret);

	memset(ret, 0, sizeof(*ret));
	assert_int_equal(getsockname(fd, (struct sockaddr *)ret, &len), 0);
}

TEST(loopback)
{
	static const char *const texts[] = { "127.0.0.1:0", "localhost:0", "127.3.2.1:0" };
	struct sockaddr_storage address;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct sockaddr_in *in = (void *)&address;
		struct error error = {};
		int fd = front__listen(texts[i], &own, &error);

		if (fd < 0)
			fail_msg("%s", error.text);
		address_of(fd, &address);
		assert_int_equal(in->sin_family, AF_INET);
		assert_int_equal(ntohl(in->sin_addr.s_addr), i < 2 ? 0x7f000001 : 0x7f030201);
		assert_int_not_equal(in->sin_port, 0);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
		close(fd);
	}
}

TEST(loopback_six)
{
	const struct sockaddr_in6 *in;
	struct sockaddr_storage address;
	struct error error = {};
	int fd = front__listen("[::1]:0", &own, &error);

	if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL)
		return; /* a machine without IPv6 */
	assert_true(fd >= 0);
	address_of(fd, &address);
	in = (void *)&address;
	assert_int_equal(in->sin6_family, AF_INET6);
	assert_true(IN6_IS_ADDR_LOOPBACK(&in->sin6_addr));
	close(fd);
}

TEST(others_are_refused)
{
	static const char *const texts[] = {
		"",
		":",
		":8080",
		"8080",
		"127.0.0.1",
		"127.0.0.1:",
		"127.0.0.1:x",
		"127.0.0.1:-1",
		"127.0.0.1:65536",
		"127.1:0",
		"0.0.0.0:0",
		"*:0",
		"10.0.0.1:0",
		"192.168.0.1:0",
		"[::]:0",
		"[::2]:0",
		"::1:0",
		"[::1:0",
		"[]:0",
		"example.com:0",
		"localhost.example.com:0",
		"unix:",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:0",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct error error = {};

		if (front__listen(texts[i], &own, &error) != -EINVAL || !error.text[0])
			fail_msg("'%s' is accepted", texts[i]);
	}
}

TEST(reason)
{
	struct error error = {};

	front__listen("0.0.0.0:0", &own, &error);
	assert_string_equal(error.text,
			    "cannot listen on '0.0.0.0:0': not a loopback address, and clients are "
			    "not authenticated; use 127.0.0.1:PORT, [::1]:PORT or unix:PATH");
}

TEST(unix_sockets)
{
	char dir[] = "/tmp/test_front_listen.XXXXXX", text[64], *path = text + strlen("unix:");
	struct error error = {};
	struct stat st;
	int fd, again;

	assert_non_null(mkdtemp(dir));
	snprintf(text, sizeof(text), "unix:%s/socket", dir);
	fd = front__listen(text, &own, &error);
	assert_true(fd >= 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0600);
	/* In use: not replaced. */
	assert_int_equal(front__listen(text, &own, &error), -EADDRINUSE);
	assert_int_equal(lstat(path, &st), 0);
	close(fd);
	/* Left over: replaced. */
	again = front__listen(text, &own, &error);
	assert_true(again >= 0);
	close(again);
	assert_int_equal(unlink(path), 0);
	/* Another file: not replaced. */
	close(open(path, O_CREAT | O_WRONLY, 0644));
	assert_int_equal(front__listen(text, &own, &error), -EADDRINUSE);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(unlink(path), 0);
	/* Others could have placed something in the directory. */
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(front__listen(text, &own, &error), -EPERM);
	assert_int_equal(rmdir(dir), 0);
}

TEST(ports_in_use)
{
	struct sockaddr_storage address;
	struct error error = {};
	char text[32];
	int fd = front__listen("127.0.0.1:0", &own, &error);

	assert_true(fd >= 0);
	address_of(fd, &address);
	snprintf(text, sizeof(text), "127.0.0.1:%u",
		 ntohs(((struct sockaddr_in *)&address)->sin_port));
	assert_int_equal(front__listen(text, &own, &error), -EADDRINUSE);
	assert_non_null(strstr(error.text, text));
	close(fd);
}
