// SPDX-License-Identifier: GPL-2.0
/* Requests: which goroutine works for which task, for how long, errors, the slowest, the worst. */
#include "unit/scratch.h"
#include "unit/latency_fixture.h"

#include "analysis/latency_cause.h"
#include "analysis/requests_impl.h"

enum { GET = STRINGS, PART, STATUS, ERROR, OTHER, FREE, TEXT };

static struct requests *requests;

static void begin_requests(size_t worst)
{
	begin();
	latency__destroy(latency);
	add_string(GET, "GET /");
	add_string(PART, "part");
	add_string(STATUS, "status");
	add_string(ERROR, "error");
	add_string(OTHER, "erros"); /* as long as the category of errors */
	requests = requests__create(worst);
	assert_non_null(requests);
	latency = requests->latency; /* for the fixture's event() */
}

static void end_requests(void)
{
	requests__destroy(requests);
	latency = NULL;
	end();
}

/* An event, for both halves. */
static void ev(int64_t time, unsigned int type, uint64_t a, uint64_t b, uint64_t c)
{
	struct trace_event ev = made_event(time, type, a, b, c);

	event(time, type, a, b, c);
	assert_int_equal(annotation_tracker__event(&requests->tracker, &ev), 0);
}

static void start_g(uint64_t g, uint64_t m, int64_t time)
{
	on(m, TRACE_NO_G);
	ev(time, EV_GO_CREATE, g, WORKER, 0);
	ev(time + 1, EV_GO_START, g, 1, 0);
	on(m, g);
}

static void put_sum(FILE *f, const char *what, struct request_sum *sum)
{
	struct latency_goroutine g = { .stats = sum->time };

	fprintf(f, "%s %d of %d: ", what, (int)sum->count, (int)sum->shortest);
	put_goroutine(f, &g);
	request_sum__deinit(sum);
}

/* Expects a line per name and one per single request, and ends the test. */
static void expect_requests(const char *want)
{
	const struct request_single *worst;
	const struct request_name **names;
	struct request_sum sum;
	size_t n;
	FILE *f = capture();

	assert_int_equal(requests__finish(requests), 0);
	names = requests__sorted(requests, LENGTHS_TOTAL, &n);
	for (size_t i = 0; i < n; i++) {
		struct trace_string name = requests__name(requests, names[i]->name);

		fprintf(f, "%.*s: %d failed, %d unfinished\n", (int)name.len, name.data,
			(int)names[i]->failed, (int)names[i]->unfinished);
		assert_int_equal(request_name__sum(names[i], &sum), 0);
		put_sum(f, "all", &sum);
		assert_int_equal(request_name__slowest(names[i], &sum), 0);
		put_sum(f, "slowest", &sum);
	}
	free(names);
	worst = requests__worst(requests, &n);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%d: %d to %d on %d, %d%s\n", (int)worst[i].id, (int)worst[i].begin,
			(int)worst[i].end, (int)worst[i].creator, (int)worst[i].g,
			worst[i].failed ? ", failed" : "");
	expect_captured(want);
	end_requests();
}

/* The creator works for its task without a region, another goroutine within one. */
TEST(work)
{
	begin_requests(1);
	ev(1, EV_SYNC, 0, 0, 0);
	start_g(1, 1, 10);
	ev(20, EV_USER_TASK_BEGIN, 7, TRACE_NO_TASK, GET);
	start_g(2, 2, 21);
	ev(30, EV_USER_REGION_BEGIN, 7, PART, 0);
	ev(32, EV_USER_REGION_BEGIN, 7, PART, 0);
	ev(35, EV_GO_BLOCK, CHAN, 0, 0);
	on(2, TRACE_NO_G);
	ev(38, EV_GO_UNBLOCK, 2, 1, 0);
	ev(39, EV_GO_START, 2, 2, 0);
	on(2, 2);
	ev(40, EV_USER_REGION_END, 7, PART, 0);
	ev(44, EV_USER_REGION_END, 7, PART, 0);
	ev(47, EV_USER_REGION_BEGIN, 0, PART, 0);
	on(1, 1);
	ev(50, EV_USER_REGION_BEGIN, 7, PART, 0); /* it works for it already */
	ev(52, EV_USER_REGION_END, 7, PART, 0);
	ev(60, EV_USER_TASK_END, 7, 0, 0);
	ev(70, EV_USER_REGION_BEGIN, 7, PART, 0); /* of a task that has ended */
	ev(71, EV_USER_REGION_END, 7, PART, 0);
	expect_requests("GET /: 0 failed, 0 unfinished\n"
			"all 1 of 40: 0  oncpu=50 gorun=1 goblock=3 total=54 unknown=50"
			" goblock[chan receive]=3\n"
			"slowest 1 of 40: 0  oncpu=50 gorun=1 goblock=3 total=54 unknown=50"
			" goblock[chan receive]=3\n"
			"7: 20 to 60 on 1, 1\n");
}

