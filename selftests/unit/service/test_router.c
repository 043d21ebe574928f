// SPDX-License-Identifier: GPL-2.0
/* The router, between requesters and recorders that this test plays. */
#include <sys/socket.h>

#include "unit/test.h"
#include "service/channel.h"
#include "service/router.h"
#include "unit/open_fds.h"

#define S 1000000000ull

static struct {
	struct router *router;
	uint64_t now;
	int requester[ROUTER_REQUESTERS + 1], recorder[4]; /* our ends */
	int router_end;					   /* of the last requester */
	unsigned int open;
} f;

/* "PID:BYTES", or a PID with + if it is ready, separated by blanks. */
static struct {
	uint64_t client, id;
	int err;
} answered;

static void note_answer(void *ctx, uint64_t client, uint64_t id, int err, const char *text)
{
	answered.client = client;
	answered.id = id;
	answered.err = err;
}

static char printed[4][ROUTER_NAME]; /* the names of the parts */

static int print(FILE *out, const struct router_part *part, size_t n, struct error *error)
{
	for (size_t i = 0; i < n; i++)
		snprintf(printed[i], ROUTER_NAME, "%s", part[i].name);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%d%s%.*s", i ? " " : "", part[i].pid,
			part[i].data	 ? ":" :
			part[i].is_ready ? "+" :
					   "",
			(int)part[i].size, part[i].data ? (const char *)part[i].data : "");
	return 0;
}

static int connect_recorder(unsigned int slot, int pid)
{
	char name[16];
	int fd[2];

	assert_int_equal(channel__pair(fd), 0);
	snprintf(name, sizeof(name), "name%d", pid);
	router__add_recorder(f.router, slot, pid, name, fd[1]);
	memset(name, 0, sizeof(name));
	f.recorder[slot] = fd[0];
	return fd[0];
}

static int connect_requester(unsigned int i)
{
	int fd[2];

	assert_int_equal(channel__pair(fd), 0);
	f.requester[i] = fd[0];
	f.router_end = fd[1];
	return router__add_requester(f.router, fd[1]);
}

static int setup(void **state)
{
	const struct router_opts opts = { .targets = { print, 20 },
					  .metrics = { print, 20 },
					  .answer = note_answer };

	memset(&f, 0, sizeof(f));
	f.open = count_fds();
	f.now = 5 * S;
	for (unsigned int i = 0; i <= ROUTER_REQUESTERS; i++)
		f.requester[i] = -1;
	for (unsigned int i = 0; i < 4; i++)
		f.recorder[i] = -1;
	f.router = router__create(&opts);
	connect_recorder(0, 200);
	connect_recorder(3, 100);
	router__set_ready(f.router, 0);
	router__set_ready(f.router, 3);
	return f.router ? connect_requester(0) : -1;
}

static int teardown(void **state)
{
	unsigned int open;

	router__destroy(f.router);
	for (unsigned int i = 0; i <= ROUTER_REQUESTERS; i++)
		if (f.requester[i] >= 0)
			close(f.requester[i]);
	for (unsigned int i = 0; i < 4; i++)
		if (f.recorder[i] >= 0)
			close(f.recorder[i]);
	open = count_fds() - f.open;
	return open ? -1 : 0;
}

FIXTURE(setup, teardown)

static void step(void)
{
	router__step(f.router, f.now);
}

/* Returns the memory file of the request. */
static int ask(enum channel_kind kind, int pid, uint64_t id)
{
	const struct channel_request request = { kind, pid, id, 0 };
	int memory = channel__memory();

	assert_int_equal(channel__ask(f.requester[0], &request, memory), 0);
	step();
	return memory;
}

/* A recorder gets a question, and answers it with `text`, or only with a failure. */
static void reply(unsigned int slot, enum channel_kind kind, const char *text)
{
	struct channel_request request;
	int fd;

	assert_int_equal(channel__take(f.recorder[slot], &request, &fd), 0);
	assert_int_equal(request.kind, kind);
	if (text)
		assert_int_equal(channel__put(fd, text, strlen(text)), 0);
	close(fd);
	assert_int_equal(channel__answer(f.recorder[slot], request.id, text ? 0 : -EIO, "failed"),
			 0);
	step();
}

static void assert_answer(uint64_t id, int err, const char *text)
{
	struct channel_answer answer;

	assert_int_equal(channel__receive(f.requester[0], &answer), 0);
	assert_int_equal(answer.id, id);
	assert_int_equal(answer.error, err);
	assert_string_equal(answer.text, text);
}

static void assert_silent(void)
{
	struct channel_answer answer;

	assert_int_equal(channel__receive(f.requester[0], &answer), -EAGAIN);
}

/* As many requests can wait as at the start: none is forgotten. */
static void assert_all_free(void)
{
	for (uint64_t i = 0; i < CHANNEL_PENDING_MAX; i++)
		close(ask(CHANNEL_METRICS, 0, 1000 + i));
	assert_silent();
	close(ask(CHANNEL_METRICS, 0, 2000));
	assert_answer(2000, -EBUSY, "too many requests at the same time");
}

