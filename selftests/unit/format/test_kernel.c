// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel events: items to private data and back, the state of threads, corrupt bytes.
 */
#include "unit/test.h"
#include "format/kernel.h"
#include "reader/timeline.h"
#include "unit/writer_fixture.h"
#include "writer/private_write.h"

#define ITEMS 200000

static struct kernel_writer *k;
static struct kernel_threads threads;
static uint64_t seed;

static uint64_t rnd(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % below;
}

static int setup(void **state)
{
	start(25, 1);
	seed = 42;
	k = kernel_writer__create();
	assert_non_null(k);
	ok(writer__open(x.w, 1000, 2000));
	ok(writer__proc_status(x.w, TRACE_NO_M, 0, PROC_IDLE));
	return 0;
}

static int teardown(void **state)
{
	kernel_writer__destroy(k);
	kernel_threads__deinit(&threads);
	return stop(state);
}

FIXTURE(setup, teardown)

static struct dictionary kernel_dictionary(void)
{
	ok(private__kernel(x.w, k));
	return dictionary_of_file();
}

static struct kernel_reader *reader_of_file(void)
{
	struct dictionary dictionary = kernel_dictionary();
	struct kernel_reader *r = NULL;

	assert_int_equal(kernel_reader__open(&r, &dictionary), 1);
	dictionary__deinit(&dictionary);
	return r;
}

static void assert_string(struct trace_string s, const char *expected, size_t len)
{
	assert_int_equal(s.len, len);
	if (len)
		assert_memory_equal(s.data, expected, len);
}

static void assert_item(const struct kernel_item *got, const struct kernel_item *want)
{
	struct kernel_item a = *got, b = *want;

	assert_string(a.name, b.name.data, b.name.len);
	a.name = b.name = (struct trace_string){};
	assert_int_equal(a.time, b.time);
	assert_int_equal(a.kind, b.kind);
	assert_int_equal(a.tid, b.tid);
	assert_int_equal(a.why, b.why);
	assert_int_equal(a.sleep, b.sleep);
	assert_int_equal(a.interrupt, b.interrupt);
	assert_int_equal(a.before, b.before);
	assert_int_equal(a.cpu, b.cpu);
	assert_int_equal(a.other, b.other);
	assert_int_equal(a.other_pid, b.other_pid);
	assert_int_equal(a.number, b.number);
	assert_int_equal(a.value, b.value);
}

#define S(literal) ((struct trace_string){ literal, sizeof(literal) - 1 })

/* An item with random values in the members that its kind keeps. */
static struct kernel_item any_item(uint64_t time, uint8_t kind, unsigned int peers)
{
	static const struct trace_string names[] = { S("server"), S("ksoftirqd/0"), S(""),
						     S("0123456789abcde") };
	static const uint32_t numbers[] = { 0, 202, 35, 270, 1000000, UINT32_MAX - 1 };
	struct kernel_item item = { .time = time, .kind = kind };

	item.tid = 1 + (uint32_t)rnd(peers) * (rnd(4) ? 1 : 65537);
	item.cpu = (uint16_t)(rnd(10) ? rnd(4) : rnd(65536));
	item.other = rnd(3) ? (uint32_t)rnd(peers) : 0;
	if (kind == KERNEL_OFF || kind == KERNEL_WAKING)
		item.other_pid = item.other ? (uint32_t)rnd(3) : 0;
	if (kind == KERNEL_OFF)
		item.why = (uint8_t)rnd(GT_OFF_END), item.sleep = (uint8_t)rnd(GT_SLEEP_END);
	if (kind == KERNEL_OFF && item.other)
		item.name = names[rnd(4)];
	if (kind == KERNEL_WAKING)
		item.interrupt = rnd(2);
	if (kind == KERNEL_NAMED || kind == KERNEL_CREATED)
		item.name = names[rnd(4)];
	if (kind == KERNEL_SYS_ENTER || kind == KERNEL_SYS_EXIT) {
		item.number = numbers[rnd(6)];
		if (kernel__syscall(item.number))
			item.name = (struct trace_string){ kernel__syscall(item.number),
							   (uint32_t)strlen(
								   kernel__syscall(item.number)) };
	}
	if (kind == KERNEL_SYS_EXIT)
		item.value = rnd(2) ? rnd(100) - 50 : rnd(1u << 30) << 34;
	if (kind == KERNEL_FAULT_BEGIN)
		item.value = rnd(2) ? UINT64_MAX - rnd(1000) : rnd(1u << 30) << 12;
	if (kernel_item__is_of_cpu(&item)) {
		item.tid = rnd(4) ? item.tid : 0;
		item.other_pid = item.tid ? (uint32_t)rnd(3) : 0;
		item.name = item.tid ? names[rnd(4)] : S("");
	}
	item.before = kind == KERNEL_OCCUPANT && rnd(2);
	if (kind != KERNEL_ON && kind != KERNEL_OFF && kind != KERNEL_WAKING &&
	    kind != KERNEL_CREATED && kind != KERNEL_MOVED)
		item.other = 0;
	return item;
}

