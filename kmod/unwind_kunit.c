// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of unwind.c with constructed stacks, random data and user memory, against a simple
 * reference walk. The expected hashes were computed independently of both.
 */
#include <kunit/test.h>
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "random_kunit.h"
#include "unwind.h"

#define WORDS 512u
#define AT    0xc000100000ull /* pretended address of the stacks */
#define END   (AT + WORDS * 8)

struct stack {
	u64 word[WORDS];
	u64 at; /* of word[0] */
	u64 pcs[GT_STACK_MAX], plain[GT_STACK_MAX];
};

static struct stack *stack__create(struct kunit *test)
{
	struct stack *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->at = AT;
	return s;
}

/* Frame `i` of `n`, at s->at + i * 32: its PC is 0x1000 * (i + 1), its next the one above. */
static void stack__frames(struct stack *s, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		s->word[i * 4] = i + 1 < n ? s->at + (i + 1) * 32 : 0;
		s->word[i * 4 + 1] = 0x1000 * (i + 1);
	}
}

/* The hash of PCs, computed in the simplest way. */
static u64 plain__hash(const u64 *pcs, u32 n)
{
	u64 hash = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		hash ^= pcs[i];
		hash *= 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return hash % (1ull << 56) + ((u64)n << 56);
}

/* The reference walk, of a copy within the bounds of w. Returns the hash. */
static u64 plain__walk(struct stack *s, const struct gt_unwind *w, u32 depth, u32 *ret_n,
		       u32 *ret_cut)
{
	u64 fp = w->fp, next, pc;
	u32 n = 0, frames;

	s->plain[n++] = w->pc;
	if (w->second)
		s->plain[n++] = w->second;
	*ret_cut = 1;
	for (frames = 0; n < depth; frames++) {
		if (fp % 8 || fp < s->at || fp - s->at > sizeof(s->word) - 16) {
			*ret_cut = !frames;
			break;
		}
		next = s->word[(fp - s->at) / 8];
		pc = s->word[(fp - s->at) / 8 + 1];
		if (pc)
			s->plain[n++] = pc;
		if (!pc || next <= fp) {
			*ret_cut = 0;
			break;
		}
		fp = next;
	}
	*ret_n = n;
	return plain__hash(s->plain, n);
}

/* Both forms of the call have the same result. Returns the number of PCs. */
static u32 walk(struct kunit *test, struct stack *s, struct gt_unwind *w, u32 depth)
{
	struct gt_unwind other = *w;
	const size_t size = sizeof(s->word);
	u64 hash = unwind__copy(w, depth, s->pcs, s->word, s->at, size);

	KUNIT_ASSERT_EQ(test, hash, plain__hash(s->pcs, w->n));
	KUNIT_ASSERT_EQ(test, hash, unwind__copy(&other, depth, NULL, s->word, s->at, size));
	KUNIT_ASSERT_EQ(test, w->n, other.n);
	KUNIT_ASSERT_EQ(test, w->cut, other.cut);
	return w->n;
}

static void expect_walk(struct kunit *test, struct stack *s, struct gt_unwind *w, u32 depth, u32 n,
			u32 cut)
{
	KUNIT_EXPECT_EQ(test, walk(test, s, w, depth), n);
	KUNIT_EXPECT_EQ(test, w->cut, cut);
}

#define EXPECT_WALK(w_, depth_, n_, cut_) expect_walk(test, s, &(w_), depth_, n_, cut_)

static void short_chains(struct kunit *test)
{
	struct stack *s = stack__create(test);
	u32 n, i;

	for (n = 1; n <= 20; n++) {
		struct gt_unwind w = { .pc = 0x77, .fp = AT };

		stack__frames(s, n);
		EXPECT_WALK(w, 128, 1 + n, 0);
		KUNIT_EXPECT_EQ(test, s->pcs[0], 0x77);
		for (i = 0; i < n; i++)
			KUNIT_EXPECT_EQ(test, s->pcs[1 + i], 0x1000 * (i + 1));
	}
}

/* Without frames the stack is cut, as in bpf/stack.bpf.h, because no end was seen. */
static void no_frame(struct kunit *test)
{
	struct stack *s = stack__create(test);
	struct gt_unwind w = { .pc = 0x77 }, second = { .pc = 0x77, .second = 0x88 };

	EXPECT_WALK(w, 128, 1, 1);
	EXPECT_WALK(second, 128, 2, 1);
	KUNIT_EXPECT_EQ(test, s->pcs[1], 0x88);
}

