// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of CPU samples: their goroutine according to the model, the frames of their stacks, that
 * they change nothing, and bounded memory. Under test: sequence/state_sample.c and stacks.c.
 */
#include "unit/test.h"
#include "format/private_read.h"
#include "sequence/once.h"
#include "unit/machine.h"

#define SECOND 1000000000ull

/* PCs above 64 and 128 are in a function that has pushed nothing, or one word: machine.h. */
enum { NOTHING = 64, WORD = 128 };

static void sample_at(uint32_t tid, uint64_t time, const uint64_t *pc, size_t n)
{
	struct {
		struct gt_record rec;
		struct gt_stack stack;
		uint64_t pc[GT_STACK_MAX];
	} r = {
		.rec = { .time = time, .tid = tid, .kind = GT_SAMPLE, .seq = m.ring_seq++ },
		.stack = { .depth = n },
	};

	if (n)
		memcpy(r.pc, pc, n * sizeof(*pc));
	assert_int_equal(sequencer__record(m.seq, 0, &r.rec,
					   sizeof(r.rec) + sizeof(r.stack) + n * sizeof(*pc)),
			 0);
}

#define SAMPLE(tid, ...)                                                                           \
	do {                                                                                       \
		const uint64_t pcs_[] = { __VA_ARGS__ };                                           \
                                                                                                   \
		sample_at(tid, m.now, pcs_, sizeof(pcs_) / sizeof(*pcs_));                         \
		m.now += STEP_NS;                                                                  \
	} while (0)

TEST(goroutine_of_a_sample)
{
	running(25, "go1.25.3", 3);
	SAMPLE(1, 5);
	SAMPLE(9, 6); /* an unknown thread */
	on_g(1, GT_SYSCALL_ENTER, 1);
	SAMPLE(1, 7);
	on_g(1, GT_SYSCALL_EXIT, 1);
	park(1, 1, 0);
	SAMPLE(1, 8);
	p_stop(1, 0);
	SAMPLE(1, 9);
	expect("sample m1 p0 g1 f5\n"
	       "sample m9 p-1 g0 f6\n"
	       "m1 GoSyscallBegin #2 -\n"
	       "sample m1 p-1 g1 f7\n"
	       "m1 GoSyscallEnd\n"
	       "m1 GoBlock \"unspecified\" -\n"
	       "sample m1 p0 g0 f8\n"
	       "m1 ProcStop\n"
	       "sample m1 p-1 g0 f9\n");
	expect_no_repair();
}

/* A sample does not show how a tentative exit ended. */
TEST(confirms_no_exit)
{
	running(25, "go1.26.8", 3);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	SAMPLE(1, 5);
	expect("m1 GoSyscallBegin #2 -\n"
	       "sample m1 p0 g1 f5\n");
	lost(1);
	SAMPLE(1, 6);
	p_start(1, 1);
	flush();
	assert_null(strstr(m.writer.text, "GoSyscallEnd\n"));
	assert_non_null(strstr(m.writer.text, "GoSyscallEndBlocked"));
	assert_non_null(strstr(m.writer.text, "ProcStart p1"));
	expect_no_repair();
}

/* It is held behind records of its thread; times increase nevertheless. */
TEST(stays_in_order)
{
	running(25, "go1.25.3", 3);
	p_start(2, 1);
	execute(2, 8); /* created just now, by thread 1 */
	SAMPLE(2, 5);
	SAMPLE(1, 6);
	create(1, 8);
	expect("m2 ProcStart p1 #1\n"
	       "sample m1 p0 g1 f6\n"
	       "m1 GoCreate g8 f18 -\n"
	       "m2 GoStart g8 #1\n"
	       "sample m2 p1 g8 f5\n");
	expect_no_repair();
}

/* The latest private data: how the samples of the generation were taken. */
static void assert_taken(uint64_t period, uint64_t throttles, uint64_t ns)
{
	static const char prefix[] = PRIVATE_PREFIX;
	struct private_cpu_samples taken = {};
	struct buf data = buf__make(m.writer.private, m.writer.private_len);

	assert_memory_equal(buf__take(&data, PRIVATE_PREFIX_LEN), prefix, PRIVATE_PREFIX_LEN);
	assert_int_equal(buf__uleb(&data), PRIVATE_CPU_SAMPLES);
	assert_int_equal(buf__uleb(&data), 0);
	assert_int_equal(buf__u8(&data), 0);
	assert_true(private_read__add_cpu_samples(&data, &taken));
	assert_int_equal(buf__left(&data), 0);
	assert_int_equal(taken.period_ns, period);
	assert_int_equal(taken.throttles, throttles);
	assert_int_equal(taken.throttled_ns, ns);
}

/* Each generation has the rate, and what was throttled in it: the second one is written here. */
TEST(rate)
{
	running(25, "go1.25.3", 3);
	sequencer__cpu_samples(m.seq, &(struct private_cpu_samples){ 10101010, 1, 500 });
	m.now += 2 * SECOND;
	SAMPLE(1, 5);
	flush();
	assert_non_null(strstr(m.writer.text, "close"));
	sequencer__cpu_samples(m.seq, &(struct private_cpu_samples){ 10101010, 1, 500 });
	sequencer__cpu_samples(m.seq, &(struct private_cpu_samples){ 10101010, 2, 250 });
	assert_int_equal(sequencer__finish(m.seq, m.now), 0);
	assert_taken(10101010, 3, 750);
}

