// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers on calls and on the process: when a condition is met, how often, and with which time. The
 * flight recorder and the queries of the sequencer are replaced.
 */
#include "unit/test.h"
#include "flight/flight.h"
#include "names/request_names.h"
#include "unit/watched_sequencer.h"
#include "sequence/sequencer.h"
#include "trigger/calls.h"
#include "trigger/process.h"
#include "writer/intern.h"

#define MS 1000000ull

static struct flight_cause causes[64];
static size_t ncauses;

/* The linker takes these rather than those of the library. */
bool flight__request(struct flight *f, const struct flight_cause *cause)
{
	if (ncauses == 64)
		return false;
	causes[ncauses++] = *cause;
	return true;
}

static struct fixture {
	struct condition condition[CONDITIONS_MAX];
	struct trigger_func func;
	struct triggers *t;
	struct intern *intern;
	struct sequencer_watch watch;
} fix;

static void begin(uint64_t interval, const char *const *text, size_t n)
{
	struct trigger_opts opts = { .condition = fix.condition, .n = n, .interval_ns = interval };
	struct error error = {};

	for (size_t i = 0; i < n; i++)
		assert_int_equal(condition__parse(text[i], &fix.condition[i], &error), 0);
	fix.func = (struct trigger_func){ "work", 1 };
	opts.func = &fix.func;
	opts.nfuncs = fix.condition[0].kind == TRIGGER_FUNC;
	ncauses = 0;
	memset(&watched, 0, sizeof(watched));
	watched.start_function = "main.start";
	fix.intern = intern__create();
	fix.t = triggers__create(&opts, NULL);
	assert_non_null(fix.t);
	fix.watch = triggers__watch(fix.t);
	triggers__start(fix.t, NULL, fix.intern);
}