static void zero_pc_ends(struct kunit *test)
{
	struct stack *s = stack__create(test);
	struct gt_unwind w = { .pc = 0x77, .fp = AT };

	stack__frames(s, 5);
	s->word[3 * 4 + 1] = 0;
	EXPECT_WALK(w, 128, 4, 0);
	s->word[1] = 0;
	EXPECT_WALK(w, 128, 1, 0);
}

static void cyclic(struct kunit *test)
{
	struct stack *s = stack__create(test);
	struct gt_unwind w = { .pc = 0x77, .fp = AT };

	stack__frames(s, 5);
	s->word[4 * 4] = AT;
	EXPECT_WALK(w, 128, 6, 0);
	s->word[2 * 4] = AT + 2 * 32; /* itself */
	EXPECT_WALK(w, 128, 4, 0);
}

static void descending(struct kunit *test)
{
	struct stack *s = stack__create(test);
	struct gt_unwind w = { .pc = 0x77, .fp = AT + 4 * 32 };
	u32 i;

	for (i = 0; i < 5; i++) {
		s->word[i * 4] = i ? AT + (i - 1) * 32 : 0;
		s->word[i * 4 + 1] = 0x1000;
	}
	EXPECT_WALK(w, 128, 2, 0);
}

static void unaligned(struct kunit *test)
{
	struct stack *s = stack__create(test);
	u32 by;

	for (by = 1; by < 8; by++) {
		struct gt_unwind w = { .pc = 0x77, .fp = AT };
		struct gt_unwind first = { .pc = 0x77, .fp = AT + by };

		stack__frames(s, 5);
		s->word[2 * 4] += by;
		EXPECT_WALK(w, 128, 4, 0);
		EXPECT_WALK(first, 128, 1, 1);
	}
}

static void out_of_stack(struct kunit *test)
{
	static const u64 places[] = { END,
				      END - 8,
				      END + 8,
				      END + 4096,
				      AT + (1ull << 32),
				      1ull << 47,
				      1ull << 63,
				      0xffffffff81000000ull,
				      ~0ull - 7,
				      ~0ull - 15 };
	struct stack *s = stack__create(test);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		struct gt_unwind w = { .pc = 0x77, .fp = AT };
		struct gt_unwind first = { .pc = 0x77, .fp = places[i] };

		stack__frames(s, 5);
		s->word[2 * 4] = places[i];
		EXPECT_WALK(w, 128, 4, 0);
		EXPECT_WALK(first, 128, 1, 1);
	}
}

/* The last position of a frame is used, the one before the first is not. */
static void at_the_edges(struct kunit *test)
{
	struct stack *s = stack__create(test);
	struct gt_unwind w = { .pc = 0x77, .fp = AT }, below = { .pc = 0x77, .fp = AT - 8 };

	s->word[0] = END - 16;
	s->word[1] = 0x1000;
	s->word[WORDS - 2] = END;
	s->word[WORDS - 1] = 0x2000;
	EXPECT_WALK(w, 128, 3, 0);
	EXPECT_WALK(below, 128, 1, 1);
}

static void bounds(struct kunit *test)
{
	struct stack *s = stack__create(test);
	const struct {
		u64 lo, hi;
		u32 n;
	} of[] = {
		{ AT, END, 6 },
		{ 0, ~0ull, 6 },
		{ AT, AT + 3 * 32, 4 },
		{ AT, AT + 2 * 32 + 16, 4 },
		{ AT, AT + 2 * 32 + 15, 3 },
		{ AT, AT + 16, 2 },
		{ AT - 64, AT + 17, 2 },
		{ AT, AT + 15, 1 },
		{ AT, AT, 1 },
		{ AT + 8, END, 1 },
		{ END, AT, 1 },
		{ 0, 1, 1 },
		{ 0, 16, 1 },
		{ ~0ull, ~0ull, 1 },
		{ ~0ull - 15, ~0ull, 1 },
		{ END, END + 4096, 1 },
	};
	u32 i;

	stack__frames(s, 5);
	for (i = 0; i < ARRAY_SIZE(of); i++) {
		struct gt_unwind w = { .pc = 0x77, .fp = AT, .lo = of[i].lo, .hi = of[i].hi };

		EXPECT_WALK(w, 128, of[i].n, of[i].n == 1);
	}
}

static void depth_limits(struct kunit *test)
{
	struct stack *s = stack__create(test);
	u32 second, depth, n;

	stack__frames(s, WORDS / 4); /* 128: with the first PC one more than allowed */
	for (second = 0; second < 2; second++) {
		for (depth = 0; depth <= 130; depth++) {
			struct gt_unwind w = { .pc = 0x77, .second = second, .fp = AT };

			n = clamp(depth, 1 + second, (u32)GT_STACK_MAX);
			EXPECT_WALK(w, depth, n, 1);
			if (n > 1 + second)
				KUNIT_EXPECT_EQ(test, s->pcs[n - 1], 0x1000 * (n - 1 - second));
			else
				KUNIT_EXPECT_EQ(test, s->pcs[n - 1], second ?: 0x77);
		}
	}
}

