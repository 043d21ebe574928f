// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of expanding PCs into frames, as the runtime's own tracer does, with a symbolizer of the
 * test. Under test: sequence/stacks.c and places.c.
 */
#include <malloc.h>

#include "unit/test.h"
#include "format/spec.h"
#include "sequence/stacks.h"

static struct {
	struct intern *in;
	struct stacks *stacks;
	unsigned int calls; /* of the symbolizer */
	uint64_t misses;
	char text[8192];
} f;

enum {
	MAIN = 1,
	LEAF = 2,
	INLINED = 3,
	WRAPPER = 4,
	ELIDES = 5,
	RT_MAIN = 6,
	GOEXIT = 7,
	C = 8,
	PANIC_WRAPPER = 9,
	ASYNC = 10,
	CALLBACK = 11,
	CROSSCALL = 12,
	C_FUNC = 13,
	INTO_C = 14,
	COROUTINE = 15,
	WINDOWS_EVENT = 16,
	GC_WORKER = 17,
};

static int frames(void *ctx, uint64_t pc, struct sym_frame *frame)
{
	static const char *const names[] = {
		[MAIN] = "main.main",
		[LEAF] = "main.leaf",
		[INLINED] = "main.inner",
		[WRAPPER] = "main.(*T).M",
		[ELIDES] = "runtime.gopanic",
		[RT_MAIN] = "runtime.main",
		[GOEXIT] = "runtime.goexit",
		[ASYNC] = "runtime.asyncPreempt2",
		[CALLBACK] = "runtime.cgocallback",
		[CROSSCALL] = "crosscall2",
		[C_FUNC] = "call_go",
		[INTO_C] = "runtime.asmcgocall_landingpad",
		[COROUTINE] = "runtime.corostart",
		[WINDOWS_EVENT] = "runtime.handleAsyncEvent",
		[GC_WORKER] = "runtime.gcBgMarkWorker",
	};

	f.calls++;
	if (pc >= 100) { /* many different ones */
		*frame = (struct sym_frame){
			.pc = pc, .func = "main.deep", .file = "d.go", .line = pc
		};
		return 1;
	}
	if (pc >= sizeof(names) / sizeof(names[0]) || !names[pc])
		return 0;
	*frame = (struct sym_frame){ .pc = pc,
				     .func = names[pc],
				     .file = "x.go",
				     .line = pc,
				     .wrapper = pc == WRAPPER,
				     .elides = pc == ELIDES };
	if (pc != INLINED)
		return 1;
	frame[1] = (struct sym_frame){
		.pc = pc + 50, .func = "main.outer", .file = "x.go", .line = 9
	};
	return 2;
}

static int start_frame(void *ctx, uint64_t pc, struct sym_frame *frame)
{
	return frames(ctx, pc, frame) > 0;
}

static int setup(void **state)
{
	memset(&f, 0, sizeof(f));
	f.in = intern__create();
	f.stacks = stacks__create(f.in, &(struct symbolizer){ &f, frames, start_frame }, false);
	return !f.stacks;
}

static void teardown(void)
{
	stacks__destroy(f.stacks);
	intern__destroy(f.in);
}

FIXTURE(setup, teardown)

/* A STACK record with number, time and hash; `placed` as the probes set it. */
static void add_record(uint32_t number, uint64_t hash, uint64_t time, bool placed,
		       const uint64_t *pc, unsigned int n)
{
	struct {
		struct gt_record rec;
		struct gt_stack s;
		uint64_t pc[GT_STACK_MAX];
	} r = {
		.rec = { .kind = GT_STACK,
			 .tid = 1,
			 .time = time,
			 .object = hash,
			 .stack = number },
		.s = { .depth = n, .placed = placed },
	};

	memcpy(r.pc, pc, n * sizeof(*pc));
	assert_int_equal(stacks__add(f.stacks, &r.rec), 0);
}

static void add(uint32_t hash, const uint64_t *pc, unsigned int n)
{
	add_record(hash, 0, 0, false, pc, n);
}

