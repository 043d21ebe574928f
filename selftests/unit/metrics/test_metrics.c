// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics of a recording: a writer passes its generations to them, as in a recorder. The figures are
 * those of the events below, computed by hand.
 */
#include "unit/test.h"
#include "format/header.h"
#include "metrics/metrics.h"
#include "metrics/values.h"
#include "unit/writer_fixture.h"

static struct metrics *metrics;
static struct metric_values v;

static int setup(void **state)
{
	start(26, 1);
	assert_int_equal(metrics__create(&metrics, NULL, NULL), 0);
	return 0;
}

static int teardown(void **state)
{
	metrics__destroy(metrics);
	metrics = NULL;
	metric_values__deinit(&v);
	return stop(state);
}

FIXTURE(setup, teardown)

static void begin(void)
{
	char header[TRACE_HEADER_LEN];
	struct iovec iov[2] = { { header, 5 }, { header + 5, sizeof(header) - 5 } };

	header__make(26, header);
	ok(metrics__append(metrics, iov, 2));
	writer__use_memory(x.w, metrics__append, metrics);
}

static void add_event(uint64_t time, enum ev type, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t args[] = { a, b, c, 0 };

	ok(writer__event(x.w, 10, time, type, args, spec__event(type)->nargs - 1));
}

/* Goroutine 1 runs on thread 10, is blocked for 3000 ns, then runnable for 500 ns, and logs twice. */
static void generation(uint64_t t)
{
	uint32_t why = intern__cstring(x.in, "select"), log = intern__cstring(x.in, "note");

	ok(writer__open(x.w, t, 2000));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
	add_event(t + 100, EV_USER_LOG, 0, log, log);
	add_event(t + 200, EV_HEAP_ALLOC, t, 0, 0);
	add_event(t + 1000, EV_GO_BLOCK, why, 0, 0);
	add_event(t + 4000, EV_GO_UNBLOCK, 1, 1, 0);
	add_event(t + 4500, EV_GO_START, 1, 2, 0);
	add_event(t + 4600, EV_USER_LOG, 0, log, log);
	ok(writer__close(x.w));
}

static void take(void)
{
	void *data;
	size_t size;

	metric_values__deinit(&v);
	ok(metrics__snapshot(metrics, &data, &size));
	ok(metric_values__unpack(&v, data, size));
	free(data);
}

static uint64_t value(enum metrics_row row, const char *label)
{
	const struct row_values *r = &v.row[row];

	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].len == strlen(label) && !memcmp(r->at[i].label, label, r->at[i].len))
			return r->at[i].value;
	return 0;
}

TEST(counts)
{
	begin();
	generation(10000);
	generation(20000);
	metrics__finish(metrics);
	take();
	assert_int_equal(value(ROW_GENERATIONS, ""), 2);
	assert_int_equal(value(ROW_LOGS, "note"), 4);
	assert_int_equal(value(ROW_BLOCKS, "select"), 2);
	assert_int_equal(value(ROW_WAIT_GO_BLOCKED, "select"), 6000);
	assert_int_equal(value(ROW_TIME + PART_GO_RUNNABLE, ""), 1000);
	/* To the end, which is 1 ns after the last event. */
	assert_int_equal(value(ROW_TIME + PART_ONCPU, ""), 14601 - 7000);
	assert_int_equal(v.row[ROW_SCHED].at[0].histogram.sum, 1000);
	assert_int_equal(v.row[ROW_SCHED].at[0].histogram.bucket[0], 2);
	assert_int_equal(value(ROW_HEAP, ""), 20000);
	assert_int_equal(value(ROW_GOROUTINES_RUNNING, ""), 1);
	assert_int_equal(value(ROW_DROPPED, ""), 0);
}

/* Before the first generation there are no values, and a snapshot is valid. */
TEST(has_nothing)
{
	take();
	begin();
	take();
	for (unsigned int row = 0; row < METRICS_ROWS; row++)
		assert_int_equal(v.row[row].n, 0);
	metrics__finish(metrics);
	take();
}

TEST(requires_a_header)
{
	struct iovec iov = { "short", 5 };

	assert_int_equal(metrics__append(metrics, &iov, 1), -EINVAL);
}

static int corrupt(void *to, const struct iovec *iov, size_t n)
{
	struct iovec half = { iov->iov_base, iov->iov_len / 2 };

	return metrics__append(to, &half, 1);
}

static void wait_for_wish(void)
{
	while (!metrics__needs_state(metrics))
		usleep(1000);
}

/*
 * Sums before and after it are kept; goroutine 1 is not counted in between, also not in a generation
 * that has not all state.
 */
TEST(skips_a_corrupt_one)
{
	begin();
	generation(10000);
	writer__use_memory(x.w, corrupt, metrics);
	assert_false(metrics__needs_state(metrics));
	generation(20000);
	writer__use_memory(x.w, metrics__append, metrics);
	wait_for_wish();
	generation(25000);
	metrics__has_state(metrics);
	generation(30000);
	metrics__finish(metrics);
	assert_false(metrics__needs_state(metrics));
	take();
	assert_int_equal(value(ROW_GENERATIONS, ""), 2);
	assert_int_equal(value(ROW_DROPPED, ""), 2);
	assert_int_equal(value(ROW_RESTARTS, ""), 1);
	assert_int_equal(value(ROW_WAIT_GO_BLOCKED, "select"), 6000);
	/* both parts end like a trace, 1 ns after their last event */
	assert_int_equal(value(ROW_TIME + PART_ONCPU, ""), 2 * (4600 - 3500 + 1));
	assert_int_equal(value(ROW_LOGS, "note"), 4);
}

/* However slow the thread is, each generation is analysed or counted as left out. */
TEST(bounds_the_queue)
{
	const struct metrics_opts opts = { .queue = 1 };

	metrics__destroy(metrics);
	ok(metrics__create(&metrics, &opts, NULL));
	begin();
	for (uint64_t i = 1; i <= 200; i++) {
		metrics__has_state(metrics);
		generation(i * 10000);
	}
	metrics__finish(metrics);
	take();
	assert_int_equal(value(ROW_GENERATIONS, "") + value(ROW_DROPPED, ""), 200);
	assert_int_equal(value(ROW_LOGS, "note"), 2 * value(ROW_GENERATIONS, ""));
	assert_int_equal(value(ROW_WAIT_GO_BLOCKED, "select"), 3000 * value(ROW_GENERATIONS, ""));
}