static void any_items(unsigned int peers)
{
	struct kernel_item *items = calloc(ITEMS, sizeof(*items)), got;
	uint64_t time = 5000;
	struct kernel_reader *r;

	ok(kernel_writer__begin(k, 1000, &threads));
	for (size_t i = 0; i < ITEMS; i++) {
		items[i] = any_item(time, (uint8_t)(1 + rnd(KERNEL_KIND_END - 1)), peers);
		ok(kernel_writer__add(k, &items[i]));
		time += 1 + (rnd(1000) ? rnd(100000) : rnd(1u << 30) << 10);
	}
	r = reader_of_file();
	for (size_t i = 0; i < ITEMS; i++) {
		assert_true(kernel_reader__item(r, &got));
		assert_item(&got, &items[i]);
	}
	assert_false(kernel_reader__item(r, &got));
	assert_int_equal(kernel_reader__bad(r), 0);
	kernel_reader__close(r);
	free(items);
}

TEST(items_round_trip)
{
	any_items(20);
}

TEST(many_threads)
{
	any_items(60000);
}

/* A generation in which no thread had to wait has a record of them, too. */
TEST(has_waits)
{
	struct kernel_item item = { .time = 2000, .tid = 7, .kind = KERNEL_ON }, got;
	struct kernel_reader *r;

	threads.waits = true;
	ok(kernel_writer__begin(k, 1000, &threads));
	ok(kernel_writer__add(k, &item));
	r = reader_of_file();
	assert_true(kernel_reader__has_waits(r));
	assert_true(kernel_reader__item(r, &got) && got.kind == KERNEL_ON);
	assert_false(kernel_reader__item(r, &got));
	assert_int_equal(kernel_reader__bad(r), 0);
	kernel_reader__close(r);
}

TEST(has_no_waits)
{
	struct kernel_item item = { .time = 2000, .tid = 7, .kind = KERNEL_ON };
	struct kernel_reader *r;

	ok(kernel_writer__begin(k, 1000, &threads));
	ok(kernel_writer__add(k, &item));
	r = reader_of_file();
	assert_false(kernel_reader__has_waits(r));
	kernel_reader__close(r);
}

TEST(times_of_any_size)
{
	static const uint64_t times[] = { 0, 0, 1, 1u << 31, 1ull << 63, UINT64_MAX, UINT64_MAX };
	struct kernel_item got, item = { .kind = KERNEL_ON, .tid = 7 };
	struct kernel_reader *r;

	ok(kernel_writer__begin(k, 0, NULL));
	for (size_t i = 0; i < 7; i++) {
		item.time = times[i];
		ok(kernel_writer__add(k, &item));
	}
	item.time = 12; /* too early: gets the time of the previous item */
	ok(kernel_writer__add(k, &item));
	r = reader_of_file();
	for (size_t i = 0; i < 8; i++) {
		assert_true(kernel_reader__item(r, &got));
		assert_int_equal(got.time, i < 7 ? times[i] : UINT64_MAX);
	}
	assert_false(kernel_reader__item(r, &got));
	kernel_reader__close(r);
	item.kind = KERNEL_KIND_END;
	assert_int_equal(kernel_writer__add(k, &item), -EINVAL);
}

TEST(threads_round_trip)
{
	struct kernel_thread want = {
		.tid = 77,
		.run = KERNEL_RUNNABLE,
		.cpu = 300,
		.since = 900,
		.in_fault = true,
		.sleep = GT_SLEEP_MEMORY,
		.call = 202,
		.call_since = 1,
		.fault_since = 1000,
		.other = 5,
		.other_pid = 6,
		.interrupt = true,
		.woken = true,
		.name_len = 3,
		.name = "abc",
	};
	struct kernel_thread got;
	struct kernel_reader *r;

	ok(kernel_threads__set(&threads, &want));
	ok(kernel_writer__begin(k, 1000, &threads));
	r = reader_of_file();
	assert_true(kernel_reader__thread(r, &got));
	assert_int_equal(got.tid, want.tid);
	assert_int_equal(got.run, want.run);
	assert_int_equal(got.cpu, want.cpu);
	assert_int_equal(got.since, want.since);
	assert_int_equal(got.call, want.call);
	assert_int_equal(got.call_since, want.call_since);
	assert_true(got.in_fault && got.interrupt && got.woken);
	assert_int_equal(got.sleep, GT_SLEEP_MEMORY);
	assert_int_equal(got.fault_since, want.fault_since);
	assert_true(got.other == 5 && got.other_pid == 6);
	assert_memory_equal(got.name, want.name, sizeof(got.name));
	assert_false(kernel_reader__thread(r, &got));
	kernel_reader__close(r);
}

