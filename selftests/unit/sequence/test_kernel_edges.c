// SPDX-License-Identifier: GPL-2.0
/*
 * Edge cases of kernel events: names, what each item changes in a thread, losses, and the limits of
 * a record's contents, byte by byte. Under test: format/kernel*.c.
 */
#include "unit/test.h"
#include "format/kernel_impl.h"

#define S(literal) ((struct trace_string){ literal, sizeof(literal) - 1 })

static struct kernel_threads threads;
static struct kernel_writer *k;
static struct dictionary dictionary;

static int setup(void **state)
{
	k = kernel_writer__create();
	dictionary__init(&dictionary);
	return !k;
}

static void teardown(void)
{
	kernel_writer__destroy(k);
	kernel_threads__deinit(&threads);
	dictionary__deinit(&dictionary);
}

FIXTURE(setup, teardown)

static void ok(int err)
{
	assert_int_equal(err, 0);
}

/* ---- names ---- */

TEST(names)
{
	assert_string_equal(kernel__item(0), "unknown");
	assert_string_equal(kernel__item(KERNEL_ON), "on_cpu");
	assert_string_equal(kernel__item(KERNEL_CPU), "cpu");
	assert_string_equal(kernel__item(KERNEL_KIND_END), "unknown");
	assert_string_equal(kernel__item(UINT8_MAX), "unknown");
	assert_string_equal(kernel__why(0), "preempted");
	assert_string_equal(kernel__why(GT_OFF_DEAD), "dead");
	assert_string_equal(kernel__why(GT_OFF_END), "unknown");
	assert_string_equal(kernel__syscall(0), "read");
	assert_string_equal(kernel__syscall(202), "futex");
	assert_string_equal(kernel__syscall(336), "uprobe");
	assert_string_equal(kernel__syscall(462), "mseal");
	assert_string_equal(kernel__syscall(469), "file_setattr");
	assert_null(kernel__syscall(400)); /* does not exist */
	assert_null(kernel__syscall(100000));
	assert_null(kernel__syscall(UINT32_MAX));
}

/* A trace names calls that have no name, each once, and a limited number of them. */
TEST(names_of_calls)
{
	struct trace_string name;

	ok(kernel_threads__name_call(&threads, 5000, &S("")));
	assert_int_equal(kernel_threads__syscall(&threads, 5000).len, 0);
	ok(kernel_threads__name_call(&threads, 5000, &S("one")));
	ok(kernel_threads__name_call(&threads, 5000, &S("other")));
	name = kernel_threads__syscall(&threads, 5000);
	assert_true(name.len == 3 && !memcmp(name.data, "one", 3));
	for (uint32_t i = 5001; i <= 5000 + 4096; i++)
		ok(kernel_threads__name_call(&threads, i, &S("more")));
	assert_int_equal(kernel_threads__syscall(&threads, 5000 + 4095).len, 4);
	assert_int_equal(kernel_threads__syscall(&threads, 5000 + 4096).len, 0);
}

/* ---- threads ---- */

static struct kernel_thread *apply(struct kernel_item item)
{
	ok(kernel_threads__apply(&threads, &item));
	return kernel_threads__find(&threads, item.tid);
}

#define APPLY(...) apply((struct kernel_item){ .tid = 7, __VA_ARGS__ })

static void assert_run(const struct kernel_thread *t, enum kernel_run run, uint64_t since)
{
	assert_int_equal(t->run, run);
	assert_int_equal(t->since, since);
}

static void assert_waker(const struct kernel_thread *t, uint32_t other, uint32_t pid,
			 bool interrupt, bool woken)
{
	assert_int_equal(t->other, other);
	assert_int_equal(t->other_pid, pid);
	assert_int_equal(t->interrupt, interrupt);
	assert_int_equal(t->woken, woken);
}

