// SPDX-License-Identifier: GPL-2.0
/*
 * The bytes of a generation: the smallest, errors, order of statuses and events, tables.
 */
#include "unit/test.h"
#include "unit/writer_fixture.h"

FIXTURE(NULL, stop)
static void smallest(unsigned int version, const uint8_t *want, size_t len)
{
	start(version, 64);
	ok(writer__open(x.w, 640, 3000000005));
	ok(writer__proc_status(x.w, NOM, 3, PROC_IDLE));
	ok(writer__close(x.w));
	finish(version);
	assert_int_equal(x.bytes.len - 16, len);
	assert_memory_equal(x.bytes.data + 16, want, len);
	stop(NULL);
}

#define NO_THREAD 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01
#define FREQUENCY 8, 0xa8, 0xd6, 0xb9, 0x07 /* 15625000 */
#define SNAPSHOT  51, 0, 0x80, 0x05, 3, 5   /* 640 ns, 3 s, 5 ns */
/* Before 1.25 the snapshot is a record of private data, the only string. */
#define SNAPSHOT_STRING                                                                            \
	1, 1, NO_THREAD, 10, 0x9c, 0x80, 0, 4, 5, 1, 24, 0, 'g', 'o', 't', 'r', 'a', 'c', 'e',     \
		'-', 'b', 'p', 'f', '/', '1', ' ', 17, 0, 0, 0x80, 5, 0x80, 5, 3, 5
#define STATUS 1, 1, NO_THREAD, 10, 0x84, 0x80, 0, 13, 0, 3, 2

TEST(smallest_generation)
{
	static const uint8_t v22[] = { 1, 1,	     NO_THREAD,	      10,    0x85, 0x80,
				       0, FREQUENCY, SNAPSHOT_STRING, STATUS };
	static const uint8_t v25[] = { 1, 1,  NO_THREAD, 10,	   0x8c,  0x80,
				       0, 50, FREQUENCY, SNAPSHOT, STATUS };
	static const uint8_t v26[] = { 1, 1,  NO_THREAD, 10,	   0x8c,   0x80,
				       0, 50, FREQUENCY, SNAPSHOT, STATUS, 52 };

	smallest(22, v22, sizeof(v22));
	smallest(23, v22, sizeof(v22));
	smallest(25, v25, sizeof(v25));
	smallest(26, v26, sizeof(v26));
}

TEST(invalid_options)
{
	static const struct writer_opts opts[] = { { 21, 1 }, { 24, 1 }, { 27, 1 },  { 0, 1 },
						   { 25, 0 }, { 25, 2 }, { 25, 128 } };
	size_t i;

	start(25, 1);
	for (i = 0; i < sizeof(opts) / sizeof(opts[0]); i++) {
		errno = 0;
		assert_null(writer__create(x.file, x.in, &opts[i]));
		assert_int_equal(errno, EINVAL);
	}
}

