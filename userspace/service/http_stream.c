// SPDX-License-Identifier: GPL-2.0
/*
 * Traces: bytes go from the recorder's stream to the client as fast as the client reads them.
 *
 * The response begins with the first bytes, so that a request that fails before has a status of its
 * own. Nothing is buffered here: a client that does not read leaves the bytes in the stream, whose
 * sender gives up (-ENOBUFS). A stream that fails ends the connection without the last chunk, by
 * which clients know that the trace is not complete. Closing the stream ends its recording.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/front_impl.h"
#include "service/streams.h"

static bool goes_on(const struct http_stream *s)
{
	return s->used && !s->answered && !s->ended;
}

/* Its recorder sees the end of the stream, and its client that of the response. */
static void give_way(struct http_stream *s)
{
	struct http_request *r = s->request;

	shutdown(s->fd, SHUT_RDWR);
	s->answered = s->ended = true;
	s->error = -EBUSY;
	strcpy(s->text, "ended for a shorter trace: too many at the same time");
	if (!r)
		return;
	if (s->started)
		http_connection__shut(r->connection);
	else if (r->suspended) {
		http_request__fail(r, s->error, s->text);
		http_request__resume(r);
	}
}

/* A free element for a trace that ends at `until`; NULL: there are too many. */
static struct http_stream *make_room(struct front *f, uint64_t until)
{
	struct http_stream *unused = NULL, *last = NULL;
	size_t n = 0;

	for (struct http_stream *s = f->streams; s < f->streams + HTTP_STREAMS; s++) {
		if (!s->used)
			unused = s;
		if (!goes_on(s))
			continue;
		n++;
		if (!last || s->until > last->until)
			last = s;
	}
	if (n < HTTP_STREAMS_MAX || !unused)
		return unused;
	if (last->until < until + STREAM_LONGER_NS)
		return NULL;
	give_way(last);
	return unused;
}

static int start(struct front *f, struct http_stream *s, int32_t pid, uint64_t ns)
{
	struct channel_request request = {
		.kind = CHANNEL_TRACE,
		.pid = pid,
		.id = ++f->last_id,
		.ns = ns,
	};
	int ends[2], err = channel__stream(ends);

	if (err)
		return err;
	err = channel__ask(f->channel_fd, &request, ends[1]);
	close(ends[1]);
	if (err) {
		close(ends[0]);
		return err;
	}
	/* The recorder needs time to begin and to end, and the client to read. */
	*s = (struct http_stream){
		.used = true,
		.fd = ends[0],
		.id = request.id,
		.until = f->now + ns,
		.deadline = f->now + ns + 3 * f->answer_ns,
	};
	return 0;
}

void http_stream__ask(struct http_request *r, int32_t pid, uint64_t ns)
{
	struct http_stream *s = make_room(r->front, r->front->now + ns);
	int err = s ? start(r->front, s, pid, ns) : -EBUSY;

	if (err) {
		http_request__fail(r, err, s ? "" : "too many traces are being recorded");
		return;
	}
	s->request = r;
	r->stream = s;
	http_connection__deadline(r->connection, r->front->now, 2 * (s->deadline - r->front->now));
	http_request__suspend(r);
}

void http_stream__end(struct http_stream *s)
{
	if (!s->used)
		return;
	close(s->fd);
	if (s->request)
		s->request->stream = NULL;
	*s = (struct http_stream){};
}

bool http_stream__answer(struct front *f, const struct channel_answer *answer)
{
	for (size_t i = 0; i < HTTP_STREAMS; i++) {
		struct http_stream *s = &f->streams[i];

		if (!s->used || s->id != answer->id || s->answered)
			continue;
		s->answered = true;
		s->error = answer->error;
		memcpy(s->text, answer->text, sizeof(s->text));
		return true;
	}
	return false;
}

size_t http_stream__poll(const struct http_stream *s, struct pollfd *ret)
{
	size_t n = 0;

	if (!s->used || !s->request || !s->request->suspended)
		return 0;
	if (!s->ended)
		ret[n++] = (struct pollfd){ .fd = s->fd, .events = POLLIN };
	/* The end of what the client sends is the end of its interest, as for net/http. */
	ret[n++] = (struct pollfd){ .fd = s->request->connection->fd, .events = POLLRDHUP };
	return n;
}

static bool has_left(const struct http_request *r)
{
	struct pollfd p = { .fd = r->connection->fd, .events = POLLRDHUP };

	return poll(&p, 1, 0) > 0;
}

/* Whether the stream has bytes; sets s->ended. */
static bool has_bytes(struct http_stream *s)
{
	char byte;
	ssize_t n = recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	s->ended = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
	return n > 0;
}

static void fail(const struct http_stream *s)
{
	if (!s->answered)
		http_request__fail(s->request, -ETIMEDOUT, "the recorder did not answer in time");
	else if (s->error)
		http_request__fail(s->request, s->error, s->text);
	else
		http_request__fail(s->request, -EIO, "the recorder sent no trace");
}

void http_stream__check(struct http_stream *s, uint64_t now)
{
	struct http_request *r = s->request;
	bool bytes;

	if (!s->used || !r || !r->suspended)
		return;
	bytes = has_bytes(s);
	s->late = now >= s->deadline;
	r->gone = has_left(r);
	if (!r->gone && !s->late && !bytes && !(s->answered && (s->ended || s->error)))
		return;
	if (!s->started && !r->gone && !bytes)
		fail(s);
	http_request__resume(r);
}

ssize_t http_stream__read(void *stream, uint64_t pos, char *buf, size_t max)
{
	struct http_stream *s = stream;
	struct http_request *r = s->request;
	ssize_t n;

	if (!r || r->gone || s->late)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	n = recv(s->fd, buf, max, MSG_DONTWAIT);
	if (n > 0)
		return n;
	s->ended = n == 0 || (errno != EAGAIN && errno != EINTR);
	if (s->answered && (s->ended || s->error))
		return s->error ? MHD_CONTENT_READER_END_WITH_ERROR :
				  MHD_CONTENT_READER_END_OF_STREAM;
	http_request__suspend(r);
	return 0;
}