TEST(what_a_wake_up_says)
{
	struct kernel_thread *t = APPLY(.kind = KERNEL_ON, .time = 1, .cpu = 4);

	assert_int_equal(t->cpu, 4);
	APPLY(.kind = KERNEL_OFF, .time = 2, .cpu = 5, .why = GT_OFF_SLEEPING);
	assert_int_equal(t->cpu, 5);
	APPLY(.kind = KERNEL_WAKING, .time = 3, .cpu = 9, .other = 70, .other_pid = 71,
	      .interrupt = true);
	assert_run(t, KERNEL_RUNNABLE, 3);
	assert_waker(t, 70, 71, true, true);
	assert_int_equal(t->cpu, 5);
	APPLY(.kind = KERNEL_WAKING, .time = 4, .other = 80, .other_pid = 81); /* runnable */
	assert_run(t, KERNEL_RUNNABLE, 3);
	assert_waker(t, 70, 71, true, true);
	APPLY(.kind = KERNEL_ON, .time = 5);
	assert_waker(t, 0, 0, false, false);
	APPLY(.kind = KERNEL_WAKING, .time = 6, .other = 7); /* a thread on its own CPU */
	assert_waker(t, 0, 0, false, false);
	APPLY(.kind = KERNEL_OFF, .time = 7, .why = GT_OFF_PREEMPTED, .other = 90, .other_pid = 91);
	assert_run(t, KERNEL_RUNNABLE, 7);
	assert_waker(t, 90, 91, false, false);
	/* woken before it sleeps */
	for (uint8_t why = GT_OFF_SLEEPING; why <= GT_OFF_STOPPED; why++) {
		APPLY(.kind = KERNEL_ON, .time = 8);
		APPLY(.kind = KERNEL_WAKING, .time = 9, .other = 70);
		APPLY(.kind = KERNEL_OFF, .time = 10, .why = why);
		assert_run(t, why == GT_OFF_STOPPED ? KERNEL_STOPPED : KERNEL_RUNNABLE, 10);
	}
}

TEST(who_can_be_woken)
{
	static const struct {
		uint8_t why;
		enum kernel_run run, then;
	} cases[] = {
		{ GT_OFF_YIELDED, KERNEL_RUNNABLE, KERNEL_RUNNABLE },
		{ GT_OFF_THROTTLED, KERNEL_THROTTLED, KERNEL_THROTTLED },
		{ GT_OFF_SLEEPING, KERNEL_SLEEPING, KERNEL_RUNNABLE },
		{ GT_OFF_DISK, KERNEL_BLOCKED, KERNEL_RUNNABLE },
		{ GT_OFF_STOPPED, KERNEL_STOPPED, KERNEL_RUNNABLE },
		{ GT_OFF_DEAD, KERNEL_GONE, KERNEL_GONE },
		{ GT_OFF_END, KERNEL_UNKNOWN, KERNEL_RUNNABLE },
	};
	struct kernel_thread *t;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		t = APPLY(.kind = KERNEL_OFF, .time = 10, .why = cases[i].why);
		assert_run(t, cases[i].run, 10);
		APPLY(.kind = KERNEL_WAKING, .time = 11, .other = 1);
		assert_run(t, cases[i].then, cases[i].then == cases[i].run ? 10 : 11);
		APPLY(.kind = KERNEL_ON, .time = 12);
	}
}

/* A thread that wakes another is on the CPU of the wake-up, unless an interrupt of it did that. */
TEST(the_waker_runs)
{
	struct kernel_thread *waker = APPLY(.kind = KERNEL_OFF, .time = 10);

	apply((struct kernel_item){ .kind = KERNEL_WAKING,
				    .tid = 8,
				    .time = 11,
				    .other = 7,
				    .cpu = 3,
				    .interrupt = true });
	assert_run(waker, KERNEL_RUNNABLE, 10);
	apply((struct kernel_item){
		.kind = KERNEL_WAKING, .tid = 8, .time = 12, .other = 7, .cpu = 3 });
	assert_run(waker, KERNEL_RUNNING, 12);
	assert_int_equal(waker->cpu, 3);
	apply((struct kernel_item){
		.kind = KERNEL_WAKING, .tid = 8, .time = 13, .other = 7, .cpu = 4 });
	assert_run(waker, KERNEL_RUNNING, 12);
	assert_int_equal(waker->cpu, 4);
	apply((struct kernel_item){ .kind = KERNEL_WAKING, .tid = 8, .time = 14, .other = 9 });
	assert_null(kernel_threads__find(&threads, 9)); /* not of the target */
}