static const char *names_of(uint32_t id)
{
	size_t n = 0, len, at = 0;
	const struct intern_frame *frame = intern__stack_at(f.in, id, &n);

	f.text[0] = 0;
	for (size_t i = 0; i < n; i++) {
		const char *s = intern__string_at(f.in, frame[i].func, &len);

		at += snprintf(f.text + at, sizeof(f.text) - at, "%s%.*s", i ? " " : "",
			       s ? (int)len : 1, s ? s : "?");
	}
	return f.text;
}

static void expect_stack(uint32_t hash, uint32_t skip, const char *names)
{
	assert_string_equal(names_of(stacks__id(f.stacks, hash, 0, skip, &f.misses)), names);
}

TEST(drops_roots)
{
	add(1, (uint64_t[]){ LEAF, MAIN, RT_MAIN, GOEXIT }, 4);
	expect_stack(1, 0, "main.leaf main.main");
	add(2, (uint64_t[]){ LEAF, GOEXIT }, 2);
	expect_stack(2, 0, "main.leaf");
	add(3, (uint64_t[]){ RT_MAIN, LEAF, MAIN }, 3); /* not a root there */
	expect_stack(3, 0, "runtime.main main.leaf main.main");
	add(4, (uint64_t[]){ RT_MAIN, GOEXIT }, 2);
	assert_int_equal(stacks__id(f.stacks, 4, 0, 0, &f.misses), 0);
}

TEST(expands_inlined)
{
	add(1, (uint64_t[]){ INLINED, MAIN }, 2);
	expect_stack(1, 0, "main.inner main.outer main.main");
	expect_stack(1, 1, "main.outer main.main");
	expect_stack(1, 2, "main.main");
	expect_stack(1, 3, "");
	expect_stack(1, UINT32_MAX, "");
}

/* Frames of C are used if they lead back to Go; no PC is below crosscall2's frame pointer. */
TEST(callbacks_from_c)
{
	add(1, (uint64_t[]){ LEAF, CALLBACK, CROSSCALL, MAIN, C_FUNC, INTO_C, MAIN }, 7);
	expect_stack(1, 0,
		     "main.leaf runtime.cgocallback crosscall2 call_go "
		     "runtime.asmcgocall_landingpad main.main");
	add(2, (uint64_t[]){ LEAF, CALLBACK, CROSSCALL, MAIN, C_FUNC, C_FUNC }, 6);
	expect_stack(2, 0, "main.leaf runtime.cgocallback");
	add(3, (uint64_t[]){ LEAF, CALLBACK, CROSSCALL, MAIN, C, INTO_C }, 6);
	expect_stack(3, 0, "main.leaf runtime.cgocallback"); /* C: no code there */
	add(4, (uint64_t[]){ LEAF, CALLBACK }, 2);
	expect_stack(4, 0, "main.leaf runtime.cgocallback");
	add(5, (uint64_t[]){ CROSSCALL }, 1);
	expect_stack(5, 0, "crosscall2");
}

TEST(hides_wrappers)
{
	add(1, (uint64_t[]){ LEAF, WRAPPER, MAIN }, 3);
	expect_stack(1, 0, "main.leaf main.main");
	expect_stack(1, 1, "main.main"); /* hidden frames do not count */
	add(2, (uint64_t[]){ ELIDES, WRAPPER, MAIN }, 3);
	expect_stack(2, 0, "runtime.gopanic main.(*T).M main.main");
}

/* Up to Go 1.20, for preempted goroutines: see stacks__create(). */
TEST(drops_a_guessed_second)
{
	add(1, (uint64_t[]){ ASYNC, LEAF, MAIN }, 3);
	expect_stack(1, 0, "runtime.asyncPreempt2 main.leaf main.main");
	stacks__destroy(f.stacks);
	f.stacks = stacks__create(f.in, &(struct symbolizer){ &f, frames, start_frame }, true);
	add(1, (uint64_t[]){ ASYNC, LEAF, MAIN }, 3);
	expect_stack(1, 0, "runtime.asyncPreempt2 main.main");
	add(2, (uint64_t[]){ LEAF, MAIN }, 2);
	expect_stack(2, 0, "main.leaf main.main");
	add(3, (uint64_t[]){ LEAF, ASYNC, MAIN }, 3);
	expect_stack(3, 0, "main.leaf runtime.asyncPreempt2 main.main");
}

static unsigned int number(const char *function)
{
	return strcmp(function, "main.outer") ? 0 : 5;
}