/* The limit and the end coincide: the end was seen. */
static void ends_at_limit(struct kunit *test)
{
	struct stack *s = stack__create(test);
	u32 n;

	for (n = 1; n < GT_STACK_MAX; n++) {
		struct gt_unwind w = { .pc = 0x77, .fp = AT };

		stack__frames(s, n);
		EXPECT_WALK(w, n + 1, n + 1, 0);
		EXPECT_WALK(w, n, n, 1);
	}
}

/* Computed from the PCs by a few lines of Python. */
static void hash_vectors(struct kunit *test)
{
	static const struct {
		u64 pc, second;
		u32 frames;
		u64 hash;
	} vectors[] = {
		{ 0x1, 0x0, 0, 0x013779bd8ef1b1deull },
		{ 0x77, 0x0, 0, 0x01c9953e75d30412ull },
		{ 0x77, 0x88, 0, 0x02165ac2dbbf2ebeull },
		{ 0x45f2a0, 0x0, 1, 0x0294f182ac028db1ull },
		{ 0x45f2a0, 0x45f2c3, 3, 0x05d3b95a13227fecull },
		{ 0x7f1234567890, 0x0, 20, 0x15506845b6341bf4ull },
		{ ~0ull, ~0ull, 1, 0x036adbfb8ab7af87ull },
		{ 0x401000, 0x0, 127, 0x8022109a1e5ac618ull },
		{ 0x401000, 0x1, 126, 0x808e1b849a909ba0ull },
	};
	struct stack *s = stack__create(test);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		struct gt_unwind w = { .pc = vectors[i].pc, .second = vectors[i].second };

		if (vectors[i].frames) {
			w.fp = AT;
			stack__frames(s, vectors[i].frames);
		}
		KUNIT_EXPECT_EQ(test, unwind__copy(&w, 128, NULL, s->word, AT, sizeof(s->word)),
				vectors[i].hash);
	}
}

/* Words that often form a chain: pointers into it that are slightly wrong, and zeroes. */
static void stack__nonsense(struct stack *s, u64 *seed)
{
	u32 i, kind;

	for (i = 0; i < WORDS; i++) {
		kind = random__below(seed, 64);
		if (kind < 58)
			s->word[i] = s->at + i * 8 + 8 * random__below(seed, 12);
		else if (kind < 61)
			s->word[i] = s->at + random__below(seed, sizeof(s->word) + 64) - 32;
		else if (kind == 61)
			s->word[i] = 0;
		else
			s->word[i] = (u64)random__below(seed, ~0u) << 32 | random__below(seed, ~0u);
	}
}

static void nonsense(struct kunit *test)
{
	struct stack *s = stack__create(test);
	u32 round, n, cut, depth, deepest = 0;
	u64 seed = 5, hash;

	for (round = 0; round < 20000; round++) {
		struct gt_unwind w = { .pc = 1 + random__below(&seed, 1000),
				       .second = random__below(&seed, 2) };

		if (round % 16 == 0)
			stack__nonsense(s, &seed);
		w.fp = AT + 8 * random__below(&seed, WORDS);
		depth = 1 + random__below(&seed, GT_STACK_MAX);
		hash = plain__walk(s, &w, depth, &n, &cut);
		EXPECT_WALK(w, depth, n, cut);
		KUNIT_ASSERT_EQ(test, plain__hash(s->pcs, w.n), hash);
		KUNIT_ASSERT_MEMEQ(test, s->pcs, s->plain, n * 8);
		deepest = max(deepest, n);
	}
	KUNIT_EXPECT_GT(test, deepest, 40);
}

/* A kernel thread has no user memory. */
static void without_memory(struct kunit *test)
{
	struct stack *s = stack__create(test);
	struct gt_unwind w = { .pc = 0x77, .second = 0x88, .fp = (unsigned long)s->word };

	KUNIT_ASSERT_NULL(test, current->mm);
	KUNIT_EXPECT_EQ(test, unwind__user(&w, 128, s->pcs), plain__hash((u64[]){ 0x77, 0x88 }, 2));
	KUNIT_EXPECT_EQ(test, w.n, 2);
	KUNIT_EXPECT_EQ(test, w.cut, 1);
}

#define USER_PAGES 3

