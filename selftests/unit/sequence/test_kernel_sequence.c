// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel events through the sequencer, the writer and the timeline: together with the Go
 * program's events, over generations, before the window, and after losses. Under test:
 * sequence/kernel_events.c, and of sequence/short_calls.c the queue of kernel events.
 */
#include <sys/syscall.h>

#include "unit/test.h"
#include "reader/timeline.h"
#include "sequence/sequencer.h"
#include "sequence/sequencer_impl.h"
#include "copied_snapshots.h"
#include "unit/timeline_fixture.h"

#define T0  1000000000000ull
#define SEC 1000000000ull
#define MS  1000000

static struct sequencer *seq;
static struct layout layout;
static uint32_t ring_seq;
static unsigned int tick = 1;

static int no_frames(void *ctx, uint64_t pc, struct sym_frame *frame)
{
	return 0;
}

static int setup(void **state)
{
	struct sequencer_opts opts = { .layout = &layout, .version = 25, .tick_ns = tick };
	struct snapshot_p p = { .addr = 0x1000 };
	struct snapshot snap = { .p = &p, .np = 1, .procs = 1, .time = T0, .time_end = T0 + 1 };
	struct go_version release;
	struct error err = {};

	assert_true(go_version__parse("go1.25.3", &release));
	ok(layout__for_version(&release, &layout, &err));
	start(25, tick);
	opts.writer = x.w;
	opts.intern = x.in;
	opts.symbolizer = (struct symbolizer){ .frames = no_frames, .start = no_frames };
	ok(sequencer__create(&seq, &opts));
	ok(sequencer__start(seq, T0, 1));
	ok(sequencer__snapshot(seq, &snap, &snap));
	ring_seq = 0;
	return 0;
}

static int teardown(void **state)
{
	sequencer__destroy(seq);
	return stop(state);
}

FIXTURE(setup, teardown)

/* Passes a record with a time in ns after the window's start. */
static void give(int64_t at, uint32_t tid, uint16_t kind, uint64_t object, const void *payload)
{
	struct {
		struct gt_record rec;
		unsigned char payload[24];
	} r = { .rec = { .time = T0 + (uint64_t)at,
			 .tid = tid,
			 .kind = kind,
			 .cpu = 1,
			 .object = object,
			 .seq = ring_seq++ } };
	size_t size = (size_t)gt_payload_size(kind);

	if (size)
		memcpy(r.payload, payload, size);
	ok(sequencer__record(seq, 0, &r.rec, sizeof(r.rec) + size));
}

static void off(int64_t at, uint32_t tid, uint8_t why)
{
	give(at, tid, GT_CPU_OFF, 99,
	     &(struct gt_off_cpu){ .next_tgid = 9, .why = why, .next_comm = "kworker/0:1" });
}

static void on(int64_t at, uint32_t tid)
{
	give(at, tid, GT_CPU_ON, 0, NULL);
}

static void thread(int64_t at, uint32_t tid, struct gt_thread what, uint64_t object)
{
	give(at, tid, GT_THREAD, object, &what);
}

static struct timeline *finish_and_open(uint64_t end, struct reader **ret)
{
	ok(sequencer__finish(seq, T0 + end));
	ok(trace_file__commit(x.file));
	return open_timeline(ret);
}

/* The next item; returns the number of generations that began before it. */
static unsigned int next(struct timeline *t, struct kernel_item *ret)
{
	struct timeline_step step;
	struct error err = {};
	unsigned int syncs = 0;

	for (;;) {
		assert_int_equal(timeline__next(t, &step, &err), 1);
		if (step.item)
			break;
		syncs += step.event->type == EV_SYNC;
	}
	*ret = *step.item;
	return syncs;
}

static void expect(struct timeline *t, uint64_t at, uint8_t kind, uint32_t tid)
{
	struct kernel_item item;

	next(t, &item);
	assert_int_equal(item.time, T0 + at);
	assert_int_equal(item.kind, kind);
	assert_int_equal(item.tid, tid);
}

static void expect_sync(struct timeline *t)
{
	struct timeline_step step;
	struct error err = {};

	do {
		assert_int_equal(timeline__next(t, &step, &err), 1);
		assert_null(step.item);
	} while (step.event->type != EV_SYNC);
}

static uint8_t run_of(struct timeline *t, uint32_t tid)
{
	const struct kernel_thread *thread = kernel_threads__find(timeline__threads(t), tid);

	return thread ? thread->run : 0xff;
}

