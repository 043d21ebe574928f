// SPDX-License-Identifier: GPL-2.0
/*
 * Events and kernel events merged by time, across generations.
 */
#include "unit/test.h"
#include "format/header.h"
#include "reader/decode.h"
#include "reader/push.h"
#include "reader/timeline.h"
#include "unit/timeline_fixture.h"
#include "writer/private_write.h"

static struct kernel_writer *k;
static struct kernel_threads threads;
static unsigned int tick = 1;

static int setup(void **state)
{
	start(25, tick);
	k = kernel_writer__create();
	assert_non_null(k);
	return 0;
}

static int teardown(void **state)
{
	kernel_writer__destroy(k);
	kernel_threads__deinit(&threads);
	return stop(state);
}

FIXTURE(setup, teardown)

static void begin(uint64_t time)
{
	ok(writer__open(x.w, time, 2000));
	ok(kernel_writer__begin(k, time, &threads));
}

static void end(void)
{
	ok(private__kernel(x.w, k));
	ok(writer__close(x.w));
}

static void item(uint64_t time, uint8_t kind, uint32_t tid, uint8_t why)
{
	struct kernel_item i = {
		.time = time, .kind = kind, .tid = tid, .why = why, .cpu = 1, .number = 202
	};

	ok(kernel_writer__add(k, &i));
	ok(kernel_threads__apply(&threads, &i));
}

/* Goroutine 1 runs on thread 10 and P 0 from the start; it stops, and runs again. */
static void two_generations(uint64_t t)
{
	struct kernel_thread idle = { .tid = 11, .run = KERNEL_SLEEPING, .call = KERNEL_NO_CALL };
	struct private_loss loss = { GT_CPU_OFF, 3, 0, 9 };
	uint32_t why;

	begin(t);
	ok(kernel_writer__add_thread(k, &idle));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
	item(t + 64, KERNEL_SYS_ENTER, 10, 0);
	why = intern__string(x.in, "preempted", 9);
	ok(event(10, t + 640, EV_GO_STOP, why, 0, 0, 2));
	item(t + 640, KERNEL_SYS_EXIT, 10, 0);
	item(t + 700, KERNEL_OFF, 10, GT_OFF_SLEEPING);
	item(t + 800, KERNEL_ENDED, 11, 0);
	item(t + 6400, KERNEL_WAKING, 10, 0);
	end();
	intern__end_generation(x.in);
	kernel_threads__forget_gone(&threads);
	begin(t + 6400);
	ok(private__losses(x.w, &loss, 1));
	ok(writer__go_status(x.w, TRACE_NO_M, 1, GO_RUNNABLE, 0));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	item(t + 6464, KERNEL_ON, 10, 0);
	ok(event(10, t + 6528, EV_GO_START, 1, 1, 0, 2));
	item(t + 7000, KERNEL_OFF, 10, GT_OFF_PREEMPTED);
	end();
	ok(trace_file__commit(x.file));
}

struct expected {
	int event, item; /* one is set; 0: the other */
	uint64_t after;	 /* since the start */
	uint64_t g, took;
};

/* The time of the event that follows the item. */
static int64_t time_of_next_event(const struct expected *e)
{
	while (!e->event)
		e++;
	return 64000 + (int64_t)e->after;
}

