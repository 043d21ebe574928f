// SPDX-License-Identifier: GPL-2.0
/* A recording that is served: its consumers get each generation, and requests are answered. */
#include <sys/socket.h>

#include "unit/test.h"
#include "capture/served.h"
#include "flight/flight.h"
#include "format/header.h"
#include "service/channel.h"
#include "writer/writer.h"

#define S 1000000000ull

static struct {
	int (*append)(void *to, const struct iovec *iov, size_t n);
	void *to;
	/* the flight recorder */
	int next; /* its answer */
	unsigned int appended, states;
} fake;

static struct {
	struct served *served;
	int asker, channel;
} f;

/* ---- what served.c calls ---- */

void writer__use_memory(struct writer *w, int (*append)(void *, const struct iovec *, size_t),
			void *to)
{
	fake.append = append;
	fake.to = to;
}

int flight__next(struct flight *f, uint64_t time)
{
	return fake.next;
}

int flight__append(struct flight *f, const struct iovec *iov, size_t n)
{
	fake.appended++;
	return 0;
}

void flight__has_state(struct flight *f)
{
	fake.states++;
}

static int give_stats(void *ctx, void **ret, size_t *size)
{
	*ret = strdup("stats");
	*size = 5;
	return 0;
}

/* ---- */

static int setup(void **state)
{
	struct served_opts opts = { .version = 26, .stats = give_stats };
	int fd[2];

	memset(&f, 0, sizeof(f));
	memset(&fake, 0, sizeof(fake));
	if (channel__pair(fd))
		return -1;
	f.asker = fd[0];
	f.channel = opts.channel = fd[1];
	return served__create(&f.served, &opts);
}

static void teardown(void)
{
	served__destroy(f.served);
	close(f.asker);
	close(f.channel);
}

FIXTURE(setup, teardown)

static void append(const char *text)
{
	const struct iovec iov = { (void *)text, strlen(text) };

	assert_int_equal(fake.append(fake.to, &iov, 1), 0);
}

static void ask(enum channel_kind kind, uint64_t id, uint64_t ns, int fd)
{
	const struct channel_request request = { kind, 0, id, ns };

	assert_int_equal(channel__ask(f.asker, &request, fd), 0);
	served__step(f.served);
}

static void assert_answer(uint64_t id, int err)
{
	struct channel_answer answer;

	assert_int_equal(channel__receive(f.asker, &answer), 0);
	assert_int_equal(answer.id, id);
	assert_int_equal(answer.error, err);
}

TEST(a_trace_is_sent)
{
	struct pollfd fd[SERVED_FDS];
	char bytes[64] = "";
	uint64_t since;
	int stream[2];

	assert_int_equal(served__start(f.served, NULL, NULL, 10 * S), 0);
	assert_int_equal(served__fds(f.served, fd), 1);
	assert_int_equal(channel__stream(stream), 0);
	assert_false(served__is_due(f.served, 10 * S + S / 2, &since));
	ask(CHANNEL_TRACE, 5, 2 * S, stream[1]);
	close(stream[1]);
	assert_int_equal(served__fds(f.served, fd), 2);
	assert_true(served__is_due(f.served, 10 * S + S / 2, &since));
	assert_true(served__is_due(f.served, 10 * S + S / 2 + 1, &since));
	assert_int_equal(since, 10 * S + S / 2);
	append("before");
	assert_int_equal(served__next(f.served, 11 * S), 1);
	append("one");
	assert_true(served__next(f.served, 12 * S) >= 0);
	append("two");
	assert_true(served__next(f.served, 13 * S) >= 0);
	served__step(f.served);
	assert_answer(5, 0);
	assert_int_equal(read(stream[0], bytes, sizeof(bytes)), TRACE_HEADER_LEN + 6);
	assert_string_equal(bytes + TRACE_HEADER_LEN, "onetwo");
	close(stream[0]);
}

/* Without records, nothing else ends a generation, and the metrics would be old. */
TEST(a_generation_ends_after_a_second)
{
	uint64_t since;

	assert_int_equal(served__start(f.served, NULL, NULL, 10 * S), 0);
	assert_false(served__is_due(f.served, 11 * S - 1, &since));
	assert_true(served__is_due(f.served, 11 * S, &since));
	assert_true(served__next(f.served, 11 * S) >= 0);
	assert_false(served__is_due(f.served, 12 * S - 1, &since));
}

TEST(the_flight_recorder_gets_all)
{
	int stream[2];

	assert_int_equal(served__start(f.served, NULL, (struct flight *)&f, 10 * S), 0);
	append("one");
	assert_int_equal(fake.appended, 1);
	fake.next = -ENOMEM;
	assert_int_equal(served__next(f.served, 11 * S), -ENOMEM);
	fake.next = 1;
	assert_int_equal(served__next(f.served, 11 * S), 1);
	fake.next = fake.states = 0;
	assert_int_equal(channel__stream(stream), 0);
	ask(CHANNEL_TRACE, 1, S, stream[1]);
	assert_int_equal(served__next(f.served, 12 * S), 1);
	assert_int_equal(fake.states, 1); /* it is not the flight recorder that wants it */
	close(stream[0]);
	close(stream[1]);
}

TEST(results_are_written)
{
	int memory = channel__memory();
	size_t size;
	void *data;

	assert_int_equal(served__start(f.served, NULL, NULL, 10 * S), 0);
	ask(CHANNEL_STATS, 1, 0, memory);
	assert_answer(1, 0);
	assert_int_equal(channel__get(memory, 100, &data, &size), 0);
	assert_string_equal(data, "stats");
	free(data);
	ask(CHANNEL_SNAPSHOT, 2, 0, memory);
	assert_answer(2, 0);
	close(memory);
}

/* A supervisor that ended, or sends something invalid, is not heard any more; recording goes on. */
TEST(an_invalid_request)
{
	struct pollfd fd[SERVED_FDS];

	assert_int_equal(served__start(f.served, NULL, NULL, 10 * S), 0);
	assert_int_equal(send(f.asker, "garbage", 7, 0), 7);
	served__step(f.served);
	assert_int_equal(served__fds(f.served, fd), 0);
	append("one");
	assert_true(served__next(f.served, 11 * S) >= 0);
	served__step(f.served);
}

TEST(the_rest_is_sent_at_the_end)
{
	char bytes[64] = "";
	int stream[2];

	assert_int_equal(served__start(f.served, NULL, NULL, 10 * S), 0);
	assert_int_equal(channel__stream(stream), 0);
	ask(CHANNEL_TRACE, 5, 60 * S, stream[1]);
	close(stream[1]);
	served__next(f.served, 11 * S);
	append("last");
	served__finish(f.served);
	assert_answer(5, 0);
	assert_int_equal(read(stream[0], bytes, sizeof(bytes)), TRACE_HEADER_LEN + 4);
	assert_int_equal(read(stream[0], bytes, sizeof(bytes)), 0);
	close(stream[0]);
}
