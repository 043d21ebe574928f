// SPDX-License-Identifier: GPL-2.0
/*
 * The control socket: where it is created and what is refused, which clients are served, and that
 * silent, flooding and broken ones are disconnected.
 */
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "unit/test.h"
#include "lib/clock.h"
#include "service/control.h"
#include "unit/child.h"

#define SECOND 1000000000ull

static char top[] = "/tmp/test_control.XXXXXX", dir[64], path[80];
static struct error error;

static int set_up(void **state)
{
	strcpy(strrchr(top, '.'), ".XXXXXX");
	error = (struct error){};
	if (!mkdtemp(top))
		return 1;
	snprintf(dir, sizeof(dir), "%s/run", top);
	snprintf(path, sizeof(path), "%s/control", dir);
	return 0;
}

static int tear_down(void **state)
{
	unlink(path);
	if (rmdir(dir))
		unlink(dir);
	return rmdir(top);
}

FIXTURE(set_up, tear_down)

static mode_t mode_of(const char *name)
{
	struct stat st;

	return lstat(name, &st) ? 0 : st.st_mode;
}

static struct control *open_control(void)
{
	struct control *c = NULL;

	assert_int_equal(control__open(&c, path, &error), 0);
	return c;
}

static void assert_refused(int expected, const char *reason)
{
	struct control *c = NULL;
	struct error why = {};

	assert_int_equal(control__open(&c, path, &why), expected);
	if (!strstr(why.text, reason))
		fail_msg("%s", why.text);
}

/* ---- the place ---- */

TEST(created)
{
	mode_t mask = umask(0);
	struct control *c = open_control();

	assert_int_equal(umask(mask), 0);
	assert_int_equal(mode_of(dir), S_IFDIR | 0700);
	assert_int_equal(mode_of(path), S_IFSOCK | 0600);
	control__close(c);
	assert_int_equal(mode_of(path), 0);
}

TEST(refused_directories)
{
	char other[80];

	assert_int_equal(mkdir(dir, 0700) | chmod(dir, 0710), 0);
	assert_refused(-EPERM, "mode 0700");
	assert_int_equal(rmdir(dir), 0);
	snprintf(other, sizeof(other), "%s/other", top);
	assert_int_equal(mkdir(other, 0700) | symlink("other", dir), 0);
	assert_refused(-ENOTDIR, "symbolic link");
	assert_int_equal(unlink(dir) | rmdir(other), 0);
	close(open(dir, O_CREAT | O_WRONLY, 0600));
	assert_refused(-ENOTDIR, "not a directory");
	assert_int_equal(unlink(dir), 0);
	if (!geteuid()) {
		assert_int_equal(mkdir(dir, 0700) | chown(dir, 65534, 65534), 0);
		assert_refused(-EPERM, "belongs to another user");
		assert_int_equal(mode_of(path), 0);
	}
}

TEST(refused_paths)
{
	static const char *const bad[] = { "/run/x/", "", "/", "a/..", "." };
	struct control *c;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error why = {};

		assert_int_equal(control__open(&c, bad[i], &why), -EINVAL);
		assert_non_null(strstr(why.text, "DIRECTORY/NAME"));
	}
}

/* A file that is not a socket is not removed, and neither is what a link leads to. */
TEST(planted_files)
{
	char target[80];

	snprintf(target, sizeof(target), "%s/target", top);
	assert_int_equal(mkdir(dir, 0700), 0);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_refused(-EEXIST, "not a socket");
	assert_int_equal(mode_of(path), S_IFREG | 0600);
	assert_int_equal(unlink(path) | symlink(target, path), 0);
	assert_refused(-EEXIST, "not a socket");
	assert_int_equal(mode_of(target), 0);
	assert_true(S_ISLNK(mode_of(path)));
}

TEST(others_sockets)
{
	struct control *c = open_control();

	assert_refused(-EADDRINUSE, "another process listens");
	assert_int_equal(mode_of(path), S_IFSOCK | 0600);
	control__abandon(c); /* as if it had been killed */
	assert_int_equal(mode_of(path), S_IFSOCK | 0600);
	c = open_control();
	/* it was removed, and another process has created its own */
	assert_int_equal(unlink(path), 0);
	struct control *next = open_control();

	control__close(c);
	assert_int_equal(mode_of(path), S_IFSOCK | 0600);
	control__close(next);
	assert_int_equal(mode_of(path), 0);
}

/* ---- clients ---- */

struct asked {
	uint64_t client[64];
	struct channel_request request[64];
	unsigned int n;
	struct control *answers; /* at once, if not NULL */
};

static void handle(void *ctx, uint64_t client, const struct channel_request *request, int fd)
{
	struct asked *a = ctx;

	assert_true(a->n < 64);
	a->client[a->n] = client;
	a->request[a->n++] = *request;
	if (a->answers) {
		assert_int_equal(channel__put(fd, "[]\n", 3), 0);
		control__answer(a->answers, client, request->id, request->pid ? -ENOENT : 0,
				request->pid ? "no such target" : "");
	}
	close(fd);
}

