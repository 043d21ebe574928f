// SPDX-License-Identifier: GPL-2.0
/*
 * The critical path in what contradicts itself: waits in circles, histories, events and items by chance.
 * The walk ends, and tells each moment of its window once, or refuses what takes too much memory.
 */
#include "unit/test.h"
#include "unit/path_fixture.h"

static void put_wait(uint32_t g, int64_t from, int64_t to, uint32_t by)
{
	struct path_state *st = path_history__state(&history, g, from);

	st->state = GO_STATE_WAITING;
	st->over = true;
	st->by = by;
	st->by_thread = PATH_NONE;
	st = path_history__state(&history, g, to);
	st->state = GO_STATE_RUNNING;
	st->thread = st->proc = PATH_NONE;
}

/* Two that wait for each other, one for itself, and a ring of them. */
TEST(cycles)
{
	uint32_t g[200];

	for (unsigned int i = 0; i < 200; i++)
		g[i] = path_table__get(&history, &history.goroutines, i + 1);
	put_wait(g[0], 10, 50, g[1]);
	put_wait(g[1], 5, 60, g[0]);
	put_wait(g[2], 10, 50, g[2]);
	for (unsigned int i = 10; i < 200; i++)
		put_wait(g[i], 10, 50, g[i < 199 ? i + 1 : 10]);
	expect(1, 0, 60, "0-10 unknown g1\n10-50 goblock g1 goroutine by=g2\n50-60 running g1\n");
	expect(3, 0, 60, "0-10 unknown g3\n10-50 goblock g3 scheduler\n50-60 running g3\n");
	expect(11, 5, 60,
	       "5-10 unknown g11\n10-50 goblock g111 goroutine by=g112\n50-60 running g11\n");
}

static uint64_t seed = 88172645463325252ull;

