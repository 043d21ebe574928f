// SPDX-License-Identifier: GPL-2.0
/*
 * Traces that are sent while the recording continues: see streams.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/header.h"
#include "service/channel.h"
#include "service/streams.h"

#define SENT_AT_ONCE (1u << 20) /* bytes, between two drains of the rings */

/* Bytes that several streams have in their queues. */
struct block {
	unsigned int references;
	size_t size;
	char bytes[];
};

struct queued {
	struct block *block;
	struct queued *next;
};

enum phase {
	FREE,
	WAITS,	/* for a boundary */
	RUNS,	/* gets generations */
	DRAINS, /* gets no more */
};

struct stream {
	enum phase phase;
	int fd;
	uint64_t id, ns;
	uint64_t until; /* about when it will end; CLOCK_MONOTONIC, ns */
	uint64_t ends;	/* CLOCK_MONOTONIC, ns; of RUNS */
	bool has_begun; /* the header is queued */
	bool has_state; /* the first generation has been appended */
	bool is_cut;	/* the recording ended first */
	struct queued *first, **last;
	size_t sent;	   /* of the first block */
	size_t bytes;	   /* queued, and not sent */
	uint64_t progress; /* when the reader last took something, or had taken everything */
};

struct streams {
	unsigned int version;
	streams_fn ended;
	void *ctx;
	uint64_t begun; /* when a stream last began; CLOCK_MONOTONIC, ns */
	struct stream stream[STREAMS_MAX];
};

struct streams *streams__create(unsigned int version, streams_fn ended, void *ctx)
{
	struct streams *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->version = version;
	s->ended = ended;
	s->ctx = ctx;
	return s;
}

static void release(struct block *b)
{
	if (b && !--b->references)
		free(b);
}

static void drop_first(struct stream *st)
{
	struct queued *q = st->first;

	st->first = q->next;
	if (!st->first)
		st->last = &st->first;
	st->sent = 0;
	release(q->block);
	free(q);
}

static void forget(struct stream *st)
{
	while (st->first)
		drop_first(st);
	close(st->fd);
	*st = (struct stream){ .phase = FREE };
}

/* The stream's end is closed first, so that its reader has all of it once the answer arrives. */
static void end(struct streams *s, struct stream *st, int err, const char *text)
{
	uint64_t id = st->id;

	forget(st);
	s->ended(s->ctx, id, err, text);
}

void streams__destroy(struct streams *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < STREAMS_MAX; i++)
		if (s->stream[i].phase != FREE)
			forget(&s->stream[i]);
	free(s);
}

/* A free element, or that of a stream which gives way to one that ends at `until`; NULL: none does. */
static struct stream *make_room(struct streams *s, uint64_t until)
{
	struct stream *last = s->stream;

	for (struct stream *st = s->stream; st < s->stream + STREAMS_MAX; st++) {
		if (st->phase == FREE)
			return st;
		if (st->until > last->until)
			last = st;
	}
	if (last->until < until + STREAM_LONGER_NS)
		return NULL;
	end(s, last, -EBUSY, "ended for a shorter trace: too many at the same time");
	return last;
}

void streams__add(struct streams *s, uint64_t id, int fd, uint64_t ns, uint64_t now)
{
	struct stream *st = make_room(s, now + ns);

	if (!st) {
		close(fd);
		s->ended(s->ctx, id, -EBUSY, "too many traces of this process at the same time");
		return;
	}
	*st = (struct stream){ .phase = WAITS, .fd = fd, .id = id, .ns = ns, .until = now + ns };
	st->last = &st->first;
}

bool streams__is_due(const struct streams *s, uint64_t time)
{
	for (unsigned int i = 0; i < STREAMS_MAX; i++) {
		const struct stream *st = &s->stream[i];

		if ((st->phase == WAITS && time >= s->begun + STREAM_PAUSE_NS) ||
		    (st->phase == RUNS && time >= st->ends))
			return true;
	}
	return false;
}

/* ---- the queue ---- */

static struct block *make_block(const struct iovec *iov, size_t n)
{
	struct block *b;
	size_t size = 0, at = 0;

	for (size_t i = 0; i < n; i++)
		size += iov[i].iov_len;
	b = malloc(sizeof(*b) + size);
	if (!b)
		return NULL;
	*b = (struct block){ .references = 1, .size = size };
	for (size_t i = 0; i < n; at += iov[i++].iov_len)
		if (iov[i].iov_len)
			memcpy(b->bytes + at, iov[i].iov_base, iov[i].iov_len);
	return b;
}

static int enqueue(struct stream *st, struct block *b)
{
	struct queued *q;

	if (b->size > STREAM_QUEUE_MAX - st->bytes)
		return -ENOBUFS;
	q = malloc(sizeof(*q));
	if (!q)
		return -ENOMEM;
	*q = (struct queued){ .block = b };
	b->references++;
	*st->last = q;
	st->last = &q->next;
	st->bytes += b->size;
	return 0;
}