TEST(nothing_written_without_items)
{
	struct dictionary dictionary;
	struct kernel_reader *r = NULL;

	ok(kernel_writer__begin(k, 1000, &threads));
	dictionary = kernel_dictionary();
	assert_int_equal(dictionary__nstrings(&dictionary), 0);
	assert_int_equal(kernel_reader__open(&r, &dictionary), 0);
	assert_null(r);
	kernel_reader__close(r);
	dictionary__deinit(&dictionary);
}

/* Hand-made records, and what is read from them. */
static void add_record(struct dictionary *dictionary, enum private_kind kind, const void *data,
		       size_t len)
{
	uint8_t string[200] = PRIVATE_PREFIX;

	string[PRIVATE_PREFIX_LEN] = (uint8_t)kind;
	string[PRIVATE_PREFIX_LEN + 1] = string[PRIVATE_PREFIX_LEN + 2] = 0;
	memcpy(string + PRIVATE_PREFIX_LEN + 3, data, len);
	ok(dictionary__add_string(dictionary, dictionary__nstrings(dictionary) + 1, string,
				  PRIVATE_PREFIX_LEN + 3 + len));
}

static void assert_read(struct dictionary *dictionary, size_t items, size_t nthreads, uint64_t bad)
{
	struct kernel_reader *r = NULL;
	struct kernel_thread thread;
	struct kernel_item item;
	size_t n;

	assert_int_equal(kernel_reader__open(&r, dictionary), 1);
	for (n = 0; kernel_reader__thread(r, &thread); n++)
		;
	assert_int_equal(n, nthreads);
	for (n = 0; kernel_reader__item(r, &item); n++)
		;
	assert_int_equal(n, items);
	assert_int_equal(kernel_reader__bad(r), bad);
	kernel_reader__close(r);
	dictionary__clear(dictionary);
}

#define RECORD(kind, ...)                                                                          \
	add_record(&dictionary, kind, (const uint8_t[]){ __VA_ARGS__ },                            \
		   sizeof((const uint8_t[]){ __VA_ARGS__ }))
/* FAULT_END, dt, thread 7 newly defined, of process 0 without a name, on CPU 0 */
#define NEW_7 0x2a, 1, 1, 7, 0, 0, 0
#define AGAIN 0x1a, 1 /* the same once more */

TEST(unknown_kinds_are_skipped)
{
	struct dictionary dictionary;

	dictionary__init(&dictionary);
	RECORD(PRIVATE_KERNEL, 5, 9, NEW_7, AGAIN);
	assert_read(&dictionary, 2, 0, 0);
	RECORD(PRIVATE_KERNEL, 5, 9, NEW_7, AGAIN, 0xff, 0xff, 0xff); /* after the items */
	assert_read(&dictionary, 2, 0, 0);
	RECORD(PRIVATE_KERNEL, 5, 14, NEW_7, 0x1f, 1, 2, 0xff, 0xff,
	       AGAIN); /* an item of 2 bytes */
	assert_read(&dictionary, 2, 0, 0);
	RECORD(PRIVATE_THREADS, 100, 9, 1, 7, 0, 0, 0, 0, 0, 3, 0xff, 7, 1, 8, 0, 0, 0, 0, 0);
	assert_read(&dictionary, 0, 2, 0);
	dictionary__deinit(&dictionary);
}