static int connected(void)
{
	int fd = control__connect(path, &error);

	if (fd < 0)
		fail_msg("%s", error.text);
	return fd;
}

static void ask(int fd, uint64_t id)
{
	struct channel_request r = { .kind = CHANNEL_TARGETS, .id = id };
	int memory = channel__memory();

	assert_int_equal(channel__ask(fd, &r, memory), 0);
	close(memory);
}

static unsigned int clients(const struct control *c)
{
	struct pollfd fd[CONTROL_FDS];

	return control__fds(c, fd) - 1; /* besides the socket */
}

static bool is_closed(int fd)
{
	struct channel_answer answer;

	return channel__receive(fd, &answer) == -EPIPE;
}

TEST(requests)
{
	struct control *c = open_control();
	struct asked a = {};
	struct channel_answer answer;
	int one = connected(), two = connected();

	control__step(c, 0, handle, &a);
	ask(one, 7);
	ask(two, 8);
	ask(two, 9);
	control__step(c, 0, handle, &a);
	control__step(c, 0, handle, &a);
	assert_int_equal(a.n, 3);
	assert_int_equal(a.request[0].id, 7);
	assert_int_equal(a.request[1].id, 8);
	assert_int_equal(a.request[2].id, 9);
	assert_int_equal(a.client[1], a.client[2]);
	assert_int_not_equal(a.client[0], a.client[1]);
	control__answer(c, a.client[1], 9, -EBUSY, "busy");
	assert_int_equal(channel__receive(one, &answer), -EAGAIN);
	assert_int_equal(channel__receive(two, &answer), 0);
	assert_int_equal(answer.id, 9);
	assert_int_equal(answer.error, -EBUSY);
	/* an answer to one that has gone goes nowhere, also if another one has its descriptor */
	close(one);
	control__step(c, 0, handle, &a);
	one = connected();
	control__step(c, 0, handle, &a);
	control__answer(c, a.client[0], 7, 0, NULL);
	assert_int_equal(channel__receive(one, &answer), -EAGAIN);
	assert_int_equal(clients(c), 2);
	control__close(c);
	assert_true(is_closed(one) && is_closed(two));
	close(one);
	close(two);
}

/* A client that is killed by its parent when it does not end. */
static void client(const void *ctx)
{
	const struct channel_request *r = ctx;
	struct error why = {};
	int memory = channel__memory(), fd = control__connect(path, &why);
	int err = fd < 0 ? fd : control__ask(fd, r, memory, 5 * SECOND, &why);
	char text[16] = "";

	if (!err && pread(memory, text, sizeof(text) - 1, 0) < 0)
		exit(100);
	printf("%s%s", text, why.text);
	exit(-err);
}

struct serving {
	struct control *c;
	unsigned int answers;
};

static void serve(const void *ctx)
{
	const struct serving *s = ctx;
	struct asked a = { .answers = s->c };

	for (uint64_t until = clock__now() + 5 * SECOND;
	     clock__now() < until && a.n < s->answers;) {
		struct pollfd fd[CONTROL_FDS];

		poll(fd, control__fds(s->c, fd), 100);
		control__step(s->c, clock__now(), handle, &a);
	}
	_exit(a.n == s->answers ? 0 : 1);
}

static struct ran asked_of_a_server(const struct channel_request *r)
{
	struct control *c = open_control();
	struct serving s = { c, 1 };
	struct ran ran;
	int status;
	pid_t pid = fork();

	if (!pid)
		serve(&s);
	ran = in_child(client, r);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	control__close(c);
	return ran;
}

TEST(round_trip)
{
	struct channel_request r = { .kind = CHANNEL_TARGETS };
	struct ran ran = asked_of_a_server(&r);

	assert_string_equal(ran.out, "[]\n");
	assert_int_equal(ran.status, 0);
	r.pid = 5;
	r.id = 77;
	ran = asked_of_a_server(&r);
	assert_string_equal(ran.out, "no such target");
	assert_int_equal(ran.status, ENOENT);
	ran = in_child(client, &r);
	assert_non_null(strstr(ran.out, "no 'gotrace-bpf serve' is running"));
	assert_int_equal(ran.status, ENOENT);
}

TEST(too_slow)
{
	struct channel_request r = { .kind = CHANNEL_TARGETS };
	struct control *c = open_control();
	int fd = connected(), memory = channel__memory();

	assert_int_equal(control__ask(fd, &r, memory, SECOND / 100, &error), -ETIMEDOUT);
	assert_non_null(strstr(error.text, "did not answer"));
	control__close(c);
	close(fd);
	close(memory);
}

/* ---- limits ---- */

