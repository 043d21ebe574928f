// SPDX-License-Identifier: GPL-2.0
/*
 * Which perf.data files are no company for a trace: of another time, machine or clock, and not of all of the
 * machine. And those that are, with a clock of their own and with losses.
 */
#include <time.h>

#include "unit/test.h"
#include "align/alignment.h"
#include "format/kernel.h"
#include "perfdata/made.h"
#include "unit/rewrite_fixture.h"
#include "writer/private_write.h"

#define MS	 1000000ull
#define BEGIN	 (1000 * MS)
#define SWITCHES 200

enum { STRANGER = 901 }; /* a thread of another program */

/* Switch number i of thread 10, at times that repeat in no pattern. */
static uint64_t time_of(unsigned int i)
{
	return BEGIN + i * MS + i * i % 97 * 1000;
}

static void put_items(unsigned int n)
{
	struct kernel_writer *kernel = kernel_writer__create();
	struct kernel_item item = { .tid = 10, .cpu = 1 };

	ok(kernel_writer__begin(kernel, BEGIN, NULL));
	for (unsigned int i = 0; i < n; i++) {
		item.kind = i % 2 ? KERNEL_ON : KERNEL_OFF;
		item.why = i % 2 ? 0 : GT_OFF_SLEEPING;
		item.other = i % 2 || i % 3 ? 0 : STRANGER;
		item.time = time_of(i);
		ok(kernel_writer__add(kernel, &item));
	}
	ok(private__kernel(x.w, kernel));
	kernel_writer__destroy(kernel);
}

/* One generation, in which thread 10 runs on a P; `n`: kernel events of it. */
static struct side made_side(unsigned int n)
{
	struct error err = {};
	struct reader *r;
	struct side side;

	start_at(scratch("trace"), 25, 1);
	ok(writer__open(x.w, BEGIN, 5000 * MS + BEGIN));
	ok(private__ticks(x.w, 1, BEGIN, 5000 * MS + BEGIN));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
	if (n)
		put_items(n);
	put(10, BEGIN + 300 * MS, EV_HEAP_ALLOC, 1, 0, 0);
	ok(writer__close(x.w));
	ok(trace_file__commit(x.file));
	r = open_path(x.path);
	stop(NULL);
	ok(side__read(&side, r, &err));
	reader__destroy(r);
	return side;
}

/* The same switches on a clock that is `ahead` of the trace's. */
static struct made_perf *their_switches(unsigned int n, int64_t ahead)
{
	struct made_perf *m = made_perf();
	uint32_t other;

	made_switch(m, BEGIN - 500 + (uint64_t)ahead, 0, STRANGER, 0, 0);
	made_switch(m, BEGIN - 400 + (uint64_t)ahead, 1, STRANGER, 0, 10);
	for (unsigned int i = 0; i < n; i++) {
		other = i % 2 || i % 3 ? 0 : STRANGER;
		if (i % 2)
			made_switch(m, time_of(i) + (uint64_t)ahead, 1, 0, 0, 10);
		else
			made_switch(m, time_of(i) + (uint64_t)ahead, 1, 10, 1, other);
	}
	return m;
}

static struct perf_data *opened(struct made_perf *m)
{
	struct made *b = made_file(m);
	struct perf_data *d;
	struct error err = {};
	struct input *in;

	ok(input__open_memory(&in, b->data, b->len, &err));
	if (perf_data__open(&d, in, &err))
		fail_msg("%s", err.text);
	free(b);
	free(m);
	return d;
}

static int make(struct alignment *a, unsigned int items, struct made_perf *m, struct error *err)
{
	struct side side = made_side(items);

	*err = (struct error){};
	return alignment__make(a, &side, opened(m), err);
}

static void refuses(unsigned int items, struct made_perf *m, const char *why)
{
	struct alignment a;
	struct error err;

	assert_int_equal(make(&a, items, m, &err), -ENODATA);
	if (!strstr(err.text, why))
		fail_msg("\"%s\" is not in \"%s\"", why, err.text);
}

/* ---- refused ---- */