/*
 * Both tasks get the time in which their creator works for both, and the first one that of its
 * subtask's region; the end of the creator is not theirs.
 */
TEST(creator_ends)
{
	begin_requests(2);
	ev(1, EV_SYNC, 0, 0, 0);
	start_g(1, 1, 10);
	ev(20, EV_USER_TASK_BEGIN, 7, TRACE_NO_TASK, GET);
	ev(30, EV_USER_TASK_BEGIN, 8, 7, PART);
	ev(35, EV_USER_TASK_BEGIN, 9, 7, PART);
	ev(40, EV_GO_DESTROY, 0, 0, 0);
	start_g(2, 2, 50);
	ev(60, EV_USER_REGION_BEGIN, 8, PART, 0);
	ev(65, EV_USER_TASK_END, 8, 0, 0); /* within its region */
	ev(66, EV_USER_TASK_END, 7, 0, 0);
	ev(67, EV_USER_TASK_END, 5, 0, 0);
	ev(68, EV_USER_REGION_END, 8, PART, 0);
	assert_int_equal(requests__unbegun(requests), 1);
	expect_requests("GET /: 0 failed, 0 unfinished\n"
			"all 1 of 46: 0  oncpu=25 total=25 unknown=25\n"
			"slowest 1 of 46: 0  oncpu=25 total=25 unknown=25\n"
			"part: 0 failed, 1 unfinished\n"
			"all 1 of 35: 0  oncpu=15 total=15 unknown=15\n"
			"slowest 1 of 35: 0  oncpu=15 total=15 unknown=15\n"
			"7: 20 to 66 on 1, 2\n"
			"8: 30 to 65 on 1, 2\n");
}

/*
 * A goroutine that works for a subtask, 8 or 9, works for the open ones of its ancestors: 7 until 50,
 * 8 until 60. A region ends with its task, and counts once, whatever the goroutine does besides.
 */
TEST(subtasks)
{
	begin_requests(3);
	ev(1, EV_SYNC, 0, 0, 0);
	start_g(1, 1, 10);
	ev(20, EV_USER_TASK_BEGIN, 7, TRACE_NO_TASK, GET);
	start_g(2, 2, 21);
	ev(24, EV_USER_TASK_BEGIN, 8, 7, PART);
	ev(28, EV_USER_TASK_BEGIN, 9, 8, PART);
	start_g(3, 3, 30);
	ev(32, EV_USER_REGION_BEGIN, 9, PART, 0);
	ev(34, EV_USER_REGION_BEGIN, 7, PART, 0);
	ev(36, EV_USER_REGION_END, 7, PART, 0);
	ev(40, EV_USER_TASK_END, 9, 0, 0); /* g3 no longer works, g2 still does for 8 and 7 */
	ev(42, EV_USER_REGION_END, 9, PART, 0);
	on(1, 1);
	ev(50, EV_USER_TASK_END, 7, 0, 0); /* g1: 30, g2: 26, g3: 8 */
	on(3, 3);
	ev(52, EV_USER_REGION_BEGIN, 8, PART, 0); /* its parent has ended */
	ev(55, EV_USER_REGION_END, 8, PART, 0);
	ev(60, EV_USER_TASK_END, 8, 0, 0); /* g2: 36, g3: 8 + 3 */
	expect_requests("part: 0 failed, 0 unfinished\n"
			"all 2 of 12: 0  oncpu=67 total=67 unknown=67\n"
			"slowest 1 of 36: 0  oncpu=47 total=47 unknown=47\n"
			"GET /: 0 failed, 0 unfinished\n"
			"all 1 of 30: 0  oncpu=64 total=64 unknown=64\n"
			"slowest 1 of 30: 0  oncpu=64 total=64 unknown=64\n"
			"8: 24 to 60 on 2, 3\n"
			"7: 20 to 50 on 1, 1\n"
			"9: 28 to 40 on 2, 3\n");
}