TEST(invalid_calls_are_rejected)
{
	uint64_t args[8] = { 0 };
	unsigned int type;

	start(26, 1);
	assert_int_equal(event(1, 1, EV_PROC_STOP, 0, 0, 0, 0), -EINVAL);
	assert_int_equal(writer__proc_status(x.w, NOM, 1, PROC_IDLE), -EINVAL);
	assert_int_equal(writer__go_status(x.w, NOM, 1, GO_WAITING, 0), -EINVAL);
	assert_int_equal(writer__close(x.w), -EINVAL);
	ok(writer__open(x.w, 100, 0));
	assert_int_equal(writer__open(x.w, 100, 0), -EINVAL);
	for (type = 0; type < 300; type++) {
		const struct ev_spec *s = spec__event(type);

		if (!s || !s->timed || type == EV_CLOCK_SNAPSHOT) {
			assert_int_equal(writer__event(x.w, 1, 1, type, args, s ? s->nargs : 0),
					 -EINVAL);
			continue;
		}
		assert_int_equal(writer__event(x.w, 1, 1, type, args, s->nargs), -EINVAL);
		assert_int_equal(writer__event(x.w, 1, 1, type, args, s->nargs - 2), -EINVAL);
		ok(writer__event(x.w, 1, 1, type, args, s->nargs - 1));
	}
	assert_int_equal(event(1, 1, EV_GO_BLOCK, 1, 0, 0, 2), -EINVAL);
	assert_int_equal(event(1, 1, EV_GO_BLOCK, 0, 1, 0, 2), -EINVAL);
	assert_int_equal(event(1, 1, EV_GO_BLOCK, 0, UINT64_MAX, 0, 2), -EINVAL);
	assert_int_equal(writer__go_status(x.w, NOM, 1, GO_WAITING, 1), -EINVAL);
	assert_int_equal(writer__go_status(x.w, NOM, 1, GO_RUNNING, 0), -EINVAL);
	assert_int_equal(writer__go_status(x.w, NOM, 1, GO_SYSCALL, 0), -EINVAL);
	assert_int_equal(writer__go_status(x.w, 1, 1, 5, 0), -EINVAL);
	assert_int_equal(writer__go_status(x.w, 1, 1, 0, 0), -EINVAL);
	assert_int_equal(writer__proc_status(x.w, NOM, 1, PROC_RUNNING), -EINVAL);
	assert_int_equal(writer__proc_status(x.w, 1, 1, 0), -EINVAL);
	assert_int_equal(writer__proc_status(x.w, 1, 1, 5), -EINVAL);
}

TEST(versions_gate_events)
{
	static const enum ev newer[] = { EV_GO_SWITCH, EV_GO_SWITCH_DESTROY, EV_GO_CREATE_BLOCKED,
					 EV_GO_STATUS_STACK, EV_SPAN_FREE };
	uint64_t args[8] = { 0 };
	size_t i;

	start(22, 1);
	ok(writer__open(x.w, 1, 1));
	for (i = 0; i < 5; i++)
		assert_int_equal(
			writer__event(x.w, 1, 1, newer[i], args, spec__event(newer[i])->nargs - 1),
			-EINVAL);
	assert_int_equal(writer__size(x.w), 0);
	stop(NULL);
	start(23, 1);
	ok(writer__open(x.w, 1, 1));
	for (i = 0; i < 5; i++)
		ok(writer__event(x.w, 1, 1, newer[i], args, spec__event(newer[i])->nargs - 1));
	assert_true(writer__size(x.w) > 0);
}

/* Private data, of which the bytes are those of gotrace-private(5). */
static void expect_starts(bool any)
{
	static const char record[] = "\0gotrace-bpf/1 \x12\0\0\x09\x01"; /* goroutine 9, stack 1 */

	assert_int_equal(!!memmem(x.bytes.data, x.bytes.len, record, sizeof(record) - 1), any);
}

TEST(statuses_with_and_without_stack)
{
	struct intern_frame f = { .pc = 77 };
	struct read_event e[4];
	unsigned int version;

	for (version = 22; version <= 23; version++) {
		start(version, 1);
		ok(writer__open(x.w, 5, 5));
		ok(writer__go_status(x.w, NOM, 9, GO_WAITING, intern__stack(x.in, &f, 1)));
		ok(writer__go_status(x.w, 4, 8, GO_SYSCALL, 0));
		ok(writer__close(x.w));
		finish(version);
		assert_int_equal(timed_events(0, true, e, 4), 2);
		assert_int_equal(e[0].type, version == 22 ? EV_GO_STATUS : EV_GO_STATUS_STACK);
		assert_int_equal(e[0].arg[1], 9);
		assert_int_equal(e[0].arg[2], 0);
		assert_int_equal(e[0].arg[3], GO_WAITING);
		assert_int_equal(e[0].arg[4], version == 22 ? 0 : 1);
		assert_int_equal(e[1].type, EV_GO_STATUS);
		assert_int_equal(e[1].arg[2], 4);
		assert_int_equal(writer__stats(x.w)->by_type[e[0].type], version == 22 ? 2 : 1);
		expect_starts(version == 22);
		stop(NULL);
	}
}

