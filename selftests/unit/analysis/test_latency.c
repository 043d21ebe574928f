// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of goroutines' time: which one it is in each pair of states, and why; that they add up.
 * Whether real traces say what happened is for check/latency.sh.
 */
#include "unit/test.h"
#include "unit/latency_fixture.h"

TEST(a_life)
{
	event(100, EV_SYNC, 0, 0, 0);
	core(101, 7, 2);
	start_new(5, 7, 110);
	off(120, 7, GT_OFF_PREEMPTED);
	core(123, 7, 2);
	event(130, EV_GO_BLOCK, CHAN, 0, 0);
	off(131, 7, GT_OFF_SLEEPING); /* not its thread any more */
	on(7, TRACE_NO_G);
	core(140, 7, 3);
	event(150, EV_GO_UNBLOCK, 5, 2, 0);
	event(155, EV_GO_START, 5, 3, 0);
	on(7, 5);
	event(160, EV_GO_DESTROY, 0, 0, 0);
	assert_int_equal(record_store__count(done), 1); /* at once */
	event(200, EV_SYNC, 0, 0, 0);
	expect("5 main.worker oncpu=21 gorun=6 kernrun=3 goblock=20 total=50 waits=1 longest=3"
	       " kernrun[preempted]=3 goblock[chan receive]=20\n");
}

TEST(running)
{
	struct kernel_item taken = { .why = GT_OFF_PREEMPTED, .other = 99, .name = { "make", 4 } };

	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	core(100, 8, 1);
	start_new(5, 7, 110);
	item(120, 7, KERNEL_OFF, taken);
	core(121, 7, 0);
	taken.other = 8; /* one of ours */
	item(130, 7, KERNEL_OFF, taken);
	core(132, 7, 1);
	off(140, 7, GT_OFF_YIELDED);
	core(143, 7, 1);
	off(150, 7, GT_OFF_THROTTLED);
	core(154, 7, 0);
	off(160, 7, GT_OFF_SLEEPING); /* nobody said in what */
	wake(165, 7);
	core(171, 7, 0);
	off(180, 7, GT_OFF_STOPPED);
	wake(187, 7);
	core(187, 7, 0);
	item(190, 7, KERNEL_FAULT_BEGIN, (struct kernel_item){});
	off(191, 7, GT_OFF_DISK);
	wake(199, 7);
	core(200, 7, 0);
	item(201, 7, KERNEL_FAULT_END, (struct kernel_item){});
	event(211, EV_GO_DESTROY, 0, 0, 0);
	expect("5 main.worker oncpu=63 gorun=1 kernrun=13 throttled=4 kernblock=20 total=101"
	       " moved=2 waits=6 longest=6"
	       " kernrun[preempted by make]=1 kernrun[preempted by the program itself]=2"
	       " kernrun[yielded]=3 kernblock[not recorded]=5 kernrun[woken]=7 kernblock[stopped]=7"
	       " kernblock[page fault]=8\n");
}

/* Why it sleeps outside of system calls, or is stopped; in a system call that is the reason. */
TEST(sleeps)
{
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 110);
	for (uint8_t sleep = 1; sleep < GT_SLEEP_END; sleep++) {
		item(100 + sleep * 20, 7, KERNEL_OFF,
		     (struct kernel_item){ .why = sleep <= GT_SLEEP_TRACED ? GT_OFF_STOPPED :
									     GT_OFF_SLEEPING,
					   .sleep = sleep });
		core(100 + sleep * 21, 7, 0);
	}
	item(250, 7, KERNEL_SYS_ENTER, (struct kernel_item){ .number = 0 });
	item(260, 7, KERNEL_OFF,
	     (struct kernel_item){ .why = GT_OFF_DISK, .sleep = GT_SLEEP_DISK });
	core(269, 7, 0);
	item(270, 7, KERNEL_SYS_EXIT, (struct kernel_item){ .number = 0 });
	event(280, EV_GO_DESTROY, 0, 0, 0);
	expect("5 main.worker oncpu=132 gorun=1 kernblock=37 total=170 oncall=11"
	       " kernblock[frozen]=1 kernblock[stopped by a debugger]=2"
	       " kernblock[end of the thread]=3 kernblock[memory reclaim]=4 kernblock[disk]=5"
	       " kernblock[page fault]=6"
	       " kernblock[page fault or signal (see --events fault)]=7 kernblock[read]=9\n");
}

