// SPDX-License-Identifier: GPL-2.0
/*
 * What is made and given back over and over leaves nothing behind. The C library says how much it
 * has given out; with ASan, which takes its place, LeakSanitizer watches instead.
 */
#include <malloc.h>

#include "unit/test.h"
#include "analysis/latency_impl.h"
#include "format/kernel.h"
#include "reader/decode.h"
#include "reader/fixup.h"
#include "reader/order.h"
#include "unit/writer_fixture.h"

#define ROUNDS 3000
#define SLACK  (ROUNDS * 4) /* less than the smallest piece for each round */

static uint32_t some_id; /* another in each round, so that each place of a map comes to use */

static void assert_nothing_stays(void (*round)(void))
{
	size_t before;

	for (int i = 0; i < 20; i++) /* what is kept for the next time */
		round();
	before = mallinfo2().uordblks;
	for (int i = 0; i < ROUNDS; i++)
		round();
	assert_true(mallinfo2().uordblks < before + SLACK);
}

static void fix_times(void)
{
	struct trace_event ev = { .type = EV_GO_LABEL };
	struct fixup *f = fixup__create();
	int64_t time;

	for (int i = 0; i < 20; i++) {
		ev.m = ev.p = ev.g = some_id++;
		ok(fixup__event(f, &ev, &time));
	}
	ev.type = EV_GO_DESTROY;
	ok(fixup__event(f, &ev, &time));
	fixup__destroy(f);
}

static void name_threads(void)
{
	struct kernel_item item = { .kind = KERNEL_SYS_ENTER, .name = { "name", 4 } };
	struct kernel_threads threads = {};

	for (uint32_t i = 0; i < 20; i++) {
		item.tid = ++some_id;
		item.number = 10000 + some_id;
		ok(kernel_threads__apply(&threads, &item));
	}
	item.kind = KERNEL_ENDED;
	ok(kernel_threads__apply(&threads, &item));
	kernel_threads__forget_gone(&threads);
	kernel_threads__deinit(&threads);
}

static void fill_dictionary(void)
{
	const struct trace_frame frame = { .pc = 1 };
	struct dictionary d;

	dictionary__init(&d);
	for (uint64_t id = 1; id < 1ull << 40; id *= 16) {
		ok(dictionary__add_string(&d, id, "text", 4));
		ok(dictionary__add_stack(&d, id, &frame, 1));
	}
	dictionary__clear(&d);
	ok(dictionary__add_string(&d, 7, "text", 4));
	ok(dictionary__add_string(&d, 1ull << 40, "text", 4));
	ok(dictionary__add_stack(&d, 1ull << 40, &frame, 1));
	dictionary__deinit(&d);
}

static void count_delays(void)
{
	struct latency_stats sum = {}, one = {};

	ok(latency_stats__count_delay(&one, 5));
	ok(durations__add(&one.reasons, 3, 1));
	ok(latency_stats__add(&sum, &one));
	latency_stats__deinit(&one);
	assert_int_equal(one.reasons.n + one.delays.n, 0);
	latency_stats__deinit(&sum);
}

static int end_one(void *context, const struct latency_goroutine *g)
{
	return 0;
}

static void live_and_end(void)
{
	const struct latency_opts opts = { INT64_MIN, INT64_MAX, end_one, NULL };
	struct latency *l = latency__create(&opts);
	struct kernel_threads threads = {};
	struct error err = {};
	struct dictionary dictionary;
	struct trace_event ev = {
		.dictionary = &dictionary, .m = 1, .g = 1, .parent = TRACE_NO_TASK
	};

	dictionary__init(&dictionary);
	for (uint64_t i = 0; i < 20; i++) {
		ev.type = EV_GO_CREATE;
		ev.arg[0] = some_id + i % 18; /* two of them twice */
		ok(latency__event(l, &ev, &threads, &err));
		ev.type = EV_GO_START;
		ok(latency__event(l, &ev, &threads, &err));
	}
	ev.type = EV_GO_DESTROY;
	ev.g = some_id++;
	ok(latency__event(l, &ev, &threads, &err));
	ok(latency__finish(l, &err));
	latency__destroy(l);
	dictionary__deinit(&dictionary);
}

/* Of a writer's generations, which come from its pool, nothing either. */
static void write_generation(void)
{
	const uint64_t args[] = { intern__cstring(x.in, "why"), 0 };

	ok(writer__open(x.w, 1000, 0));
	for (uint64_t m = 0; m < 5; m++)
		ok(writer__event(x.w, m, 1001, EV_GO_BLOCK, args, 2));
	ok(writer__go_status(x.w, 1, 2, GO_RUNNING, 0));
	ok(writer__sample(x.w, 1002, 1, 1, 1, 0));
	ok(writer__close(x.w));
}

TEST(parts_of_a_reader)
{
	assert_nothing_stays(fix_times);
	assert_nothing_stays(name_threads);
	assert_nothing_stays(fill_dictionary);
	assert_nothing_stays(count_delays);
	assert_nothing_stays(live_and_end);
}

TEST(generations_of_a_writer)
{
	start_at("/dev/null", 25, 1);
	assert_nothing_stays(write_generation);
	stop(NULL);
}

static void read_generation(void)
{
	struct error err = {};
	struct decoder *d;
	struct block_pool blocks;
	struct generation g;
	struct input *in;

	ok(input__open(&in, scratch("trace"), &err));
	ok(input__seek(in, 16, &err));
	d = decoder__create(in, 25);
	block_pool__init(&blocks);
	generation__init(&g, &blocks);
	assert_int_equal(decoder__next(d, &g, &err), 1);
	assert_int_equal(g.nthreads, 5);
	assert_int_equal(decoder__next(d, &g, &err), 0);
	generation__deinit(&g);
	block_pool__deinit(&blocks);
	decoder__destroy(d);
	input__destroy(in);
}

TEST(generations_of_a_decoder)
{
	start(25, 1);
	write_generation();
	finish(25);
	stop(NULL);
	assert_nothing_stays(read_generation);
}