TEST(statuses_precede_events)
{
	struct read_event e[8];

	start(25, 1);
	ok(writer__open(x.w, 1000, 1));
	ok(event(7, 1500, EV_GO_SYSCALL_END, 0, 0, 0, 0));
	ok(event(6, 1400, EV_GO_STOP, 0, 0, 0, 2));
	ok(writer__go_status(x.w, 7, 70, GO_SYSCALL, 0));
	ok(writer__go_status(x.w, 6, 60, GO_RUNNING, 0));
	ok(writer__proc_status(x.w, 6, 0, PROC_RUNNING));
	ok(writer__proc_status(x.w, 7, 1, PROC_SYSCALL));
	ok(writer__proc_status(x.w, 5, 2, PROC_IDLE));
	ok(writer__go_status(x.w, 5, 50, GO_RUNNABLE, 0));
	ok(writer__close(x.w));
	finish(25);
	assert_int_equal(timed_events(7, false, e, 8), 3);
	assert_int_equal(e[0].type, EV_PROC_STATUS);
	assert_int_equal(e[0].time, 1000);
	assert_int_equal(e[0].arg[1], 1);
	assert_int_equal(e[1].type, EV_GO_STATUS);
	assert_int_equal(e[1].arg[1], 70);
	assert_int_equal(e[2].type, EV_GO_SYSCALL_END);
	assert_int_equal(e[2].time, 1500);
	assert_int_equal(timed_events(6, false, e, 8), 3);
	assert_int_equal(e[0].type, EV_PROC_STATUS);
	assert_int_equal(timed_events(5, false, e, 8), 0);
	assert_int_equal(timed_events(NOM, false, e, 8), 2);
	assert_int_equal(writer__stats(x.w)->events, 8);
}

static void times(unsigned int tick)
{
	static const uint64_t in[] = { 900, 1280, 1279, 1000, 1280, 6400, 0, 12800 };
	static const uint64_t out[] = { 1024, 1280, 1280, 1280, 1280, 6400, 6400, 12800 };
	struct read_event e[16];
	size_t i;

	start(25, tick);
	ok(writer__open(x.w, 1024, 1));
	for (i = 0; i < 8; i++) {
		ok(event(3, in[i], EV_HEAP_ALLOC, i, 0, 0, 1));
		ok(event(4, 500 + i, EV_HEAP_ALLOC, i, 0, 0, 1));
	}
	ok(writer__close(x.w));
	finish(25);
	assert_int_equal(timed_events(3, false, e, 16), 8);
	for (i = 0; i < 8; i++) {
		assert_int_equal(e[i].arg[1], i);
		assert_int_equal(e[i].time * tick, out[i]);
	}
	stop(NULL);
}

TEST(times_never_decrease)
{
	times(1);
	times(64);
}

/* A million random events are read back as they were written, thread by thread. */
TEST(a_million_events)
{
	static struct read_event e[300000];
	uint64_t size = 0;
	size_t i, n, m;

	start(25, 1);
	ok(writer__open(x.w, 1, 1));
	for (i = 0; i < 1000000; i++) {
		ok(event(i * 7 % 5, i * 10, EV_GO_START, i * i, i, 0, 2));
		assert_true(writer__size(x.w) > size);
		size = writer__size(x.w);
	}
	ok(writer__close(x.w));
	finish(25);
	assert_in_range(x.bytes.len - size, 20, 200);
	for (m = 0; m < 5; m++) {
		n = timed_events(m, false, e, 300000);
		assert_int_equal(n, 200000);
		for (i = 0; i < n; i++) {
			assert_int_equal(e[i].arg[2] * 7 % 5, m);
			assert_true(e[i].arg[1] == e[i].arg[2] * e[i].arg[2]);
			assert_true(e[i].time == (e[i].arg[2] ? e[i].arg[2] * 10 : 1));
			assert_true(!i || e[i].arg[2] > e[i - 1].arg[2]);
		}
	}
}