/* Calls and faults end with the thread; its name stays, 16 bytes of it. */
TEST(the_end_of_a_thread)
{
	struct kernel_thread *t = APPLY(.kind = KERNEL_NAMED, .name = S("0123456789abcdefg"));

	assert_int_equal(t->name_len, 16);
	assert_memory_equal(t->name, "0123456789abcdef", 16);
	APPLY(.kind = KERNEL_NAMED, .name = S("b"));
	assert_int_equal(t->name_len, 1);
	APPLY(.kind = KERNEL_SYS_ENTER, .time = 20, .number = 202);
	APPLY(.kind = KERNEL_FAULT_BEGIN, .time = 21);
	assert_true(t->call == 202 && t->call_since == 20);
	assert_true(t->in_fault && t->fault_since == 21);
	APPLY(.kind = KERNEL_ENDED, .time = 22);
	assert_run(t, KERNEL_GONE, 22);
	assert_true(t->call == KERNEL_NO_CALL && t->call_since == 0);
	assert_true(!t->in_fault && t->fault_since == 0);
	assert_int_equal(t->name_len, 1);
	APPLY(.kind = KERNEL_CREATED, .time = 30, .cpu = 6, .other = 3); /* its TID again */
	assert_run(t, KERNEL_RUNNABLE, 30);
	assert_waker(t, 3, 0, false, true);
	assert_int_equal(t->cpu, 6);
	assert_int_equal(t->name_len, 0);
	APPLY(.kind = KERNEL_FAULT_BEGIN, .time = 31);
	APPLY(.kind = KERNEL_FAULT_END, .time = 32);
	assert_true(!t->in_fault && t->fault_since == 0);
}

/* States that began before a loss are unknown after it; states that began at its end are known. */
TEST(losses)
{
	struct kernel_thread *t;

	for (uint64_t end = 20; end <= 23; end++) {
		t = APPLY(.kind = KERNEL_CREATED, .time = 10);
		APPLY(.kind = KERNEL_ON, .time = 20);
		APPLY(.kind = KERNEL_SYS_ENTER, .time = 21, .number = 1);
		APPLY(.kind = KERNEL_FAULT_BEGIN, .time = 22);
		kernel_threads__lose_before(&threads, end);
		assert_int_equal(t->run, end <= 20 ? KERNEL_RUNNING : KERNEL_UNKNOWN);
		assert_int_equal(t->since, end <= 20 ? 20 : 0);
		assert_int_equal(t->call, end <= 21 ? 1 : KERNEL_NO_CALL);
		assert_int_equal(t->in_fault, end <= 22);
	}
	APPLY(.kind = KERNEL_ENDED, .time = 30);
	kernel_threads__lose(&threads);
	assert_run(t, KERNEL_GONE, 30);
	ok(kernel_threads__apply(&threads, &(struct kernel_item){ .kind = KERNEL_CPU, .tid = 99 }));
	assert_null(kernel_threads__find(&threads, 99));
}

/* ---- bytes ---- */

static int add_record(void *to, enum private_kind kind, const void *data, size_t len)
{
	uint8_t *string = malloc(PRIVATE_PREFIX_LEN + 3 + len), *p = string + PRIVATE_PREFIX_LEN;

	memcpy(string, PRIVATE_PREFIX, PRIVATE_PREFIX_LEN);
	*p++ = (uint8_t)kind;
	*p++ = 0;
	*p++ = 0;
	memcpy(p, data, len);
	ok(dictionary__add_string(to, dictionary__nstrings(to) + 1, string,
				  PRIVATE_PREFIX_LEN + 3 + len));
	free(string);
	return 0;
}