TEST(every_kind)
{
	struct timeline *t;
	struct reader *r;
	struct kernel_item item;

	thread(10, 7, (struct gt_thread){ .what = GT_THREAD_CREATED, .comm = "server" }, 6);
	give(11, 7, GT_WAKING, 6, &(struct gt_waking){ .tgid = 5, .interrupt = 1 });
	on(13, 7);
	give(14, 7, GT_SYS_ENTER, 202, NULL);
	off(15, 7, GT_OFF_SLEEPING);
	give(16, 7, GT_SYS_EXIT, 202, &(struct gt_value){ (uint64_t)-EAGAIN });
	give(17, 7, GT_FAULT_BEGIN, 0x7f0000001000, NULL);
	give(18, 7, GT_FAULT_END, 0, NULL);
	thread(19, 7, (struct gt_thread){ .what = GT_THREAD_NAMED, .comm = "0123456789abcdef" }, 0);
	thread(20, 7, (struct gt_thread){ .what = GT_THREAD_ENDED }, 0);
	t = finish_and_open(1000, &r);

	next(t, &item);
	assert_true(item.kind == KERNEL_CREATED && item.other == 6 && item.name.len == 6);
	next(t, &item);
	assert_true(item.kind == KERNEL_WAKING && item.other == 6 && item.other_pid == 5);
	assert_true(item.interrupt && item.time == T0 + 11);
	expect(t, 13, KERNEL_ON, 7);
	next(t, &item);
	assert_true(item.kind == KERNEL_SYS_ENTER && item.number == 202);
	assert_memory_equal(item.name.data, "futex", 5);
	next(t, &item);
	assert_true(item.kind == KERNEL_OFF && item.why == GT_OFF_SLEEPING && item.cpu == 1);
	assert_true(item.other == 99 && item.other_pid == 9 && item.name.len == 11);
	next(t, &item);
	assert_true(item.kind == KERNEL_SYS_EXIT && (int64_t)item.value == -EAGAIN);
	next(t, &item);
	assert_true(item.kind == KERNEL_FAULT_BEGIN && item.value == 0x7f0000001000);
	expect(t, 18, KERNEL_FAULT_END, 7);
	next(t, &item);
	assert_true(item.kind == KERNEL_NAMED && item.name.len == 16);
	expect(t, 20, KERNEL_ENDED, 7);
	close_timeline(t, r);
	assert_int_equal(sequencer__stats(seq)->records, 10);
	assert_int_equal(sequencer__stats(seq)->repairs, 0);
	assert_int_equal(sequencer__stats(seq)->dropped, 0);
}

/* What has a CPU that thread 7 waits for, and that it waits for another one. */
TEST(waits)
{
	static const struct gt_thread had = { .what = GT_THREAD_HAD_CPU, .comm = "server" };
	struct timeline *t;
	struct reader *r;
	struct kernel_item item;

	thread(9, 7, (struct gt_thread){ .what = GT_THREAD_PRESENT, .on_cpu = 1, .waits = 1 }, 0);
	off(10, 7, GT_OFF_PREEMPTED);
	thread(11, 88, (struct gt_thread){ .what = GT_THREAD_HAS_CPU, .comm = "make" },
	       3ull << 32 | 80);
	thread(12, 7, (struct gt_thread){ .what = GT_THREAD_MOVED }, 3ull << 32 | 2);
	thread(13, 89, had, 2ull << 32 | 81);
	thread(14, KERNEL_NO_THREAD, (struct gt_thread){ .what = GT_THREAD_HAS_CPU }, 2ull << 32);
	thread(15, GT_IDLE_THREAD, (struct gt_thread){ .what = GT_THREAD_HAS_CPU }, 2ull << 32);
	/* no CPU has this number */
	thread(16, 7, (struct gt_thread){ .what = GT_THREAD_MOVED }, 3ull << 32 | 65536);
	thread(16, 89, had, 65536ull << 32 | 81);
	t = finish_and_open(1000, &r);

	expect(t, 10, KERNEL_OFF, 7);
	assert_true(timeline__threads(t)->waits);
	next(t, &item);
	assert_true(item.kind == KERNEL_OCCUPANT && item.tid == 88 && item.cpu == 3);
	assert_true(item.other_pid == 80 && item.name.len == 4 && !item.before);
	next(t, &item);
	assert_true(item.kind == KERNEL_MOVED && item.tid == 7 && item.cpu == 2 && item.other == 3);
	next(t, &item);
	assert_true(item.kind == KERNEL_OCCUPANT && item.tid == 89 && item.cpu == 2 && item.before);
	expect(t, 14, KERNEL_OCCUPANT, KERNEL_NO_THREAD);
	expect(t, 15, KERNEL_OCCUPANT, 0);
	assert_int_equal(run_of(t, 7), KERNEL_RUNNABLE);
	assert_int_equal(run_of(t, 88), 0xff); /* not one of the target's */
	close_timeline(t, r);
	assert_int_equal(sequencer__stats(seq)->dropped, 2);
}

