// SPDX-License-Identifier: GPL-2.0
/* Streams of a recording: what each contains, and that a slow or absent reader does not affect others. */
#include "unit/test.h"
#include "format/header.h"
#include "service/channel.h"
#include "service/streams.h"

#define S 1000000000ull

static struct {
	unsigned int n; /* streams that have ended */
	uint64_t id;	/* the last of them */
	int err;
	char text[100];
} ended;

static void note_end(void *ctx, uint64_t id, int err, const char *text)
{
	ended.n++;
	ended.id = id;
	ended.err = err;
	snprintf(ended.text, sizeof(ended.text), "%s", text);
}

static struct streams *create(void)
{
	struct streams *s = streams__create(26, note_end, NULL);

	memset(&ended, 0, sizeof(ended));
	assert_non_null(s);
	return s;
}

/* Returns the reader's end. */
static int add(struct streams *s, uint64_t id, uint64_t ns)
{
	int fd[2];

	assert_int_equal(channel__stream(fd), 0);
	streams__add(s, id, fd[1], ns, S);
	return fd[0];
}

/* A generation, in two parts. */
static void append(struct streams *s, const char *text)
{
	size_t half = strlen(text) / 2;
	const struct iovec iov[] = {
		{ (void *)text, half },
		{ NULL, 0 },
		{ (void *)(text + half), strlen(text) - half },
	};

	assert_int_equal(streams__append(s, iov, 3), 0);
}

static void assert_read(int fd, const char *expected, bool header)
{
	char bytes[256] = "", head[TRACE_HEADER_LEN];
	ssize_t n = read(fd, bytes, sizeof(bytes) - 1), at = header ? TRACE_HEADER_LEN : 0;

	header__make(26, head);
	assert_true(n >= at);
	assert_memory_equal(bytes, head, (size_t)at);
	assert_string_equal(bytes + at, expected);
}

TEST(a_stream_has_whole_generations)
{
	struct streams *s = create();
	struct pollfd fds[STREAMS_MAX];
	int fd = add(s, 7, 2 * S);

	assert_true(streams__is_due(s, 10 * S));
	append(s, "before");
	assert_true(streams__next(s, 10 * S)); /* with the state of all goroutines */
	assert_int_equal(streams__fds(s, fds), 1);
	assert_true(fds[0].events & POLLOUT);
	assert_false(streams__is_due(s, 10 * S));
	append(s, "one");
	assert_false(streams__next(s, 11 * S));
	assert_false(streams__is_due(s, 12 * S - 1));
	assert_true(streams__is_due(s, 12 * S));
	append(s, "two");
	streams__send(s, 12 * S);
	assert_int_equal(ended.n, 0);
	assert_false(streams__next(s, 12 * S));
	append(s, "after");
	streams__send(s, 12 * S);
	assert_true(ended.n == 1 && ended.id == 7 && !ended.err && !ended.text[0]);
	assert_read(fd, "onetwo", true);
	assert_int_equal(read(fd, &(char){ 0 }, 1), 0); /* and its end */
	assert_int_equal(streams__open(s), 0);
	close(fd);
	streams__destroy(s);
}

/* One that is shorter than a generation ends it. */
TEST(a_short_stream)
{
	struct streams *s = create();
	int fd = add(s, 1, S / 10);

	assert_true(streams__next(s, S));
	assert_false(streams__is_due(s, S + S / 10 - 1));
	assert_true(streams__is_due(s, S + S / 10));
	append(s, "short");
	assert_false(streams__next(s, S + S / 10));
	streams__send(s, 2 * S);
	assert_true(ended.n == 1 && !ended.err);
	assert_read(fd, "short", true);
	close(fd);
	streams__destroy(s);
}

/* Clients that come and go do not make every generation a large one. */
TEST(streams_begin_with_a_pause)
{
	struct streams *s = create();
	int fd = add(s, 1, S), second;

	assert_true(streams__next(s, S));
	append(s, "a");
	close(fd);
	streams__send(s, S);
	second = add(s, 2, S);
	assert_false(streams__is_due(s, S + STREAM_PAUSE_NS - 1));
	assert_true(streams__is_due(s, S + STREAM_PAUSE_NS));
	assert_true(streams__next(s, S + 1)); /* a generation that ends anyway is used */
	close(second);
	streams__destroy(s);
}

TEST(streams_overlap)
{
	struct streams *s = create();
	int first = add(s, 1, 3 * S), second;

	streams__next(s, 1 * S);
	append(s, "a");
	second = add(s, 2, 1 * S);
	assert_true(streams__next(s, 2 * S));
	append(s, "b");
	assert_false(streams__next(s, 3 * S));
	append(s, "c");
	assert_false(streams__next(s, 4 * S));
	streams__send(s, 4 * S);
	assert_int_equal(ended.n, 2);
	assert_read(first, "abc", true);
	assert_read(second, "b", true);
	close(first);
	close(second);
	streams__destroy(s);
}

