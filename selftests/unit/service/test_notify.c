// SPDX-License-Identifier: GPL-2.0
/*
 * Reports to the service manager: by a path and an abstract socket, when the watchdog is due, and that
 * no child inherits the address.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include "unit/test.h"
#include "service/notify.h"

#define MS 1000000ull

static char path[64];

/* A listener, at a path or, with '@', an abstract name. */
static int listener(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	strcpy(at.sun_path, name);
	if (name[0] == '@')
		at.sun_path[0] = 0;
	assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

static const char *heard(int fd)
{
	static char text[1024];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = 0;
	return text;
}

static int set_up(void **state)
{
	snprintf(path, sizeof(path), "/tmp/test_notify.%d", getpid());
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return 0;
}

static int tear_down(void **state)
{
	unlink(path);
	return 0;
}

FIXTURE(set_up, tear_down)

TEST(by_a_path)
{
	int fd = listener(path);
	struct notify n;
	char text[800];

	notify__open(&n);
	assert_null(getenv("NOTIFY_SOCKET"));
	notify__send(&n, "READY=1\nSTATUS=%d processes", 2);
	assert_string_equal(heard(fd), "READY=1\nSTATUS=2 processes");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	notify__send(&n, "STATUS=%s", text);
	assert_int_equal(strlen(heard(fd)), 511);
	notify__close(&n);
	notify__send(&n, "STOPPING=1");
	assert_string_equal(heard(fd), "");
	close(fd);
}

TEST(by_an_abstract_name)
{
	struct notify n;
	int fd;

	snprintf(path, sizeof(path), "@test_notify.%d", getpid());
	fd = listener(path);
	notify__open(&n);
	notify__send(&n, "READY=1");
	assert_string_equal(heard(fd), "READY=1");
	notify__close(&n);
	close(fd);
}

TEST(no_manager)
{
	static const char *const bad[] = { "", "relative", "@", "/", "/nonexistent/socket" };
	struct notify n;

	unsetenv("NOTIFY_SOCKET");
	notify__open(&n);
	assert_int_equal(n.fd, -1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		setenv("NOTIFY_SOCKET", bad[i], 1);
		setenv("WATCHDOG_USEC", "1000", 1);
		notify__open(&n);
		assert_true(n.fd < 0);
		assert_int_equal(n.watchdog_ns, 0);
		assert_null(getenv("WATCHDOG_USEC"));
		notify__send(&n, "READY=1");
		notify__alive(&n, 7 * MS);
		notify__close(&n);
	}
}

/* Reports are due at half of the time, and only when the loop comes by. */
TEST(watchdog)
{
	int fd = listener(path);
	struct notify n;

	setenv("WATCHDOG_USEC", "100000", 1);
	notify__open(&n);
	assert_int_equal(n.watchdog_ns, 100 * MS);
	notify__alive(&n, 1000 * MS);
	assert_string_equal(heard(fd), "WATCHDOG=1");
	notify__alive(&n, 1050 * MS - 1);
	assert_string_equal(heard(fd), "");
	notify__alive(&n, 1050 * MS);
	assert_string_equal(heard(fd), "WATCHDOG=1");
	notify__close(&n);
	close(fd);
}

TEST(watchdog_of_another)
{
	static const struct {
		const char *us, *pid;
	} none[] = { { "1000", "1" }, { "1000", "x" }, { "0", NULL },
		     { "-5", NULL },  { "", NULL },    { "99999999999999", NULL } };
	struct notify n;
	char own[16];
	int fd = listener(path);

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		setenv("NOTIFY_SOCKET", path, 1);
		setenv("WATCHDOG_USEC", none[i].us, 1);
		if (none[i].pid)
			setenv("WATCHDOG_PID", none[i].pid, 1);
		notify__open(&n);
		assert_true(n.fd >= 0);
		assert_int_equal(n.watchdog_ns, 0);
		notify__close(&n);
	}
	snprintf(own, sizeof(own), "%d", getpid());
	setenv("NOTIFY_SOCKET", path, 1);
	setenv("WATCHDOG_USEC", "1", 1);
	setenv("WATCHDOG_PID", own, 1);
	notify__open(&n);
	assert_int_equal(n.watchdog_ns, 1000);
	notify__close(&n);
	close(fd);
}
