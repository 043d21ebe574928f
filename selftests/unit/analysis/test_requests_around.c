// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that begin before their handlers and end after them, in traces with such times. Under test:
 * reader/request_times.c and analysis/requests.c.
 */
#include "unit/test.h"
#include "analysis/requests.h"
#include "unit/timeline_fixture.h"
#include "writer/private_write.h"

#define T0 64000

static int setup(void **state)
{
	start(25, 1);
	return 0;
}

FIXTURE(setup, stop)

static uint32_t id_of(const char *text)
{
	return intern__string(x.in, text, strlen(text));
}

/* Goroutine 1 waits; from 1000 on it is runnable, from 2000 on it runs, its task is from 3000 to 4000. */
static void serves(void)
{
	ok(writer__open(x.w, T0, 2000));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
	ok(event(10, T0 + 100, EV_GO_BLOCK, id_of("network"), 0, 0, 2));
	ok(event(10, T0 + 1000, EV_GO_UNBLOCK, 1, 1, 0, 3));
	ok(event(10, T0 + 2000, EV_GO_START, 1, 2, 0, 2));
	ok(event(10, T0 + 3000, EV_USER_TASK_BEGIN, 7, 0, id_of("GET /"), 4));
	ok(event(10, T0 + 4000, EV_USER_TASK_END, 7, 0, 0, 2));
	ok(event(10, T0 + 9000, EV_GO_STOP, id_of("preempted"), 0, 0, 2));
}

static void times(const struct private_request *time, size_t n)
{
	struct private_request last = {}, at;
	struct outbuf record = {};

	for (size_t i = 0; i < n; i++) {
		at = time[i];
		at.time += T0;
		ok(private__append_request(&record, &last, &at, NULL));
	}
	ok(private__record(x.w, PRIVATE_REQUESTS, record.data, record.len));
	outbuf__deinit(&record);
}

static char got[1000];

static int ended(void *context, const struct request_single *s)
{
	(void)context;
	sprintf(got + strlen(got),
		"%d: %d to %d, %d before, %d after, source %d; blocked %d, runnable %d, on CPU %d\n",
		(int)s->id, (int)(s->begin - T0), (int)(s->end - T0), (int)s->before, (int)s->after,
		s->source, (int)s->time.part[PART_GO_BLOCKED], (int)s->time.part[PART_GO_RUNNABLE],
		(int)s->time.part[PART_ONCPU]);
	return 0;
}

static void read_all(struct requests *r)
{
	struct timeline_step step = {};
	struct error err = {};
	struct reader *reader;
	struct timeline *t;

	ok(writer__close(x.w));
	ok(trace_file__commit(x.file));
	t = open_timeline(&reader);
	while (timeline__next(t, &step, &err) > 0)
		ok(requests__step(r, t, &step, &err));
	assert_string_equal(err.text, "");
	ok(requests__finish(r));
	close_timeline(t, reader);
}

static void expect(const char *want)
{
	struct requests *r = requests__create_single(ended, NULL);

	got[0] = 0;
	read_all(r);
	assert_string_equal(got, want);
	assert_int_equal(requests__open(r), 0);
	requests__destroy(r);
}

#define TIMES(...)                                                                                 \
	times((const struct private_request[]){ __VA_ARGS__ },                                     \
	      sizeof((const struct private_request[]){ __VA_ARGS__ }) /                            \
		      sizeof(struct private_request))

/* The last end of a write counts. */
TEST(arrival_and_answer)
{
	serves();
	TIMES({ 7, 1, 500, REQUEST_ARRIVED }, { 7, 1, 4500, REQUEST_ANSWERED },
	      { 7, 1, 5000, REQUEST_ANSWERED });
	expect("7: 500 to 5000, 2500 before, 1000 after, source 1;"
	       " blocked 500, runnable 1000, on CPU 3000\n");
}

TEST(no_times)
{
	serves();
	expect("7: 3000 to 4000, 0 before, 0 after, source 0;"
	       " blocked 0, runnable 0, on CPU 1000\n");
}

TEST(made_runnable)
{
	serves();
	TIMES({ 7, 1, 1000, REQUEST_READY });
	expect("7: 1000 to 4000, 2000 before, 0 after, source 2;"
	       " blocked 0, runnable 1000, on CPU 2000\n");
}

/* Times that contradict the events: of another goroutine, after the begin, before the end. */
TEST(contradictions)
{
	serves();
	TIMES({ 7, 2, 500, REQUEST_ARRIVED }, { 7, 1, 3500, REQUEST_READ },
	      { 7, 1, 3900, REQUEST_ANSWERED });
	expect("7: 3000 to 4000, 0 before, 0 after, source 0;"
	       " blocked 0, runnable 0, on CPU 1000\n");
}

/* A task that never begins, and an answer of none. */
TEST(no_task)
{
	serves();
	TIMES({ 0, 1, 100, REQUEST_ARRIVED }, { 8, 1, 200, REQUEST_ARRIVED },
	      { 9, 77, 300, REQUEST_ARRIVED }, { 8, 1, 6000, REQUEST_ANSWERED });
	expect("7: 3000 to 4000, 0 before, 0 after, source 0;"
	       " blocked 0, runnable 0, on CPU 1000\n");
}

/* The connection's goroutine is created after its first data came. */
TEST(before_the_goroutine)
{
	ok(writer__open(x.w, T0, 2000));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
	ok(event(10, T0 + 1000, EV_GO_CREATE, 2, 0, 0, 3));
	ok(event(10, T0 + 1500, EV_GO_STOP, id_of("preempted"), 0, 0, 2));
	ok(event(10, T0 + 2000, EV_GO_START, 2, 1, 0, 2));
	ok(event(10, T0 + 3000, EV_USER_TASK_BEGIN, 7, 0, id_of("GET /"), 4));
	ok(event(10, T0 + 4000, EV_USER_TASK_END, 7, 0, 0, 2));
	TIMES({ 7, 2, 500, REQUEST_ARRIVED }, { 7, 2, 99000, REQUEST_ANSWERED });
	expect("7: 500 to 99000, 2500 before, 95000 after, source 1;"
	       " blocked 0, runnable 1000, on CPU 97000\n");
}

/* By name: the sums, and how many began how; the critical path begins with the request. */
TEST(sums)
{
	struct requests *r = requests__create(1);
	const struct request_single *worst;
	struct trace_string reason;
	struct request_sum sum;
	size_t n;

	serves();
	TIMES({ 7, 1, 500, REQUEST_ARRIVED }, { 7, 1, 5000, REQUEST_ANSWERED });
	read_all(r);
	worst = requests__worst(r, &n);
	assert_int_equal(n, 1);
	assert_int_equal(worst->path.total, 4500);
	assert_int_equal(worst->path.reasons.n, 1);
	assert_int_equal(worst->path.reasons.at[0].ns, 500);
	reason = latency__reason(requests__latency(r), worst->path.reasons.at[0].kind);
	assert_true(trace_string__equals(reason, LATENCY_DATA_READY));
	for (uint32_t i = 0; i < REQUEST_NAMES; i++) {
		if (!requests__at(r, i))
			continue;
		ok(request_name__sum(requests__at(r, i), &sum));
		assert_int_equal(sum.count, 1);
		assert_int_equal(sum.before, 2500);
		assert_int_equal(sum.after, 1000);
		assert_int_equal(sum.from[REQUEST_FROM_ARRIVAL], 1);
		request_sum__deinit(&sum);
	}
	requests__destroy(r);
}