TEST(corrupt_records_are_counted)
{
	struct dictionary dictionary;

	dictionary__init(&dictionary);
	RECORD(PRIVATE_KERNEL, 5, 10, NEW_7, AGAIN); /* fewer than the size */
	RECORD(PRIVATE_KERNEL, 5, 0xff);
	assert_read(&dictionary, 0, 0, 2);
	RECORD(PRIVATE_KERNEL, 5, 8, NEW_7,
	       0x1a); /* cut within an item: the one before it is read */
	RECORD(PRIVATE_KERNEL, 5, 9, NEW_7, AGAIN); /* before the previous items */
	RECORD(PRIVATE_KERNEL, 6, 9, NEW_7, AGAIN);
	assert_read(&dictionary, 3, 0, 2);
	RECORD(PRIVATE_KERNEL, 5, 2, AGAIN);			 /* without a thread */
	RECORD(PRIVATE_KERNEL, 5, 4, 0x2a, 1, 2, 0);		 /* undefined thread */
	RECORD(PRIVATE_KERNEL, 5, 3, 0x0a, 1, 0);		 /* the idle thread */
	RECORD(PRIVATE_KERNEL, 5, 7, 0x20, 1, 1, 7, 0, 0, 0);	 /* invalid kind */
	RECORD(PRIVATE_KERNEL, 5, 7, 0x2b, 1, 1, 7, 0, 0, 0);	 /* an item of PRIVATE_MACHINE */
	RECORD(PRIVATE_KERNEL, 5, 8, 0x24, 1, 1, 7, 0, 0, 3, 0); /* undefined system call */
	RECORD(PRIVATE_KERNEL, 5, 8, 0x22, 1, 1, 7, 0, 0, 7, 0); /* invalid reason */
	RECORD(PRIVATE_KERNEL, 5, 7, 0x0a, 1, 1, 7, 0, 17, 0);	 /* name too long */
	RECORD(PRIVATE_MACHINE, 5, 7, NEW_7);			 /* an item of PRIVATE_KERNEL */
	RECORD(PRIVATE_WAITS, 5, 7, 0x2b, 1, 1, 7, 0, 0, 0);	 /* one of PRIVATE_MACHINE */
	RECORD(PRIVATE_WAITS, 6, 8, 0x2d, 1, 1, 7, 0, 0, 1);	 /* cut */
	RECORD(PRIVATE_WAITS, 6, 5, 0x2d, 1, 0, 1, 0);		 /* the idle thread */
	assert_read(&dictionary, 0, 0, 12);
	RECORD(PRIVATE_THREADS, 100, 7, 1, 7, 0, 0, 0, 0, 0, 7, 1, 0, 0, 0, 0, 0, 0); /* thread 0 */
	RECORD(PRIVATE_THREADS, 100, 7, 9, 7, 0, 0, 0, 0, 0);	/* invalid state */
	RECORD(PRIVATE_THREADS, 100, 7, 1, 7, 0, 102, 0, 0, 0); /* before time 0 */
	RECORD(PRIVATE_THREADS, 100, 8, 1, 7, 0, 0, 0, 0, 0);
	assert_read(&dictionary, 0, 1, 4);
	dictionary__deinit(&dictionary);
}

static void apply(uint8_t kind, uint64_t time, uint8_t why)
{
	struct kernel_item item = { .kind = kind,
				    .time = time,
				    .tid = 7,
				    .cpu = 3,
				    .why = why,
				    .other = 9,
				    .number = 202,
				    .name = S("worker") };

	ok(kernel_threads__apply(&threads, &item));
}

static void assert_run(enum kernel_run run, uint64_t since)
{
	const struct kernel_thread *t = kernel_threads__find(&threads, 7);

	assert_non_null(t);
	assert_int_equal(t->run, run);
	assert_int_equal(t->since, since);
}

TEST(items_update_threads)
{
	const struct kernel_thread *t;

	apply(KERNEL_CREATED, 10, 0);
	assert_run(KERNEL_RUNNABLE, 10);
	t = kernel_threads__find(&threads, 7);
	assert_true(t->woken && t->other == 9 && t->call == KERNEL_NO_CALL);
	assert_memory_equal(t->name, "worker", 6);
	apply(KERNEL_ON, 20, 0);
	assert_run(KERNEL_RUNNING, 20);
	apply(KERNEL_WAKING, 21, 0); /* too late */
	assert_run(KERNEL_RUNNING, 20);
	apply(KERNEL_SYS_ENTER, 22, 0);
	apply(KERNEL_OFF, 23, GT_OFF_SLEEPING);
	assert_run(KERNEL_SLEEPING, 23);
	assert_true(t->call == 202 && t->call_since == 22);
	apply(KERNEL_WAKING, 24, 0);
	assert_run(KERNEL_RUNNABLE, 24);
	assert_true(t->woken && t->other == 9);
	apply(KERNEL_ON, 25, 0);
	apply(KERNEL_SYS_EXIT, 26, 0);
	assert_int_equal(t->call, KERNEL_NO_CALL);
	apply(KERNEL_FAULT_BEGIN, 27, 0);
	assert_true(t->in_fault && t->fault_since == 27);
	apply(KERNEL_OFF, 28, GT_OFF_DISK);
	assert_run(KERNEL_BLOCKED, 28);
	apply(KERNEL_ON, 29, 0); /* its wake-up was lost */
	apply(KERNEL_ON, 30, 0); /* contradicts the previous item */
	assert_run(KERNEL_RUNNING, 30);
	apply(KERNEL_FAULT_END, 31, 0);
	assert_false(t->in_fault);
	apply(KERNEL_OFF, 32, GT_OFF_PREEMPTED);
	assert_run(KERNEL_RUNNABLE, 32);
	assert_true(!t->woken && t->other == 9);
	apply(KERNEL_OFF, 33, GT_OFF_THROTTLED);
	assert_run(KERNEL_THROTTLED, 33);
	kernel_threads__lose(&threads);
	assert_run(KERNEL_UNKNOWN, 0);
	assert_int_equal(t->name_len, 6);
	apply(KERNEL_ENDED, 34, 0);
	assert_run(KERNEL_GONE, 34);
	kernel_threads__forget_gone(&threads);
	assert_null(kernel_threads__find(&threads, 7));
}