TEST(looks_up)
{
	add(1, (uint64_t[]){ LEAF, INLINED, MAIN }, 3);
	add(2, (uint64_t[]){ LEAF, MAIN }, 2);
	assert_int_equal(stacks__lookup(f.stacks, 1, 0, number), 5);
	assert_int_equal(stacks__lookup(f.stacks, 2, 0, number), 0);
	assert_int_equal(stacks__lookup(f.stacks, 3, 0, number), 0);
	assert_int_equal(stacks__lookup(f.stacks, 0, 0, number), 0);
}

/* As in the runtime: neither is code. */
TEST(leaves_out_unknown_pcs)
{
	add(1, (uint64_t[]){ C, MAIN }, 2);
	expect_stack(1, 0, "main.main");
	add(2, (uint64_t[]){ 0, MAIN }, 2);
	expect_stack(2, 0, "main.main");
	add(3, (uint64_t[]){ C }, 1);
	assert_int_equal(stacks__id(f.stacks, 3, 0, 0, &f.misses), 0);
}

TEST(counts_misses)
{
	assert_int_equal(stacks__id(f.stacks, 0, 0, 0, &f.misses), 0);
	assert_int_equal(f.misses, 0);
	assert_int_equal(stacks__id(f.stacks, 77, 0, 0, &f.misses), 0);
	assert_int_equal(f.misses, 1);
	add(77, (uint64_t[]){ MAIN }, 1);
	assert_int_not_equal(stacks__id(f.stacks, 77, 0, 0, &f.misses), 0);
	assert_int_equal(f.misses, 1);
}

TEST(symbolizes_once)
{
	add(1, (uint64_t[]){ LEAF, MAIN }, 2);
	add(2, (uint64_t[]){ MAIN }, 1);
	add(1, (uint64_t[]){ GOEXIT }, 1); /* the same hash again: the first counts */
	for (int i = 0; i < 10; i++) {
		expect_stack(1, 0, "main.leaf main.main");
		expect_stack(2, 0, "main.main");
	}
	assert_int_equal(f.calls, 2);
	assert_int_equal(intern__stacks(f.in), 2);
}

/* More skips than are kept, as in invalid records. */
TEST(many_skips)
{
	add(1, (uint64_t[]){ LEAF, MAIN }, 2);
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t skip = 0; skip < 30; skip++)
			expect_stack(1, skip,
				     skip == 0 ? "main.leaf main.main" :
				     skip == 1 ? "main.main" :
						 "");
}

TEST(deep_stacks)
{
	uint64_t pc[GT_STACK_MAX];
	size_t n;

	for (unsigned int i = 0; i < GT_STACK_MAX; i++)
		pc[i] = 100 + i;
	add(1, pc, GT_STACK_MAX);
	assert_non_null(intern__stack_at(f.in, stacks__id(f.stacks, 1, 0, 0, &f.misses), &n));
	assert_int_equal(n, TRACE_STACK_MAX);
	for (unsigned int i = 0; i < GT_STACK_MAX; i++)
		pc[i] = i % 2 ? INLINED : 100 + i;
	add(2, pc, GT_STACK_MAX);
	assert_non_null(intern__stack_at(f.in, stacks__id(f.stacks, 2, 0, 0, &f.misses), &n));
	assert_int_equal(n, TRACE_STACK_MAX);
}

TEST(start_frames)
{
	uint32_t start = stacks__start(f.stacks, LEAF);

	assert_string_equal(names_of(stacks__start_id(f.stacks, start)), "main.leaf");
	assert_int_equal(stacks__start(f.stacks, LEAF), start);
	assert_int_equal(stacks__start_id(f.stacks, 0), 0);
	assert_int_equal(f.calls, 1);
	assert_int_equal(stacks__start(f.stacks, 0), 0);
	assert_int_equal(stacks__start(f.stacks, C), 0);
}

TEST(start_of_runtime)
{
	static const struct {
		uint64_t pc;
		bool is_runtime;
	} cases[] = { { LEAF, false },		{ RT_MAIN, false },  { COROUTINE, false },
		      { WINDOWS_EVENT, false }, { GC_WORKER, true }, { C, false } };
	uint32_t name;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(
			stacks__start_is_runtime(f.stacks, stacks__start(f.stacks, cases[i].pc)),
			cases[i].is_runtime);
	name = stacks__start_name(f.stacks, stacks__start(f.stacks, LEAF));
	assert_true(name && name == intern__cstring(f.in, "main.leaf"));
	assert_int_equal(stacks__start_name(f.stacks, 0), 0);
}

