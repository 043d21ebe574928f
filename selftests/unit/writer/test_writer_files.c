// SPDX-License-Identifier: GPL-2.0
/*
 * Several generations: empty ones, full disks, and whole traces of a simulated program. With
 * GT_TEST_TRACE_DIR set, those traces are written there in all versions, for Go's reader.
 */
#include <signal.h>
#include <sys/resource.h>

#include "unit/test.h"
#include "unit/simulate.h"
#include "unit/writer_fixture.h"
#include "writer/private_write.h"

FIXTURE(NULL, stop)

/* Writes an empty generation after `act` on P 3; returns the P's status in it. */
static uint64_t empty_after(void (*act)(void), uint64_t *ret_m)
{
	struct read_batch batch;
	struct read_event ev;
	uint64_t status = 0, time;
	size_t at;

	start(22, 1);
	ok(writer__open(x.w, 10, 1));
	act();
	ok(writer__close(x.w));
	ok(writer__open(x.w, 1000, 1));
	ok(writer__close(x.w));
	finish(22);
	while (bytes__batch(&x.bytes, &batch)) {
		at = 0;
		if (batch.gen != 2 || !batch__timed(&batch))
			continue;
		assert_true(batch__event(&batch, &at, &time, &ev));
		assert_int_equal(ev.type, EV_PROC_STATUS);
		assert_int_equal(ev.arg[1], 3);
		assert_int_equal(at, batch.len);
		assert_int_equal(status, 0);
		status = ev.arg[2];
		*ret_m = batch.m;
	}
	assert_int_equal(writer__stats(x.w)->generations, 2);
	stop(NULL);
	return status;
}

static void p_idle(void)
{
	ok(writer__proc_status(x.w, NOM, 3, PROC_IDLE));
	ok(event(8, 20, EV_PROC_START, 4, 1, 0, 2));
	ok(event(8, 20, EV_PROC_STOP, 0, 0, 0, 0));
}

static void p_started(void)
{
	p_idle();
	ok(event(9, 20, EV_PROC_START, 3, 1, 0, 2));
}

static void p_in_syscall(void)
{
	p_started();
	ok(event(9, 20, EV_GO_SYSCALL_BEGIN, 2, 0, 0, 2));
	ok(event(8, 20, EV_GO_SYSCALL_END, 0, 0, 0, 0));
}

static void p_back(void)
{
	p_in_syscall();
	ok(event(9, 20, EV_GO_SYSCALL_END, 0, 0, 0, 0));
}

static void p_stolen(void)
{
	p_in_syscall();
	ok(event(8, 20, EV_PROC_STEAL, 3, 3, 9, 3));
	ok(event(9, 20, EV_GO_SYSCALL_END_BLOCKED, 0, 0, 0, 0));
}

static void p_stopped(void)
{
	p_back();
	ok(event(9, 20, EV_PROC_STOP, 0, 0, 0, 0));
}

static void p_abandoned(void)
{
	p_in_syscall();
	ok(event(9, 20, EV_GO_DESTROY_SYSCALL, 0, 0, 0, 0));
}

static void status_late(void)
{
	ok(event(9, 20, EV_PROC_START, 3, 1, 0, 2));
	ok(writer__proc_status(x.w, NOM, 3, PROC_IDLE));
}

TEST(empty_generations)
{
	static const struct {
		void (*act)(void);
		uint64_t status, m;
	} cases[] = {
		{ p_idle, PROC_IDLE, NOM },	      { p_started, PROC_RUNNING, 9 },
		{ p_in_syscall, PROC_SYSCALL, 9 },    { p_back, PROC_RUNNING, 9 },
		{ p_stolen, PROC_IDLE, NOM },	      { p_stopped, PROC_IDLE, NOM },
		{ p_abandoned, PROC_ABANDONED, NOM }, { status_late, PROC_RUNNING, 9 },
	};
	uint64_t m = 0;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(empty_after(cases[i].act, &m), cases[i].status);
		assert_true(m == cases[i].m);
	}
}

