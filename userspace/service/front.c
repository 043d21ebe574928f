// SPDX-License-Identifier: GPL-2.0
/*
 * The loop of the front: accepts connections, ends those that are late, and runs libmicrohttpd on
 * the others. See front.h for the pages and front_impl.h for the parts.
 *
 * Clients are hostile: each of them has a time to send a request and to read the response, and
 * there are CONNECTIONS_MAX connections. When these are in use, a new one replaces the one that has
 * waited longest for its client, so that connections without requests cannot keep others out. A
 * request may have REQUEST_MEMORY bytes of headers and no body.
 */
#include "service/front.h"

#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "service/front_impl.h"
#include "service/sandbox.h"

#define DEFAULT_MS	10000
#define REQUEST_MEMORY	(32u << 10)  /* also for the part of a response that is being sent */
#define ADDED_MEMORY	(256u << 20) /* HELD_MAX of http_page.c; connections; a margin */
#define EVICT_MAX	4	     /* connections that are replaced at a time */
#define WRITER_GRACE_NS (2000 * MS)  /* a client that reads slowly is replaced later */
#define MMAP_THRESHOLD	(256 << 10)
#define FILES_MAX	256
#define FDS_MAX		(3 + 2 * HTTP_STREAMS)

void http_connection__deadline(struct http_connection *c, uint64_t now, uint64_t ns)
{
	c->since = now;
	c->deadline = now + ns;
}

void http_connection__shut(struct http_connection *c)
{
	if (!c->shut)
		shutdown(c->fd, SHUT_RDWR);
	c->shut = true;
}

static struct http_connection *free_connection(struct front *f)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (f->connections[i].fd < 0)
			return &f->connections[i];
	return NULL;
}

static size_t count_free(const struct front *f)
{
	size_t n = 0;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		n += f->connections[i].fd < 0;
	return n;
}

/* libmicrohttpd has taken a connection, or will close it. */
static void on_connection(void *front, struct MHD_Connection *mhd, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct front *f = front;
	struct http_connection *c = *context;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (c)
			*c = (struct http_connection){ .fd = -1 };
		return;
	}
	c = free_connection(f);
	*context = c;
	if (!c)
		return; /* its requests are refused */
	c->fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	http_connection__deadline(c, f->now, f->request_ns);
}

/* When the connection may be replaced; UINT64_MAX: not while the supervisor works for it. */
static uint64_t evictable_since(const struct http_connection *c)
{
	if (c->fd < 0 || c->shut)
		return UINT64_MAX;
	if (!c->request)
		return c->since;
	if (c->request->suspended || c->request->stream)
		return UINT64_MAX;
	return c->since + WRITER_GRACE_NS;
}

static bool evict_oldest(struct front *f)
{
	struct http_connection *oldest = NULL;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct http_connection *c = &f->connections[i];

		if (evictable_since(c) < (oldest ? evictable_since(oldest) : UINT64_MAX))
			oldest = c;
	}
	if (oldest)
		http_connection__shut(oldest);
	return oldest;
}

static void accept_connections(struct front *f)
{
	size_t room = count_free(f);

	if (!room) {
		for (size_t i = 0; i < EVICT_MAX && evict_oldest(f); i++)
			;
		MHD_run(f->daemon);
		room = count_free(f);
	}
	for (size_t i = 0; i < room; i++) {
		struct sockaddr_storage address;
		socklen_t len = sizeof(address);
		int fd = accept4(f->listen_fd, (struct sockaddr *)&address, &len,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return;
		/* Closes it on failure. */
		MHD_add_connection(f->daemon, fd, (struct sockaddr *)&address, len);
	}
}

static void expire_connections(struct front *f)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct http_connection *c = &f->connections[i];

		/* What waits for the supervisor has a deadline of its own. */
		if (c->fd >= 0 && f->now >= c->deadline && !(c->request && c->request->suspended))
			http_connection__shut(c);
	}
}

static void hear_answers(struct front *f)
{
	struct channel_answer answer;
	int err;

	while (!(err = channel__receive(f->channel_fd, &answer)))
		/* One that is unknown came too late. */
		if (!http_page__answer(f, &answer))
			http_stream__answer(f, &answer);
	if (err == -EAGAIN)
		return;
	f->closed = true;
	f->err = err == -EPIPE ? 0 : err;
}

/* One that the supervisor does not take now is not needed. */
static void report(struct front *f)
{
	const struct channel_request alive = { .kind = CHANNEL_ALIVE };

	if (f->now < f->reports)
		return;
	channel__ask(f->channel_fd, &alive, -1);
	f->reports = f->now + FRONT_ALIVE_NS;
}

static void earlier(uint64_t *deadline, uint64_t other)
{
	if (other < *deadline)
		*deadline = other;
}

static uint64_t next_deadline(const struct front *f)
{
	uint64_t next = f->reports;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		const struct http_connection *c = &f->connections[i];

		if (c->fd >= 0 && !c->shut && !(c->request && c->request->suspended))
			earlier(&next, c->deadline);
	}
	for (size_t i = 0; i < PAGES; i++)
		if (f->pages[i].id)
			earlier(&next, f->pages[i].deadline);
	for (size_t i = 0; i < HTTP_STREAMS; i++)
		if (f->streams[i].used && f->streams[i].request && f->streams[i].request->suspended)
			earlier(&next, f->streams[i].deadline);
	return next;
}

