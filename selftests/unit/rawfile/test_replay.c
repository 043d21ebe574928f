// SPDX-License-Identifier: GPL-2.0
/*
 * Raw files that are replayed: from a pipe, and chunks that are incomplete or of a later version.
 */
#include "unit/test.h"
#include "rawfile/rawfile.h"

#include "unit/fake_sequencer.h"

static const struct raw_header facts = { .t0 = 1000, .wall_ns = 5000, .go_version = "go1.26.8" };

static struct rawfile *raw;

static int set_up(void **state)
{
	notes.n = 0;
	return rawfile__create_in_memory(&raw) || rawfile__start(raw, &facts);
}

static int tear_down(void **state)
{
	rawfile__destroy(raw);
	return 0;
}

FIXTURE(set_up, tear_down)

/* The calls between the start and the finish. */
static void assert_plays(struct replay *r, const char *const *want, unsigned int n)
{
	assert_int_equal(replay__run(r, NULL), 0);
	replay__destroy(r);
	assert_int_equal(notes.n, n + 2);
	assert_string_equal(notes.call[0], "start 1000 5000");
	for (unsigned int i = 0; i < n; i++)
		assert_string_equal(notes.call[1 + i], want[i]);
	assert_string_equal(notes.call[n + 1], "finish 3000");
}

#define PLAYS(r, ...)                                                                              \
	do {                                                                                       \
		static const char *const want[] = { __VA_ARGS__ };                                 \
		assert_plays(r, want, sizeof(want) / sizeof(want[0]));                             \
	} while (0)

static struct replay *from_memory(void)
{
	struct error err = {};
	struct replay *r = NULL;
	const void *data;
	size_t size;

	assert_int_equal(rawfile__end(raw, 3000), 0);
	data = rawfile__bytes(raw, &size);
	if (replay__open_memory(&r, data, size, "it", &err))
		fail_msg("%s", err.text);
	return r;
}

TEST(losses)
{
	assert_int_equal(rawfile__lost(raw, GT_KIND_END, 5), 0);
	assert_int_equal(rawfile__lost(raw, UINT32_MAX, 5), 0);
	assert_int_equal(rawfile__lost(raw, GT_KIND_END - 1, 6), 0);
	PLAYS(from_memory(), "lost 64 6");
}

/*
 * Of a recording whose kernel event programs could not all be attached: what some of them wrote is
 * ignored.
 */
TEST(without_kernel)
{
	struct raw_header header = facts;
	const void *data;
	struct replay *r;
	size_t size;

	header.flags = RAW_STACKS | RAW_NO_KERNEL;
	rawfile__truncate(raw, 0);
	assert_int_equal(rawfile__start(raw, &header), 0);
	assert_int_equal(rawfile__end(raw, 3000), 0);
	data = rawfile__bytes(raw, &size);
	assert_int_equal(replay__open_memory(&r, data, size, "it", NULL), 0);
	assert_int_equal(replay__run(r, NULL), 0);
	assert_int_equal(notes.n, 3);
	assert_string_equal(notes.call[0], "no kernel events"); /* before any record */
	replay__destroy(r);
}

/* No reader of a trace accepts such times. */
TEST(times_of_no_trace)
{
	struct raw_header header = facts;
	struct error err = {};
	const void *data;
	struct replay *r;
	size_t size;

	assert_int_equal(rawfile__watermark(raw, GT_TIME_MAX + 1), 0);
	PLAYS(from_memory(), );
	header.t0 = GT_TIME_MAX + 1;
	rawfile__truncate(raw, 0);
	assert_int_equal(rawfile__start(raw, &header), 0);
	data = rawfile__bytes(raw, &size);
	assert_int_equal(replay__open_memory(&r, data, size, "it", &err), -EBADMSG);
	assert_string_equal(err.text, "it is corrupt: it begins at 9223372036854775808 ns");
}

/* The second of a pair counts only behind its first one. */
TEST(halves_of_a_pair)
{
	struct snapshot first = { .time = 5, .time_end = 6 }, second = { .time = 7, .time_end = 8 };
	size_t before, one, both;
	const char *data;
	char *half;

	rawfile__bytes(raw, &before);
	assert_int_equal(rawfile__resnapshot(raw, &first, &first), 0);
	data = rawfile__bytes(raw, &both);
	one = (both - before) / 2;
	half = malloc(one);
	memcpy(half, data + before + one, one);
	rawfile__truncate(raw, before);
	assert_int_equal(rawfile__resnapshot(raw, &first, &second), 0);
	data = rawfile__bytes(raw, &both);
	memcpy((char *)data + before, half, one); /* a second one in place of the first */
	assert_int_equal(rawfile__resnapshot(raw, &first, &second), 0);
	free(half);
	PLAYS(from_memory(), "resnapshot 0 5 0 7");
}

/* More than a pipe holds: what is read grows with it. */
TEST(from_a_pipe)
{
	struct error err = {};
	struct replay *r = NULL;
	const char *data;
	size_t size, at;
	char path[32];
	int fds[2];
	ssize_t n;
	pid_t pid;

	for (unsigned int i = 0; i < 70000; i++)
		assert_int_equal(rawfile__watermark(raw, 2000 + i % 2), 0);
	assert_int_equal(rawfile__end(raw, 3000), 0);
	data = rawfile__bytes(raw, &size);
	assert_true(size > 1 << 20);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		for (at = 0; at < size; at += (size_t)n) {
			n = write(fds[1], data + at, size - at);
			if (n < 0)
				_exit(1);
		}
		_exit(0);
	}
	close(fds[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
	if (replay__open(&r, path, &err))
		fail_msg("%s", err.text);
	close(fds[0]);
	assert_int_equal(replay__run(r, NULL), 0);
	replay__destroy(r);
	assert_int_equal(notes.n, NCALLS_MAX);
	assert_string_equal(notes.call[1], "watermark 2000");
	assert_string_equal(notes.call[2], "watermark 2001");
}
