// SPDX-License-Identifier: GPL-2.0
/* Tests of the walk of parked goroutines' stacks, on stacks in this program's own memory. */
#include <sys/mman.h>

#include "unit/test.h"
#include "gotrace/record.h"
#include "target/process/parked.h"
#include "target/process/process.h"
#include "target/process/snapshot.h"

#define WORDS 4096

struct fake_g {
	uint64_t stack_lo, stack_hi, m, goid, startpc, parent, sp, pc, bp;
	uint64_t syscallsp, syscallpc, syscallbp;
	uint32_t status;
	uint8_t wait_reason;
	uint64_t end;
};

static const struct layout layout = {
	.config = {
		.g_m = offsetof(struct fake_g, m),
		.g_goid = offsetof(struct fake_g, goid),
		.g_startpc = offsetof(struct fake_g, startpc),
		.g_parent_goid = offsetof(struct fake_g, parent),
		.g_sched = offsetof(struct fake_g, sp),
		.gobuf_pc = 8,
		.gobuf_bp = 16,
		.g_waitreason = offsetof(struct fake_g, wait_reason),
		.g_status = offsetof(struct fake_g, status),
	},
	.g_stack_lo = offsetof(struct fake_g, stack_lo),
	.g_stack_hi = offsetof(struct fake_g, stack_hi),
	.suspend_g_reasons = 1 << 5,
};

static struct process self;
static struct parked parked;
static struct fake_g g[2];
static uint64_t stack[WORDS];

#define ADDR(x) ((uint64_t)(uintptr_t)&(x))

/* A frame at word `at` whose caller's frame is at word `next`; 0: there is none. */
static void frame(unsigned int at, unsigned int next, uint64_t pc)
{
	stack[at] = next ? ADDR(stack[next]) : 0;
	stack[at + 1] = pc;
}

/* Three frames in functions 1, 2 and 3, below the PC 0x100. */
static int begin(void **state)
{
	self.pid = getpid();
	memset(stack, 0, sizeof(stack));
	frame(100, 110, 1);
	frame(110, 1000, 2);
	frame(1000, 0, 3);
	g[0] = (struct fake_g){
		.stack_lo = ADDR(stack[0]),
		.stack_hi = ADDR(stack[WORDS]),
		.goid = 7,
		.sp = ADDR(stack[90]),
		.bp = ADDR(stack[100]),
		.pc = 0x100,
		.status = GS_WAITING,
	};
	g[1] = g[0];
	g[1].goid = 8;
	parked = (struct parked){ .depth = GT_STACK_MAX };
	return 0;
}

static int end(void **state)
{
	parked__deinit(&parked);
	return 0;
}

FIXTURE(begin, end)

static uint32_t context(const struct fake_g *from)
{
	uint64_t addr = (uint64_t)(uintptr_t)from;
	struct go_g go;

	assert_int_equal(go_gs__read(&self, &layout, &addr, 1, &go), 0);
	return parked__context(&layout, &go);
}

/* Reads the stack of g[0]: the place of its depth. NULL: it has none. */
static const uint64_t *read_stack(void)
{
	uint64_t addr = ADDR(g[0]);
	struct go_g go;
	uint32_t place;

	assert_int_equal(go_gs__read(&self, &layout, &addr, 1, &go), 0);
	if (!parked__context(&layout, &go))
		return NULL;
	assert_int_equal(parked__read(&parked, &self, &layout, &addr, &go, 1, &place), 0);
	return place ? parked.words + place - 1 : NULL;
}

TEST(frames)
{
	static const uint64_t whole[] = { 4, 0x100, 1, 2, 3 };
	const uint64_t *words = read_stack();

	assert_non_null(words);
	assert_memory_equal(words, whole, sizeof(whole));
	assert_int_equal(parked.n, 5);
}

/* Equal stacks are stored once, whatever goroutine has them. */
TEST(equal_stacks)
{
	uint64_t addr[] = { ADDR(g[0]), ADDR(g[1]) };
	struct go_g go[2];
	uint32_t place[2];

	assert_int_equal(go_gs__read(&self, &layout, addr, 2, go), 0);
	assert_int_equal(parked__read(&parked, &self, &layout, addr, go, 2, place), 0);
	assert_int_equal(place[0], 1);
	assert_int_equal(place[1], 1);
	g[1].pc = 0x101;
	assert_int_equal(go_gs__read(&self, &layout, addr, 2, go), 0);
	assert_int_equal(parked__read(&parked, &self, &layout, addr, go, 2, place), 0);
	assert_int_equal(place[0], 1);
	assert_int_equal(place[1], 6);
}