TEST(a_million_statuses)
{
	struct read_batch batch;
	struct read_event ev;
	uint64_t g, found = 0, time;
	size_t at;

	start(23, 64);
	ok(writer__open(x.w, 1ull << 50, 1));
	for (g = 1; g <= 1000000; g++)
		ok(writer__go_status(x.w, g % 1000 ? NOM : g, g, g % 1000 ? GO_WAITING : GO_SYSCALL,
				     0));
	assert_int_equal(writer__size(x.w), 0);
	ok(writer__close(x.w));
	finish(23);
	while (bytes__batch(&x.bytes, &batch)) {
		assert_int_equal(batch.time, (1ull << 50) / 64);
		for (at = 0, time = 0;
		     batch__timed(&batch) && batch__event(&batch, &at, &time, &ev);) {
			assert_int_equal(batch.m, ev.arg[1] % 1000 ? NOM : ev.arg[1]);
			found++;
		}
	}
	assert_int_equal(found, 1000000);
	assert_in_range(x.bytes.len, 6 << 20, 8 << 20);
}

/* Expects the strings of a generation in the order of their ids, which are 1, 2, ... */
static void assert_strings(unsigned int gen, const char *const *want, size_t n)
{
	struct read_batch batch;
	struct read_event ev;
	uint64_t time = 0;
	size_t at, found = 0;

	for (x.bytes.at = 16; bytes__batch(&x.bytes, &batch);) {
		if (batch.gen != gen || batch__timed(&batch))
			continue;
		for (at = 0; batch__event(&batch, &at, &time, &ev);) {
			if (ev.type != EV_STRING)
				continue;
			assert_true(found < n);
			assert_int_equal(ev.arg[1], strlen(want[found]));
			assert_memory_equal(ev.blob, want[found], ev.arg[1]);
			assert_int_equal(ev.arg[0], ++found);
		}
	}
	assert_int_equal(found, n);
}

/* Whatever their ids in the recording, ids of a generation count from 1 in the order of use. */
TEST(tables_contain_used_entries)
{
	static const char *const strings1[] = { "string 1", "found while open", "string 3",
						"string 4" };
	static const char *const strings2[] = { "found while open", "string 5", "string 7" };
	static const uint64_t args[][4] = { { 1, 1 }, { 5, 2, 1 }, { 0, 2, 1, 0 }, { 1, 1 } };
	unsigned int seen[9];
	struct intern_frame f[] = { { 1, 0, 0, 5, 0 }, { 2, 3, 4, 6, 0 }, { 3, 5, 7, 7, 0 } };
	char name[] = "string 0";
	struct read_event e[4];
	int i;

	start(25, 1);
	for (i = 1; i <= 7; i++) {
		name[7] = '0' + i;
		assert_int_equal(intern__cstring(x.in, name), i);
	}
	for (i = 1; i <= 3; i++)
		assert_int_equal(intern__stack(x.in, &f[i - 1], 1), i);
	ok(writer__open(x.w, 10, 1));
	ok(event(1, 20, EV_GO_BLOCK, 1, 2, 0, 2));
	ok(event(1, 30, EV_GO_CREATE, 5, 1, 2, 3));
	assert_int_equal(intern__cstring(x.in, "found while open"), 8);
	ok(event(1, 40, EV_USER_LOG, 0, 8, 1, 4));
	assert_int_equal(event(1, 40, EV_GO_BLOCK, 9, 2, 0, 2), -EINVAL);
	ok(writer__close(x.w));
	ok(writer__open(x.w, 50, 1));
	ok(event(1, 60, EV_GO_STOP, 8, 3, 0, 2));
	ok(writer__close(x.w));
	finish(25);
	assert_strings(1, strings1, 4);
	assert_strings(2, strings2, 3);
	count_ids(EV_STACK, 1, seen, 9);
	assert_true(seen[1] == 1 && seen[2] == 1 && seen[3] == 0);
	count_ids(EV_STACK, 2, seen, 9);
	assert_true(seen[1] == 1 && seen[2] == 0 && seen[3] == 0);
	assert_int_equal(timed_events(1, false, e, 4), 4);
	for (i = 0; i < 4; i++)
		assert_memory_equal(&e[i].arg[1], args[i], spec__event(e[i].type)->nargs * 8 - 8);
}