/* Why a thread waits is known to goroutines that start on it after it left its CPU, too. */
TEST(started_off_cpu)
{
	struct kernel_item taken = { .why = GT_OFF_PREEMPTED, .other = 8 };

	core(90, 7, 0);
	core(90, 8, 1);
	item(95, 7, KERNEL_OFF, taken);
	event(100, EV_SYNC, 0, 0, 0);
	start_new(5, 7, 105);
	core(110, 7, 0);
	on(7, 5);
	event(120, EV_GO_BLOCK, CHAN, 0, 0);
	item(121, 7, KERNEL_OFF, taken);
	core(122, 7, 0);
	off(123, 7, GT_OFF_YIELDED);
	event(125, EV_GO_UNBLOCK, 5, 2, 0);
	event(130, EV_GO_START, 5, 3, 0);
	core(137, 7, 0);
	event(140, EV_GO_DESTROY, 0, 0, 0);
	expect("5 main.worker oncpu=13 gorun=6 kernrun=11 goblock=5 total=35 waits=2 longest=7"
	       " kernrun[preempted by the program itself]=4 goblock[chan receive]=5"
	       " kernrun[yielded]=7\n");
}

/* Other programs' names leave room for all other reasons. */
TEST(many_preemptors)
{
	struct kernel_item taken = { .why = GT_OFF_PREEMPTED, .other = 99 };
	char name[16], *all;

	event(0, EV_SYNC, 0, 0, 0);
	core(0, 7, 0);
	start_new(5, 7, 9);
	for (int64_t i = 1; i <= 330; i++) {
		snprintf(name, sizeof(name), "kworker/%d:1", (int)(i % 165));
		taken.name = (struct trace_string){ name, (uint32_t)strlen(name) };
		item(10 * i, 7, KERNEL_OFF, taken);
		core(10 * i + (i > 165 ? 2 : 1), 7, 0);
	}
	event(3400, EV_GO_BLOCK, CHAN, 0, 0);
	event(3500, EV_SYNC, 0, 0, 0);
	all = outcome();
	assert_non_null(strstr(all, " kernrun[preempted by kworker/1:1]=3"));
	assert_non_null(strstr(all, " kernrun[preempted by kworker/128:1]=3"));
	assert_null(strstr(all, "kworker/129:1"));
	assert_non_null(strstr(all, " kernrun[preempted by others]=111"));
	assert_non_null(strstr(all, " goblock[chan receive]=100"));
	free(all);
}