TEST(broken_clients)
{
	struct control *c = open_control();
	struct asked a = {};
	int fd[3];

	for (int i = 0; i < 3; i++)
		fd[i] = connected();
	control__step(c, 0, handle, &a);
	assert_int_equal(send(fd[0], "GET / HTTP/1.1\r\n", 16, 0), 16);
	assert_int_equal(send(fd[1], &(struct channel_request){ .kind = CHANNEL_TARGETS },
			      sizeof(struct channel_request), 0),
			 sizeof(struct channel_request)); /* without a descriptor */
	ask(fd[2], 3);
	control__step(c, 0, handle, &a);
	assert_int_equal(a.n, 1);
	assert_int_equal(clients(c), 1);
	assert_true(is_closed(fd[0]) && is_closed(fd[1]) && !is_closed(fd[2]));
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	control__close(c);
}

TEST(too_many_requests)
{
	struct control *c = open_control();
	struct asked a = {};
	int fd = connected();

	control__step(c, 0, handle, &a);
	for (uint64_t i = 0; i <= CONTROL_REQUESTS; i++)
		ask(fd, i);
	for (int i = 0; i < 10; i++)
		control__step(c, 0, handle, &a);
	assert_int_equal(a.n, CONTROL_REQUESTS);
	assert_int_equal(clients(c), 0);
	close(fd);
	control__close(c);
}

TEST(silent_clients)
{
	struct control *c = open_control();
	struct asked a = {};
	int silent = connected(), waiting = connected();

	control__step(c, SECOND, handle, &a);
	ask(waiting, 1);
	control__step(c, SECOND, handle, &a);
	control__step(c, SECOND + CONTROL_IDLE_NS - 1, handle, &a);
	assert_int_equal(clients(c), 2);
	control__step(c, SECOND + CONTROL_IDLE_NS, handle, &a);
	assert_int_equal(clients(c), 1);
	assert_true(is_closed(silent) && !is_closed(waiting));
	control__step(c, 1000 * CONTROL_IDLE_NS, handle, &a);
	assert_int_equal(clients(c), 1);
	close(silent);
	close(waiting);
	control__close(c);
}

static unsigned int descriptors(void)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Thousands of connections: those that are connected are served, others are disconnected. */
TEST(a_flood)
{
	struct control *c = open_control();
	struct asked a = { .answers = c };
	unsigned int before = descriptors(), served;
	int kept[CONTROL_CLIENTS];
	struct channel_answer answer;

	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		kept[i] = connected();
		control__step(c, 0, handle, &a);
	}
	assert_int_equal(clients(c), CONTROL_CLIENTS);
	for (int i = 0; i < 3000; i++) {
		int fd = connected();

		control__step(c, 0, handle, &a);
		assert_true(is_closed(fd));
		close(fd);
	}
	assert_int_equal(clients(c), CONTROL_CLIENTS);
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		ask(kept[i], 1);
	control__step(c, 0, handle, &a);
	for (served = 0; served < CONTROL_CLIENTS; served++)
		assert_int_equal(channel__receive(kept[served], &answer), 0);
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		close(kept[i]);
	control__step(c, 0, handle, &a);
	assert_int_equal(clients(c), 0);
	assert_int_equal(descriptors(), before);
	control__close(c);
}

/* ---- other users ---- */

static void other_user(const void *ctx)
{
	struct error why = {};
	int fd;

	if (setgid(65534) || setuid(65534))
		exit(100);
	fd = control__connect(path, &why);
	printf("%s", why.text);
	if (fd >= 0) { /* it is disconnected */
		struct channel_answer answer;

		while (channel__receive(fd, &answer) == -EAGAIN)
			usleep(1000);
		exit(0);
	}
	exit(1);
}

/* Even if the directory and the socket were opened for all users. */
TEST(users_without_privilege)
{
	struct serving s;
	struct asked a = {};
	struct ran ran;
	int status;
	pid_t pid;

	if (geteuid())
		skip();
	s.c = open_control();
	ran = in_child(other_user, NULL);
	assert_non_null(strstr(ran.out, "permission denied"));
	assert_int_equal(ran.status, 1);
	assert_int_equal(chmod(top, 0755) | chmod(dir, 0755) | chmod(path, 0666), 0);
	pid = fork();
	if (!pid) {
		alarm(20);
		for (;;) {
			control__step(s.c, clock__now(), handle, &a);
			usleep(1000);
		}
	}
	ran = in_child(other_user, NULL);
	assert_string_equal(ran.out, "");
	assert_int_equal(ran.status, 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	control__close(s.c);
}

/* A socket that another user has created at the path of root's: its answers are not asked for. */
TEST(listener_of_another_user)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	if (geteuid())
		skip();
	assert_int_equal(mkdir(dir, 0700) | chown(dir, 65534, 65534) | chmod(top, 0755), 0);
	strcpy(at.sun_path, path);
	assert_int_equal(setegid(65534) | seteuid(65534), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)) | listen(fd, 1), 0);
	assert_int_equal(seteuid(0) | setegid(0), 0);
	assert_int_equal(control__connect(path, &error), -EPERM);
	assert_non_null(strstr(error.text, "of another user"));
	close(fd);
}