TEST(large_tables_are_split)
{
	static unsigned int seen[20001];
	static char s[1024];
	struct intern_frame f[TRACE_STACK_MAX];
	int i, j;

	start(25, 1);
	ok(writer__open(x.w, 10, 1));
	memset(s, 's', sizeof(s));
	for (i = 0; i < 2000; i++) {
		memcpy(s, &i, sizeof(i));
		for (j = 0; j < TRACE_STACK_MAX; j++)
			f[j] = (struct intern_frame){ UINT64_MAX - i * 1000 - j, i + 1, i + 1,
						      1u << 31, 0 };
		ok(event(1, 20, EV_GO_BLOCK, intern__string(x.in, s, sizeof(s)),
			 intern__stack(x.in, f, TRACE_STACK_MAX), 0, 2));
	}
	ok(writer__close(x.w));
	finish(25);
	count_ids(EV_STRING, 1, seen, 20001);
	for (i = 1; i <= 2000; i++)
		assert_int_equal(seen[i], 1);
	count_ids(EV_STACK, 1, seen, 20001);
	for (i = 1; i <= 2000; i++)
		assert_int_equal(seen[i], 1);
}

/* The events of the batches of one kind, as one list. */
static size_t table_events(uint8_t kind, struct read_event *evs, size_t max)
{
	struct read_batch batch;
	uint64_t time = 0;
	size_t n = 0, at;

	for (x.bytes.at = 16; bytes__batch(&x.bytes, &batch);) {
		if (!batch.len || batch.data[0] != kind)
			continue;
		for (at = 0; n < max && batch__event(&batch, &at, &time, &evs[n]);)
			n++;
	}
	return n;
}

TEST(cpu_samples)
{
	struct intern_frame f = { .pc = 77 };
	static struct read_event e[4000];
	size_t n, at;
	uint64_t i;

	start(25, 64);
	assert_int_equal(writer__sample(x.w, 1, 1, 1, 1, 0), -EINVAL);
	ok(writer__open(x.w, 640, 0));
	assert_int_equal(writer__sample(x.w, 700, 1, 1, 1, 1), -EINVAL);
	ok(writer__sample(x.w, 700, 1, 1, 1, intern__stack(x.in, &f, 1)));
	ok(writer__close(x.w)); /* no events: not written */
	assert_int_equal(writer__stats(x.w)->generations, 0);
	ok(writer__open(x.w, 640, 0));
	ok(writer__proc_status(x.w, NOM, 3, PROC_IDLE));
	for (i = 0; i < 3000; i++)
		ok(writer__sample(x.w, 64000 + i * 64, 4, UINT64_MAX, i, i % 2));
	ok(writer__close(x.w));
	assert_int_equal(writer__stats(x.w)->by_type[EV_CPU_SAMPLE], 3000);
	finish(25);
	n = table_events(EV_CPU_SAMPLES, e, 4000);
	for (i = 0, at = 0; at < n; at++) {
		if (e[at].type == EV_CPU_SAMPLES)
			continue; /* the first byte of a batch */
		assert_int_equal(e[at].type, EV_CPU_SAMPLE);
		assert_int_equal(e[at].arg[0], 1000 + i);
		assert_int_equal(e[at].arg[1], 4);
		assert_true(e[at].arg[2] == UINT64_MAX);
		assert_int_equal(e[at].arg[3], i);
		assert_int_equal(e[at].arg[4], i % 2);
		i++;
	}
	assert_int_equal(i, 3000);
	assert_int_equal(table_events(EV_STACKS, e, 4000), 2);
}

