// SPDX-License-Identifier: GPL-2.0
/* Requests between processes: what is sent arrives, and what is invalid is rejected and closed. */
#include <fcntl.h>
#include <sys/socket.h>

#include "unit/test.h"
#include "service/channel.h"
#include "unit/open_fds.h"

/* A channel; each test checks that no descriptor is left over at its end. */
struct ends {
	int end[2];
	unsigned int open;
};

static int setup(void **state)
{
	struct ends *e = calloc(1, sizeof(*e));

	*state = e;
	e->open = count_fds();
	return channel__pair(e->end);
}

static int teardown(void **state)
{
	struct ends *e = *state;
	unsigned int open;

	close(e->end[0]);
	close(e->end[1]);
	open = count_fds() - e->open;
	free(e);
	return open ? -1 : 0;
}

FIXTURE(setup, teardown)

TEST(a_request_arrives_with_its_file)
{
	const struct channel_request sent = { CHANNEL_SNAPSHOT, 42, UINT64_MAX, 0 };
	struct ends *e = *state;
	struct channel_request got;
	int memory = channel__memory(), fd;
	size_t size;
	void *data;

	assert_true(memory >= 0);
	assert_int_equal(channel__take(e->end[1], &got, &fd), -EAGAIN);
	assert_int_equal(channel__ask(e->end[0], &sent, memory), 0);
	assert_int_equal(channel__take(e->end[1], &got, &fd), 0);
	assert_memory_equal(&got, &sent, sizeof(sent));
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(channel__put(fd, "result", 6), 0);
	close(fd);
	assert_int_equal(channel__get(memory, 5, &data, &size), -EFBIG);
	assert_int_equal(channel__get(memory, 6, &data, &size), 0);
	assert_int_equal(size, 6);
	assert_string_equal(data, "result");
	free(data);
	close(memory);
}

TEST(an_answer_arrives)
{
	struct ends *e = *state;
	struct channel_answer got;
	char longer[2 * CHANNEL_TEXT_MAX];

	memset(longer, 'x', sizeof(longer));
	assert_int_equal(channel__answer(e->end[1], 7, -ENOENT, "no\nsuch \x1b[31mtarget"), 0);
	assert_int_equal(channel__answer(e->end[1], 8, 0, NULL), 0);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(channel__answer(e->end[1], 9, -EIO, longer), 0);
	assert_int_equal(channel__receive(e->end[0], &got), 0);
	assert_true(got.id == 7 && got.error == -ENOENT);
	assert_string_equal(got.text, "no?such ?[31mtarget");
	assert_int_equal(channel__receive(e->end[0], &got), 0);
	assert_true(got.id == 8 && !got.error && !got.text[0]);
	assert_int_equal(channel__receive(e->end[0], &got), 0);
	assert_int_equal(strlen(got.text), CHANNEL_TEXT_MAX - 1);
	assert_int_equal(channel__receive(e->end[0], &got), -EAGAIN);
}

static void assert_rejected(struct ends *e, const struct channel_request *r, int fd)
{
	struct channel_request got;
	int received = 0;

	assert_int_equal(channel__ask(e->end[0], r, fd), 0);
	assert_int_equal(channel__take(e->end[1], &got, &received), -EBADMSG);
	assert_int_equal(received, -1);
}

TEST(invalid_requests_are_rejected)
{
	static const struct channel_request invalid[] = {
		{ .kind = 0 },
		{ .kind = CHANNEL_KINDS },
		{ .kind = UINT32_MAX },
		{ .kind = CHANNEL_TARGETS, .pid = -1 },
		{ .kind = CHANNEL_METRICS, .ns = 1 },
		{ .kind = CHANNEL_TRACE, .ns = 1000 }, /* its descriptor is not a stream */
	};
	struct ends *e = *state;
	int memory = channel__memory();

	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		assert_rejected(e, &invalid[i], memory);
	close(memory);
}

TEST(invalid_descriptors_are_rejected)
{
	const struct channel_request trace = { .kind = CHANNEL_TRACE, .ns = CHANNEL_TRACE_MAX };
	const struct channel_request targets = { .kind = CHANNEL_TARGETS };
	struct channel_request wrong = trace;
	struct ends *e = *state;
	struct channel_request got;
	int pipes[2], stream[2], null = open("/dev/null", O_RDWR | O_CLOEXEC), fd;

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(channel__stream(stream), 0);
	assert_rejected(e, &trace, pipes[1]);
	assert_rejected(e, &trace, null);
	assert_rejected(e, &trace, e->end[0]); /* a socket, but of messages */
	assert_rejected(e, &trace, -1);
	assert_rejected(e, &targets, stream[1]);
	assert_rejected(e, &targets, null);
	assert_rejected(e, &targets, -1);
	wrong.ns = 0;
	assert_rejected(e, &wrong, stream[1]);
	wrong.ns = CHANNEL_TRACE_MAX + 1;
	assert_rejected(e, &wrong, stream[1]);
	assert_int_equal(channel__ask(e->end[0], &trace, stream[1]), 0);
	assert_int_equal(channel__take(e->end[1], &got, &fd), 0);
	close(fd);
	close(pipes[0]);
	close(pipes[1]);
	close(stream[0]);
	close(stream[1]);
	close(null);
}

/* Any bytes, with any number of descriptors, from the other side. */
static void send_raw(int channel, const void *data, size_t size, const int *fd, size_t nfds)
{
	struct iovec iov = { (void *)data, size };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(16 * sizeof(int))] = {};
	struct cmsghdr *c = (void *)control;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (nfds) {
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(nfds * sizeof(int)),
				       .cmsg_level = SOL_SOCKET,
				       .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(c), fd, nfds * sizeof(int));
	}
	assert_int_equal(sendmsg(channel, &msg, 0), size);
}