/* Tasks 1 to 20 are each the parent of the next; the region of the last is one of 16 ancestors. */
TEST(deep_subtasks)
{
	const struct request_single *worst;
	size_t n, with = 0;

	begin_requests(20);
	ev(1, EV_SYNC, 0, 0, 0);
	start_g(1, 1, 10);
	for (uint64_t i = 1; i <= 20; i++)
		ev(20, EV_USER_TASK_BEGIN, i, i == 1 ? TRACE_NO_TASK : i - 1, GET);
	start_g(2, 2, 30);
	ev(40, EV_USER_REGION_BEGIN, 20, PART, 0);
	ev(47, EV_USER_REGION_END, 20, PART, 0);
	for (uint64_t i = 1; i <= 20; i++)
		ev(50, EV_USER_TASK_END, i, 0, 0);
	worst = requests__worst(requests, &n);
	assert_int_equal(n, 20);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(worst[i].time.total, worst[i].id >= 4 ? 37 : 30);
		with += worst[i].time.total == 37;
	}
	assert_int_equal(with, 1 + REQUEST_ANCESTORS);
	end_requests();
}

static void one_with_log(int64_t time, uint64_t id, uint64_t category, const char *text)
{
	static uint64_t next = TEXT;

	add_string(next, text);
	ev(time, EV_USER_TASK_BEGIN, id, TRACE_NO_TASK, GET);
	ev(time + 1, EV_USER_LOG, id, category, next++);
	ev(time + 2, EV_USER_TASK_END, id, 0, 0);
}