static void assert_result(int memory, const char *expected)
{
	size_t size;
	void *data;

	assert_int_equal(channel__get(memory, 1000, &data, &size), 0);
	assert_string_equal(data, expected);
	free(data);
	close(memory);
}

TEST(results_are_put_together)
{
	int memory = ask(CHANNEL_METRICS, 0, 9);

	reply(0, CHANNEL_SNAPSHOT, "two");
	assert_silent();
	reply(3, CHANNEL_SNAPSHOT, "one");
	assert_answer(9, 0, "");
	assert_result(memory, "100:one 200:two");
	assert_string_equal(printed[0], "name100");
	assert_string_equal(printed[1], "name200");
	memory = ask(CHANNEL_TARGETS, 200, 10);
	reply(0, CHANNEL_STATS, "2");
	reply(3, CHANNEL_STATS, "1");
	assert_answer(10, 0, "");
	assert_result(memory, "200:2");
	memory = ask(CHANNEL_TARGETS, 300, 11);
	reply(0, CHANNEL_STATS, "2");
	reply(3, CHANNEL_STATS, "1");
	assert_answer(11, -ENOENT, "process 300 is not recorded");
	close(memory);
}

/* Requests during a round get a later result, and all of them the same. */
TEST(later_requests_wait)
{
	int first = ask(CHANNEL_METRICS, 0, 1), second = ask(CHANNEL_METRICS, 0, 2),
	    third = ask(CHANNEL_METRICS, 0, 3);

	reply(0, CHANNEL_SNAPSHOT, "a");
	reply(3, CHANNEL_SNAPSHOT, "a");
	assert_answer(1, 0, "");
	assert_silent();
	reply(0, CHANNEL_SNAPSHOT, "b");
	reply(3, CHANNEL_SNAPSHOT, "b");
	assert_answer(2, 0, "");
	assert_answer(3, 0, "");
	assert_result(first, "100:a 200:a");
	assert_result(second, "100:b 200:b");
	assert_result(third, "100:b 200:b");
}

TEST(a_silent_recorder_is_left_out)
{
	int memory = ask(CHANNEL_METRICS, 0, 1);
	struct channel_request request;
	int fd;

	reply(0, CHANNEL_SNAPSHOT, "x");
	f.now += ROUTER_PATIENCE - 1;
	step();
	assert_silent();
	f.now += 1;
	step();
	assert_answer(1, 0, "");
	assert_result(memory, "100+ 200:x");
	/* Its answer is too late, and not one to the next question. */
	memory = ask(CHANNEL_METRICS, 0, 2);
	assert_int_equal(channel__take(f.recorder[3], &request, &fd), 0);
	close(fd);
	channel__answer(f.recorder[3], request.id, 0, "");
	reply(0, CHANNEL_SNAPSHOT, "y");
	assert_silent();
	reply(3, CHANNEL_SNAPSHOT, "z");
	assert_answer(2, 0, "");
	assert_result(memory, "100:z 200:y");
}

TEST(parts_that_are_no_results)
{
	int memory;

	connect_recorder(1, 150); /* not ready */
	memory = ask(CHANNEL_METRICS, 0, 1);
	reply(0, CHANNEL_SNAPSHOT, NULL);
	reply(3, CHANNEL_SNAPSHOT, "more than twenty bytes");
	assert_answer(1, 0, "");
	assert_result(memory, "100+ 150 200+");
	memory = ask(CHANNEL_METRICS, 0, 2);
	reply(0, CHANNEL_SNAPSHOT, "x");
	router__remove_recorder(f.router, 3); /* it ends meanwhile */
	step();
	assert_answer(2, 0, "");
	assert_result(memory, "100 150 200:x");
	assert_false(router__take_invalid(f.router, 0));
	send(f.recorder[0], "garbage", 7, 0);
	step();
	assert_true(router__take_invalid(f.router, 0));
	assert_false(router__take_invalid(f.router, 0)); /* once */
	memory = ask(CHANNEL_METRICS, 0, 3);
	assert_answer(3, 0, "");
	assert_result(memory, "150 200+");
	close(f.recorder[1]); /* an end is nothing invalid */
	step();
	assert_false(router__take_invalid(f.router, 1));
}

static int ask_trace(int pid, uint64_t id)
{
	const struct channel_request request = { CHANNEL_TRACE, pid, id, 2 * S };
	int fd[2];

	assert_int_equal(channel__stream(fd), 0);
	assert_int_equal(channel__ask(f.requester[0], &request, fd[1]), 0);
	close(fd[1]);
	step();
	return fd[0];
}