/* Only the goroutine that waits where it did has the stack that was read. */
TEST(changed_meanwhile)
{
	static const size_t words[] = {
		offsetof(struct fake_g, stack_lo), offsetof(struct fake_g, stack_hi),
		offsetof(struct fake_g, goid),	   offsetof(struct fake_g, sp),
		offsetof(struct fake_g, bp),	   offsetof(struct fake_g, pc)
	};
	uint64_t addr = ADDR(g[0]), word;
	struct go_g go;
	uint32_t place;

	assert_int_equal(go_gs__read(&self, &layout, &addr, 1, &go), 0);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		memcpy(&word, (char *)&g[0] + words[i], sizeof(word));
		word -= 8;
		memcpy((char *)&g[0] + words[i], &word, sizeof(word));
		assert_int_equal(parked__read(&parked, &self, &layout, &addr, &go, 1, &place), 0);
		assert_int_equal(place, 0);
		word += 8;
		memcpy((char *)&g[0] + words[i], &word, sizeof(word));
	}
	g[0].status = GS_RUNNABLE;
	assert_int_equal(parked__read(&parked, &self, &layout, &addr, &go, 1, &place), 0);
	assert_int_equal(place, 0);
	g[0].status = GS_WAITING | GS_SCAN;
	assert_int_equal(parked__read(&parked, &self, &layout, &addr, &go, 1, &place), 0);
	assert_int_equal(place, 1);
}

TEST(who_is_parked)
{
	struct layout newer = layout;
	uint64_t addr = ADDR(g[0]);
	struct go_g go;

	assert_int_not_equal(context(&g[0]), 0);
	assert_int_not_equal(context(&g[0]), context(&g[1]));
	g[0].wait_reason = 5; /* waits in name only: it runs */
	assert_int_equal(context(&g[0]), 0);
	g[0].wait_reason = 200;
	assert_int_not_equal(context(&g[0]), 0);
	g[0].status = GS_RUNNING;
	assert_int_equal(context(&g[0]), 0);
	g[0].status = GS_SYSCALL;
	g[0].syscallsp = g[0].sp;
	g[0].syscallpc = 0x200;
	g[0].syscallbp = g[0].bp;
	g[0].sp = g[0].bp = 0; /* of a call of C */
	assert_int_equal(context(&g[0]), 0);
	newer.derives_syscalls = true;
	assert_int_equal(go_gs__read(&self, &newer, &addr, 1, &go), 0);
	assert_int_not_equal(parked__context(&newer, &go), 0);
	assert_int_equal(go.pc, 0x200);
}

