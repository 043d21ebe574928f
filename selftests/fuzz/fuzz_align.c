// SPDX-License-Identifier: GPL-2.0
/*
 * Joins a valid trace and arbitrary perf events. The output is the trace plus what was added, and
 * is valid; it is not aligned again.
 *
 * The first byte is the number of perf events, of four bytes each, and their clock; the rest is for
 * make_trace().
 */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "align/alignment.h"
#include "align/perfdata_impl.h"
#include "align/write.h"
#include "make_trace.h"
#include "read.h"

#define PIPE	  (1 << 20) /* bytes: more than any output */
#define EVENT_LEN 4

static uint8_t trace[MADE_MAX], output[PIPE];

static struct reader *open_reader(const uint8_t *data, size_t len)
{
	struct error err = {};
	struct reader *r;

	if (reader__open(&r, open_plain(data, len), &(struct reader_opts){}, &err))
		abort();
	return r;
}

/* How many events; a negative errno: the trace is broken. */
static int64_t count_events(const uint8_t *data, size_t len)
{
	struct reader *r = open_reader(data, len);
	struct error err = {};
	struct trace_event ev;
	int64_t n = 0;
	int code;

	while ((code = reader__next(r, &ev, &err)) > 0)
		n++;
	reader__destroy(r);
	return code ? code : n;
}

/* As perf_data__open() leaves it: by time. */
static struct perf_data *make_perf(const uint8_t *data, size_t n, int clock)
{
	struct perf_data *d = calloc(1, sizeof(*d));
	uint64_t time = 900; /* a made trace begins at 1000 */

	if (!d)
		abort();
	d->clock = clock;
	d->n = d->cap = n;
	d->lost_samples = UINT32_MAX; /* which data are missing */
	d->sched = calloc(n + 1, sizeof(*d->sched));
	d->losses = calloc(n + 1, sizeof(*d->losses));
	if (!d->sched || !d->losses)
		abort();
	for (size_t i = 0; i < n; i++, data += EVENT_LEN) {
		time += data[0];
		d->sched[i] = (struct perf_sched){
			.time = time,
			.kind = data[1] % (PERF_OTHER_SCHED + 1),
			.cpu = data[1] >> 6,
			.preempted = data[1] >> 5 & 1,
			.state = data[1] >> 3,
			.tid = data[2] % 16,
			.next = data[3] % 16,
			.by = data[3] >> 4,
		};
		if (d->sched[i].kind == PERF_OTHER_SCHED)
			d->losses[d->nlosses++] = (struct perf_loss){ time - data[3], time, 1 };
	}
	return d;
}

static size_t drain(int fd)
{
	size_t len = 0;
	ssize_t n;

	while (len < sizeof(output) && (n = read(fd, output + len, sizeof(output) - len)) > 0)
		len += (size_t)n;
	return len;
}

static uint64_t join(struct alignment *a, size_t len, int fd)
{
	static const struct align_pair pair = { "tool", "fuzz" };
	struct align_job job = { .alignment = a, .pairs = &pair, .npairs = 1 };
	struct align_added added;
	struct trace_file *file;
	struct error err = {};
	char path[32];

	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	job.trace = open_plain(trace, len);
	if (!job.trace || trace_file__open(&file, path, FILE_ANY) ||
	    align__write(&job, file, path, &added, &err))
		abort();
	trace_file__destroy(file);
	input__destroy(job.trace);
	return added.bytes;
}

static int read_side(struct side *side, const uint8_t *data, size_t len)
{
	struct reader *r = open_reader(data, len);
	struct error err = {};
	int code = side__read(side, r, &err);

	if (code && !err.text[0])
		abort();
	reader__destroy(r);
	return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fds[2];
	struct error err = {};
	struct alignment a;
	struct side side;
	uint64_t added;
	size_t n, len;
	int clock;

	if (!size || size < 1 + (n = data[0] & 0x7f) * EVENT_LEN)
		return 0;
	if (!fds[1] &&
	    (pipe2(fds, O_CLOEXEC | O_NONBLOCK) || fcntl(fds[1], F_SETPIPE_SZ, PIPE) < 0))
		abort();
	clock = data[0] & 0x80 ? PERF_NO_CLOCK : CLOCK_MONOTONIC;
	len = make_trace(data + 1 + n * EVENT_LEN, size - 1 - n * EVENT_LEN, trace);
	if (read_side(&side, trace, len))
		return 0;
	if (alignment__make(&a, &side, make_perf(data + 1, n, clock), &err)) {
		if (!err.text[0])
			abort();
		return 0;
	}
	added = join(&a, len, fds[1]);
	alignment__deinit(&a);
	if (drain(fds[0]) != len + added ||
	    count_events(output, len + added) != count_events(trace, len) ||
	    read_side(&side, output, len + added) != -EALREADY)
		abort();
	return 0;
}