TEST(steps_are_in_time_order)
{
	static const struct expected want[] = {
		{ EV_SYNC, 0, 0 },
		{ EV_PROC_STATUS, 0, 1 },
		{ EV_GO_STATUS, 0, 2 },
		{ 0, KERNEL_SYS_ENTER, 64, 1 },
		{ 0, KERNEL_SYS_EXIT, 640, 1, .took = 640 - 64 },
		{ EV_GO_STOP, 0, 640 },
		{ 0, KERNEL_OFF, 700, TRACE_NO_G },
		{ 0, KERNEL_ENDED, 800, TRACE_NO_G },
		{ 0, KERNEL_WAKING, 6400, TRACE_NO_G },
		{ EV_SYNC, 0, 6400 },
		{ EV_GO_STATUS, 0, 6401 },
		{ EV_PROC_STATUS, 0, 6402 },
		{ 0, KERNEL_ON, 6464, TRACE_NO_G, .took = 64 },
		{ EV_GO_START, 0, 6528 },
		{ 0, KERNEL_OFF, 7000, 1 },
		{ EV_SYNC, 0, 6529 },
	};
	struct timeline_step step;
	struct error err = {};
	struct reader *r;
	struct timeline *t;
	uint64_t time;

	two_generations(64000);
	t = open_timeline(&r);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_int_equal(timeline__next(t, &step, &err), 1);
		assert_int_equal(!step.event, !want[i].event);
		assert_int_equal(!step.item, !want[i].item);
		time = step.event ? timeline__mono(t, step.event->time) : step.item->time;
		assert_int_equal(time, 64000 + want[i].after);
		if (step.event) {
			assert_int_equal(step.event->type, want[i].event);
			continue;
		}
		assert_int_equal(step.item->kind, want[i].item);
		assert_int_equal(timeline__goroutine(t, step.item->tid), want[i].g);
		assert_int_equal(timeline__duration(t), want[i].took ? want[i].took : UINT64_MAX);
		assert_int_equal(timeline__until(t), time_of_next_event(&want[i]));
		if (i ==
		    sizeof(want) / sizeof(want[0]) - 2) { /* no event but the last sync follows */
			timeline__keep_late_items(t);
			assert_int_equal(timeline__until(t), INT64_MAX);
		}
	}
	assert_int_equal(timeline__next(t, &step, &err), 0);
	assert_int_equal(timeline__until(t), INT64_MAX);
	assert_int_equal(timeline__next(t, &step, &err), 0);
	timeline__destroy(t);
	reader__destroy(r);
}

/* Expects a table of threads, and the begin or the end of a loss, with this sync only. */
static void next_sync(struct timeline *t, bool table, bool loss)
{
	struct timeline_step step;
	struct error err = {};

	for (;;) {
		assert_int_equal(timeline__next(t, &step, &err), 1);
		if (step.event && step.event->type == EV_SYNC)
			break;
		assert_false(step.table || step.loss);
	}
	assert_int_equal(step.table, table);
	assert_int_equal(step.loss, loss);
}

TEST(threads_match_the_step)
{
	const struct kernel_threads *now;
	struct reader *r;
	struct timeline *t;

	two_generations(64000);
	t = open_timeline(&r);
	now = timeline__threads(t);
	assert_false(timeline__has_kernel(t));
	next_sync(t, true, false);
	assert_true(timeline__has_kernel(t));
	assert_false(timeline__lossy(t));
	assert_int_equal(kernel_threads__find(now, 11)->run, KERNEL_SLEEPING);
	assert_null(kernel_threads__find(now, 10));
	next_sync(t, true, true);
	assert_true(timeline__lossy(t));
	assert_null(kernel_threads__find(now, 11));
	assert_int_equal(kernel_threads__find(now, 10)->run, KERNEL_RUNNABLE);
	assert_int_equal(kernel_threads__find(now, 10)->since, 64000 + 6400);
	next_sync(t, false, false);
	assert_int_equal(kernel_threads__find(now, 10)->run, KERNEL_RUNNABLE);
	assert_false(kernel_threads__find(now, 10)->woken);
	timeline__destroy(t);
	reader__destroy(r);
}

/* A generation with many threads and losses, `each` ns apart; 0: at the times of items. */
static void lose_often(uint32_t nthreads, uint32_t nlosses, uint64_t each)
{
	struct private_loss *losses = calloc(nlosses, sizeof(*losses));
	struct kernel_thread thread = { .run = KERNEL_SLEEPING,
					.since = 1,
					.call = KERNEL_NO_CALL };

	assert_non_null(losses);
	for (thread.tid = 20; thread.tid < 20 + nthreads; thread.tid++)
		ok(kernel_threads__set(&threads, &thread));
	begin(1000000);
	ok(writer__proc_status(x.w, TRACE_NO_M, 0, PROC_IDLE));
	for (uint32_t i = 0; i < nlosses; i++) {
		losses[i] = (struct private_loss){ GT_CPU_OFF, 1, 2 + i, 2 + i };
		if (each)
			losses[i].from = losses[i].to = 1000000 + i * each;
		if (each)
			item(1000000 + i * each, KERNEL_WAKING, 10, 0);
	}
	ok(private__losses(x.w, losses, nlosses));
	end();
	ok(trace_file__commit(x.file));
	free(losses);
}

