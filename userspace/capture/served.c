// SPDX-License-Identifier: GPL-2.0
/*
 * A recording that is served: see served.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/served.h"
#include "flight/flight.h"
#include "format/header.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "metrics/metrics.h"
#include "service/channel.h"
#include "writer/writer.h"

#define REQUESTS_AT_ONCE 8		     /* between two drains */
#define GENERATION_NS	 1000000000ull	     /* without records, nothing else ends a generation */
#define PATIENCE_NS	 (5 * 1000000000ull) /* for the readers, at the end */

struct served {
	struct served_opts opts;
	struct streams *streams;
	struct metrics *metrics;
	struct flight *flight; /* NULL: none */
	uint64_t from;	       /* the start of the open generation; CLOCK_MONOTONIC, ns */
	uint64_t due_since;    /* served__is_due(); 0: it is not */
	bool closed;	       /* the supervisor is gone, or has sent something invalid */
};

static void answer(struct served *l, uint64_t id, int err, const char *text)
{
	if (!l->closed && channel__answer(l->opts.channel, id, err, text))
		l->closed = true;
}

/* Called by streams.c. */
static void answer_stream(void *ctx, uint64_t id, int err, const char *text)
{
	answer(ctx, id, err, text);
}

int served__create(struct served **ret, const struct served_opts *opts)
{
	struct served *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->opts = *opts;
	l->streams = streams__create(opts->version, answer_stream, l);
	if (!l->streams || metrics__create(&l->metrics, NULL, NULL)) {
		served__destroy(l);
		return -ENOMEM;
	}
	*ret = l;
	return 0;
}

void served__destroy(struct served *l)
{
	if (!l)
		return;
	streams__destroy(l->streams);
	metrics__destroy(l->metrics);
	free(l);
}

/* ---- generations ---- */

/* For writer__use_memory(). */
static int append(void *to, const struct iovec *iov, size_t n)
{
	struct served *l = to;
	int err = l->flight ? flight__append(l->flight, iov, n) : 0;

	if (!err)
		err = streams__append(l->streams, iov, n);
	return err ? err : metrics__append(l->metrics, iov, n);
}

int served__start(struct served *l, struct writer *w, struct flight *flight, uint64_t t0)
{
	char header[TRACE_HEADER_LEN];
	const struct iovec iov = { header, sizeof(header) };

	l->flight = flight;
	l->from = t0;
	writer__use_memory(w, append, l);
	header__make(l->opts.version, header);
	return metrics__append(l->metrics, &iov, 1);
}

int served__next(struct served *l, uint64_t time)
{
	int is_first = l->flight ? flight__next(l->flight, time) : 0;

	if (is_first < 0)
		return is_first;
	l->from = time;
	is_first |= metrics__needs_state(l->metrics);
	is_first |= streams__next(l->streams, time);
	if (is_first)
		metrics__has_state(l->metrics);
	if (is_first && l->flight)
		flight__has_state(l->flight);
	return is_first;
}

bool served__is_due(struct served *l, uint64_t watermark, uint64_t *ret_since)
{
	bool is_due =
		streams__is_due(l->streams, watermark) || watermark >= l->from + GENERATION_NS;

	if (!is_due)
		l->due_since = 0;
	else if (!l->due_since)
		l->due_since = watermark;
	*ret_since = l->due_since;
	return is_due;
}

/* ---- requests ---- */

static void answer_bytes(struct served *l, const struct channel_request *r, int fd, served_fn fn,
			 void *ctx)
{
	void *data = NULL;
	size_t size = 0;
	int err = fn ? fn(ctx, &data, &size) : -EOPNOTSUPP;

	if (!err)
		err = channel__put(fd, data, size);
	free(data);
	answer(l, r->id, err, NULL);
}

/* The metrics up to the latest generation that was analysed. */
static int take_snapshot(void *ctx, void **ret, size_t *size)
{
	struct served *l = ctx;

	return metrics__snapshot(l->metrics, ret, size);
}

static void handle(struct served *l, const struct channel_request *r, int fd)
{
	if (r->kind == CHANNEL_TRACE) {
		streams__add(l->streams, r->id, fd, r->ns, clock__now());
		return;
	}
	if (r->kind == CHANNEL_STATS)
		answer_bytes(l, r, fd, l->opts.stats, l->opts.stats_ctx);
	else
		answer_bytes(l, r, fd, take_snapshot, l);
	close(fd);
}

static void take_requests(struct served *l)
{
	struct channel_request request;
	int fd, err = 0;

	for (unsigned int i = 0; i < REQUESTS_AT_ONCE && !l->closed; i++) {
		err = channel__take(l->opts.channel, &request, &fd);
		if (err == -EAGAIN)
			return;
		if (err) {
			log__debug("the supervisor has ended");
			l->closed = true;
			return;
		}
		handle(l, &request, fd);
	}
}

unsigned int served__fds(const struct served *l, struct pollfd *fd)
{
	unsigned int n = streams__fds(l->streams, fd);

	if (!l->closed)
		fd[n++] = (struct pollfd){ l->opts.channel, POLLIN, 0 };
	return n;
}

void served__step(struct served *l)
{
	take_requests(l);
	streams__send(l->streams, clock__now());
}

void served__finish(struct served *l)
{
	uint64_t now = clock__now(), deadline = now + PATIENCE_NS;
	struct pollfd fd[STREAMS_MAX];

	streams__finish(l->streams);
	streams__send(l->streams, now);
	for (; streams__open(l->streams) && now < deadline; now = clock__now()) {
		poll(fd, streams__fds(l->streams, fd), 100);
		streams__send(l->streams, now);
	}
}