/* An exit with the number -1 ends the call that began, or one whose begin was not recorded. */
TEST(calls_without_a_number)
{
	static const struct {
		uint64_t begun, result;
		uint32_t number;
	} calls[] = {
		{ SYS_rt_sigreturn, 0, SYS_rt_sigreturn },
		{ 39, (uint64_t)-EPERM, 39 },
		{ UINT64_MAX, (uint64_t)-ENOSYS, KERNEL_BAD_CALL },
	};
	struct kernel_item item;
	struct timeline *t;
	struct reader *r;

	give(10, 7, GT_SYS_EXIT, UINT64_MAX, &(struct gt_value){ 99 });
	for (unsigned int i = 0; i < 3; i++) {
		give(20 + i * 10, 7, GT_SYS_ENTER, calls[i].begun, NULL);
		give(25 + i * 10, 7, GT_SYS_EXIT, UINT64_MAX,
		     &(struct gt_value){ i ? calls[i].result : 99 });
	}
	t = finish_and_open(1000, &r);
	next(t, &item);
	assert_true(item.kind == KERNEL_SYS_EXIT && item.number == SYS_rt_sigreturn && !item.value);
	for (unsigned int i = 0; i < 3; i++) {
		next(t, &item);
		assert_true(item.kind == KERNEL_SYS_ENTER && item.number == calls[i].number);
		next(t, &item);
		assert_true(item.kind == KERNEL_SYS_EXIT && item.number == calls[i].number);
		assert_int_equal(item.value, calls[i].result);
		assert_int_equal(timeline__duration(t), 5);
	}
	close_timeline(t, r);
}

/* Invalid records are dropped, without further effect. */
TEST(invalid_records)
{
	struct timeline *t;
	struct reader *r;

	off(10, 7, GT_OFF_END);
	off(11, 7, 255);
	thread(12, 7, (struct gt_thread){ .what = 200 }, 0);
	thread(13, 8, (struct gt_thread){ .what = GT_THREAD_PRESENT, .why = 77 }, UINT64_MAX);
	on(14, 7);
	t = finish_and_open(1000, &r);
	expect(t, 14, KERNEL_ON, 7);
	close_timeline(t, r);
	assert_int_equal(sequencer__stats(seq)->dropped, 3);
}

TEST(threads_of_the_start)
{
	struct gt_thread look = { .what = GT_THREAD_PRESENT, .why = GT_OFF_SLEEPING, .comm = "a" };
	const struct kernel_thread *a;
	struct timeline *t;
	struct reader *r;

	thread(-50, 4, (struct gt_thread){ .what = GT_THREAD_CREATED, .comm = "early" }, 3);
	on(-40, 4);
	thread(10, 7, look, 1 + 202);
	thread(11, 8, (struct gt_thread){ .what = GT_THREAD_PRESENT, .on_cpu = 1 }, 0);
	off(12, 9, GT_OFF_PREEMPTED);
	thread(13, 9, look, 0); /* known from a record */
	give(14, 10, GT_SYS_EXIT, 0, &(struct gt_value){ 5 });
	t = finish_and_open(1000, &r);
	expect_sync(t);
	assert_int_equal(run_of(t, 4), KERNEL_RUNNING);
	assert_int_equal(kernel_threads__find(timeline__threads(t), 4)->since, T0 - 40);
	a = kernel_threads__find(timeline__threads(t), 7);
	assert_true(a && a->run == KERNEL_SLEEPING && a->call == 202 && a->name[0] == 'a');
	assert_int_equal(run_of(t, 8), KERNEL_RUNNING);
	assert_int_equal(run_of(t, 9), KERNEL_RUNNING);
	assert_int_equal(kernel_threads__find(timeline__threads(t), 10)->call, 0);
	expect(t, 12, KERNEL_OFF, 9);
	expect(t, 13, KERNEL_NAMED, 9);
	expect(t, 14, KERNEL_SYS_EXIT, 10);
	close_timeline(t, r);
}