TEST(a_trace_goes_to_its_recorder)
{
	int stream = ask_trace(100, 5), fd;
	struct channel_request request;
	char bytes[8] = "";

	assert_int_equal(channel__take(f.recorder[0], &request, &fd), -EAGAIN);
	assert_int_equal(channel__take(f.recorder[3], &request, &fd), 0);
	assert_true(request.kind == CHANNEL_TRACE && request.pid == 100 && request.ns == 2 * S);
	assert_int_equal(channel__send(fd, "trace", 5), 5);
	assert_silent();
	close(fd);
	channel__answer(f.recorder[3], request.id, 0, "the recording ended first");
	step();
	assert_answer(5, 0, "the recording ended first");
	assert_int_equal(read(stream, bytes, sizeof(bytes)), 5);
	assert_int_equal(read(stream, bytes, sizeof(bytes)), 0); /* no copy is left open */
	close(stream);
}

TEST(traces_that_fail)
{
	close(ask_trace(0, 1));
	assert_answer(1, -ENOTUNIQ, "2 processes are recorded: the PID of one is required");
	close(ask_trace(300, 2));
	assert_answer(2, -ENOENT, "process 300 is not recorded");
	connect_recorder(1, 150);
	close(ask_trace(150, 3));
	assert_answer(3, -EAGAIN, "process 150 is not recorded yet");
	close(ask_trace(200, 4));
	assert_silent();
	router__remove_recorder(f.router, 0);
	assert_answer(4, -ECONNRESET, "the recording ended");
	close(ask_trace(100, 5));
	f.now += 62 * S - 1;
	step();
	assert_silent();
	f.now += 1;
	step();
	assert_answer(5, -ETIMEDOUT, "the recorder does not answer");
	router__remove_recorder(f.router, 1);
	router__remove_recorder(f.router, 3);
	close(ask_trace(0, 6));
	assert_answer(6, -ENOENT, "no process is recorded");
}

TEST(requesters_are_bounded)
{
	struct pollfd fd[ROUTER_FDS];
	int stream[CHANNEL_PENDING_MAX + 1];

	for (unsigned int i = 1; i < ROUTER_REQUESTERS; i++)
		assert_int_equal(connect_requester(i), 0);
	assert_int_equal(connect_requester(ROUTER_REQUESTERS), -EBUSY);
	assert_int_equal(router__fds(f.router, fd), ROUTER_REQUESTERS + 2);
	for (unsigned int i = 0; i <= CHANNEL_PENDING_MAX; i++)
		stream[i] = ask_trace(100, i);
	assert_answer(CHANNEL_PENDING_MAX, -EBUSY, "too many requests at the same time");
	for (unsigned int i = 0; i <= CHANNEL_PENDING_MAX; i++)
		close(stream[i]);
}

TEST(a_sign_of_life)
{
	const struct channel_request alive = { .kind = CHANNEL_ALIVE };
	struct channel_answer answer;

	assert_int_equal(router__last_request(f.router, f.router_end), 0);
	f.now = 12345;
	assert_int_equal(channel__ask(f.requester[0], &alive, -1), 0);
	step();
	assert_int_equal(router__last_request(f.router, f.router_end), 12345);
	assert_int_equal(router__last_request(f.router, -1), 0);
	assert_int_equal(channel__receive(f.requester[0], &answer), -EAGAIN);
	assert_all_free();
}

TEST(an_invalid_requester_is_disconnected)
{
	struct channel_answer answer;
	int stream = ask_trace(100, 1);

	assert_true(router__has_requester(f.router, f.router_end));
	assert_false(router__has_requester(f.router, -1));
	send(f.requester[0], "garbage", 7, 0);
	step();
	assert_false(router__has_requester(f.router, f.router_end));
	assert_int_equal(channel__receive(f.requester[0], &answer), -EPIPE);
	close(f.requester[0]);
	assert_int_equal(connect_requester(0), 0); /* its place is free */
	close(ask(CHANNEL_STATS, 0, 1));	   /* what only recorders answer */
	assert_answer(1, -EOPNOTSUPP, "this request is not supported");
	close(stream);
}

TEST(a_requester_that_does_not_read)
{
	const struct channel_request request = { .kind = CHANNEL_STATS };
	int memory = channel__memory(), err = 0;

	for (unsigned int i = 0; i < 100000 && !err; i++) {
		err = channel__ask(f.requester[0], &request, memory);
		step();
	}
	assert_int_equal(err, -EPIPE);
	close(memory);
}

/* Requests that come from elsewhere: they are answered by a call. */
TEST(requests_of_clients)
{
	const struct channel_request targets = { .kind = CHANNEL_TARGETS, .id = 4 },
				     stats = { .kind = CHANNEL_STATS, .id = 5 };
	int memory = channel__memory();

	router__request(f.router, 77, &targets, dup(memory), f.now);
	step();
	reply(0, CHANNEL_STATS, "x");
	assert_int_equal(answered.id, 0);
	reply(3, CHANNEL_STATS, "y");
	assert_true(answered.client == 77 && answered.id == 4 && !answered.err);
	assert_result(memory, "100:y 200:x");
	router__request(f.router, 78, &stats, channel__memory(), f.now); /* has no printer */
	assert_true(answered.client == 78 && answered.id == 5 && answered.err == -EOPNOTSUPP);
}