/* What is no stack is not read. */
TEST(invalid_stacks)
{
	const struct {
		size_t member;
		uint64_t value;
	} bad[] = {
		{ offsetof(struct fake_g, stack_lo), 0 },
		{ offsetof(struct fake_g, stack_lo), ADDR(stack[100]) },
		{ offsetof(struct fake_g, stack_lo), ADDR(stack[WORDS]) },
		{ offsetof(struct fake_g, stack_hi), ADDR(stack[95]) },
		{ offsetof(struct fake_g, stack_hi), ADDR(stack[WORDS]) + 4 },
		{ offsetof(struct fake_g, stack_hi), ADDR(stack[0]) + (UINT64_C(1) << 31) + 8 },
		{ offsetof(struct fake_g, stack_hi), UINT64_MAX - 7 },
		{ offsetof(struct fake_g, stack_hi), 1ull << 47 },
		{ offsetof(struct fake_g, stack_hi), 8 },
		{ offsetof(struct fake_g, sp), 0 },
		{ offsetof(struct fake_g, sp), ADDR(stack[101]) },
		{ offsetof(struct fake_g, sp), ADDR(stack[WORDS]) },
		{ offsetof(struct fake_g, bp), 0 },
		{ offsetof(struct fake_g, bp), ADDR(stack[89]) },
		{ offsetof(struct fake_g, bp), ADDR(stack[100]) + 1 },
		{ offsetof(struct fake_g, bp), ADDR(stack[WORDS - 1]) },
		{ offsetof(struct fake_g, bp), UINT64_MAX - 7 },
		{ offsetof(struct fake_g, pc), 0 },
		{ offsetof(struct fake_g, pc), 0xffffffff81000000 },
		{ offsetof(struct fake_g, goid), 0 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin(NULL);
		memcpy((char *)&g[0] + bad[i].member, &bad[i].value, sizeof(bad[i].value));
		assert_int_equal(context(&g[0]), 0);
	}
}

/* A walk that does not reach the end of the stack yields no stack. */
TEST(invalid_frames)
{
	const uint64_t bad[] = {
		ADDR(stack[110]),     /* a cycle of one frame */
		ADDR(stack[100]),     /* of two */
		ADDR(stack[111]),     /* overlaps */
		ADDR(stack[120]) + 4, /* not aligned */
		ADDR(stack[50]),      /* below the stack pointer */
		ADDR(stack[WORDS - 1]), ADDR(stack[WORDS]), 0x10,
		0xffffffff81000000, /* of the kernel */
		UINT64_MAX - 7,		UINT64_MAX,
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		stack[110] = bad[i];
		assert_null(read_stack());
	}
	frame(110, 1000, 0);
	assert_null(read_stack());
	frame(110, 1000, 1ull << 47);
	assert_null(read_stack());
	frame(110, 1000, (1ull << 47) - 1);
	assert_non_null(read_stack());
	assert_int_equal(parked.n, 5);
}

/* The last frame may be at the upper bound of the stack. */
TEST(last_frame)
{
	frame(110, WORDS - 2, 2);
	frame(WORDS - 2, 0, 9);
	assert_int_equal(read_stack()[4], 9);
	g[0].bp = ADDR(stack[WORDS - 2]);
	assert_int_equal(read_stack()[0], 2);
}

/* Frames far from each other are read through a window each; a frame may be across its end. */
TEST(far_frames)
{
	unsigned int at = 100, n = 0;

	for (unsigned int next; at < WORDS - 700; at = next, n++) {
		next = at + 509 + n % 5;
		frame(at, next, 0x1000 + n);
	}
	frame(at, 0, 0x2000);
	assert_int_equal(read_stack()[0], n + 2);
	assert_int_equal(read_stack()[n + 1], 0x1000 + n - 1);
	assert_int_equal(read_stack()[n + 2], 0x2000);
}

static void deep(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		frame(100 + 2 * i, i + 1 < n ? 102 + 2 * i : 0, 0x1000 + i);
}

/* With the limit of frames, a stack is whole or cut. */
TEST(deep_stacks)
{
	deep(GT_STACK_MAX - 1);
	assert_int_equal(read_stack()[0], GT_STACK_MAX);
	deep(GT_STACK_MAX);
	assert_int_equal(read_stack()[0], GT_STACK_MAX | SNAPSHOT_STACK_CUT);
	deep(1000);
	assert_int_equal(read_stack()[0], GT_STACK_MAX | SNAPSHOT_STACK_CUT);
	assert_int_equal(read_stack()[GT_STACK_MAX], 0x1000 + GT_STACK_MAX - 2);
	parked.depth = 2;
	assert_int_equal(read_stack()[0], 2 | SNAPSHOT_STACK_CUT);
	parked.depth = 1;
	assert_int_equal(read_stack()[0], 1 | SNAPSHOT_STACK_CUT);
}

/* Memory that cannot be read: of one goroutine, or of a frame further up. */
TEST(unreadable)
{
	uint64_t *pages =
		mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t addr[] = { ADDR(g[1]), ADDR(g[0]) };
	struct go_g go[2];
	uint32_t place[2];

	assert_ptr_not_equal(pages, MAP_FAILED);
	g[1].stack_lo = g[1].sp = (uint64_t)(uintptr_t)pages;
	g[1].stack_hi = g[1].stack_lo + 5 * 4096;
	g[1].bp = g[1].stack_lo + 16;
	pages[2] = (uint64_t)(uintptr_t)&pages[4 * 512];
	pages[3] = 5;
	pages[4 * 512 + 1] = 6;
	assert_int_equal(go_gs__read(&self, &layout, addr, 2, go), 0);
	assert_int_equal(parked__read(&parked, &self, &layout, addr, go, 2, place), 0);
	assert_int_equal(parked.words[place[0] - 1], 3);
	assert_int_equal(mprotect(&pages[4 * 512], 4096, PROT_NONE), 0);
	assert_int_equal(parked__read(&parked, &self, &layout, addr, go, 2, place), 0);
	assert_int_equal(place[0], 0);
	assert_int_equal(parked.words[place[1] - 1], 4);
	assert_int_equal(mprotect(pages, 4096, PROT_NONE), 0);
	assert_int_equal(parked__read(&parked, &self, &layout, addr, go, 2, place), 0);
	assert_int_equal(place[0], 0);
	assert_int_equal(parked.words[place[1] - 1], 4);
	munmap(pages, 5 * 4096);
}

/* Different stacks are stored up to the limit; the others are counted. */
TEST(too_many)
{
	uint64_t n = 0;

	deep(GT_STACK_MAX - 1);
	for (; n < PARKED_WORDS_MAX / (GT_STACK_MAX + 1); n++) {
		g[0].pc = 0x100000 + n;
		assert_non_null(read_stack());
	}
	assert_int_equal(parked.left_out, 0);
	g[0].pc = 0x100000 + n;
	assert_null(read_stack());
	assert_int_equal(parked.left_out, 1);
	g[0].pc = 0x100000;
	assert_non_null(read_stack());
	assert_true(parked.n <= PARKED_WORDS_MAX);
}

/* A snapshot has the stacks of goroutines that wait; a second one those of goroutines that moved. */
TEST(of_a_snapshot)
{
	struct {
		uint64_t allglen, allgptr, slice[3], allm;
		uint32_t gomaxprocs;
	} rt = { .allglen = 2 };
	uint64_t gs[] = { ADDR(g[0]), ADDR(g[1]) };
	struct layout l = layout;
	struct snapshot_reading how = { .stack_depth = 64 };
	struct snapshot first, second;
	const uint64_t *pc;
	uint32_t depth;
	bool cut;

	rt.allgptr = ADDR(gs);
	l.allglen = ADDR(rt.allglen);
	l.allgptr = ADDR(rt.allgptr);
	l.allp = ADDR(rt.slice);
	l.allm = ADDR(rt.allm);
	l.gomaxprocs = ADDR(rt.gomaxprocs);
	g[1].status = GS_RUNNING;
	assert_int_equal(snapshot__read(&self, &l, &how, &first), 0);
	assert_int_equal(first.ng, 2);
	pc = snapshot__stack(&first, &first.g[0], &depth, &cut);
	assert_non_null(pc);
	assert_int_equal(depth, 4);
	assert_false(cut);
	assert_int_equal(pc[3], 3);
	assert_null(snapshot__stack(&first, &first.g[1], &depth, &cut));
	how.before = &first;
	assert_int_equal(snapshot__read(&self, &l, &how, &second), 0);
	assert_int_equal(second.ng, 0);
	snapshot__deinit(&second);
	g[0].bp = ADDR(stack[110]);
	assert_int_equal(snapshot__read(&self, &l, &how, &second), 0);
	assert_int_equal(second.ng, 1);
	assert_non_null(snapshot__stack(&second, &second.g[0], &depth, &cut));
	assert_int_equal(depth, 3);
	snapshot__deinit(&second);
	snapshot__deinit(&first);
	how = (struct snapshot_reading){};
	assert_int_equal(snapshot__read(&self, &l, &how, &first), 0);
	assert_null(snapshot__stack(&first, &first.g[0], &depth, &cut));
	snapshot__deinit(&first);
}

/* Raw files contain any table of stacks. */
TEST(invalid_tables)
{
	uint64_t words[] = { 1, 0x10, 2, 0x20, 0x21, 0, GT_STACK_MAX + 1, 3, 0, 0 };
	const struct snapshot snap = { .stacks = words,
				       .nstacks = sizeof(words) / sizeof(words[0]) };
	const uint32_t bad[] = { 0, 6, 7, 8, 10, 11, UINT32_MAX };
	uint32_t depth;
	size_t at = 0;
	bool cut;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_null(snapshot__stack(&snap, &(struct snapshot_g){ .stack = bad[i] }, &depth,
					    &cut));
	assert_ptr_equal(snapshot__stack(&snap, &(struct snapshot_g){ .stack = 3 }, &depth, &cut),
			 words + 3);
	assert_ptr_equal(snapshot__next_stack(&snap, &at, &depth, &cut), words + 1);
	assert_ptr_equal(snapshot__next_stack(&snap, &at, &depth, &cut), words + 3);
	assert_null(snapshot__next_stack(&snap, &at, &depth, &cut));
}