TEST(garbage_is_rejected)
{
	const struct channel_request valid = { .kind = CHANNEL_TARGETS };
	const struct channel_request alive = { .kind = CHANNEL_ALIVE };
	struct channel_answer answer = { .error = 1 };
	char bytes[4096] = "";
	struct ends *e = *state;
	struct channel_request got;
	int fds[16], fd;

	for (int i = 0; i < 16; i++)
		fds[i] = channel__memory();
	for (size_t n = 1; n <= 16; n++) /* the request itself is valid with one */
		if (n != 1) {
			send_raw(e->end[0], &valid, sizeof(valid), fds, n);
			assert_int_equal(channel__take(e->end[1], &got, &fd), -EBADMSG);
		}
	send_raw(e->end[0], bytes, sizeof(bytes), fds, 1);
	assert_int_equal(channel__take(e->end[1], &got, &fd), -EBADMSG);
	send_raw(e->end[0], &valid, sizeof(valid) - 1, fds, 1);
	assert_int_equal(channel__take(e->end[1], &got, &fd), -EBADMSG);
	send_raw(e->end[0], &valid, sizeof(valid), fds, 1);
	assert_int_equal(channel__take(e->end[1], &got, &fd), 0);
	close(fd);
	send_raw(e->end[0], &valid, sizeof(valid), NULL, 0); /* nothing to write the result to */
	assert_int_equal(channel__take(e->end[1], &got, &fd), -EBADMSG);
	send_raw(e->end[0], &alive, sizeof(alive), fds, 1); /* there is no result */
	assert_int_equal(channel__take(e->end[1], &got, &fd), -EBADMSG);
	send_raw(e->end[0], &alive, sizeof(alive), NULL, 0);
	assert_int_equal(channel__take(e->end[1], &got, &fd), 0);
	assert_int_equal(fd, -1);
	send_raw(e->end[0], &answer, sizeof(answer), NULL, 0); /* not an errno */
	assert_int_equal(channel__receive(e->end[1], &answer), -EBADMSG);
	answer.error = 0;
	send_raw(e->end[0], &answer, sizeof(answer), fds, 1); /* a descriptor in an answer */
	assert_int_equal(channel__receive(e->end[1], &answer), -EBADMSG);
	memset(answer.text, 'y', sizeof(answer.text)); /* not terminated */
	send_raw(e->end[0], &answer, sizeof(answer), NULL, 0);
	assert_int_equal(channel__receive(e->end[1], &answer), 0);
	assert_int_equal(strlen(answer.text), CHANNEL_TEXT_MAX - 1);
	for (int i = 0; i < 16; i++)
		close(fds[i]);
}

TEST(as_many_answers_as_requests_fit)
{
	struct ends *e = *state;
	struct channel_answer answer;
	int err = 0;

	for (uint64_t i = 0; i < CHANNEL_PENDING_MAX; i++)
		assert_int_equal(channel__answer(e->end[1], i, 0, "text"), 0);
	for (unsigned int i = 0; i < 100000 && !err; i++)
		err = channel__answer(e->end[1], i, 0, "text");
	assert_int_equal(err, -EAGAIN); /* it does not wait for the reader */
	assert_int_equal(channel__receive(e->end[0], &answer), 0);
}

TEST(a_closed_channel_is_reported)
{
	const struct channel_request request = { .kind = CHANNEL_TARGETS };
	struct ends *e = *state;
	struct channel_request got;
	struct channel_answer answer;
	int fd, memory = channel__memory();

	close(e->end[0]);
	e->end[0] = dup(memory);
	assert_int_equal(channel__take(e->end[1], &got, &fd), -EPIPE);
	assert_int_equal(channel__receive(e->end[1], &answer), -EPIPE);
	assert_int_equal(channel__ask(e->end[1], &request, memory), -EPIPE);
	assert_int_equal(channel__answer(e->end[1], 1, 0, NULL), -EPIPE);
	close(memory);
}

TEST(a_stream_does_not_wait)
{
	static char block[1 << 16];
	int stream[2];
	long n, sent = 0, got = 0;

	assert_int_equal(channel__stream(stream), 0);
	memset(block, 'z', sizeof(block));
	while ((n = channel__send(stream[1], block, sizeof(block))) > 0)
		sent += n;
	assert_int_equal(n, -EAGAIN);
	assert_true(sent > 0);
	while (got < sent && (n = read(stream[0], block, sizeof(block))) > 0)
		got += n;
	assert_int_equal(got, sent);
	close(stream[0]);
	assert_int_equal(channel__send(stream[1], block, 1), -EPIPE);
	close(stream[1]);
}

TEST(results_are_bounded)
{
	int memory = channel__memory(), sealed = channel__memory();
	size_t size = CHANNEL_RESULT_MAX + 1ul;
	void *data = calloc(1, size);

	assert_int_equal(channel__put(memory, data, size), -EFBIG);
	assert_int_equal(channel__put(memory, data, size - 1), 0);
	free(data);
	assert_int_equal(channel__get(memory, size, &data, &size), 0);
	assert_int_equal(size, CHANNEL_RESULT_MAX);
	free(data);
	assert_int_equal(fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE), 0);
	assert_int_equal(channel__put(sealed, "x", 1), -EPERM);
	close(memory);
	close(sealed);
}
