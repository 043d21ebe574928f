// SPDX-License-Identifier: GPL-2.0
/*
 * What `gotrace align` takes of the trace that it adds to: generations, threads, switches, and what it
 * refuses.
 */
#include "unit/test.h"
#include "align/side.h"
#include "format/kernel.h"
#include "unit/rewrite_fixture.h"
#include "writer/private_write.h"

static struct kernel_threads threads;
static struct kernel_writer *kernel;

static void begin(void)
{
	start_at(scratch("side"), 25, 1);
	threads = (struct kernel_threads){};
	kernel = kernel_writer__create();
	assert_non_null(kernel);
}

/* A generation from `time` on, with a thread that runs goroutine 1 on a P. */
static void generation(uint64_t time)
{
	ok(writer__open(x.w, time, 5000000000000 + time));
	ok(private__ticks(x.w, 1, time, 5000000000000 + time));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
	ok(kernel_writer__begin(kernel, time, &threads));
}

static void item(uint64_t time, uint8_t kind, uint32_t tid, uint32_t other, uint16_t cpu)
{
	struct kernel_item i = { .time = time,
				 .kind = kind,
				 .tid = tid,
				 .other = other,
				 .cpu = cpu,
				 .name = { .data = "" } };

	if (kind == KERNEL_OFF)
		i.why = GT_OFF_PREEMPTED;
	ok(kernel_threads__apply(&threads, &i));
	ok(kernel_writer__add(kernel, &i));
}

static void close_generation(uint64_t last)
{
	put(10, last, EV_HEAP_ALLOC, 1, 0, 0);
	ok(private__kernel(x.w, kernel));
	ok(writer__close(x.w));
}

static struct reader *written(void)
{
	struct reader *r;

	assert_int_equal(trace_file__commit(x.file), 0);
	r = open_path(x.path);
	kernel_writer__destroy(kernel);
	kernel_threads__deinit(&threads);
	stop(NULL);
	return r;
}

static void assert_switch(const struct fit_switch *s, uint64_t time, uint32_t prev, uint32_t next,
			  uint16_t cpu)
{
	assert_int_equal(s->time, time);
	assert_int_equal(s->prev, prev);
	assert_int_equal(s->next, next);
	assert_int_equal(s->cpu, cpu);
}

/* A switch between two threads of the target is two items of one moment. */
TEST(switches_count_once)
{
	struct error err = {};
	struct reader *r;
	struct side s;

	begin();
	generation(1000);
	item(2000, KERNEL_ON, 10, 0, 3);
	item(5000, KERNEL_OFF, 10, 11, 3);
	item(6999, KERNEL_ON, 11, 10, 3); /* the same one */
	item(9000, KERNEL_OFF, 11, 10, 3);
	item(11000, KERNEL_ON, 10, 11, 3); /* another, 2 us later */
	item(11500, KERNEL_ON, 11, 10, 2); /* on another CPU */
	close_generation(12000);
	r = written();
	ok(side__read(&s, r, &err));
	assert_true(s.has_kernel);
	assert_int_equal(s.version, 25);
	assert_int_equal(s.nswitches, 5);
	assert_switch(&s.switches[0], 2000, 0, 10, 3);
	assert_switch(&s.switches[1], 5000, 10, 11, 3);
	assert_switch(&s.switches[2], 9000, 11, 10, 3);
	assert_switch(&s.switches[3], 11000, 11, 10, 3);
	assert_switch(&s.switches[4], 11500, 10, 11, 2);
	assert_int_equal(s.threads.n, 2);
	assert_non_null(map__get(&s.threads, 10));
	assert_non_null(map__get(&s.threads, 11));
	side__deinit(&s);
	reader__destroy(r);
}

/* Of generations whose items overlap, the switches are sorted all the same. */
TEST(switches_of_overlapping_generations)
{
	struct error err = {};
	struct reader *r;
	struct side s;

	begin();
	generation(1000);
	item(2000, KERNEL_ON, 10, 0, 3);
	item(9000, KERNEL_OFF, 10, 0, 3);
	close_generation(9500);
	generation(9600);
	item(5000, KERNEL_ON, 11, 0, 2);
	item(9700, KERNEL_OFF, 11, 0, 2);
	close_generation(9900);
	r = written();
	ok(side__read(&s, r, &err));
	assert_int_equal(s.nswitches, 4);
	assert_switch(&s.switches[0], 2000, 0, 10, 3);
	assert_switch(&s.switches[1], 5000, 0, 11, 2);
	assert_switch(&s.switches[2], 9000, 10, 0, 3);
	assert_switch(&s.switches[3], 9700, 11, 0, 2);
	side__deinit(&s);
	reader__destroy(r);
}