static int wait_ms(const struct front *f)
{
	uint64_t next = next_deadline(f), ms;
	MHD_UNSIGNED_LONG_LONG theirs;

	if (next <= f->now)
		return 0;
	ms = (next - f->now) / MS + 1;
	if (MHD_get_timeout(f->daemon, &theirs) == MHD_YES && theirs < ms)
		ms = theirs;
	return (int)ms;
}

/* Whether a connection can be accepted, now or by replacing another. */
static bool has_room(const struct front *f)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (f->connections[i].fd < 0 || evictable_since(&f->connections[i]) != UINT64_MAX)
			return true;
	return false;
}

/* One round. 0 or a negative errno. */
static int serve(struct front *f)
{
	struct pollfd fds[FDS_MAX] = {
		{ .fd = f->channel_fd, .events = POLLIN },
		{ .fd = f->epoll_fd, .events = POLLIN },
		{ .fd = has_room(f) ? f->listen_fd : -1, .events = POLLIN },
	};
	size_t n = 3;

	f->now = clock__now();
	report(f);
	for (size_t i = 0; i < HTTP_STREAMS; i++)
		n += http_stream__poll(&f->streams[i], &fds[n]);
	if (poll(fds, n, wait_ms(f)) < 0)
		return errno == EINTR ? 0 : -errno;
	f->now = clock__now();
	if (fds[0].revents)
		hear_answers(f);
	for (size_t i = 0; i < HTTP_STREAMS; i++)
		http_stream__check(&f->streams[i], f->now);
	http_page__expire(f);
	expire_connections(f);
	if (fds[2].revents)
		accept_connections(f);
	return MHD_run(f->daemon) == MHD_YES ? 0 : -EIO;
}

static void on_message(void *front, const char *fmt, va_list ap)
{
	char text[256];

	vsnprintf(text, sizeof(text), fmt, ap);
	text[strcspn(text, "\n")] = '\0';
	log__debug("libmicrohttpd: %s", text);
}

static int start_daemon(struct front *f)
{
	const union MHD_DaemonInfo *info;

	f->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET |
			MHD_USE_ERROR_LOG,
		0, NULL, NULL, http_request__handle, f, MHD_OPTION_EXTERNAL_LOGGER, on_message, f,
		MHD_OPTION_NOTIFY_COMPLETED, http_request__end, f, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, f, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX + EVICT_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, 60u, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
	if (!f->daemon)
		return -ENOMEM;
	info = MHD_get_daemon_info(f->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	f->epoll_fd = info ? info->epoll_fd : -1;
	return f->epoll_fd < 0 ? -ENOTSUP : 0;
}

static int find_port(struct front *f)
{
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
		struct sockaddr_storage storage;
	} address;
	socklen_t len = sizeof(address);

	if (getsockname(f->listen_fd, &address.any, &len))
		return -errno;
	f->is_unix = address.any.sa_family == AF_UNIX;
	if (address.any.sa_family == AF_INET)
		f->port = ntohs(address.four.sin_port);
	else if (address.any.sa_family == AF_INET6)
		f->port = ntohs(address.six.sin6_port);
	return 0;
}

static int prepare(struct front *f, const struct front_opts *opts, struct error *error)
{
	const int fds[] = { f->listen_fd, f->channel_fd };
	const struct sandbox_opts sandbox = {
		.uid = opts->uid,
		.gid = opts->gid,
		.fds = fds,
		.nfds = sizeof(fds) / sizeof(fds[0]),
		.memory = ADDED_MEMORY,
		.files = FILES_MAX,
		.strict = opts->strict,
	};
	int err = find_port(f);

	tzset(); /* reads a file, which the date in responses needs later */
	/* Fixed, so that the memory of each page is returned to the kernel. */
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	if (err)
		return error__set(error, err, "cannot listen: %s", strerror(-err));
	err = sandbox__drop(&sandbox, error);
	if (err)
		return err;
	err = start_daemon(f);
	if (err)
		return error__set(error, err, "cannot start libmicrohttpd: %s", strerror(-err));
	return sandbox__seal(&sandbox, error);
}

static void reset_signals(void)
{
	static const int signals[] = {
		SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGUSR1, SIGUSR2
	};
	sigset_t none;

	/*
	 * Signals to the process group or the unit are for the supervisor alone, which closes the
	 * channel when it ends.
	 */
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int front__run(int listen_fd, int channel_fd, const struct front_opts *opts)
{
	static struct front f;
	struct error error = {};
	int err;

	f.listen_fd = listen_fd;
	f.channel_fd = channel_fd;
	f.request_ns = (opts->request_ms ? opts->request_ms : DEFAULT_MS) * MS;
	f.answer_ns = (opts->answer_ms ? opts->answer_ms : DEFAULT_MS) * MS;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		f.connections[i].fd = -1;
	for (size_t i = 0; i < PAGES; i++)
		f.pages[i].memory = -1;
	reset_signals();
	err = prepare(&f, opts, &error);
	while (!err && !f.closed)
		err = serve(&f);
	err = err ? err : f.err;
	if (err)
		log__msg("HTTP: %s", error.text[0] ? error.text : strerror(-err));
	return err;
}