static uint64_t some(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

enum { GOROUTINES = 8, THREADS = 6, PROCS = 4, CPUS = 3 };

static uint32_t somebody(uint32_t n)
{
	return some(4) ? (uint32_t)some(n) : PATH_NONE;
}

static void add_state(int64_t time)
{
	struct path_state *st = path_history__state(&history, (uint32_t)some(GOROUTINES), time);

	st->state = (uint8_t)some(GO_STATE_SYSCALL + 1);
	st->over = some(4);
	st->assist = !some(9);
	if (st->state == GO_STATE_WAITING) {
		st->by = somebody(GOROUTINES);
		st->by_thread = somebody(THREADS);
	} else if (st->state == GO_STATE_RUNNABLE) {
		st->got = somebody(PROCS);
	} else {
		st->thread = somebody(THREADS);
		st->proc = somebody(PROCS);
	}
}

static void add_run(int64_t time)
{
	struct path_run *run = path_history__run(&history, (uint32_t)some(THREADS), time);

	run->run = (uint8_t)some(KERNEL_GONE + 1);
	run->why = (uint8_t)some(GT_OFF_END);
	run->over = some(4);
	run->interrupt = !some(4);
	run->woken = some(2);
	run->cpu = (uint16_t)some(CPUS + 1);
	run->other = (uint32_t)some(THREADS + 3); /* tids are the indices + 1 */
	run->call = some(2) ? KERNEL_NO_CALL : (uint32_t)some(400);
}

static void add_call(int64_t time)
{
	uint32_t thread = (uint32_t)some(THREADS);

	if (some(3))
		path_history__call(&history, thread, time, (uint32_t)some(400));
	else
		path_history__call_ends(&history, thread, time);
}

static void add_something(int64_t time)
{
	struct path_occupant who = { .time = time, .tid = (uint32_t)some(THREADS + 3) };

	switch (some(9)) {
	case 8:
		add_call(time);
		break;
	case 0:
		path_history__on(&history, &path_thread(&history, (uint32_t)some(THREADS))->on,
				 time, somebody(GOROUTINES));
		break;
	case 1:
		path_history__on(&history, &path_proc(&history, (uint32_t)some(PROCS))->on, time,
				 somebody(GOROUTINES));
		break;
	case 2:
		path_history__on_cpu(&history, some(CPUS), &who);
		break;
	case 3:
		path_history__stop(&history, time, some(2));
		break;
	case 4:
	case 5:
		add_run(time);
		break;
	default:
		add_state(time);
	}
}

/* Some windows of some goroutines: each moment of them once. */
static void walk_anywhere(void)
{
	int64_t from, to;
	struct path p;

	for (unsigned int i = 0; i < 5; i++) {
		from = (int64_t)some(400) - 20;
		to = some(50) ? from + (int64_t)some(400) : INT64_MAX;
		if (!some(50))
			from = INT64_MIN;
		assert_int_equal(
			path__walk(&history, (uint32_t)some(history.goroutines.n), from, to, &p),
			0);
		expect_whole(&p, from, to);
		path__deinit(&p);
	}
}

TEST(any_history)
{
	int64_t time;

	for (unsigned int round = 0; round < 3000; round++) {
		begin();
		for (uint64_t id = 1; id <= GOROUTINES; id++) {
			path_table__get(&history, &history.goroutines, id);
			path_goroutine(&history, (uint32_t)id - 1)->created_in_trace = some(2);
			path_goroutine(&history, (uint32_t)id - 1)->creator = somebody(GOROUTINES);
		}
		for (uint64_t id = 1; id <= THREADS; id++)
			path_table__get(&history, &history.threads, id);
		for (uint64_t id = 0; id < PROCS; id++)
			path_table__get(&history, &history.procs, id);
		history.machine = some(2);
		history.machine_to = (int64_t)some(300);
		time = some(9) ? 0 : INT64_MIN;
		for (uint64_t n = some(300); n; n--, time += (int64_t)some(4))
			add_something(time);
		walk_anywhere();
	}
}

/* ---- events that no reader would let pass, and items that no kernel would tell ---- */

static void any_event(int64_t time)
{
	static const uint8_t types[] = { EV_GO_CREATE,
					 EV_GO_START,
					 EV_GO_STOP,
					 EV_GO_BLOCK,
					 EV_GO_UNBLOCK,
					 EV_GO_DESTROY,
					 EV_GO_SYSCALL_BEGIN,
					 EV_GO_SYSCALL_END,
					 EV_GO_SYSCALL_END_BLOCKED,
					 EV_GO_CREATE_SYSCALL,
					 EV_GO_DESTROY_SYSCALL,
					 EV_GO_SWITCH,
					 EV_PROC_STOP,
					 EV_PROC_STEAL,
					 EV_GC_MARK_ASSIST_BEGIN,
					 EV_GC_MARK_ASSIST_END,
					 EV_STW_BEGIN,
					 EV_STW_END,
					 EV_SYNC };
	uint8_t type = types[some(sizeof(types))];
	uint64_t g = 1 + some(GOROUTINES);

	on_m = some(9) ? some(THREADS) + 1 : UINT64_MAX;
	on_p = some(9) ? some(PROCS) : TRACE_NO_P;
	on_g = some(5) ? 1 + some(GOROUTINES) : TRACE_NO_G;
	event(time, type, type == EV_GO_BLOCK ? some(STRINGS) : g, 1, 0);
}

static void any_item(int64_t time)
{
	uint32_t tid = 1 + (uint32_t)some(THREADS);
	uint32_t other = some(4) ? (uint32_t)some(THREADS + 1) : STRESS;

	item(time, tid, (uint8_t)(KERNEL_ON + some(KERNEL_KIND_END - KERNEL_ON)),
	     (struct kernel_item){ .cpu = (uint16_t)some(CPUS),
				   .why = (uint8_t)some(GT_OFF_END + 1),
				   .interrupt = !some(5),
				   .other = other,
				   .other_pid = process_of(other),
				   .number = (uint32_t)some(400),
				   .name = name_of(other) });
}

TEST(any_events)
{
	int64_t time;

	for (unsigned int round = 0; round < 2000; round++) {
		begin();
		time = 0;
		all_run(some(GOROUTINES) + 1);
		history.from = some(2) ? INT64_MIN : (int64_t)some(200);
		for (uint64_t n = some(400); n; n--, time += (int64_t)some(3))
			if (some(2))
				any_event(time);
			else
				any_item(time);
		if (!some(9))
			kernel_threads__lose(&threads);
		on(0, 0);
		event(time, EV_SYNC, 0, 0, 0);
		walk_anywhere();
	}
}

/* ---- what is too much ---- */

TEST(limit)
{
	struct path p;

	begin_limited(1 << 20);
	all_run(1);
	assert_false(path_history__full(&history));
	for (int64_t t = 10; t < 1000000; t += 10) {
		block(t, 1, CHAN);
		unblock(t + 1, 1, 0);
		start(t + 2, 1);
		if (path_history__full(&history))
			break;
	}
	assert_true(path_history__full(&history));
	assert_true(history.memory > 1 << 19 && history.memory < 4 << 20);
	history.limit = 1000 * sizeof(struct path_segment);
	assert_int_equal(path__walk(&history, 0, 0, 100000, &p), -E2BIG);
	assert_int_equal(path__walk(&history, 0, 0, 3000, &p), 0);
	path__deinit(&p);
}
