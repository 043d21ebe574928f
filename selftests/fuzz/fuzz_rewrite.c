// SPDX-License-Identifier: GPL-2.0
/*
 * Arbitrary events in valid batches, as far as they are a valid trace, cut and rewritten: the
 * output must be valid. Only events that the version lacks may be missing.
 *
 * The first byte selects the version; the second, the first event.
 */
#include <fcntl.h>
#include <unistd.h>

#include "rewrite/rewrite.h"
#include "make_trace.h"
#include "read.h"

#define PIPE (1 << 20) /* bytes: more than any output */

static uint8_t trace[MADE_MAX], output[PIPE];

static struct reader *open_reader(const uint8_t *data, size_t len)
{
	const struct reader_opts opts = { .lenient = true };
	struct error err = {};
	struct reader *r;

	if (reader__open(&r, open_plain(data, len), &opts, &err))
		abort();
	return r;
}

/* The time of event number `first`, or of the last one. */
static int64_t time_of(const uint8_t *data, size_t len, unsigned int first)
{
	struct reader *r = open_reader(data, len);
	int64_t time = INT64_MIN;
	struct error err = {};
	struct trace_event ev;

	for (unsigned int i = 0; i <= first && reader__next(r, &ev, &err) > 0; i++)
		time = ev.time;
	reader__destroy(r);
	return time;
}

/* Into the pipe. */
static void rewrite(const uint8_t *data, size_t len, const struct rewrite_opts *opts, int fd)
{
	struct reader *r = open_reader(data, len);
	struct trace_file *file;
	struct rewrite *rewrite;
	struct error err = {};
	struct trace_event ev;
	char path[32];

	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	if (trace_file__open(&file, path, FILE_ANY) || rewrite__create(&rewrite, file, opts))
		abort();
	while (reader__next(r, &ev, &err) > 0)
		if (rewrite__event(rewrite, &ev))
			abort();
	if (rewrite__end(rewrite))
		abort();
	/*
	 * The rules allow a status to bind a P to a second thread while the first still has it,
	 * which no prologue can express.
	 */
	if (opts->from == INT64_MIN && rewrite__stats(rewrite)->left_out)
		abort();
	rewrite__destroy(rewrite);
	trace_file__destroy(file);
	reader__destroy(r);
}

static size_t drain(int fd)
{
	size_t len = 0;
	ssize_t n;

	while (len < sizeof(output) && (n = read(fd, output + len, sizeof(output) - len)) > 0)
		len += (size_t)n;
	return len;
}

static void must_be_valid(const uint8_t *data, size_t len)
{
	struct error err = {};
	struct trace_event ev;
	struct reader *r;
	int code;

	if (!len)
		return;
	if (reader__open(&r, open_plain(data, len), &(struct reader_opts){}, &err))
		abort();
	while ((code = reader__next(r, &ev, &err)) > 0)
		;
	if (code) {
		fprintf(stderr, "the output is broken: %s\n", err.text);
		abort();
	}
	reader__destroy(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned int versions[] = { 22, 23, 25, 26 };
	static int fds[2];
	struct rewrite_opts opts = { .from = INT64_MIN };
	size_t len;

	if (size < 2)
		return 0;
	if (!fds[1] &&
	    (pipe2(fds, O_CLOEXEC | O_NONBLOCK) || fcntl(fds[1], F_SETPIPE_SZ, PIPE) < 0))
		abort();
	opts.version = versions[data[0] % 4];
	len = make_trace(data + 2, size - 2, trace);
	if (data[1])
		opts.from = time_of(trace, len, data[1]);
	rewrite(trace, len, &opts, fds[1]);
	must_be_valid(output, drain(fds[0]));
	return 0;
}