/* Time is linear in the size of the trace, not quadratic. */
static void expect_losses(uint64_t least, uint64_t most, bool gave_up)
{
	const struct kernel_threads *now;
	struct timeline_step step;
	struct error err = {};
	struct reader *r;
	struct timeline *t = open_timeline(&r);
	uint64_t losses = 0;
	int code;

	now = timeline__threads(t);
	while ((code = timeline__next(t, &step, &err)) > 0)
		losses += step.loss;
	ok(code);
	assert_in_range(losses, least, most);
	if (gave_up)
		assert_null(kernel_threads__find(now, 20));
	else
		assert_int_equal(kernel_threads__find(now, 20)->run, KERNEL_UNKNOWN);
	timeline__destroy(t);
	reader__destroy(r);
}

/* While records are missing, but not before or after. */
TEST(during_a_loss)
{
	static const struct private_loss losses[] = { { GT_CPU_OFF, 1, 1000100, 1000200 },
						      { GT_WAKING, 1, 1000150, 1000300 },
						      { GT_PARK, 1, 1000400, 1000500 } };
	struct timeline_step step;
	struct error err = {};
	unsigned int changes = 0;
	struct reader *r;
	struct timeline *t;

	begin(1000000);
	ok(writer__proc_status(x.w, TRACE_NO_M, 0, PROC_IDLE));
	for (uint64_t time = 1000050; time < 1000600; time += 100)
		item(time, KERNEL_ON, 10, 0);
	ok(private__losses(x.w, losses, 3));
	end();
	ok(trace_file__commit(x.file));
	t = open_timeline(&r);
	while (timeline__next(t, &step, &err) > 0) {
		changes += step.loss;
		if (step.item)
			assert_int_equal(timeline__in_loss(t),
					 step.item->time >= 1000100 && step.item->time < 1000300);
	}
	assert_int_equal(changes, 2);
	timeline__destroy(t);
	reader__destroy(r);
}

/* Go's losses, in any order; those of kernel events do not count. */
TEST(go_losses)
{
	static const struct private_loss losses[] = { { GT_PARK, 1, 1000400, 1000500 },
						      { GT_CPU_OFF, 1, 1000100, 1000900 },
						      { GT_PARK, 1, 1000100, 1000200 } };
	struct timeline_step step;
	struct error err = {};
	struct reader *r;
	struct timeline *t;

	begin(1000000);
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
	for (uint64_t time = 1000050; time < 1000600; time += 100)
		ok(event(10, time, EV_GO_CREATE, time, 0, 0, 3));
	ok(private__losses(x.w, losses, 3));
	end();
	ok(trace_file__commit(x.file));
	t = open_timeline(&r);
	while (timeline__next(t, &step, &err) > 0) {
		if (step.event)
			assert_int_equal(timeline__go_lost_to(t),
					 step.event->time < 1000100 ? INT64_MIN :
					 step.event->time < 1000400 ? 1000200 :
								      1000500);
	}
	assert_string_equal(err.text, "");
	timeline__destroy(t);
	reader__destroy(r);
}

TEST(many_losses_before_the_items)
{
	lose_often(40000, 40000, 0);
	expect_losses(1, 40000, false);
}

TEST(many_losses_among_the_items)
{
	lose_often(10000, 40000, 10);
	expect_losses(500, 2048, false);
}

/* Up to the limit of visits to threads, and one more: then their state stays unknown. */
TEST(too_many_losses)
{
	lose_often(40000, 40000, 10);
	expect_losses(512, 513, true);
}

static int setup_64(void **state)
{
	tick = 64;
	return setup(state);
}

static int teardown_64(void **state)
{
	tick = 1;
	return teardown(state);
}

TEST_WITH(threads_match_the_step_in_units_of_64_ns, setup_64, teardown_64)
{
	threads_match_the_step(state);
}

/* A trace of Go's own tracer, or of ours without kernel events. */
TEST(trace_without_kernel_events)
{
	struct timeline_step step;
	struct error err = {};
	struct reader *r;
	struct timeline *t;
	int events = 0, code;

	ok(writer__open(x.w, 1000, 2000));
	ok(writer__proc_status(x.w, TRACE_NO_M, 0, PROC_IDLE));
	ok(writer__clock(x.w, 1000, 501000, 3, 4));
	ok(writer__close(x.w));
	ok(trace_file__commit(x.file));
	t = open_timeline(&r);
	while ((code = timeline__next(t, &step, &err)) > 0) {
		assert_non_null(step.event);
		events++;
	}
	ok(code);
	assert_int_equal(events, 3);
	assert_int_equal(timeline__mono(t, 2000), 502000);
	assert_int_equal(timeline__time(t, 502000), 2000);
	assert_false(timeline__has_kernel(t));
	timeline__destroy(t);
	timeline__destroy(NULL);
	reader__destroy(r);
}