static struct kernel_reader *open_dictionary(void)
{
	struct kernel_reader *r = NULL;

	assert_int_equal(kernel_reader__open(&r, &dictionary), 1);
	dictionary__clear(&dictionary);
	return r;
}

static struct kernel_reader *reread(void)
{
	ok(kernel_writer__put(k, add_record, &dictionary));
	return open_dictionary();
}

/* A thread outside of calls and faults has no bytes for them; neither have unknown values. */
TEST(threads_take_few_bytes)
{
	struct kernel_thread thread = { .tid = 7, .run = 1, .cpu = 3, .call = KERNEL_NO_CALL };
	struct kernel_reader *r;

	ok(kernel_threads__set(&threads, &thread));
	ok(kernel_writer__begin(k, 100, &threads));
	assert_int_equal(kernel_writer__size(k), 1 + 7);
	r = reread();
	assert_int_equal(kernel_reader__bytes(r), 1 + 1 + 7);
	assert_true(kernel_reader__thread(r, &thread));
	assert_int_equal(thread.call, KERNEL_NO_CALL);
	assert_int_equal(kernel_reader__call(r).len, 0);
	kernel_reader__close(r);
}

/* Since the generation's beginning, since time 0, or unknown. */
TEST(begin_of_states)
{
	static const uint64_t since[] = { 1, 99, 100, 0, 101, 105 };
	struct kernel_thread thread = { .call = 1, .in_fault = true };
	struct kernel_reader *r;
	uint64_t want;

	ok(kernel_writer__begin(k, 100, NULL));
	for (uint32_t i = 0; i < 6; i++) {
		thread.tid = i + 1;
		thread.since = thread.call_since = thread.fault_since = since[i];
		ok(kernel_writer__add_thread(k, &thread));
	}
	r = reread();
	for (uint32_t i = 0; i < 6; i++) {
		want = since[i] <= 100 ? since[i] : 0;
		assert_true(kernel_reader__thread(r, &thread));
		assert_int_equal(thread.since, want);
		assert_int_equal(thread.call_since, want);
		assert_int_equal(thread.fault_since, want);
		assert_memory_equal(kernel_reader__call(r).data, "write", 5);
	}
	assert_false(kernel_reader__thread(r, &thread));
	kernel_reader__close(r);
	add_record(&dictionary, PRIVATE_THREADS, "\x64\7\1\7\0\x65\0\0\0", 9); /* since 0 */
	r = open_dictionary();
	assert_true(kernel_reader__thread(r, &thread));
	assert_int_equal(thread.since, 0);
	assert_int_equal(kernel_reader__bad(r), 0);
	kernel_reader__close(r);
}

/* At equal times the target's item comes before the machine's. */
TEST(items_of_equal_times)
{
	static const struct kernel_item items[] = {
		{ .kind = KERNEL_CPU, .tid = 9, .name = S("make"), .time = 1 },
		{ .kind = KERNEL_ON, .tid = 7, .time = 2 },
		{ .kind = KERNEL_CPU, .tid = 9, .name = S("make"), .time = 2 },
		{ .kind = KERNEL_CPU, .tid = 9, .name = S("make"), .time = 3 },
	};
	struct kernel_reader *r;
	struct kernel_item got;

	ok(kernel_writer__begin(k, 0, NULL));
	for (size_t i = 0; i < 4; i++)
		ok(kernel_writer__add(k, &items[i]));
	r = reread();
	for (size_t i = 0; i < 4; i++) {
		assert_true(kernel_reader__item(r, &got));
		assert_int_equal(got.kind, items[i].kind);
		assert_int_equal(got.time, items[i].time);
	}
	assert_false(kernel_reader__item(r, &got));
	kernel_reader__close(r);
}