TEST(no_known_p_writes_nothing)
{
	unsigned int seen[4];

	start(25, 1);
	ok(writer__open(x.w, 10, 1));
	ok(writer__private(x.w, "kept", 4));
	ok(writer__close(x.w));
	assert_int_equal(trace_file__size(x.file), 0);
	ok(writer__open(x.w, 20, 1));
	ok(event(1, 25, EV_GO_SYSCALL_END, 0, 0, 0, 0));
	ok(writer__proc_status(x.w, 1, 3,
			       PROC_SYSCALL)); /* an outdated status, which must not be repeated */
	ok(writer__close(x.w));
	ok(writer__open(x.w, 30, 1));
	ok(writer__close(x.w));
	assert_int_equal(writer__stats(x.w)->generations, 1);
	finish(25);
	count_ids(EV_STRING, 1, seen, 4);
	assert_int_equal(seen[1], 1);
}

TEST(open_generation_is_discarded)
{
	start(26, 1);
	ok(writer__open(x.w, 10, 1));
	ok(event(1, 20, EV_PROC_STOP, 0, 0, 0, 0));
	ok(writer__go_status(x.w, 1, 2, GO_RUNNING, 0));
}

static void one_generation(int events)
{
	int i;

	ok(writer__open(x.w, 10, 1));
	for (i = 0; i < events; i++)
		ok(event(i % 3, i, EV_HEAP_ALLOC, i, 0, 0, 1));
}

TEST(full_disk_keeps_whole_generations)
{
	struct rlimit limit, small;
	uint64_t size, events;

	getrlimit(RLIMIT_FSIZE, &limit);
	small = limit;
	small.rlim_cur = 50000;
	start(26, 1);
	one_generation(1000);
	ok(writer__close(x.w));
	size = trace_file__size(x.file);
	events = writer__stats(x.w)->events;
	setrlimit(RLIMIT_FSIZE, &small);
	one_generation(100000);
	assert_int_equal(writer__close(x.w), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(writer__stats(x.w)->events, events);
	assert_int_equal(writer__stats(x.w)->generations, 1);
	assert_int_equal(trace_file__size(x.file), size);
	one_generation(10); /* numbers continue without a gap */
	ok(writer__close(x.w));
	finish(26);
	assert_int_equal(x.bytes.data[size - 1], EV_END_OF_GENERATION);
	assert_int_equal(x.bytes.data[size + 1], 2);
}

TEST(full_disk_from_the_start)
{
	start_at("/dev/full", 25, 1);
	one_generation(10);
	assert_int_equal(writer__close(x.w), -ENOSPC);
	assert_int_equal(writer__stats(x.w)->generations, 0);
}

/* Three generations of a busy simulated program, an empty one, private data: for Go's reader. */
static void simulate(unsigned int version, unsigned int tick)
{
	const char *dir = getenv("GT_TEST_TRACE_DIR");
	static char path[512];
	struct sim s;
	int i, gen;

	snprintf(path, sizeof(path), "%s/writer-1.%u-%uns.trace", dir ? dir : scratch_dir(),
		 version, tick);
	start_at(path, version, tick);
	sim__init(&s, x.w, x.in, version, 50, 8, 2000, 6000);
	for (gen = 0; gen < 4; gen++) {
		if (gen == 3) {
			ok(writer__open(x.w, s.now += 1000, 12345));
			ok(writer__close(x.w));
		}
		sim__open(&s);
		ok(private__ticks(x.w, tick, s.now, 99));
		for (i = 0; i < 20000; i++)
			sim__step(&s);
		if (version == 23 && gen == 0)
			ok(event(SIM_TID(0), s.now, EV_SPAN_FREE, 17, 0, 0, 1));
		ok(writer__close(x.w));
	}
	ok(s.err);
	finish(version);
	assert_int_equal(writer__stats(x.w)->generations, 5);
	assert_true(s.events > 10000);
	sim__deinit(&s);
	stop(NULL);
}

TEST(traces_of_all_versions)
{
	static const unsigned int versions[] = { 22, 23, 25, 26 };
	int i;

	for (i = 0; i < 8; i++)
		simulate(versions[i / 2], i % 2 ? 64 : 1);
}

static void prepare(void)
{
	signal(SIGXFSZ, SIG_IGN);
}

GROUP(prepare, NULL)