/* The state of a thread before its first item. */
TEST(before_the_first_item)
{
	struct gt_thread look = { .what = GT_THREAD_PRESENT,
				  .on_cpu = 1,
				  .comm = "0123456789abcdef" };
	const struct kernel_thread *waking, *fault, *named;
	struct timeline *t;
	struct reader *r;

	thread(10, 7, (struct gt_thread){ .what = GT_THREAD_CREATED, .comm = "x" }, 3);
	on(11, 8);
	give(12, 9, GT_WAKING, 6, &(struct gt_waking){ .tgid = 5 });
	give(13, 10, GT_SYS_EXIT, 202, &(struct gt_value){ 5 });
	give(14, 11, GT_FAULT_END, 0, NULL);
	give(15, 12, GT_SYS_ENTER, 202, NULL);
	thread(16, 13, look, 0);
	give(17, 12, GT_SYS_EXIT, 202, &(struct gt_value){ 5 });
	t = finish_and_open(1000, &r);
	expect_sync(t);
	assert_int_equal(run_of(t, 7), 0xff);
	assert_int_equal(run_of(t, 8), KERNEL_RUNNABLE);
	waking = kernel_threads__find(timeline__threads(t), 9);
	assert_true(waking && waking->run == KERNEL_UNKNOWN && !waking->cpu);
	assert_int_equal(run_of(t, 10), KERNEL_RUNNING);
	assert_int_equal(kernel_threads__find(timeline__threads(t), 10)->call, 202);
	fault = kernel_threads__find(timeline__threads(t), 11);
	assert_true(fault && fault->run == KERNEL_RUNNING && fault->in_fault);
	assert_int_equal(run_of(t, 12), KERNEL_RUNNING);
	assert_int_equal(kernel_threads__find(timeline__threads(t), 12)->call, KERNEL_NO_CALL);
	named = kernel_threads__find(timeline__threads(t), 13);
	assert_true(named && named->name_len == 16 && !memcmp(named->name, look.comm, 16));
	close_timeline(t, r);
}

/* What records between attaching and the initial look leave open is taken from the look. */
TEST(initial_look_after_records)
{
	struct gt_thread look = { .what = GT_THREAD_PRESENT, .why = GT_OFF_SLEEPING, .comm = "a" };
	struct gt_thread named = { .what = GT_THREAD_NAMED, .comm = "b" };
	const struct kernel_thread *a;
	struct timeline *t;
	struct reader *r;

	thread(-50, 4, named, 0);
	give(-49, 5, GT_SYS_EXIT, 0, &(struct gt_value){ 5 });
	off(-48, 6, GT_OFF_SLEEPING);
	for (uint32_t tid = 4; tid <= 6; tid++)
		thread(-40 + (int64_t)tid, tid, look, 1 + 202);
	thread(10, 7, named, 0);
	thread(11, 7, look, 1 + 35);
	t = finish_and_open(1000, &r);
	expect_sync(t);
	a = kernel_threads__find(timeline__threads(t), 4);
	assert_true(a && a->run == KERNEL_SLEEPING && a->call == 202 && a->name[0] == 'a');
	a = kernel_threads__find(timeline__threads(t), 5);
	assert_true(a && a->run == KERNEL_RUNNING && a->call == KERNEL_NO_CALL);
	a = kernel_threads__find(timeline__threads(t), 6);
	assert_true(a && a->run == KERNEL_SLEEPING && a->call == 202 && a->since == T0 - 48);
	a = kernel_threads__find(timeline__threads(t), 7);
	assert_true(a && a->run == KERNEL_SLEEPING && a->call == 35);
	close_timeline(t, r);
}

/* Each generation contains its items, and begins with the threads as the last one left them. */
TEST(over_generations)
{
	struct kernel_item item;
	struct timeline *t;
	struct reader *r;

	for (unsigned int i = 0; i < 40; i++) {
		on((int64_t)(i * SEC / 10 + 5), 7);
		off((int64_t)(i * SEC / 10 + 77), 7, GT_OFF_SLEEPING);
		ok(sequencer__watermark(seq, T0 + i * SEC / 10 + 80));
	}
	t = finish_and_open(4 * SEC, &r);
	for (unsigned int i = 0; i < 40; i++) {
		/* begun by the first record a second after the last boundary */
		assert_int_equal(next(t, &item), i % 10 == 0);
		assert_int_equal(item.time, T0 + i * SEC / 10 + 5);
		if (i)
			assert_int_equal(run_of(t, 7), KERNEL_RUNNING);
		assert_int_equal(next(t, &item), 0);
		assert_int_equal(item.time, T0 + i * SEC / 10 + 77);
	}
	close_timeline(t, r);
	assert_int_equal(writer__stats(x.w)->generations, 4);
}