/* A record with this number of valid items, followed by an invalid one. */
static void assert_items(const uint8_t *data, size_t len, size_t good)
{
	uint8_t *record = malloc(4 + len), *p = record;
	struct kernel_reader *r;
	struct kernel_item item;
	size_t n = 0;

	*p++ = 5;
	*p++ = (uint8_t)(len | 0x80);
	*p++ = (uint8_t)(len >> 7 | 0x80);
	*p++ = (uint8_t)(len >> 14);
	memcpy(p, data, len);
	add_record(&dictionary, PRIVATE_KERNEL, record, 4 + len);
	free(record);
	r = open_dictionary();
	while (kernel_reader__item(r, &item))
		n++;
	assert_int_equal(n, good);
	assert_int_equal(kernel_reader__bad(r), 1);
	kernel_reader__close(r);
}

/* No record makes a reader keep more threads and calls than the limit. */
TEST(too_many_in_a_record)
{
	uint8_t *data = malloc(20 * RECORD_PEERS), *p = data;

	for (uint32_t i = 1; i <= RECORD_PEERS + 1; i++) {
		memcpy(p, "\x2a\1\1", 3); /* FAULT_END of a new thread, 16384 + i */
		p[3] = (uint8_t)(i | 0x80);
		p[4] = (uint8_t)(i >> 7 | 0x80);
		p[5] = 1 + (uint8_t)(i >> 14);
		memcpy(p + 6, "\0\0\0", 3);
		p += 9;
	}
	assert_items(data, (size_t)(p - data), RECORD_PEERS);
	p = data;
	for (uint32_t i = 0; i <= RECORD_CALLS; i++) {
		memcpy(p, i ? "\x34\1" : "\x24\1\1\7\0\0", i ? 2 : 6); /* SYS_ENTER of thread 7 */
		p += i ? 2 : 6;
		memcpy(p, "\0\x80\x80\1\0\0", 6); /* a new call without a name, on CPU 0 */
		p[1] |= i & 0x7f;
		p[2] |= i >> 7 & 0x7f;
		p += 6;
	}
	assert_items(data, (size_t)(p - data), RECORD_CALLS);
	free(data);
}

/* Each after a valid one (FAULT_END of thread 7, on CPU 0). */
TEST(broken_items)
{
	static const struct {
		uint8_t len, bytes[8];
	} items[] = {
		{ 4, { 0x2a, 1, 3, 0 } },	   /* of an unknown thread */
		{ 4, { 0x2a, 1, 0, 0 } },	   /* of the idle thread */
		{ 7, { 0x20, 1, 1, 8, 0, 0, 0 } }, /* unknown kind */
		{ 7, { 0x2b, 1, 1, 8, 0, 0, 0 } }, /* kind of the machine's items */
		{ 4, { 0x34, 1, 1, 0 } },	   /* of an unknown system call */
		{ 4, { 0x35, 1, 0, 0 } },	   /* the end of no call */
		{ 4, { 0x32, 1, GT_OFF_END, 0 } }, /* invalid reason */
		{ 4, { 0x32, 1, 3 << 3, 0 } },	   /* for an unknown thread */
		{ 7, { 0x2a, 1, 1, 0, 0, 0, 0 } }, /* a new thread 0 */
		{ 2, { 0x32, 1 } },		   /* cut */
	};
	uint8_t data[20] = { 0x2a, 1, 1, 7, 0, 0, 0 };

	for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++) {
		memcpy(data + 7, items[i].bytes, items[i].len);
		assert_items(data, 7 + items[i].len, 1);
	}
}

/* Names of maximal length, and one byte more. */
TEST(long_names)
{
	uint8_t data[200] = { 0x24, 1, 1, 7, 0, 0, 0, 1, CALL_NAME_MAX }, *p;

	/* SYS_ENTER of a new thread, a new call: the name, and the CPU */
	data[9 + CALL_NAME_MAX] = 0;
	p = data + 10 + CALL_NAME_MAX;
	memcpy(p, "\x34\1\0\2", 4);
	p[4] = CALL_NAME_MAX + 1;
	assert_items(data, sizeof(data), 1);
	memset(data, 0, sizeof(data)); /* FAULT_END of a new thread with a name */
	memcpy(data, "\x2a\1\1\7\0\x10", 6);
	p = data + 6 + KERNEL_NAME_MAX + 1;
	memcpy(p, "\x2a\1\1\7\0\x11", 6);
	assert_items(data, sizeof(data), 1);
}