/* If numbers are the low half of the hash, two stacks may have one number: neither is shown. */
TEST(number_of_two_stacks)
{
	add_record(7, 0x100000007, 10, false, (uint64_t[]){ LEAF, MAIN }, 2);
	expect_stack(7, 0, "main.leaf main.main");
	add_record(7, 0x100000007, 20, false, (uint64_t[]){ LEAF, MAIN }, 2);
	expect_stack(7, 0, "main.leaf main.main");
	assert_int_equal(f.misses, 0);
	add_record(7, 0x200000007, 30, false, (uint64_t[]){ MAIN }, 1);
	expect_stack(7, 0, "");
	add_record(7, 0x100000007, 40, false, (uint64_t[]){ LEAF, MAIN }, 2);
	expect_stack(7, 0, "");
	assert_int_equal(stacks__lookup(f.stacks, 7, 0, number), 0);
	assert_int_equal(f.misses, 2);
}

#define NUMBER(place, changes) GT_STACK_NUMBER(place, changes)
#define SECOND		       1000000000ull

static void expect_at(uint32_t number, uint64_t time, const char *names)
{
	assert_string_equal(names_of(stacks__id(f.stacks, number, time, 0, &f.misses)), names);
}

/* Two stacks of one place: each number means one of them, also in late records. */
TEST(stacks_of_one_place)
{
	add_record(NUMBER(5, 1), 0x10005, 100, true, (uint64_t[]){ LEAF, MAIN }, 2);
	add_record(NUMBER(5, 2), 0x20005, 200, true, (uint64_t[]){ MAIN }, 1);
	add_record(NUMBER(5, 3), 0x10005, 300, true, (uint64_t[]){ LEAF, MAIN }, 2);
	expect_at(NUMBER(5, 1), 150, "main.leaf main.main");
	expect_at(NUMBER(5, 2), 250, "main.main");
	expect_at(NUMBER(5, 3), 350, "main.leaf main.main");
	assert_int_equal(f.calls, 2);
	stacks__expire(f.stacks, 200 + SECOND); /* those of 1 and 2 have one second */
	expect_at(NUMBER(5, 1), 160, "main.leaf main.main");
	stacks__expire(f.stacks, 301 + SECOND);
	expect_at(NUMBER(5, 1), 170, "");
	expect_at(NUMBER(5, 2), 250, "");
	expect_at(NUMBER(5, 3), 350, "main.leaf main.main");
	assert_int_equal(f.misses, 2);
}

/* Why a stack is missing: another one has its place, or its record has not arrived. */
TEST(reasons_of_misses)
{
	expect_at(NUMBER(5, 1), 90, "");
	assert_int_equal(stacks__displaced(f.stacks), 0);
	add_record(NUMBER(5, 2), 0x20005, 200, true, (uint64_t[]){ MAIN }, 1);
	expect_at(NUMBER(5, 1), 210, "");
	assert_int_equal(stacks__displaced(f.stacks), 1);
	expect_at(NUMBER(5, 2), 220, "main.main");
	expect_at(NUMBER(5, 3), 230, "");
	expect_at(NUMBER(6, 1), 230, "");
	assert_int_equal(stacks__displaced(f.stacks), 1);
	add_record(NUMBER(7, 1), 0x10007, 300, true, (uint64_t[]){ LEAF, MAIN }, 2);
	expect_at(NUMBER(7, 0x7fff), 310, ""); /* numbers repeat */
	assert_int_equal(stacks__displaced(f.stacks), 2);
	assert_int_equal(f.misses, 5);
}

/* A number that is reused after all others of its place: before, it meant another stack. */
TEST(number_again)
{
	add_record(NUMBER(5, 1), 0x10005, 100, true, (uint64_t[]){ LEAF, MAIN }, 2);
	add_record(NUMBER(5, 1), 0x20005, 900000, true, (uint64_t[]){ MAIN }, 1);
	expect_at(NUMBER(5, 1), 800000, "");
	expect_at(NUMBER(5, 1), 899999, "main.main"); /* clocks of CPUs differ */
	expect_at(NUMBER(5, 1), 1000000, "main.main");
	assert_int_equal(f.misses, 1);
}