TEST(system_calls)
{
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 110);
	call(120, 7, FUTEX); /* Go does not know of it */
	off(122, 7, GT_OFF_SLEEPING);
	wake(130, 7);
	core(131, 7, 0);
	ret(133, 7, FUTEX);
	event(140, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	call(141, 7, READ);
	off(143, 7, GT_OFF_SLEEPING);
	wake(150, 7);
	core(152, 7, 0);
	ret(153, 7, READ);
	event(155, EV_GO_SYSCALL_END, 0, 0, 0);
	event(160, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	call(160, 7, NAMELESS);
	off(161, 7, GT_OFF_DISK);
	wake(171, 7);
	core(171, 7, 0);
	off(173, 7, GT_OFF_THROTTLED);
	core(174, 7, 0);
	ret(180, 7, NAMELESS);
	on(7, 5);
	event(181, EV_GO_SYSCALL_END_BLOCKED, 0, 0, 0);
	event(191, EV_SYNC, 0, 0, 0);
	expect("5 main.worker oncpu=41 gorun=11 kernrun=3 throttled=1 kernblock=8 sysblock=17"
	       " total=81 oncall=20 waits=3 longest=2"
	       " kernblock[futex]=8 kernrun[woken]=3 sysblock[read]=7"
	       " sysblock[system call 9999]=10\n");
}

/* What was there before the trace has been in its state since the generation began. */
TEST(from_the_start)
{
	event(100, EV_SYNC, 0, 0, 0);
	core(102, 7, 0);
	off(103, 8, GT_OFF_SLEEPING);
	event(110, EV_GO_STATUS, 1, 7, GO_RUNNING);
	event(111, EV_GO_STATUS, 2, UINT64_MAX, GO_RUNNABLE);
	event(112, EV_GO_STATUS, 3, UINT64_MAX, GO_WAITING);
	event(113, EV_GO_STATUS_STACK, 4, 8, GO_SYSCALL);
	event(114, EV_GO_STATUS, 5, 9, GO_SYSCALL); /* of a thread that nobody knows */
	on(7, 1);
	event(120, EV_GO_BLOCK, FOREVER, MAIN, 0);
	event(200, EV_SYNC, 0, 0, 0);
	expect("1 main.main oncpu=20 goblock=80 total=100 unknown=10 goblock[forever]=80\n"
	       "2  gorun=100 total=100\n"
	       "3  goblock=100 total=100 goblock[]=100\n"
	       "4  sysblock=100 total=100 unknown=13 sysblock[not recorded]=100\n"
	       "5  sysblock=100 total=100 unknown=100 sysblock[not recorded]=100\n");
}

TEST(without_kernel)
{
	event(100, EV_SYNC, 0, 0, 0);
	start_new(5, UINT64_MAX, 110); /* as in a v1 trace: no thread */
	start_new(6, UINT64_MAX, 120);
	on(UINT64_MAX, 5);
	event(131, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	event(138, EV_GO_SYSCALL_END, 0, 0, 0);
	event(140, EV_GO_DESTROY, 0, 0, 0);
	expect("5 main.worker oncpu=22 gorun=1 sysblock=7 total=30 unknown=29 sysblock[not recorded]=7\n"
	       "6 main.worker oncpu=19 gorun=1 total=20 unknown=19\n");
}

/* After a loss nothing is known of threads but by what is told again. */
TEST(a_loss)
{
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 109);
	off(120, 7, GT_OFF_THROTTLED);
	kernel_threads__lose(&threads);
	event(130, EV_SYNC, 0, 0, 0);
	core(137, 7, 0);
	off(140, 7, GT_OFF_DEAD); /* says nothing of a goroutine that still runs */
	core(150, 7, 0);
	off(152, 7, GT_OFF_THROTTLED);
	core(155, 8, 0);
	kernel_threads__lose(&threads);
	assert_int_equal(latency__forget(latency, &threads, false, &error), 0);
	event(160, EV_SYNC, 0, 0, 0);
	expect("5 main.worker oncpu=37 gorun=1 throttled=13 total=51 unknown=22\n");
}

/* Two goroutines are said to be on a thread: the first is on none that is known. */
TEST(a_thread_taken)
{
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 109);
	start_new(6, 7, 119);
	off(130, 7, GT_OFF_THROTTLED);
	on(7, 5);
	event(140, EV_GO_STOP, 0, 0, 0);
	off(141, 7, GT_OFF_PREEMPTED); /* still 6's */
	event(142, EV_SYNC, 0, 0, 0);
	expect("5 main.worker oncpu=30 gorun=3 total=33 unknown=20\n"
	       "6 main.worker oncpu=10 gorun=1 kernrun=1 throttled=11 total=23"
	       " kernrun[preempted]=1\n");
}

/* Items before what came before them count as if they had come then. */
TEST(back_in_time)
{
	item_at(90, (struct kernel_item){ .time = 90, .tid = 7, .kind = KERNEL_ON });
	event(100, EV_SYNC, 0, 0, 0);
	start_new(5, 7, 109);
	off(105, 7, GT_OFF_THROTTLED);
	core(104, 7, 0);
	off(120, 7, GT_OFF_THROTTLED);
	core(119, 7, 0);
	event(118, EV_GO_DESTROY, 0, 0, 0);
	expect("5 main.worker oncpu=10 gorun=1 total=11\n");
}