/* CPU numbers have 16 bits; an item without one is on its thread's last CPU, if known. */
TEST(cpu_numbers)
{
	static const uint8_t large[] = {
		0x2a, 1, 1, 7, 0, 0, 0xff, 0xff, 3, 0x3a, 1, 0x80, 0x80, 4
	};
	static const uint8_t none[] = { 0x2a, 1, 1, 7, 0, 0, 4, 0x0a, 1, 1, 8, 0, 0 };

	assert_items(large, sizeof(large), 1);
	assert_items(none, sizeof(none), 1);
}

/* A thread whose process or name has changed is written again, unless the item itself names it. */
TEST(threads_written_again)
{
	static const struct {
		uint32_t pid;
		struct trace_string name;
	} peers[] = {
		{ 1, S("ab") }, { 1, S("ab") },	 { 2, S("ab") }, { 2, S("ac") },
		{ 2, {} },	{ 2, S("acd") }, { 2, {} },	 { 2, {} },
	};
	const size_t n = sizeof(peers) / sizeof(*peers);
	struct kernel_item item = { .kind = KERNEL_OFF, .tid = 7, .other = 9 }, got;
	struct kernel_reader *r;

	ok(kernel_writer__begin(k, 0, NULL));
	for (size_t i = 0; i < n; i++) {
		item.other_pid = peers[i].pid;
		item.name = peers[i].name;
		ok(kernel_writer__add(k, &item));
	}
	item = (struct kernel_item){ .kind = KERNEL_WAKING, .tid = 7, .other = 9, .other_pid = 3 };
	ok(kernel_writer__add(k, &item));
	item = (struct kernel_item){ .kind = KERNEL_ON, .tid = 7, .other = 9 };
	ok(kernel_writer__add(k, &item));
	r = reread();
	for (size_t i = 0; i < n; i++) {
		assert_true(kernel_reader__item(r, &got));
		assert_true(got.other == 9 && got.other_pid == peers[i].pid);
		assert_int_equal(got.name.len, peers[i].name.len);
		assert_memory_equal(got.name.data, peers[i].name.data, got.name.len);
	}
	assert_true(kernel_reader__item(r, &got));
	assert_true(got.other == 9 && got.other_pid == 3);
	assert_true(kernel_reader__item(r, &got));
	assert_true(got.other == 9 && got.other_pid == 0);
	kernel_reader__close(r);
}

/* Numbers of threads have 32 bits. */
TEST(large_numbers)
{
	static const uint8_t data[] = { 0x2a, 1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0,
					0x2a, 1, 1, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0, 0 };
	static const uint8_t no_thread[] = { 0x2a, 1,	 1,    7,    0,	   0,	 0, 0x2a,
					     1,	   0xff, 0xff, 0xff, 0xff, 0x0f, 0 };

	assert_items(data, sizeof(data), 1);
	assert_items(no_thread, sizeof(no_thread), 1);
}

static int count_record(void *to, enum private_kind kind, const void *data, size_t len)
{
	++*(size_t *)to;
	return 0;
}

/* A record ends with slightly fewer threads, or system calls, than a reader keeps. */
TEST(full_records)
{
	struct kernel_item item = {};
	size_t records;

	for (int calls = 0; calls <= 1; calls++) {
		uint32_t most = calls ? RECORD_CALLS - 1 : RECORD_PEERS - 2;

		item.kind = calls ? KERNEL_SYS_ENTER : KERNEL_ON;
		for (uint32_t more = 0; more <= 1; more++) {
			ok(kernel_writer__begin(k, 0, NULL));
			for (uint32_t i = 1; i <= most + more; i++) {
				item.tid = calls ? 7 : i;
				item.number = i;
				ok(kernel_writer__add(k, &item));
			}
			records = 0;
			ok(kernel_writer__put(k, count_record, &records));
			assert_int_equal(records, 1 + more);
		}
	}
}