/* Two CPUs at the same time: later records show which one was last. */
TEST(place_in_the_wrong_order)
{
	add_record(NUMBER(5, 2), 0x20005, 100, true, (uint64_t[]){ MAIN }, 1);
	add_record(NUMBER(5, 1), 0x10005, 101, true, (uint64_t[]){ LEAF, MAIN }, 2);
	for (uint64_t time = SECOND / 2; time < 5 * SECOND; time += SECOND / 2) {
		expect_at(NUMBER(5, 2), time, "main.main");
		stacks__expire(f.stacks, time);
	}
	stacks__expire(f.stacks, 10 * SECOND);
	stacks__expire(f.stacks, 11 * SECOND + 1);
	expect_at(NUMBER(5, 2), 11 * SECOND, "");
	expect_at(NUMBER(5, 1), 11 * SECOND, "main.leaf main.main");
}

/* Allocated bytes according to the allocator; not available with AddressSanitizer. */
static size_t allocated(void)
{
	return mallinfo2().uordblks;
}

/* Endless deep stacks, each used once: the memory does not grow. */
TEST(stacks_without_end)
{
	size_t before = allocated(), half = 0;
	uint64_t pc[60], time = 0;

	for (uint32_t i = 0; i < 600000; i++, time += 10000) {
		uint32_t number = NUMBER(i % GT_STACK_PLACES, 1 + i / GT_STACK_PLACES);

		for (unsigned int k = 0; k < 60; k++)
			pc[k] = 100 + (k < 20 ? i >> k & 1 : 0);
		pc[59] = 100 + i % 1000;
		add_record(number, ~(uint64_t)i << 16 | i % GT_STACK_PLACES, time, true, pc, 60);
		assert_int_not_equal(stacks__id(f.stacks, number, time + 1, 0, &f.misses), 0);
		if (i % 16384 == 16383) { /* a generation */
			stacks__expire(f.stacks, time);
			intern__end_generation(f.in);
		}
		if (i == 300000)
			half = allocated();
	}
	assert_int_equal(f.misses, 0);
	assert_true(allocated() < before + (120u << 20));
	assert_true(allocated() < half + (16u << 20));
}

/* A stack stays the same when an epoch ends, and so does a start function. */
TEST(stacks_over_epochs)
{
	uint32_t start = stacks__start(f.stacks, MAIN), epoch;
	struct intern_frame frame[TRACE_STACK_MAX] = {};

	add(1, (uint64_t[]){ LEAF, MAIN }, 2);
	for (int round = 0; round < 3; round++) {
		expect_stack(1, 0, "main.leaf main.main");
		expect_stack(1, 1, "main.main");
		assert_string_equal(names_of(stacks__start_id(f.stacks, start)), "main.main");
		epoch = intern__epoch(f.in);
		for (unsigned int i = 0; intern__new_stack_bytes(f.in) <= INTERN_STACKS_KEPT; i++) {
			frame[0].pc = i; /* other stacks, which get the former ids of these */
			intern__stack(f.in, frame, TRACE_STACK_MAX);
		}
		intern__end_generation(f.in);
		assert_int_equal(intern__epoch(f.in), epoch + 1);
		intern__stack(f.in, frame, 1);
	}
}

/* A program can have any address on its stacks, and any number of start functions. */
TEST(pcs_without_end)
{
	size_t before = allocated();
	uint64_t pc[GT_STACK_MAX];
	uint32_t start = 0;

	for (uint32_t i = 0; i < 16384; i++) {
		for (unsigned int k = 0; k < GT_STACK_MAX; k++)
			pc[k] = 1000 + i * GT_STACK_MAX + k;
		stacks__sample(f.stacks, pc, GT_STACK_MAX);
		intern__end_generation(f.in);
	}
	assert_true(allocated() < before + (64u << 20));
	for (uint32_t i = 0; i < 100000; i++) {
		start = stacks__start(f.stacks, 1000 + i);
		assert_int_equal(start != 0, i < 65536);
	}
	assert_true(allocated() < before + (64u << 20));
}