#define BEGIN(interval, ...)                                                                       \
	begin(interval, (const char *const[]){ __VA_ARGS__ },                                      \
	      sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void end(void)
{
	triggers__destroy(fix.t);
	intern__destroy(fix.intern);
}

static void event(uint64_t time, uint64_t goid, enum ev type, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t args[] = { a, b, c, 0 };
	struct watch_event ev = { time, goid, 1, type, args };

	fix.watch.event(fix.watch.ctx, &ev);
}

static uint32_t id(const char *text)
{
	return intern__cstring(fix.intern, text);
}

static void region(uint64_t time, uint64_t goid, bool ends, uint64_t task, const char *name)
{
	event(time, goid, ends ? EV_USER_REGION_END : EV_USER_REGION_BEGIN, task, id(name), 0);
}

static void met_at(size_t i, uint64_t time, const char *text)
{
	assert_true(i < ncauses);
	assert_int_equal(causes[i].time, time);
	assert_string_equal(causes[i].text, text);
}

TEST(functions)
{
	BEGIN(0, "func:main.foo");
	region(5, 7, false, 0, "other");
	region(6, 7, false, 0, "work");
	region(7, 7, true, 0, "work");
	assert_int_equal(ncauses, 1);
	met_at(0, 6, "func:main.foo: goroutine 7 (main.start) called work");
	end();
}

/* At the limit, while it is open, and once; nested ones of a name each have their own limit. */
TEST(regions)
{
	BEGIN(0, "region:work:50ms");
	region(1 * MS, 7, false, 0, "work");
	region(11 * MS, 7, false, 0, "work");
	region(12 * MS, 8, false, 0, "other");
	triggers__watermark(fix.t, 51 * MS - 1);
	assert_int_equal(ncauses, 0);
	triggers__watermark(fix.t, 51 * MS);
	assert_int_equal(ncauses, 1);
	met_at(0, 51 * MS, "region:work:50ms: goroutine 7 (main.start) in the region for 50.0 ms");
	region(60 * MS, 7, true, 0, "work"); /* the inner one, after 49 ms */
	triggers__watermark(fix.t, 100 * MS);
	region(101 * MS, 7, true, 0, "work");
	triggers__watermark(fix.t, 200 * MS);
	assert_int_equal(ncauses, 1);
	end();
}

/* Its end is passed before the watermark; also with the end of the goroutine. */
TEST(regions_end_late)
{
	BEGIN(0, "region:work:50ms");
	region(1 * MS, 7, false, 0, "work");
	region(2 * MS, 8, false, 0, "work");
	region(3 * MS, 9, false, 0, "work");
	region(80 * MS, 7, true, 0, "work");
	event(81 * MS, 8, EV_GO_DESTROY, 8, 0, 0);
	region(53 * MS - 1, 9, true, 0, "work");
	triggers__watermark(fix.t, 200 * MS);
	assert_int_equal(ncauses, 2);
	met_at(0, 51 * MS, "region:work:50ms: goroutine 7 (main.start) in the region for 79.0 ms");
	assert_int_equal(causes[1].time, 52 * MS);
	end();
}

TEST(losses_forget)
{
	BEGIN(0, "region:work:50ms", "request:50ms");
	region(1 * MS, 7, false, 0, "work");
	event(1 * MS, 7, EV_USER_TASK_BEGIN, 3, 0, id("task"));
	watched.losses++;
	triggers__watermark(fix.t, 200 * MS);
	region(300 * MS, 7, true, 0, "work");
	assert_int_equal(ncauses, 0);
	end();
}

/* A request has no name until it is resolved: what it has so far counts, and the final one. */
TEST(requests)
{
	BEGIN(0, "request:50ms:GET /x");
	event(0 * MS, 7, EV_USER_TASK_BEGIN, 1, 0, id("GET /x"));
	event(1 * MS, 7, EV_USER_TASK_BEGIN, 2, 0, id("GET /y"));
	event(2 * MS, 7, EV_USER_TASK_BEGIN, 3, 0, 0);
	event(3 * MS, 7, EV_USER_TASK_BEGIN, 4, 0, 0);
	triggers__watermark(fix.t, 50 * MS);
	assert_int_equal(ncauses, 1);
	watched.request_name = "GET /x";
	triggers__watermark(fix.t, 52 * MS);
	assert_int_equal(ncauses, 2);
	watched.request_name = "GET /early";
	triggers__watermark(fix.t, 60 * MS);
	assert_int_equal(ncauses, 2);
	region(69 * MS, 7, true, 4, "inner");
	region(70 * MS, 7, true, 4, "GET /x");
	event(70 * MS, 7, EV_USER_TASK_END, 4, 0, 0);
	assert_int_equal(ncauses, 3);
	met_at(0, 50 * MS, "request:50ms:GET /x: request GET /x open for 50.0 ms (task 1)");
	met_at(1, 52 * MS, "request:50ms:GET /x: request GET /x open for 50.0 ms (task 3)");
	met_at(2, 70 * MS, "request:50ms:GET /x: request GET /x open for 67.0 ms (task 4)");
	end();
}

/* Requests count from their arrival on, in whatever order their handlers begin. */
TEST(requests_arrive_earlier)
{
	BEGIN(0, "request:50ms");
	event(10 * MS, 7, EV_USER_TASK_BEGIN, 1, 0, id("GET /a"));
	watched.arrival = 5 * MS;
	event(20 * MS, 7, EV_USER_TASK_BEGIN, 2, 0, id("GET /b"));
	watched.arrival = 7 * MS;
	event(30 * MS, 7, EV_USER_TASK_BEGIN, 3, 0, id("GET /c"));
	event(40 * MS, 7, EV_USER_TASK_END, 1, 0, 0);
	triggers__watermark(fix.t, 56 * MS);
	assert_int_equal(ncauses, 1);
	watched.arrival = 6 * MS;
	event(56 * MS, 7, EV_USER_TASK_BEGIN, 4, 0, id("GET /d"));
	triggers__watermark(fix.t, 57 * MS);
	assert_int_equal(ncauses, 3);
	met_at(0, 55 * MS, "request:50ms: request GET /b open for 50.0 ms (task 2)");
	met_at(1, 56 * MS, "request:50ms: request GET /d open for 50.0 ms (task 4)");
	met_at(2, 57 * MS, "request:50ms: request GET /c open for 50.0 ms (task 3)");
	end();
}

TEST(statuses)
{
	BEGIN(0, "status:5xx", "status:404");
	event(1, 7, EV_USER_LOG, 1, id("status"), id("200"));
	event(2, 7, EV_USER_LOG, 1, id("status"), id("503"));
	event(3, 7, EV_USER_LOG, 1, id("code"), id("503"));
	event(4, 7, EV_USER_LOG, 1, id("status"), id("404"));
	event(5, 7, EV_USER_LOG, 1, id("status"), id("405"));
	event(6, 7, EV_USER_LOG, 1, id("status"), id("5030"));
	event(7, 7, EV_USER_LOG, 1, id("status"), 0);
	assert_int_equal(ncauses, 2);
	met_at(0, 2, "status:5xx: goroutine 7 has set status 503 (task 1)");
	assert_int_equal(causes[1].time, 4);
	end();
}

TEST(interval)
{
	BEGIN(1000, "func:main.foo");
	for (uint64_t time = 1; time <= 2001; time++)
		region(time, 7, false, 0, "work");
	assert_int_equal(ncauses, 3);
	assert_int_equal(causes[1].time, 1001);
	assert_int_equal(causes[2].time, 2001);
	end();
}

/* More than are watched: those beyond are not, and nothing breaks. */
TEST(many)
{
	BEGIN(0, "request:50ms");
	for (uint64_t i = 1; i <= OPEN_CALLS_MAX + 10; i++)
		event(i, 7, EV_USER_TASK_BEGIN, i, 0, id("task"));
	for (uint64_t i = 1; i <= OPEN_CALLS_MAX + 10; i++)
		event(OPEN_CALLS_MAX + 11, 7, EV_USER_TASK_END, i, 0, 0);
	triggers__watermark(fix.t, 100 * MS);
	assert_int_equal(ncauses, 0);
	assert_int_equal(triggers__failure(fix.t), 0);
	end();
}

/* One CPU for a second, then half of one. Met when it crosses the limit, and again after a pause. */
TEST(cpu)
{
	struct process_triggers *p;
	uint64_t used = 1, time = 0;

	BEGIN(0, "cpu:90%");
	assert_int_equal(process_triggers__create(&p, fix.t), 0);
	for (int i = 0; i < 100; i++, time += 100 * MS) {
		process_triggers__cpu(fix.t, p, time, used);
		used += i / 20 % 2 ? 20 * MS : 100 * MS;
	}
	assert_int_equal(ncauses, 3);
	met_at(0, 1000 * MS, "cpu:90%: 100 % of a CPU in the last second");
	met_at(1, 4900 * MS, "cpu:90%: 92 % of a CPU in the last second");
	process_triggers__destroy(p);
	end();
}

TEST(signals)
{
	uint64_t later = UINT64_MAX / 2;

	BEGIN(0, "signal:SIGSEGV", "exit");
	triggers__signal(fix.t, 1, 5, 11); /* before the recording */
	triggers__signal(fix.t, later, 5, 10);
	triggers__signal(fix.t, later, 5, 11);
	triggers__exit(fix.t, later + 1, 3 << 8);
	assert_int_equal(ncauses, 2);
	met_at(0, later, "signal:SIGSEGV: signal 11 (SEGV) delivered to thread 5");
	met_at(1, later + 1, "exit: the process exited with status 3");
	end();
}