TEST(mark_assist)
{
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	event(110, EV_GO_STATUS, 1, 7, GO_RUNNING);
	on(7, 1);
	event(111, EV_GC_MARK_ASSIST_ACTIVE, 1, 0, 0); /* since the sync */
	event(120, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	event(130, EV_GC_MARK_ASSIST_BEGIN, 0, 0, 0);
	off(133, 7, GT_OFF_THROTTLED);
	core(143, 7, 0);
	event(144, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	event(150, EV_SYNC, 0, 0, 0);
	event(151, EV_GC_MARK_ASSIST_ACTIVE, 1, 0, 0);
	event(160, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	event(170, EV_SYNC, 0, 0, 0);
	expect("1  oncpu=60 throttled=10 total=70 assist=33 unknown=10\n");
}

TEST(mark_workers)
{
	struct latency_worker w;

	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 109);
	event(110, EV_GO_LABEL, DEDICATED, 0, 0);
	off(120, 7, GT_OFF_PREEMPTED);
	core(123, 7, 0);
	event(130, EV_GO_STOP, 0, 0, 0);
	event(140, EV_GO_START, 5, 2, 0); /* nothing of the collector's */
	event(150, EV_GO_LABEL, CHAN, 0, 0);
	event(155, EV_GO_LABEL, IDLE, 0, 0);
	event(160, EV_GO_DESTROY, 0, 0, 0);
	assert_true(latency__worker(latency, 0, &w));
	assert_int_equal(w.wall, 20);
	assert_int_equal(w.oncpu, 17);
	assert_memory_equal(w.label.data, strings[DEDICATED], w.label.len);
	assert_true(latency__worker(latency, 1, &w));
	assert_int_equal(w.wall, 5);
	assert_int_equal(w.oncpu, 5);
	assert_false(latency__worker(latency, 2, &w));
	expect("5 main.worker oncpu=37 gorun=11 kernrun=3 total=51 waits=1 longest=3"
	       " kernrun[preempted]=3\n");
}

/* Workers that a generation's table of threads divides: in the order of their threads. */
TEST(order_of_mark_workers)
{
	uint64_t seed = hash__seed[0];
	struct latency_worker w;

	for (uint64_t i = 1; i <= 32; i++) {
		hash__seed[0] = seed * i | 1;
		begin();
		event(100, EV_SYNC, 0, 0, 0);
		start_new(5, 7, 109);
		event(110, EV_GO_LABEL, DEDICATED, 0, 0);
		start_new(6, 8, 119);
		event(120, EV_GO_LABEL, IDLE, 0, 0);
		event(130, EV_SYNC, 0, 0, 0);
		assert_true(latency__worker(latency, 0, &w));
		assert_int_equal(w.wall, 20);
		assert_memory_equal(w.label.data, strings[DEDICATED], w.label.len);
		assert_true(latency__worker(latency, 1, &w));
		assert_int_equal(w.wall, 10);
		assert_false(latency__worker(latency, 2, &w));
	}
	hash__seed[0] = seed;
}

/* Only what lies in the window counts, and who is in it. */
TEST(a_window)
{
	begin_in(125, 140);
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(4, 7, 105);
	event(110, EV_GO_DESTROY, 0, 0, 0);
	start_new(5, 7, 110);
	off(120, 7, GT_OFF_PREEMPTED);
	core(127, 7, 0);
	event(130, EV_GO_BLOCK, CHAN, 0, 0);
	start_new(6, 7, 139);
	start_new(7, 7, 140);
	event(150, EV_SYNC, 0, 0, 0);
	expect("5 main.worker oncpu=3 kernrun=2 goblock=10 total=15 waits=1 longest=2"
	       " kernrun[preempted]=2 goblock[chan receive]=10\n"
	       "6 main.worker gorun=1 total=1\n");
}

/* A run queue's delay, and a move, count in the window in which they end: after its begin, up to its end. */
TEST(window_bounds)
{
	begin_in(100, 200);
	start_new(7, 1, 0);
	core(2, 1, 0);
	off(50, 1, GT_OFF_PREEMPTED);
	core(100, 1, 5); /* just before the window's first ns */
	off(110, 1, GT_OFF_PREEMPTED);
	core(120, 1, 1);
	off(190, 1, GT_OFF_PREEMPTED);
	core(200, 1, 2); /* with the window's last ns */
	off(201, 1, GT_OFF_PREEMPTED);
	core(210, 1, 3);
	expect("7 main.worker oncpu=80 kernrun=20 total=100 moved=2 waits=2 longest=10 kernrun[preempted]=20\n");
}

/* Waits for a CPU after the last event have no length: only one that began before it counts. */
TEST(after_the_last_event)
{
	event(100, EV_SYNC, 0, 0, 0);
	core(100, 7, 0);
	start_new(5, 7, 110);
	off(120, 7, GT_OFF_SLEEPING);
	wake(130, 7);
	until = 140;
	core(145, 7, 0);
	off(150, 7, GT_OFF_SLEEPING);
	wake(160, 7);
	core(165, 7, 0);
	until = INT64_MAX;
	event(140, EV_SYNC, 0, 0, 0);
	expect("5 main.worker oncpu=9 gorun=1 kernrun=10 kernblock=10 total=30 waits=1 longest=10"
	       " kernblock[not recorded]=10 kernrun[woken]=10\n");
}

TEST(delays)
{
	struct latency_stats sum = {}, one = {};
	struct latency_goroutine g;

	event(0, EV_SYNC, 0, 0, 0);
	core(1, 7, 0);
	start_new(5, 7, 9);
	for (int64_t i = 0; i < 1000; i++) { /* 1 us to 1 ms */
		off(1000000 + 10000000 * i, 7, GT_OFF_PREEMPTED);
		core(1000000 + 10000000 * i + 1000 * (i + 1), 7, 0);
	}
	assert_int_equal(latency__finish(latency, &error), 0);
	assert_int_equal(latency__unpack(record_store__get(done, 0), &g), 0);
	assert_int_equal(latency_stats__delays(&g.stats), 1000);
	assert_int_equal(g.stats.longest, 1000000);
	assert_in_range(latency_stats__delay(&g.stats, 0.5), 485000, 515000);
	assert_in_range(latency_stats__delay(&g.stats, 0.99), 960300, 1000000);
	assert_in_range(latency_stats__delay(&g.stats, 0.001), 970, 1030);
	assert_int_equal(latency_stats__delay(&sum, 0.5), 0);
	one.longest = 7;
	assert_int_equal(durations__add(&one.delays, 7, 1), 0);
	assert_int_equal(latency_stats__delay(&one, 0.5), 7);
	assert_int_equal(latency_stats__add(&sum, &g.stats), 0);
	assert_int_equal(latency_stats__add(&sum, &one), 0);
	assert_int_equal(latency_stats__delays(&sum), 1001);
	assert_int_equal(sum.longest, 1000000);
	assert_int_equal(sum.total, g.stats.total);
	latency_stats__deinit(&g.stats);
	latency_stats__deinit(&sum);
	latency_stats__deinit(&one);
}

/* ---- any steps: the parts add up, and those of windows side by side do to those of all ---- */

#define GOROUTINES 6
#define THREADS	   3
#define STEPS	   3000

struct world {
	uint64_t seed;
	int64_t time;
	uint8_t g[GOROUTINES + 1]; /* enum go_state */
	uint64_t next, id[GOROUTINES + 1], m[GOROUTINES + 1];
};

static uint64_t any(struct world *w, uint64_t n)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (w->seed >> 33) % n;
}

static void any_item(struct world *w)
{
	static const uint8_t kinds[] = { KERNEL_ON,	   KERNEL_OFF,	    KERNEL_WAKING,
					 KERNEL_SYS_ENTER, KERNEL_SYS_EXIT, KERNEL_FAULT_BEGIN,
					 KERNEL_FAULT_END, KERNEL_OFF,	    KERNEL_ON };
	struct kernel_item it = { .why = (uint8_t)any(w, GT_OFF_END),
				  .cpu = (uint16_t)any(w, 2),
				  .number = (uint32_t)any(w, 400) };
	int64_t skew = any(w, 5) ? 0 : (int64_t)any(w, 20) - 10;

	item(w->time + skew, 1 + (uint32_t)any(w, THREADS), kinds[any(w, sizeof(kinds))], it);
}

static void any_event(struct world *w)
{
	uint64_t i = 1 + any(w, GOROUTINES), m = 1 + any(w, THREADS);
	uint8_t *g = &w->g[i];

	on(m, TRACE_NO_G);
	if (*g == GO_STATE_RUNNING || *g == GO_STATE_SYSCALL)
		on(w->m[i], w->id[i]);
	switch (*g) {
	case GO_STATE_UNDETERMINED:
		w->id[i] = w->next++;
		event(w->time, EV_GO_CREATE, w->id[i], WORKER, 0);
		*g = GO_STATE_RUNNABLE;
		break;
	case GO_STATE_RUNNABLE:
		event(w->time, EV_GO_START, w->id[i], 0, 0);
		w->m[i] = m;
		*g = GO_STATE_RUNNING;
		break;
	case GO_STATE_WAITING:
		event(w->time, EV_GO_UNBLOCK, w->id[i], 0, 0);
		*g = GO_STATE_RUNNABLE;
		break;
	case GO_STATE_SYSCALL:
		*g = any(w, 2) ? GO_STATE_RUNNABLE : GO_STATE_RUNNING;
		event(w->time,
		      *g == GO_STATE_RUNNING ? EV_GO_SYSCALL_END : EV_GO_SYSCALL_END_BLOCKED, 0, 0,
		      0);
		break;
	default:
		if (!any(w, 8)) {
			event(w->time, EV_GO_DESTROY, 0, 0, 0);
			*g = GO_STATE_UNDETERMINED;
		} else if (any(w, 2)) {
			event(w->time, EV_GO_BLOCK, CHAN, 0, 0);
			*g = GO_STATE_WAITING;
		} else {
			event(w->time, EV_GO_SYSCALL_BEGIN, 0, 0, 0);
			*g = GO_STATE_SYSCALL;
		}
	}
}

static void any_life(uint64_t seed)
{
	struct world w = { .seed = seed, .time = 1000, .next = 1 };

	event(w.time, EV_SYNC, 0, 0, 0);
	for (int i = 0; i < STEPS; i++) {
		w.time += 1 + (int64_t)any(&w, 30);
		if (any(&w, 2))
			any_item(&w);
		else
			any_event(&w);
		if (!any(&w, 200))
			kernel_threads__lose(&threads);
		if (!any(&w, 200))
			event(++w.time, EV_SYNC, 0, 0, 0);
	}
	event(w.time + 1, EV_SYNC, 0, 0, 0);
}

/* The parts of all goroutines of one life, and what they were of; keep() sees that each adds up. */
static size_t sum_of(uint64_t seed, int64_t from, int64_t to, struct latency_stats *sum)
{
	struct latency_goroutine g;
	size_t n;

	begin_in(from, to);
	any_life(seed);
	assert_int_equal(latency__finish(latency, &error), 0);
	n = record_store__count(done);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(latency__unpack(record_store__get(done, i), &g), 0);
		assert_int_equal(latency_stats__add(sum, &g.stats), 0);
		latency_stats__deinit(&g.stats);
	}
	return n;
}