TEST(errors)
{
	static const char *const fine[] = {
		"499", "200", "", "5xx", "99999999999", "-500", "0500x"
	};
	static const char *const bad[] = { "500", "503", "0500" };
	int64_t time = 20;

	begin_requests(0);
	ev(1, EV_SYNC, 0, 0, 0);
	start_g(1, 1, 10);
	for (size_t i = 0; i < sizeof(fine) / sizeof(*fine); i++, time += 10)
		one_with_log(time, 1, STATUS, fine[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++, time += 10)
		one_with_log(time, 1, STATUS, bad[i]);
	one_with_log(time, 1, PART, "500");
	one_with_log(time + 10, 1, OTHER, "500");
	one_with_log(time + 20, 1, ERROR, "");
	ev(time + 30, EV_USER_LOG, 1, ERROR, 0); /* of no open task */
	expect_requests("GET /: 4 failed, 0 unfinished\n"
			"all 13 of 2: 0  oncpu=26 total=26 unknown=26\n"
			"slowest 13 of 2: 0  oncpu=26 total=26 unknown=26\n");
}

/* The slowest 1 % of 150 are two; a third one is in the class of the second. */
TEST(slowest)
{
	begin_requests(3);
	ev(1, EV_SYNC, 0, 0, 0);
	start_g(1, 1, 10);
	for (int64_t i = 0; i < 150; i++) {
		int64_t length = i == 30 ? 20000 : i == 60 ? 10010 : i == 90 ? 10000 : 100 + i;

		ev(100000 * i + 20, EV_USER_TASK_BEGIN, 100 + (uint64_t)i, TRACE_NO_TASK, GET);
		ev(100000 * i + 20 + length, EV_USER_TASK_END, 100 + (uint64_t)i, 0, 0);
	}
	expect_requests("GET /: 0 failed, 0 unfinished\n"
			"all 150 of 100: 0  oncpu=65705 total=65705 unknown=65705\n"
			"slowest 3 of 10000: 0  oncpu=40010 total=40010 unknown=40010\n"
			"130: 3000020 to 3020020 on 1, 1\n"
			"160: 6000020 to 6010030 on 1, 1\n"
			"190: 9000020 to 9010020 on 1, 1\n");
}

/* What ends outside the window counts nowhere, with work that is still going on. */
TEST(window)
{
	begin_requests(5);
	requests__set_window(requests, 30, 60);
	ev(1, EV_SYNC, 0, 0, 0);
	start_g(1, 1, 10);
	ev(11, EV_USER_TASK_END, 99, 0, 0);
	for (uint64_t i = 0; i < 4; i++)
		ev(20 + (int64_t)i, EV_USER_TASK_BEGIN, 5 + i, TRACE_NO_TASK, GET);
	ev(29, EV_USER_TASK_END, 5, 0, 0);
	ev(30, EV_USER_TASK_END, 6, 0, 0);
	ev(60, EV_USER_TASK_END, 7, 0, 0);
	assert_int_equal(requests__unbegun(requests), 0);
	expect_requests("GET /: 0 failed, 0 unfinished\n"
			"all 1 of 9: 0  oncpu=9 total=9 unknown=9\n"
			"slowest 1 of 9: 0  oncpu=9 total=9 unknown=9\n"
			"6: 21 to 30 on 1, 1\n");
}

static void put_places(FILE *f, const struct latency_stats *stats)
{
	struct latency_place at;

	for (uint32_t i = 0; i < stats->places.n; i++) {
		at = latency__place(latency, stats->places.at[i].kind);
		fprintf(f, "%d %.*s at %.*s: %d\n", at.part, (int)at.reason.len, at.reason.data,
			(int)at.frame.function.len, at.frame.function.data,
			(int)stats->places.at[i].ns);
	}
}

/* The goroutine blocks before and in the task: the place before it is not one of the task. */
TEST(places)
{
	struct trace_frame frame = { .pc = 0x9000, .func = PART };
	const struct request_single *worst;
	size_t n;

	begin_requests(1);
	assert_int_equal(dictionary__add_stack(&dictionary, STRINGS, &frame, 1), 0);
	ev(1, EV_SYNC, 0, 0, 0);
	start_g(1, 1, 10);
	ev(12, EV_GO_BLOCK, CHAN, STRINGS, 0);
	on(1, TRACE_NO_G);
	ev(15, EV_GO_UNBLOCK, 1, 1, 0);
	ev(16, EV_GO_START, 1, 2, 0);
	on(1, 1);
	ev(20, EV_USER_TASK_BEGIN, 7, TRACE_NO_TASK, GET);
	ev(25, EV_GO_BLOCK, CHAN, WORKER, 0);
	on(1, TRACE_NO_G);
	ev(32, EV_GO_UNBLOCK, 1, 3, 0);
	ev(33, EV_GO_START, 1, 4, 0);
	on(1, 1);
	ev(34, EV_GC_MARK_ASSIST_BEGIN, STRINGS, 0, 0);
	ev(37, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	ev(38, EV_GO_SYSCALL_BEGIN, 0, 0, 0);
	ev(40, EV_GO_SYSCALL_END, 0, 0, 0);
	ev(41, EV_USER_TASK_END, 7, 0, 0);
	worst = requests__worst(requests, &n);
	assert_int_equal(n, 1);
	put_places(capture(), &worst->time);
	expect_captured("5 not recorded at : 2\n"
			"6 chan receive at chan receive: 7\n"
			"0  at part: 3\n");
	end_requests();
}

static void block(int64_t from, int64_t to, uint64_t reason, uint64_t stack)
{
	static uint64_t sequence = 100;

	ev(from, EV_GO_BLOCK, reason, stack, 0);
	on(1, TRACE_NO_G);
	ev(to - 1, EV_GO_UNBLOCK, 1, sequence++, 0);
	ev(to, EV_GO_START, 1, sequence++, 0);
	on(1, 1);
}

static void expect_cause(enum latency_part part, bool assist, int64_t ns, const char *reason,
			 const char *place)
{
	const struct request_single *worst;
	struct latency_cause cause;
	size_t n;

	worst = requests__worst(requests, &n);
	assert_int_equal(n, 1);
	assert_true(latency__top_cause(latency, &worst->path, &cause));
	assert_int_equal(cause.part, part);
	assert_int_equal(cause.assist, assist);
	assert_int_equal(cause.ns, ns);
	assert_int_equal(cause.reason.len, strlen(reason));
	assert_memory_equal(cause.reason.data, reason, strlen(reason));
	assert_int_equal(cause.place.function.len, strlen(place));
	assert_memory_equal(cause.place.function.data, place, strlen(place));
	end_requests();
}

/*
 * Waits of 12 and 9 ns for a channel, and 7 ns of mark assists in which the goroutine also waits for
 * `more` ns: the longer one is the top cause, at its longest place.
 */
static void causes_with(int64_t more)
{
	struct trace_frame frame = { .pc = 0x9000, .func = PART };

	begin_requests(1);
	add_string(FREE, "GC mark assist wait for work");
	assert_int_equal(dictionary__add_stack(&dictionary, STRINGS, &frame, 1), 0);
	ev(1, EV_SYNC, 0, 0, 0);
	start_g(1, 1, 10);
	ev(20, EV_USER_TASK_BEGIN, 7, TRACE_NO_TASK, GET);
	block(21, 31, CHAN, STRINGS);
	block(32, 45, CHAN, WORKER);
	ev(46, EV_GC_MARK_ASSIST_BEGIN, STRINGS, 0, 0);
	block(50, 51 + more, FREE, WORKER);
	ev(54 + more, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	ev(55 + more, EV_USER_TASK_END, 7, 0, 0);
}

TEST(causes)
{
	struct latency_stats nothing = {};
	struct latency_cause cause;

	causes_with(13);
	expect_cause(PART_GO_BLOCKED, false, 21, "chan receive", "chan receive");
	causes_with(15);
	expect_cause(PART_ONCPU, true, 22, "", "chan receive");
	causes_with(1);
	assert_false(latency__top_cause(latency, &nothing, &cause));
	end_requests();
}

/* The only request and its critical path, as text. Frees nothing. */
static void put_path(FILE *f)
{
	const struct request_single *worst;
	size_t n;

	worst = requests__worst(requests, &n);
	assert_int_equal(n, 1);
	put_goroutine(f, &(struct latency_goroutine){ .stats = worst->path });
	put_places(f, &worst->path);
}

/* g2 is a watchdog of task 7: no other goroutine waits for it. */
static void begin_watched(void)
{
	struct trace_frame frame = { .pc = 0x9000, .func = PART };

	begin_requests(1);
	assert_int_equal(dictionary__add_stack(&dictionary, STRINGS, &frame, 1), 0);
	ev(1, EV_SYNC, 0, 0, 0);
	start_g(1, 1, 10);
	ev(20, EV_USER_TASK_BEGIN, 7, TRACE_NO_TASK, GET);
	start_g(2, 2, 21);
	ev(24, EV_USER_REGION_BEGIN, 7, PART, 0);
	ev(26, EV_GO_BLOCK, CHAN, WORKER, 0);
	start_g(3, 3, 30);
	ev(32, EV_USER_REGION_BEGIN, 7, PART, 0);
}

/* g1 waits for g3, which waits for something else; between its region and what wakes g1, g1 waits. */
TEST(critical_path)
{
	begin_watched();
	on(1, 1);
	ev(34, EV_GO_BLOCK, CHAN, WORKER, 0);
	on(3, 3);
	ev(40, EV_GO_BLOCK, FOREVER, STRINGS, 0);
	on(4, TRACE_NO_G);
	ev(90, EV_GO_UNBLOCK, 3, 1, 0);
	on(3, TRACE_NO_G);
	ev(92, EV_GO_START, 3, 2, 0);
	on(3, 3);
	ev(98, EV_USER_REGION_END, 7, PART, 0);
	ev(100, EV_GO_UNBLOCK, 1, 1, 0);
	on(1, TRACE_NO_G);
	ev(103, EV_GO_START, 1, 2, 0);
	on(1, 1);
	ev(110, EV_USER_TASK_END, 7, 0, 0);
	put_path(capture());
	expect_captured("0  oncpu=33 gorun=5 goblock=52 total=90 unknown=33 goblock[forever]=50"
			" goblock[chan receive]=2\n"
			"6 forever at part: 50\n"
			"6 chan receive at chan receive: 2\n");
	expect_cause(PART_GO_BLOCKED, false, 50, "forever", "part");
}

/* g3 ends the task, for which it has worked since 32; before that the path is its creator's. */
TEST(path_of_ender)
{
	begin_watched();
	ev(40, EV_GO_BLOCK, CHAN, STRINGS, 0);
	on(1, 1);
	ev(60, EV_GO_UNBLOCK, 3, 1, 0);
	ev(61, EV_GO_BLOCK, FOREVER, WORKER, 0);
	on(3, TRACE_NO_G);
	ev(62, EV_GO_START, 3, 2, 0);
	on(3, 3);
	ev(70, EV_USER_TASK_END, 7, 0, 0);
	put_path(capture());
	expect_captured("0  oncpu=48 gorun=2 total=50 unknown=48\n");
	end_requests();
}

/* Goroutines that are said to have ended each other's waits at the same time end the search. */
TEST(path_in_a_circle)
{
	begin_watched();
	ev(40, EV_GO_BLOCK, CHAN, STRINGS, 0);
	on(1, 1);
	ev(45, EV_GO_BLOCK, CHAN, WORKER, 0);
	on(4, 1);
	ev(50, EV_GO_UNBLOCK, 3, 1, 0);
	on(4, 3);
	ev(50, EV_GO_UNBLOCK, 1, 1, 0);
	on(1, TRACE_NO_G);
	ev(52, EV_GO_START, 1, 2, 0);
	on(1, 1);
	ev(70, EV_USER_TASK_END, 7, 0, 0);
	assert_int_equal(requests__pathless(requests), 0);
	put_path(capture());
	expect_captured(
		"0  oncpu=43 gorun=2 goblock=5 total=50 unknown=43 goblock[chan receive]=5\n"
		"6 chan receive at chan receive: 5\n");
	end_requests();
}

/* g3 works for the task in many regions; each part of g1's wait for it counts once, and takes few steps. */
TEST(path_through_many_regions)
{
	enum { REGIONS = 1000 };
	int64_t time = 40;
	uint64_t budget;

	begin_watched();
	on(1, 1);
	ev(time, EV_GO_BLOCK, CHAN, WORKER, 0);
	on(3, 3);
	ev(time, EV_USER_REGION_END, 7, PART, 0);
	for (unsigned int i = 0; i < REGIONS; i++, time += 10) {
		ev(time + 4, EV_USER_REGION_BEGIN, 7, PART, 0);
		ev(time + 10, EV_USER_REGION_END, 7, PART, 0);
	}
	ev(time, EV_GO_UNBLOCK, 1, 1, 0);
	on(1, TRACE_NO_G);
	ev(time, EV_GO_START, 1, 2, 0);
	on(1, 1);
	budget = requests->path_budget;
	ev(time + 10, EV_USER_TASK_END, 7, 0, 0);
	put_path(capture());
	expect_captured(
		"0  oncpu=6030 goblock=4000 total=10030 unknown=6030 goblock[chan receive]=4000\n"
		"6 chan receive at chan receive: 4000\n");
	assert_true(budget - requests->path_budget <= 2 * REGIONS + 10);
	end_requests();
}

/* Requests whose steps are not kept, or for which no steps are left, are counted and have no path. */
TEST(no_room_for_paths)
{
	const struct request_single *worst;
	size_t n;

	begin_requests(2);
	ev(1, EV_SYNC, 0, 0, 0);
	start_g(1, 1, 10);
	requests->trails += REQUEST_TRAILS_MAX;
	ev(20, EV_USER_TASK_BEGIN, 7, TRACE_NO_TASK, GET);
	ev(30, EV_USER_TASK_END, 7, 0, 0);
	assert_int_equal(requests__pathless(requests), 1);
	requests->trails -= REQUEST_TRAILS_MAX;
	ev(31, EV_USER_TASK_BEGIN, 8, TRACE_NO_TASK, GET);
	requests->trails += REQUEST_TRAILS_MAX;
	block(32, 40, CHAN, WORKER);
	ev(41, EV_USER_TASK_END, 8, 0, 0);
	assert_int_equal(requests__pathless(requests), 2);
	requests->trails -= REQUEST_TRAILS_MAX;
	assert_int_equal(requests->trails, 0);
	requests->path_budget = 0;
	ev(42, EV_USER_TASK_BEGIN, 9, TRACE_NO_TASK, GET);
	ev(50, EV_USER_TASK_END, 9, 0, 0);
	assert_int_equal(requests__pathless(requests), 3);
	worst = requests__worst(requests, &n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(worst[i].path.total, 0);
	end_requests();
}

/* In an aligned trace each of two tasks has the time in which make held the CPU, once. */
TEST(cpu_held)
{
	const struct request_single *worst;
	size_t n;

	begin_requests(2);
	ev(1, EV_SYNC, 0, 0, 0);
	core(5, 1, 0);
	start_g(1, 1, 10);
	for (uint64_t i = 0; i < 2; i++) {
		int64_t time = 20 + 50 * (int64_t)i;

		ev(time, EV_USER_TASK_BEGIN, 7 + i, TRACE_NO_TASK, GET);
		item(time + 5, 1, KERNEL_OFF,
		     (struct kernel_item){
			     .why = GT_OFF_PREEMPTED, .other = 99, .name = { "make", 4 } });
		item(time + 5, 99, KERNEL_CPU,
		     (struct kernel_item){ .other_pid = 1, .name = { "make", 4 } });
		core(time + 15, 1, 0);
		ev(time + 20, EV_USER_TASK_END, 7 + i, 0, 0);
	}
	worst = requests__worst(requests, &n);
	assert_int_equal(n, 2);
	for (size_t i = 0; i < n; i++) {
		int64_t sum = 0;

		for (uint32_t k = 0; k < worst[i].time.tasks.n; k++)
			sum += worst[i].time.tasks.at[k].ns;
		assert_int_equal(sum, 10);
		assert_int_equal(worst[i].time.part[PART_KERNEL_RUNNABLE], 10);
	}
	end_requests();
}

/*
 * A read that sleeps twice for 4 ns, waits for a CPU for 5 + `more` ns and is on one for 6 ns, which is
 * the top cause although the wait is longer than each of its other parts, and 7 ns outside of it.
 */
static void call_with(int64_t more)
{
	begin_requests(1);
	ev(1, EV_SYNC, 0, 0, 0);
	core(2, 1, 0);
	start_g(1, 1, 10);
	ev(20, EV_USER_TASK_BEGIN, 7, TRACE_NO_TASK, GET);
	ev(22, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	call(22, 1, READ);
	off(24, 1, GT_OFF_SLEEPING);
	wake(28, 1);
	core(30, 1, 0);
	off(31, 1, GT_OFF_SLEEPING);
	wake(35, 1);
	core(38 + more, 1, 0);
	ret(41 + more, 1, READ);
	ev(43 + more, EV_GO_SYSCALL_END, 0, 0, 0);
	ev(46 + more, EV_USER_TASK_END, 7, 0, 0);
}

static void expect_split(int64_t ns, int64_t waited)
{
	const struct request_single *worst;
	struct latency_cause causes[LATENCY_CAUSES_MAX];
	size_t n;

	worst = requests__worst(requests, &n);
	assert_int_equal(n, 1);
	n = latency__causes(latency, &worst->path, causes);
	assert_int_equal(n, 2);
	assert_true(causes[0].call);
	assert_int_equal(causes[0].ns, ns);
	assert_int_equal(causes[0].split[PART_ONCPU], 6);
	assert_int_equal(causes[0].split[PART_KERNEL_RUNNABLE], waited);
	assert_int_equal(causes[0].split[PART_SYSCALL_BLOCKED], 8);
	assert_int_equal(causes[1].part, PART_KERNEL_RUNNABLE);
	assert_false(causes[1].call);
	assert_int_equal(causes[1].ns, waited);
}

TEST(system_calls)
{
	call_with(0);
	expect_split(19, 5);
	expect_cause(PART_SYSCALL_BLOCKED, false, 19, "read", "");
	call_with(100);
	expect_split(119, 105);
	expect_cause(PART_SYSCALL_BLOCKED, false, 119, "read", "");
}

/* A read is on a CPU for 7 of 13 ns, and the program itself for 6. */
TEST(system_call_on_cpu)
{
	begin_requests(1);
	ev(1, EV_SYNC, 0, 0, 0);
	core(2, 1, 0);
	start_g(1, 1, 10);
	ev(20, EV_USER_TASK_BEGIN, 7, TRACE_NO_TASK, GET);
	call(23, 1, READ); /* Go does not know of it */
	ret(30, 1, READ);
	ev(33, EV_USER_TASK_END, 7, 0, 0);
	expect_cause(PART_SYSCALL_BLOCKED, false, 7, "read", "");
}