TEST(bytes_close_a_generation)
{
	struct timeline *t;
	struct reader *r;

	for (unsigned int i = 0; i < 2500000; i++) { /* about 9 bytes each */
		give(i * 4, 7 + i % 50, GT_FAULT_BEGIN, (uint64_t)i * 0x123456789, NULL);
		if (i % 1000 == 0)
			ok(sequencer__watermark(seq, T0 + i * 4));
	}
	t = finish_and_open(SEC / 2, &r);
	close_timeline(t, r);
	assert_int_equal(writer__stats(x.w)->generations, 2);
}

TEST(losses_leave_threads_unknown)
{
	struct timeline *t;
	struct reader *r;

	on(10, 7);
	off(20, 8, GT_OFF_SLEEPING);
	ring_seq += 2; /* lost: kernel events, as the counters show at once */
	on(50, 9);
	ok(sequencer__lost(seq, GT_CPU_ON, 2));
	ok(sequencer__watermark(seq, T0 + 2 * MS));
	assert_int_equal(sequencer__stats(seq)->lost, 2);
	on(3 * MS, 7);
	on((int64_t)SEC + 1, 8); /* the next generation */
	t = finish_and_open(SEC + 100, &r);
	assert_int_equal(sequencer__go_losses(seq), 0);
	expect_sync(t);
	assert_true(timeline__lossy(t));
	expect(t, 10, KERNEL_ON, 7);
	expect(t, 20, KERNEL_OFF, 8);
	assert_int_equal(run_of(t, 8), KERNEL_SLEEPING);
	expect(t, 50, KERNEL_ON, 9);
	assert_int_equal(run_of(t, 7), KERNEL_UNKNOWN);
	assert_int_equal(run_of(t, 8), KERNEL_UNKNOWN);
	assert_int_equal(run_of(t, 9), KERNEL_RUNNING);
	expect(t, 3 * MS, KERNEL_ON, 7);
	expect_sync(t);
	assert_false(timeline__lossy(t));
	assert_int_equal(run_of(t, 7), KERNEL_RUNNING);
	assert_int_equal(run_of(t, 8), KERNEL_UNKNOWN);
	assert_int_equal(run_of(t, 9), KERNEL_RUNNING);
	expect(t, SEC + 1, KERNEL_ON, 8);
	close_timeline(t, r);
}

/* Some of its programs were attached before another one failed. */
TEST(kernel_events_off)
{
	struct timeline *t;
	struct reader *r;

	sequencer__no_kernel(seq);
	on(-10, 7);
	on(10, 8);
	t = finish_and_open(1000, &r);
	expect_sync(t);
	assert_false(timeline__has_kernel(t));
	close_timeline(t, r);
	assert_int_equal(sequencer__stats(seq)->lost, 0);
}

/* Only losses that may have left goroutines wrong request snapshots. */
TEST(losses_that_need_snapshots)
{
	on(10, 7);
	ring_seq++;
	on(20, 7);
	ok(sequencer__watermark(seq, T0 + 3 * MS));
	ok(sequencer__lost(seq, GT_CPU_OFF, 1)); /* that of the gap */
	on(4 * MS, 7);
	ok(sequencer__watermark(seq, T0 + 5 * MS));
	ok(sequencer__watermark(seq, T0 + 6 * MS));
	assert_int_equal(sequencer__go_losses(seq), 0);
	assert_true(sequencer__losses(seq) > 0);
	ring_seq++;
	on(7 * MS, 7);
	for (unsigned int i = 9; i < 12; i++)
		ok(sequencer__watermark(seq, T0 + i * MS)); /* without a counter for it */
	assert_int_equal(sequencer__go_losses(seq), 1);
	ok(sequencer__lost(seq, GT_PARK, 1));
	assert_int_equal(sequencer__go_losses(seq), 2);
	ok(sequencer__finish(seq, T0 + 20 * MS));
}

static void call(int64_t from, int64_t to, uint32_t tid, uint64_t number)
{
	give(from, tid, GT_SYS_ENTER, number, NULL);
	give(to, tid, GT_SYS_EXIT, number, &(struct gt_value){ 1 });
}