TEST(any_steps)
{
	struct latency_stats all, cut;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		all = cut = (struct latency_stats){};
		assert_true(sum_of(seed, INT64_MIN, INT64_MAX, &all) > 20);
		sum_of(seed, INT64_MIN, 9000, &cut);
		sum_of(seed, 9000, 9001, &cut);
		sum_of(seed, 9001, 31234, &cut);
		sum_of(seed, 31234, INT64_MAX, &cut);
		for (unsigned int i = 0; i < LATENCY_PARTS; i++) {
			assert_int_equal(cut.part[i], all.part[i]);
			assert_true(all.part[i]);
		}
		assert_int_equal(cut.total, all.total);
		assert_int_equal(cut.syscall_oncpu, all.syscall_oncpu);
		assert_int_equal(cut.unknown, all.unknown);
		assert_int_equal(cut.migrations, all.migrations);
		latency_stats__deinit(&all);
		latency_stats__deinit(&cut);
	}
}

static int refuse(void *context, const struct latency_goroutine *g)
{
	return -E2BIG;
}

TEST(refused)
{
	struct latency_opts opts = { .from = INT64_MIN, .to = INT64_MAX, .done = refuse };
	struct error why = {};

	event(1, EV_SYNC, 0, 0, 0);
	latency__destroy(latency);
	latency = latency__create(&opts);
	event(1, EV_SYNC, 0, 0, 0);
	event(2, EV_GO_STATUS, 1, 1, GO_WAITING);
	assert_int_equal(latency__finish(latency, &why), -E2BIG);
	assert_string_not_equal(why.text, "");
	latency__destroy(NULL);
	record_store__destroy(NULL);
}