/*
 * Another CPU wakes the thread just before it leaves its own: it does not sleep, but only this
 * time.
 */
TEST(wake_up_cancels_the_sleep)
{
	const struct kernel_thread *t;

	apply(KERNEL_CREATED, 10, 0);
	t = kernel_threads__find(&threads, 7);
	apply(KERNEL_ON, 20, 0);
	apply(KERNEL_WAKING, 29, 0);
	apply(KERNEL_OFF, 30, GT_OFF_SLEEPING);
	assert_run(KERNEL_RUNNABLE, 30);
	assert_true(t->woken && t->other == 9);
	apply(KERNEL_ON, 31, 0);
	apply(KERNEL_OFF, 32, GT_OFF_DISK);
	assert_run(KERNEL_BLOCKED, 32);
	apply(KERNEL_ON, 33, 0);
	apply(KERNEL_WAKING, 34, 0);
	apply(KERNEL_OFF, 35, GT_OFF_PREEMPTED);
	assert_run(KERNEL_RUNNABLE, 35);
	assert_false(t->woken);
	apply(KERNEL_ON, 36, 0);
	apply(KERNEL_WAKING, 37, 0);
	apply(KERNEL_SYS_EXIT, 38, 0); /* the sleep did not happen */
	apply(KERNEL_OFF, 39, GT_OFF_SLEEPING);
	assert_run(KERNEL_SLEEPING, 39);
}

/* If we have no name for a system call, the one in the file is used. */
TEST(system_call_names_of_the_file)
{
	struct kernel_item i = {
		.kind = KERNEL_SYS_ENTER, .tid = 7, .number = 9999, .name = S("newest")
	};

	assert_string(kernel_threads__syscall(&threads, 9999), "", 0);
	ok(kernel_threads__apply(&threads, &i));
	assert_string(kernel_threads__syscall(&threads, 9999), "newest", 6);
	i = (struct kernel_item){ .kind = KERNEL_SYS_ENTER, .tid = 7, .name = S("no") };
	ok(kernel_threads__apply(&threads, &i));
	assert_string(kernel_threads__syscall(&threads, 0), "read", 4);
}

/* Likewise for the call in the thread table: 9999, since then, "abc". */
TEST(system_call_name_in_thread_table)
{
	struct kernel_thread thread;
	struct kernel_reader *r;
	struct dictionary dictionary;

	dictionary__init(&dictionary);
	RECORD(PRIVATE_THREADS, 100, 14, 0x81, 7, 0, 0, 0, 0, 0, 0x8f, 0x4e, 1, 3, 'a', 'b', 'c');
	assert_int_equal(kernel_reader__open(&r, &dictionary), 1);
	assert_true(kernel_reader__thread(r, &thread));
	assert_int_equal(thread.call, 9999);
	assert_string(kernel_reader__call(r), "abc", 3);
	kernel_reader__close(r);
	dictionary__deinit(&dictionary);
}

TEST(ended_threads_are_forgotten)
{
	struct kernel_thread t = { .call = KERNEL_NO_CALL };
	size_t left = 0;
	void *value;

	for (t.tid = 1; t.tid <= 5000; t.tid++) {
		t.run = t.tid % 3 ? KERNEL_GONE : KERNEL_SLEEPING;
		ok(kernel_threads__set(&threads, &t));
	}
	kernel_threads__forget_gone(&threads);
	for (size_t i = 0; map__next(&threads.map, &i, &value); left++)
		assert_int_equal(((struct kernel_thread *)value)->tid % 3, 0);
	assert_int_equal(left, 5000 / 3);
}