/* Items of other threads and those during a call stay in order, whether it is left out or not. */
TEST(short_calls_left_out)
{
	struct timeline *t;
	struct reader *r;

	seq->shorts.sum.min_ns = MS;
	on(1, 8);
	give(10, 7, GT_SYS_ENTER, 202, NULL);
	off(20, 7, GT_OFF_SLEEPING);
	call(30, 40, 8, 1);
	give(50, 8, GT_SYS_ENTER, 0, NULL);
	on(60, 7);
	give(MS + 9, 7, GT_SYS_EXIT, 202, &(struct gt_value){ 0 });
	give(MS + 50, 8, GT_SYS_EXIT, 0, &(struct gt_value){ 0 });
	give(MS + 60, 7, GT_SYS_ENTER, 1, NULL); /* another number: its end was lost */
	give(MS + 70, 7, GT_SYS_EXIT, 2, &(struct gt_value){ 0 });
	give(MS + 80, 7, GT_SYS_ENTER, 3, NULL); /* in progress at the end */
	t = finish_and_open(2 * MS, &r);

	expect(t, 1, KERNEL_ON, 8);
	expect(t, 20, KERNEL_OFF, 7);
	expect(t, 50, KERNEL_SYS_ENTER, 8);
	expect(t, 60, KERNEL_ON, 7);
	expect(t, MS + 50, KERNEL_SYS_EXIT, 8);
	expect(t, MS + 60, KERNEL_SYS_ENTER, 7);
	expect(t, MS + 70, KERNEL_SYS_EXIT, 7);
	expect(t, MS + 80, KERNEL_SYS_ENTER, 7);
	assert_int_equal(timeline__short(t)->min_ns, MS);
	assert_int_equal(timeline__short(t)->calls, 0);
	assert_int_equal(timeline__short(t)->kernel, 2);
	assert_int_equal(timeline__short(t)->kernel_ns, MS - 1 + 10);
	close_timeline(t, r);
}

/* A call during which a generation ends remains; the next generation has a sum of its own. */
TEST(short_calls_over_generations)
{
	struct timeline *t;
	struct reader *r;

	seq->shorts.sum.min_ns = MS;
	call(10, 20, 7, 1);
	give(SEC - 5, 7, GT_SYS_ENTER, 202, NULL);
	on(SEC + 1, 8);
	give(SEC + 5, 7, GT_SYS_EXIT, 202, &(struct gt_value){ 0 });
	call(SEC + 10, SEC + 30, 7, 1);
	t = finish_and_open(SEC + MS, &r);

	expect(t, SEC - 5, KERNEL_SYS_ENTER, 7);
	assert_int_equal(timeline__short(t)->kernel, 1);
	expect(t, SEC + 1, KERNEL_ON, 8);
	assert_int_equal(timeline__threads(t)->map.n, 2);
	assert_int_equal(kernel_threads__find(timeline__threads(t), 7)->call, 202);
	expect(t, SEC + 5, KERNEL_SYS_EXIT, 7);
	assert_int_equal(timeline__short(t)->kernel, 2);
	assert_int_equal(timeline__short(t)->kernel_ns, 30);
	close_timeline(t, r);
}

/* While a call is undecided, only so many items are kept back; then it is written. */
TEST(many_items_during_a_call)
{
	enum { ITEMS = 70000 };
	struct kernel_item item;
	struct timeline *t;
	struct reader *r;

	seq->shorts.sum.min_ns = SEC;
	give(1, 7, GT_SYS_ENTER, 202, NULL);
	for (int i = 0; i < ITEMS; i++) {
		thread(10 + i, 8, (struct gt_thread){ .what = GT_THREAD_NAMED, .comm = "a" }, 0);
		if (i % 100 == 0)
			ok(sequencer__watermark(seq, T0 + 10 + i));
	}
	assert_int_equal(seq->shorts.cap, 65536);
	give(MS, 7, GT_SYS_EXIT, 202, &(struct gt_value){ 0 });
	call(MS + 1, MS + 2, 7, 1);
	t = finish_and_open(2 * MS, &r);

	expect(t, 1, KERNEL_SYS_ENTER, 7);
	for (int i = 0; i < ITEMS; i++) {
		next(t, &item);
		assert_int_equal(item.time, T0 + 10 + i);
		assert_true(item.kind == KERNEL_NAMED && item.name.len == 1);
		assert_int_equal(item.name.data[0], 'a');
	}
	expect(t, MS, KERNEL_SYS_EXIT, 7);
	assert_int_equal(timeline__short(t)->kernel, 1);
	close_timeline(t, r);
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

TEST_WITH(every_kind_in_units_of_64_ns, setup_64, teardown_64)
{
	every_kind(state);
}