/* The table of a generation may have threads without any event. */
TEST(threads_of_a_table)
{
	const struct kernel_thread waiting = {
		.tid = 33, .run = KERNEL_RUNNABLE, .since = 500, .cpu = 4, .call = KERNEL_NO_CALL
	};
	struct error err = {};
	struct reader *r;
	struct side s;

	begin();
	ok(kernel_threads__set(&threads, &waiting));
	generation(1000);
	item(2000, KERNEL_ON, 10, 0, 3);
	close_generation(2500);
	r = written();
	ok(side__read(&s, r, &err));
	assert_non_null(map__get(&s.threads, 33));
	side__deinit(&s);
	reader__destroy(r);
}

TEST(generations_and_their_times)
{
	struct error err = {};
	struct reader *r;
	struct side s;

	begin();
	generation(1000);
	close_generation(1500);
	generation(2000);
	close_generation(2700);
	r = written();
	ok(side__read(&s, r, &err));
	assert_int_equal(s.ngenerations, 2);
	assert_int_equal(s.generation[0].from, 1000);
	assert_int_equal(s.generation[1].from, 2000);
	assert_int_equal(s.generation[1].number, s.generation[0].number + 1);
	assert_in_range(s.to, 2700, 2701); /* the end of a generation comes after its last event */
	side__deinit(&s);
	reader__destroy(r);
}

/* The kernel's thread ids have 32 bits: what is larger in a trace is no thread that perf could have. */
TEST(threads_of_events)
{
	struct error err = {};
	struct reader *r;
	struct side s;

	begin();
	generation(1000);
	for (uint64_t p = 1; p <= 2; p++) {
		ok(writer__proc_status(x.w, UINT32_MAX - 1 + p, p, PROC_RUNNING));
		put(UINT32_MAX - 1 + p, 1100, EV_HEAP_ALLOC, 1, 0, 0);
	}
	close_generation(1500);
	r = written();
	ok(side__read(&s, r, &err));
	assert_int_equal(s.threads.n, 2);
	assert_non_null(map__get(&s.threads, 10));
	assert_non_null(map__get(&s.threads, UINT32_MAX));
	side__deinit(&s);
	reader__destroy(r);
}

/* No string of a generation has its `unused` or a larger id. */
TEST(the_first_free_id)
{
	struct error err = {};
	struct trace_event ev;
	struct reader *r;
	struct side s;
	unsigned int n = 0;
	uint64_t unused;

	begin();
	generation(1000);
	put(10, 1400, EV_STW_BEGIN, text("a reason"), 0, 0);
	put(10, 1410, EV_STW_END, 0, 0, 0);
	close_generation(1500);
	r = written();
	ok(side__read(&s, r, &err));
	unused = s.generation[0].unused;
	side__deinit(&s);
	reader__destroy(r);
	r = open_path(scratch("side"));
	while (reader__next(r, &ev, &err) > 0) {
		struct trace_string string;

		if (ev.type != EV_SYNC || !ev.dictionary)
			continue;
		for (uint64_t id = unused; id < unused + 1000; id++)
			assert_false(dictionary__string(ev.dictionary, id, &string));
		n++;
	}
	assert_int_equal(n, 1);
	reader__destroy(r);
}

TEST(refused)
{
	struct error err = {};
	struct reader *r;
	struct side s;

	/* of the Go runtime's own times, and the clock is not said */
	begin();
	ok(writer__open(x.w, 1000, 0));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(kernel_writer__begin(kernel, 1000, &threads));
	close_generation(1500);
	r = written();
	assert_int_equal(side__read(&s, r, &err), -EPROTONOSUPPORT);
	assert_non_null(strstr(err.text, "CLOCK_MONOTONIC"));
	reader__destroy(r);

	err = (struct error){};
	begin();
	generation(1000);
	ok(private__record(x.w, PRIVATE_ALIGNMENT, "", 0));
	close_generation(1500);
	r = written();
	assert_int_equal(side__read(&s, r, &err), -EALREADY);
	assert_non_null(strstr(err.text, "already aligned"));
	reader__destroy(r);
}