/* Without any known P the first generation is not written: the state must be in the next one. */
TEST(an_unwritten_generation_begins_again)
{
	struct streams *s = create();
	int fd = add(s, 1, 1 * S);

	assert_true(streams__next(s, 1 * S));
	assert_true(streams__next(s, 2 * S));
	append(s, "x");
	assert_false(streams__is_due(s, 3 * S - 1));
	assert_false(streams__next(s, 3 * S));
	streams__send(s, 3 * S);
	assert_int_equal(ended.n, 1);
	assert_read(fd, "x", true);
	close(fd);
	streams__destroy(s);
}

/* Of four with different ends, that with the last one, unless it is about as late as the new one's. */
TEST(a_long_one_gives_way)
{
	struct streams *s = create();
	int fd[STREAMS_MAX + 2];

	for (unsigned int i = 0; i < STREAMS_MAX; i++)
		fd[i] = add(s, i, (i == 1 ? 100 : 90) * S);
	fd[STREAMS_MAX] = add(s, 50, 40 * S + 1);
	assert_true(ended.n == 1 && ended.id == 50 && ended.err == -EBUSY);
	fd[STREAMS_MAX + 1] = add(s, 51, 40 * S);
	assert_true(ended.n == 2 && ended.id == 1 && ended.err == -EBUSY);
	assert_int_equal(streams__open(s), STREAMS_MAX);
	assert_int_equal(read(fd[1], &(char){ 0 }, 1), 0);
	for (unsigned int i = 0; i < STREAMS_MAX + 2; i++)
		close(fd[i]);
	streams__destroy(s);
}

TEST(more_than_the_limit_are_refused)
{
	struct streams *s = create();
	int fd[STREAMS_MAX + 1];

	for (unsigned int i = 0; i <= STREAMS_MAX; i++)
		fd[i] = add(s, i, S);
	assert_true(ended.n == 1 && ended.id == STREAMS_MAX && ended.err == -EBUSY);
	assert_int_equal(streams__open(s), STREAMS_MAX);
	assert_int_equal(read(fd[STREAMS_MAX], &(char){ 0 }, 1), 0);
	for (unsigned int i = 0; i <= STREAMS_MAX; i++)
		close(fd[i]);
	streams__send(s, S);
	assert_int_equal(streams__open(s), 0); /* their readers are gone */
	assert_int_equal(ended.err, -EPIPE);
	streams__destroy(s);
}

static void append_zeros(struct streams *s, size_t size)
{
	void *zeros = calloc(1, size);
	const struct iovec iov = { zeros, size };

	assert_int_equal(streams__append(s, &iov, 1), 0);
	free(zeros);
}

TEST(a_slow_reader_loses_its_stream)
{
	struct streams *s = create();
	int slow = add(s, 1, 100 * S), fast = add(s, 2, 100 * S);
	static char bytes[1 << 20];
	size_t got = 0, sent = 0;
	uint64_t now = S;

	streams__next(s, now);
	for (; !ended.n; now += S / 10) {
		append_zeros(s, 1 << 20);
		sent += 1 << 20;
		assert_true(sent <= STREAM_QUEUE_MAX + (2 << 20));
		for (ssize_t n = 1; n > 0; got += n > 0 ? (size_t)n : 0) {
			streams__send(s, now);
			n = read(fast, bytes, sizeof(bytes));
		}
	}
	assert_true(ended.n == 1 && ended.id == 1 && ended.err == -ENOBUFS);
	assert_int_equal(got, sent + TRACE_HEADER_LEN);
	close(fast);
	close(slow);
	streams__destroy(s);
}

TEST(a_reader_that_stops_is_dropped)
{
	struct streams *s = create();
	int fd = add(s, 1, S);

	streams__next(s, S);
	append_zeros(s, 8 << 20);
	streams__send(s, S);
	assert_false(streams__next(s, 2 * S)); /* its time is over, but it is not sent */
	streams__send(s, S + STREAM_STALL_NS);
	assert_int_equal(ended.n, 0);
	streams__send(s, S + STREAM_STALL_NS + 1);
	assert_true(ended.n == 1 && ended.err == -ENOBUFS);
	close(fd);
	streams__destroy(s);
}

TEST(the_end_of_the_recording)
{
	struct streams *s = create();
	int runs = add(s, 1, 100 * S), waits;

	streams__next(s, S);
	append(s, "last");
	waits = add(s, 2, S);
	streams__finish(s);
	assert_true(ended.n == 1 && ended.id == 2 && ended.err == -ECONNRESET);
	streams__send(s, 2 * S);
	assert_true(ended.n == 2 && ended.id == 1 && !ended.err);
	assert_string_equal(ended.text, "the recording ended first");
	assert_read(runs, "last", true);
	close(runs);
	close(waits);
	streams__destroy(s);
}