TEST(separate_clocks)
{
	struct read_event e[4];

	start(26, 1);
	assert_int_equal(writer__clock(x.w, 1, 2, 3, 4), -EINVAL);
	ok(writer__open(x.w, 1000, 5));
	ok(writer__clock(x.w, 1010, 7, 8, 9));
	ok(writer__proc_status(x.w, NOM, 3, PROC_IDLE));
	ok(writer__close(x.w));
	finish(26);
	assert_int_equal(table_events(EV_SYNC, e, 4), 3);
	assert_int_equal(e[2].type, EV_CLOCK_SNAPSHOT);
	assert_int_equal(e[2].arg[0], 10);
	assert_int_equal(e[2].arg[1], 7);
	assert_int_equal(e[2].arg[2], 8);
	assert_int_equal(e[2].arg[3], 9);
}

/* The end of a generation repeats the state of a P, on its thread if it has one. */
TEST(ends)
{
	struct read_event e[4];

	start(26, 64);
	assert_int_equal(writer__end(x.w, 640), -EINVAL);
	ok(writer__open(x.w, 640, 0));
	ok(writer__end(x.w, 6400)); /* no P is known */
	ok(writer__proc_status(x.w, NOM, 3, PROC_IDLE));
	ok(event(5, 1280, EV_PROC_START, 3, 1, 0, 2));
	ok(writer__end(x.w, 6400));
	ok(writer__close(x.w));
	ok(writer__open(x.w, 6400, 0));
	ok(event(5, 6464, EV_PROC_STOP, 0, 0, 0, 0));
	ok(writer__end(x.w, 64000));
	ok(writer__close(x.w));
	finish(26);
	assert_int_equal(timed_events(5, false, e, 4), 3);
	assert_int_equal(e[1].type, EV_PROC_STATUS);
	assert_int_equal(e[1].time, 100);
	assert_int_equal(e[1].arg[1], 3);
	assert_int_equal(e[1].arg[2], PROC_RUNNING);
	assert_int_equal(e[2].type, EV_PROC_STOP);
	assert_int_equal(timed_events(NOM, false, e, 4), 2);
	assert_int_equal(e[1].type, EV_PROC_STATUS);
	assert_int_equal(e[1].arg[2], PROC_IDLE);
}

/* A later generation may use other tables. */
TEST(tables_can_be_replaced)
{
	struct intern *second = intern__create();
	struct read_event e[4];

	start(25, 1);
	ok(writer__open(x.w, 10, 0));
	ok(event(1, 20, EV_GO_BLOCK, intern__cstring(x.in, "one"), 0, 0, 2));
	ok(writer__close(x.w));
	writer__use(x.w, second);
	ok(writer__open(x.w, 30, 0));
	ok(event(1, 40, EV_GO_BLOCK, intern__cstring(second, "another"), 0, 0, 2));
	assert_int_equal(event(1, 40, EV_GO_BLOCK, 2, 0, 0, 2), -EINVAL);
	ok(writer__close(x.w));
	finish(25);
	assert_int_equal(table_events(EV_STRINGS, e, 4), 4);
	assert_int_equal(e[3].arg[0], 1);
	assert_memory_equal(e[3].blob, "another", 7);
	intern__destroy(second);
}

/* A reader computes the original times from the time of a batch and the differences after it. */
TEST(times_beyond_53_bits)
{
	const uint64_t start_ns = (1ull << 55) + 3;
	struct read_batch batch;
	struct read_event ev;
	uint64_t time, i, n = 0;
	size_t at;

	start(25, 1);
	ok(writer__open(x.w, start_ns, 0));
	for (i = 0; i < 20000; i++)
		ok(event(i % 3, start_ns + i, EV_HEAP_ALLOC, i, 0, 0, 1));
	ok(writer__close(x.w));
	finish(25);
	while (bytes__batch(&x.bytes, &batch)) {
		assert_true((uint64_t)(double)batch.time == batch.time);
		time = batch.time;
		for (at = 0; batch__timed(&batch) && batch__event(&batch, &at, &time, &ev); n++)
			assert_true(time == start_ns + ev.arg[1]);
	}
	assert_int_equal(n, 20000);
}