/* User memory of the test's own thread: the stack's words, between pages that are absent. */
static u64 user__stack(struct kunit *test, struct stack *s)
{
	u64 at = kunit_vm_mmap(test, NULL, 0, USER_PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
			       MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_NE(test, at, 0);
	KUNIT_ASSERT_LT(test, at, TASK_SIZE);
	s->at = at + PAGE_SIZE;
	return at;
}

static void user__put(struct kunit *test, const struct stack *s)
{
	BUILD_BUG_ON(sizeof(s->word) > PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)s->at, s->word, sizeof(s->word)), 0);
}

/* unwind__user() has the same result as unwind__copy(), in both forms. */
static void user__same(struct kunit *test, struct stack *s, const struct gt_unwind *from, u32 depth)
{
	struct gt_unwind w = *from, copy = *from, bare = *from;
	u64 hash = unwind__copy(&copy, depth, s->plain, s->word, s->at, sizeof(s->word));

	KUNIT_ASSERT_EQ(test, unwind__user(&w, depth, s->pcs), hash);
	KUNIT_ASSERT_EQ(test, w.n, copy.n);
	KUNIT_ASSERT_EQ(test, w.cut, copy.cut);
	KUNIT_ASSERT_MEMEQ(test, s->pcs, s->plain, w.n * 8);
	KUNIT_ASSERT_EQ(test, unwind__user(&bare, depth, NULL), hash);
	KUNIT_ASSERT_EQ(test, bare.n, copy.n);
	KUNIT_ASSERT_EQ(test, bare.cut, copy.cut);
}

static void user_memory(struct kunit *test)
{
	struct stack *s = stack__create(test);
	u64 seed = 9;
	u32 i;

	user__stack(test, s);
	for (i = 0; i < 2000; i++) {
		struct gt_unwind w = { .pc = 0x77, .fp = s->at + 8 * random__below(&seed, WORDS) };

		if (i % 8 == 0) {
			stack__nonsense(s, &seed);
			user__put(test, s);
		}
		if (i % 2) {
			w.lo = s->at;
			w.hi = s->at + sizeof(s->word);
		}
		user__same(test, s, &w, 1 + random__below(&seed, GT_STACK_MAX));
	}
}

/* Absent memory ends the walk; it is not faulted in. */
static void pages_not_there(struct kunit *test)
{
	struct stack *s = stack__create(test);
	u64 at = user__stack(test, s);
	const u64 places[] = { at,
			       at + PAGE_SIZE - 16,
			       at + 2 * PAGE_SIZE,
			       at + 3 * PAGE_SIZE - 16,
			       s->at - 8,
			       0,
			       8,
			       4096,
			       TASK_SIZE - 16,
			       TASK_SIZE - 8,
			       TASK_SIZE,
			       (unsigned long)s->word,
			       1ull << 63,
			       ~0ull - 7 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		struct gt_unwind w = { .pc = 0x77, .fp = s->at };
		struct gt_unwind first = { .pc = 0x77, .fp = places[i] };
		struct gt_unwind bounded = { .pc = 0x77, .fp = places[i], .lo = 8, .hi = ~0ull };

		stack__frames(s, 5);
		s->word[2 * 4] = places[i];
		user__put(test, s);
		KUNIT_EXPECT_EQ(test, unwind__user(&w, 128, s->pcs), plain__hash(s->pcs, 4));
		KUNIT_EXPECT_EQ(test, w.cut, 0);
		unwind__user(&first, 128, s->pcs);
		KUNIT_EXPECT_EQ(test, first.n, 1);
		KUNIT_EXPECT_EQ(test, first.cut, 1);
		unwind__user(&bounded, 128, s->pcs);
		KUNIT_EXPECT_EQ(test, bounded.n, 1);
		KUNIT_EXPECT_EQ(test, bounded.cut, 1);
	}
}

static struct kunit_case unwind_cases[] = {
	KUNIT_CASE(short_chains),
	KUNIT_CASE(no_frame),
	KUNIT_CASE(zero_pc_ends),
	KUNIT_CASE(cyclic),
	KUNIT_CASE(descending),
	KUNIT_CASE(unaligned),
	KUNIT_CASE(out_of_stack),
	KUNIT_CASE(at_the_edges),
	KUNIT_CASE(bounds),
	KUNIT_CASE(depth_limits),
	KUNIT_CASE(ends_at_limit),
	KUNIT_CASE(hash_vectors),
	KUNIT_CASE(nonsense),
	KUNIT_CASE(without_memory),
	KUNIT_CASE(user_memory),
	KUNIT_CASE(pages_not_there),
	{},
};

static struct kunit_suite unwind_suite = {
	.name = "gotrace_unwind",
	.test_cases = unwind_cases,
};

kunit_test_suite(unwind_suite);