static void append_to(struct streams *s, struct stream *st, struct block *b)
{
	int err = enqueue(st, b);

	if (err)
		end(s, st, err,
		    err == -ENOBUFS ? "the trace was read too slowly" : "out of memory");
}

static bool is_running(const struct streams *s)
{
	for (unsigned int i = 0; i < STREAMS_MAX; i++)
		if (s->stream[i].phase == RUNS)
			return true;
	return false;
}

int streams__append(struct streams *s, const struct iovec *iov, size_t n)
{
	struct block *b;

	if (!is_running(s))
		return 0;
	b = make_block(iov, n);
	if (!b)
		return -ENOMEM;
	for (unsigned int i = 0; i < STREAMS_MAX; i++) {
		struct stream *st = &s->stream[i];

		if (st->phase != RUNS)
			continue;
		st->has_state = true;
		append_to(s, st, b);
	}
	release(b);
	return 0;
}

static void begin(struct streams *s, struct stream *st, uint64_t time)
{
	char header[TRACE_HEADER_LEN];
	const struct iovec iov = { header, sizeof(header) };
	struct block *b;

	st->phase = RUNS;
	st->ends = time + st->ns;
	if (st->has_begun)
		return;
	header__make(s->version, header);
	st->has_begun = true;
	b = make_block(&iov, 1);
	if (!b) {
		end(s, st, -ENOMEM, "out of memory");
		return;
	}
	append_to(s, st, b);
	release(b);
}

bool streams__next(struct streams *s, uint64_t time)
{
	bool begins = false;

	for (unsigned int i = 0; i < STREAMS_MAX; i++) {
		struct stream *st = &s->stream[i];

		if (st->phase == RUNS && st->has_state) {
			if (time >= st->ends)
				st->phase = DRAINS;
			continue;
		}
		/* A generation without any known P is not written: the stream begins again. */
		if (st->phase == WAITS || st->phase == RUNS)
			begin(s, st, time);
		begins |= st->phase == RUNS;
	}
	if (begins)
		s->begun = time;
	return begins;
}

void streams__finish(struct streams *s)
{
	for (unsigned int i = 0; i < STREAMS_MAX; i++) {
		struct stream *st = &s->stream[i];

		if (st->phase == FREE || st->phase == DRAINS)
			continue;
		if (!st->has_state) {
			end(s, st, -ECONNRESET, "the recording ended");
			continue;
		}
		st->phase = DRAINS;
		st->is_cut = true;
	}
}

/* ---- sending ---- */

unsigned int streams__fds(const struct streams *s, struct pollfd *fd)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < STREAMS_MAX; i++)
		if (s->stream[i].phase != FREE)
			fd[n++] = (struct pollfd){ s->stream[i].fd,
						   s->stream[i].bytes ? POLLOUT : 0, 0 };
	return n;
}

unsigned int streams__open(const struct streams *s)
{
	struct pollfd fd[STREAMS_MAX];

	return streams__fds(s, fd);
}

/* Also notes when the reader has closed a stream that has nothing to send. */
static bool is_closed(const struct stream *st)
{
	struct pollfd fd = { .fd = st->fd };

	return poll(&fd, 1, 0) > 0 && fd.revents & (POLLHUP | POLLERR | POLLNVAL);
}

/* Returns 0, or a negative errno that ends the stream. */
static int send_some(struct stream *st, uint64_t now)
{
	size_t left = SENT_AT_ONCE;

	while (st->first && left) {
		const struct block *b = st->first->block;
		size_t size = b->size - st->sent;
		long n = channel__send(st->fd, b->bytes + st->sent, size < left ? size : left);

		if (n == -EAGAIN)
			return 0;
		if (n < 0)
			return (int)n;
		st->progress = now;
		st->sent += (size_t)n;
		st->bytes -= (size_t)n;
		left -= (size_t)n;
		if (st->sent == b->size)
			drop_first(st);
	}
	return 0;
}

static void send_stream(struct streams *s, struct stream *st, uint64_t now)
{
	int err;

	if (!st->bytes || !st->progress)
		st->progress = now;
	err = is_closed(st) ? -EPIPE : send_some(st, now);
	if (err == -EPIPE)
		end(s, st, err, "the reader closed the trace");
	else if (err)
		end(s, st, err, "the trace cannot be sent");
	else if (!st->first && st->phase == DRAINS)
		end(s, st, 0, st->is_cut ? "the recording ended first" : "");
	else if (st->bytes && now > st->progress + STREAM_STALL_NS)
		end(s, st, -ENOBUFS, "the trace was not read");
}

void streams__send(struct streams *s, uint64_t now)
{
	for (unsigned int i = 0; i < STREAMS_MAX; i++)
		if (s->stream[i].phase != FREE)
			send_stream(s, &s->stream[i], now);
}