TEST(of_another_time)
{
	struct made_perf *m = made_perf();

	made_switch(m, BEGIN - 7 * MS, 0, 10, 0, 0);
	refuses(0, m, "the perf file ends 7 ms before the trace begins");
	m = made_perf();
	made_switch(m, BEGIN + 310 * MS, 0, 10, 0, 0);
	refuses(0, m, "the perf file begins 9 ms after the end of the trace");
}

TEST(of_other_threads)
{
	struct made_perf *m = made_perf();

	made_switch(m, BEGIN + 1, 0, STRANGER, 0, 0);
	refuses(0, m, "the perf file has no switches of the target's threads");
}

/* Of one clock, as it says; at least 32 switches have to be there to tell. */
TEST(of_another_machine)
{
	struct made_perf *m = their_switches(SWITCHES, 100 * 1000);
	struct alignment a;
	struct error err;

	refuses(SWITCHES, m,
		"agree with the trace: it was recorded on another machine, or in another boot");
	ok(make(&a, 20, their_switches(20, 100 * 1000), &err));
	alignment__deinit(&a);
}

TEST(of_another_clock)
{
	struct made_perf *m = their_switches(SWITCHES, 0);

	m->clock = -1;
	refuses(0, m,
		"perf's clock is perf's own, and the trace has no context switches to align it by");
}

/* Every second switch of thread 10 is missing: it gets a CPU that it has. */
TEST(of_some_cpus)
{
	for (unsigned int n = 6; n <= 8; n += 2) {
		struct made_perf *m = made_perf();
		struct alignment a;
		struct error err;

		made_switch(m, BEGIN, 0, STRANGER, 0, 0);
		for (unsigned int i = 0; i < n; i++)
			made_switch(m, time_of(i), 1, 0, 0, 10);
		if (n < 8) {
			ok(make(&a, 0, m, &err)); /* too few to tell */
			alignment__deinit(&a);
		} else {
			refuses(0, m,
				"the perf file lacks switches of the target's threads: 7 of 8 ");
		}
	}
}

/* ---- taken ---- */

TEST(of_one_clock)
{
	struct alignment a;
	struct error err;

	if (make(&a, SWITCHES, their_switches(SWITCHES, 0), &err))
		fail_msg("%s", err.text);
	assert_false(a.fitted);
	assert_int_equal(a.join.clock.matched, SWITCHES);
	assert_int_equal(fit__offset(&a.join.clock), 0);
	assert_int_equal(a.target.n, 1); /* the trace knows its threads */
	alignment__deinit(&a);
}

TEST(with_a_clock_of_its_own)
{
	struct made_perf *m = their_switches(SWITCHES, 77 * (int64_t)MS);
	struct alignment a;
	struct error err;
	uint64_t all;

	m->clock = CLOCK_BOOTTIME;
	if (make(&a, SWITCHES, m, &err))
		fail_msg("%s", err.text);
	assert_true(a.fitted);
	assert_true(llabs(fit__offset(&a.join.clock) + 77 * (int64_t)MS) < 1000);
	assert_true(alignment__covered(&a, &all) < all);
	alignment__deinit(&a);
}

TEST(names_of_clocks)
{
	static const struct {
		int clock;
		const char *name;
	} clocks[] = {
		{ -1, "perf's own" },
		{ CLOCK_REALTIME, "CLOCK_REALTIME" },
		{ CLOCK_MONOTONIC, "CLOCK_MONOTONIC" },
		{ CLOCK_MONOTONIC_RAW, "CLOCK_MONOTONIC_RAW" },
		{ CLOCK_BOOTTIME, "CLOCK_BOOTTIME" },
		{ CLOCK_TAI, "CLOCK_TAI" },
		{ CLOCK_PROCESS_CPUTIME_ID, "one that is not known" },
	};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		struct made_perf *m = made_perf();
		struct alignment a = {};

		made_switch(m, BEGIN, 0, 10, 0, 0);
		m->clock = clocks[i].clock;
		a.perf = opened(m);
		assert_string_equal(alignment__clock(&a), clocks[i].name);
		perf_data__close(a.perf);
	}
}
