// SPDX-License-Identifier: GPL-2.0
/*
 * A supervisor for tests of the front: listens, starts the front, and answers its requests with
 * made results, without targets or recorders. Driven by selftests/check/front.sh.
 *
 *     front ADDRESS METRICS-BYTES MS
 *
 * MS is the time that a client has for a request.
 *
 * Prints "front PID" when it listens, then one line for each request and for the end of each
 * stream; an end of file on stdin ends it. The PID that a client asks for selects what happens to
 * its trace: see play().
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "service/channel.h"
#include "service/front.h"
#include "service/front_user.h"
#include "service/own_socket.h"

#define STREAMS_MAX 32
#define CHUNK	    4096
#define EVERY_NS    10000000 /* a chunk of a trace */

enum behavior {
	WHOLE = 1,	/* sends chunks for the duration, and succeeds */
	SILENT = 2,	/* never sends nor answers */
	BROKEN = 3,	/* fails after the first chunk */
	FAST = 4,	/* sends as much as the client reads, and succeeds after the duration */
	EMPTY = 5,	/* succeeds without bytes */
	LATE = 6,	/* sends, closes the stream, but does not answer */
	FORBIDDEN = 7,	/* fails with an error that the front does not know */
	UNREADY = 8,	/* fails with -EAGAIN */
	RESERVED = 100, /* up to here; other PIDs do not exist */
};

struct stream {
	int fd; /* -1: unused */
	int pid;
	uint64_t id, end, next, sent;
};

static struct stream streams[STREAMS_MAX];
static int channel;
static char *metrics;
static size_t metrics_size;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Bytes whose position can be verified: the client computes the same. */
static void fill(char *buf, uint64_t from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf[i] = (char)((from + i) * 7 + (from + i) / 251);
}

static void finish(struct stream *s, int err, const char *text)
{
	printf("end %d %llu %d\n", s->pid, (unsigned long long)s->sent, err);
	fflush(stdout);
	close(s->fd);
	s->fd = -1;
	channel__answer(channel, s->id, err, text);
}

static struct stream *free_stream(void)
{
	for (size_t i = 0; i < STREAMS_MAX; i++)
		if (streams[i].fd < 0)
			return &streams[i];
	fprintf(stderr, "too many streams\n");
	exit(1);
}

static void begin(const struct channel_request *r, int fd)
{
	struct stream *s = free_stream();
	uint64_t now = clock__now();

	*s = (struct stream){ fd, r->pid, r->id, now + r->ns, now, 0 };
	if (!r->pid)
		finish(s, -ENOTUNIQ, "several targets");
	else if (r->pid == FORBIDDEN)
		finish(s, -EPERM, "not permitted here");
	else if (r->pid == UNREADY)
		finish(s, -EAGAIN, "not recorded yet");
	else if (r->pid > RESERVED)
		finish(s, -ENOENT, "no such target");
	else if (r->pid == EMPTY)
		finish(s, 0, NULL);
}

/* False: the channel has ended. */
static bool answer(void)
{
	static const char json[] = "[\n{\"pid\": 1},\n{\"pid\": 2}\n]\n";
	struct channel_request r;
	int fd, err;

	while (!(err = channel__take(channel, &r, &fd))) {
		if (r.kind == CHANNEL_ALIVE)
			continue;
		printf("request %u %d %llu\n", r.kind, r.pid, (unsigned long long)r.ns);
		fflush(stdout);
		if (r.kind == CHANNEL_TRACE) {
			begin(&r, fd);
			continue;
		}
		if (r.kind == CHANNEL_METRICS)
			err = channel__put(fd, metrics, metrics_size);
		else
			err = channel__put(fd, json, sizeof(json) - 1);
		close(fd);
		channel__answer(channel, r.id, err, NULL);
	}
	return err == -EAGAIN;
}

/* One step of a stream. */
static void play(struct stream *s, uint64_t now)
{
	char buf[CHUNK], byte;
	long n = 0;

	if (s->pid == SILENT || (s->pid == LATE && s->sent)) {
		if (recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
			finish(s, -EPIPE, "");
		return;
	}
	if (now >= s->end) {
		finish(s, 0, NULL);
		return;
	}
	if (now < s->next && s->pid != FAST) {
		if (recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
			finish(s, -EPIPE, "");
		return;
	}
	do {
		fill(buf, s->sent, sizeof(buf));
		n = channel__send(s->fd, buf, sizeof(buf));
		s->sent += n > 0 ? (uint64_t)n : 0;
	} while (n > 0 && s->pid == FAST && clock__now() < now + EVERY_NS);
	s->next = now + EVERY_NS;
	if (n < 0 && n != -EAGAIN)
		finish(s, (int)n, "");
	else if (s->pid == BROKEN)
		finish(s, -ENOBUFS, "too slow");
	else if (s->pid == LATE)
		shutdown(s->fd, SHUT_WR);
}

static void serve(void)
{
	struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				{ .fd = channel, .events = POLLIN } };
	bool busy;

	for (;;) {
		busy = false;
		for (size_t i = 0; i < STREAMS_MAX; i++)
			busy |= streams[i].fd >= 0;
		if (poll(fds, 2, busy ? 5 : -1) < 0)
			die("poll");
		if (fds[0].revents)
			return;
		if (fds[1].revents && !answer())
			return;
		for (size_t i = 0; i < STREAMS_MAX; i++)
			if (streams[i].fd >= 0)
				play(&streams[i], clock__now());
	}
}

int main(int argc, char **argv)
{
	struct own_socket own;
	struct front_opts opts = { .answer_ms = 2000, .strict = true };
	struct front_user user;
	struct error error = {};
	int ends[2], fd, status;
	pid_t pid;

	if (argc != 4)
		return 2;
	opts.request_ms = (unsigned int)strtoul(argv[3], NULL, 10);
	metrics_size = strtoul(argv[2], NULL, 10);
	metrics = malloc(metrics_size + 1);
	if (!metrics)
		die("malloc");
	memset(metrics, '#', metrics_size);
	if (metrics_size)
		metrics[metrics_size - 1] = '\n';
	for (size_t i = 0; i < STREAMS_MAX; i++)
		streams[i].fd = -1;
	fd = front_user__find(&user, NULL, &error);
	fd = fd ?: front_user__choose(&user, &opts.uid, &opts.gid, &error);
	if (!fd)
		fd = front__listen(argv[1], &own, &error);
	if (fd < 0) {
		log__msg("%s", error.text);
		return 1;
	}
	if (channel__pair(ends))
		die("socketpair");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		_exit(front__run(fd, ends[1], &opts) ? 1 : 0);
	close(fd);
	close(ends[1]);
	channel = ends[0];
	printf("front %d\n", pid);
	fflush(stdout);
	serve();
	close(channel);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status)) {
		printf("front ended with status %#x\n", status);
		return 1;
	}
	return 0;
}