/* The end of the first generation in x.bytes. */
static size_t end_of_first(void)
{
	struct block_pool pool;
	struct generation g;
	struct error err = {};
	struct decoder *d;
	struct input *in;
	size_t end;

	ok(input__open_memory(&in, x.bytes.data, x.bytes.len, &err));
	input__consume(in, TRACE_HEADER_LEN);
	d = decoder__create(in, 25);
	block_pool__init(&pool);
	generation__init(&g, &pool);
	assert_int_equal(decoder__next(d, &g, &err), 1);
	end = input__offset(in);
	generation__deinit(&g);
	block_pool__deinit(&pool);
	decoder__destroy(d);
	input__destroy(in);
	return end;
}

/* Both timelines have the same next step. Returns whether there is one. */
static bool same_step(struct timeline *a, struct timeline *b)
{
	struct timeline_step x, y;
	struct error err = {};
	int got = timeline__next(a, &x, &err);

	assert_int_equal(timeline__next(b, &y, &err), got);
	if (!got)
		return false;
	assert_int_equal(got, 1);
	assert_int_equal(x.event != NULL, y.event != NULL);
	if (x.event) {
		assert_int_equal(x.event->type, y.event->type);
		assert_int_equal(x.event->time, y.event->time);
	} else {
		assert_int_equal(x.item->kind, y.item->kind);
		assert_int_equal(x.item->time, y.item->time);
		assert_int_equal(timeline__until(a), timeline__until(b));
		assert_int_equal(timeline__duration(a), timeline__duration(b));
	}
	return true;
}

/*
 * Generations one by one: nothing after the last event of one is delivered before the next one is
 * known, and then as from a file.
 */
TEST(generations_may_be_pushed)
{
	struct timeline *file, *pushed;
	struct reader *of_file, *r;
	struct timeline_step step;
	struct error err = {};
	size_t end;

	two_generations(64000);
	x.bytes = bytes__read(x.path);
	end = end_of_first();
	file = open_timeline(&of_file);
	ok(reader__create_pushed(&r, x.bytes.data, &err));
	ok(timeline__create(&pushed, r));
	assert_int_equal(timeline__next(pushed, &step, &err), 0);
	ok(reader__push(r, x.bytes.data + TRACE_HEADER_LEN, end - TRACE_HEADER_LEN, &err));
	for (unsigned int i = 0; i < 6; i++) /* up to EV_GO_STOP */
		assert_true(same_step(file, pushed));
	assert_int_equal(timeline__next(pushed, &step, &err), 0);
	assert_int_equal(timeline__next(pushed, &step, &err), 0);
	ok(reader__push(r, x.bytes.data + end, x.bytes.len - end, &err));
	for (unsigned int i = 0; i < 8; i++) /* up to EV_GO_START */
		assert_true(same_step(file, pushed));
	assert_int_equal(timeline__next(pushed, &step, &err), 0);
	assert_true(reader__is_pushed(r));
	reader__push_end(r);
	assert_false(reader__is_pushed(r));
	while (same_step(file, pushed))
		;
	timeline__destroy(pushed);
	reader__destroy(r);
	timeline__destroy(file);
	reader__destroy(of_file);
}

TEST(refuses_what_is_no_generation)
{
	static const char v1[TRACE_HEADER_LEN] = "go 1.19 trace\0\0\0";
	struct error err = {};
	struct reader *r;

	two_generations(64000);
	x.bytes = bytes__read(x.path);
	assert_int_equal(reader__create_pushed(&r, v1, &err), -EPROTONOSUPPORT);
	err.text[0] = '\0';
	ok(reader__create_pushed(&r, x.bytes.data, &err));
	assert_int_equal(reader__push(r, x.bytes.data + TRACE_HEADER_LEN,
				      x.bytes.len - TRACE_HEADER_LEN, &err),
			 -EBADMSG);
	assert_string_equal(err.text, "not a single generation");
	err.text[0] = '\0';
	assert_int_equal(reader__push(r, "", 0, &err), -EBADMSG);
	reader__destroy(r);
}