TEST(top_of_the_stack)
{
	running(25, "go1.25.3", 3);
	SAMPLE(1, 1, 2, 3, 4, 5);
	SAMPLE(1, NOTHING + 1, 2, 3, 4, 5);
	SAMPLE(1, WORD + 1, 2, 3, 4, 5);
	SAMPLE(1, NOTHING + 1, NOTHING + 2, WORD + 3, NOTHING + 4); /* only the first counts */
	SAMPLE(1, WORD + 1, 2, 0, 4);				    /* the frame pointer is set */
	SAMPLE(1, NOTHING + 1);
	sample_at(1, m.now, NULL, 0);
	m.now += STEP_NS;
	expect("sample m1 p0 g1 f1<f4<f5\n"
	       "sample m1 p0 g1 f1<f2<f4<f5\n"
	       "sample m1 p0 g1 f1<f3<f4<f5\n"
	       "sample m1 p0 g1 f1<f2<f4\n"
	       "sample m1 p0 g1 f1<f4\n"
	       "sample m1 p0 g1 f1\n"
	       "sample m1 p0 g1 -\n");
	expect_no_repair();
}

TEST(broken)
{
	struct {
		struct gt_record rec;
		struct gt_stack stack;
		uint64_t pc[200];
	} r = { .rec = { .time = machine_t0, .tid = 1, .kind = GT_SAMPLE } };

	running(25, "go1.25.3", 3);
	r.stack.depth = 129;
	assert_int_equal(sequencer__record(m.seq, 0, &r.rec, 48 + 129 * 8), -EBADMSG);
	r.stack.depth = 3;
	assert_int_equal(sequencer__record(m.seq, 0, &r.rec, 48 + 4 * 8), -EBADMSG);
	assert_int_equal(sequencer__record(m.seq, 0, &r.rec, 48), -EBADMSG);
	assert_int_equal(sequencer__record(m.seq, 0, &r.rec, 40), -EBADMSG);
}

/* However many different stacks there are, each is written; few are kept. */
TEST(endless_stacks)
{
	uint64_t pc[16] = { 1, 0, 0 };
	size_t memory = 0;

	running(25, "go1.25.3", 3);
	for (unsigned int i = 0; i < 400000; i++) {
		for (unsigned int k = 3; k < 16; k++)
			pc[k] = 1 + (i >> (k - 3)) % 2 * 20 + i % 13 * (k == 9) + i % 17 * (k == 5);
		pc[3] = 1 + i % 40;
		pc[4] = 1 + i / 40 % 40;
		pc[6] = 1 + i / 1600 % 40;
		pc[7] = 1 + i / 64000 % 40;
		sample_at(1, m.now, pc, 16);
		m.now += 10000;
		if (i % 100)
			continue;
		flush();
		assert_int_equal(strncmp(m.writer.text, "sample m1 p0 g1 f1<f", 20), 0);
		forget();
		if (i == 200000)
			memory = intern__memory(m.intern);
	}
	assert_true(memory && intern__memory(m.intern) < memory + (16u << 20));
	assert_true(memory < (90u << 20));
}

TEST(once)
{
	struct once o = {};
	char bytes[1000] = "x";
	unsigned int i;
	size_t len;

	assert_null(once__get(&o, 5, &len));
	once__drop(&o, 5);
	assert_int_equal(once__put(&o, 5, 10, "five", 5), 0);
	assert_int_equal(once__put(&o, 6, 20, "six", 4), 0);
	assert_int_equal(once__put(&o, 7, 30, "", 0), 0);
	assert_string_equal(once__get(&o, 5, &len), "five");
	assert_int_equal(len, 5);
	assert_non_null(once__get(&o, 7, &len));
	assert_int_equal(len, 0);
	assert_int_equal(once__put(&o, 5, 40, "again", 6), 0);
	assert_string_equal(once__get(&o, 5, &len), "again");
	once__drop(&o, 6);
	assert_null(once__get(&o, 6, &len));
	once__expire(&o, 2000000035);
	assert_null(once__get(&o, 7, &len));
	assert_non_null(once__get(&o, 5, &len));
	for (i = 0; !once__put(&o, 100 + i, 50, bytes, sizeof(bytes)); i++)
		;
	assert_in_range(i, 20000, ONCE_BYTES / sizeof(bytes));
	assert_int_equal(once__put(&o, 1, 50, bytes, sizeof(bytes)), -ENOBUFS);
	once__drop(&o, 100);
	assert_int_equal(once__put(&o, 1, 50, bytes, sizeof(bytes)), 0);
	once__expire(&o, UINT64_MAX);
	assert_int_equal(o.bytes, 0);
	assert_null(o.first);
	assert_null(o.last);
	assert_int_equal(once__put(&o, 1, 50, bytes, sizeof(bytes)), 0);
	once__deinit(&o);
}
