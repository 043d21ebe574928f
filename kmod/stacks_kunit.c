// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of stacks.c, with a reader that follows include/gotrace/uapi.h. A stack of the tests is
 * made from a number, which determines its hash and PCs.
 */
#include <kunit/test.h>

#include "gotrace/module.h"
#include "random_kunit.h"
#include "stacks.h"

#define WORDS  4096u /* smaller than in a session: more epochs */
#define HEADER ((u32)(sizeof(struct gt_stack_entry) / 8))

struct memory {
	struct stack_table table;
	u64 state, lost;
	u64 pcs[GT_STACK_MAX];
};

static void *zalloc(struct kunit *test, size_t size)
{
	void *p = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	return p;
}

static struct memory *memory__create(struct kunit *test, u32 words)
{
	struct memory *m = zalloc(test, sizeof(*m));

	m->table = (struct stack_table){
		.state = &m->state,
		.lost = &m->lost,
		.index = zalloc(test, stacks__slots(words) * sizeof(u64)),
		.half = { zalloc(test, words * sizeof(u64)), zalloc(test, words * sizeof(u64)) },
		.words = words,
		.slots = stacks__slots(words),
	};
	return m;
}

/* The hash of stack `number` of this depth. */
static u64 hash_of(u64 number, u32 depth)
{
	u64 hash = (number + 1) * 0x9e3779b97f4a7c15ull;

	return (hash ^ hash >> 29) % (1ull << 56) + ((u64)depth << 56);
}

static u32 intern(struct memory *m, u64 number, u32 depth)
{
	u32 i;

	for (i = 0; i < depth; i++)
		m->pcs[i] = number * 1000 + i;
	return stacks__intern(&m->table, hash_of(number, depth), m->pcs, depth, number % 2);
}

/* The entry of an id; NULL: overwritten, or never existed. */
static const struct gt_stack_entry *entry_of(const struct memory *m, u32 id)
{
	const struct gt_stack_entry *entry;
	u32 word = GT_STACK_ID_WORD(id);

	if (!id || word > m->table.words - HEADER)
		return NULL;
	entry = (const void *)(m->table.half[GT_STACK_ID_EPOCH(id) & 1] + word);
	if ((u8)entry->epoch != GT_STACK_ID_EPOCH(id) || !entry->depth ||
	    entry->depth > m->table.words - HEADER - word)
		return NULL;
	return entry;
}

static bool is_stack(const struct gt_stack_entry *entry, u64 number, u32 depth)
{
	u32 i;

	if (!entry || entry->hash != hash_of(number, depth) || entry->depth != depth ||
	    entry->cut != number % 2)
		return false;
	for (i = 0; i < depth; i++)
		if (entry->pc[i] != number * 1000 + i)
			return false;
	return true;
}

/* Walks the half of an epoch, the newest or the one before. Returns the number of its entries. */
static u32 count_entries(struct kunit *test, const struct memory *m, u32 epoch)
{
	u32 word = 0, n = 0, end = m->state >> 32 == epoch ? (u32)m->state : m->table.words;
	const struct gt_stack_entry *entry;

	for (; word + HEADER <= end; word += HEADER + entry->depth, n++) {
		entry = (const void *)(m->table.half[epoch & 1] + word);
		if (entry->epoch != epoch || !entry->depth)
			break;
		KUNIT_ASSERT_LE(test, word + HEADER + entry->depth, end);
		KUNIT_ASSERT_EQ(test, entry->depth, entry->hash >> 56);
	}
	return n;
}

static u32 epoch_of(const struct memory *m)
{
	return m->state >> 32;
}

/* Adds stacks of this depth from `number` on until a half is full. Returns the next number. */
static u64 fill(struct kunit *test, struct memory *m, u64 number, u32 depth)
{
	while ((u32)m->state + HEADER + depth <= m->table.words)
		KUNIT_ASSERT_NE(test, intern(m, number++, depth), 0);
	return number;
}

static void same_stack_same_id(struct kunit *test)
{
	struct memory *m = memory__create(test, WORDS);
	u32 id = intern(m, 1, 10), i;

	KUNIT_EXPECT_EQ(test, id, GT_STACK_ID(0, 0));
	KUNIT_EXPECT_TRUE(test, is_stack(entry_of(m, id), 1, 10));
	KUNIT_EXPECT_EQ(test, m->state, HEADER + 10);
	for (i = 0; i < 1000; i++)
		KUNIT_EXPECT_EQ(test, intern(m, 1, 10), id);
	KUNIT_EXPECT_EQ(test, m->state, HEADER + 10);
	KUNIT_EXPECT_EQ(test, m->lost, 0);
}

static void other_stack_other_id(struct kunit *test)
{
	struct memory *m = memory__create(test, WORDS);
	u32 ids[100], i, k;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		ids[i] = intern(m, i, 1 + i % 30);
		for (k = 0; k < i; k++)
			KUNIT_ASSERT_NE(test, ids[i], ids[k]);
	}
	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		KUNIT_EXPECT_TRUE(test, is_stack(entry_of(m, ids[i]), i, 1 + i % 30));
		KUNIT_EXPECT_EQ(test, intern(m, i, 1 + i % 30), ids[i]);
	}
	KUNIT_EXPECT_EQ(test, count_entries(test, m, 0), ARRAY_SIZE(ids));
}

/* Hashes with the same slot in the index. */
static void collisions(struct kunit *test)
{
	struct memory *m = memory__create(test, WORDS);
	u32 ids[32], i;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		ids[i] = stacks__intern(&m->table, (u64)i << 40 | 5, m->pcs, 1, false);
		KUNIT_ASSERT_EQ(test, ids[i], GT_STACK_ID(0, i * (HEADER + 1)));
	}
	for (i = 0; i < ARRAY_SIZE(ids); i++)
		KUNIT_EXPECT_EQ(test, stacks__intern(&m->table, (u64)i << 40 | 5, m->pcs, 1, false),
				ids[i]);
	/* at the end of the index the search continues at its start */
	KUNIT_EXPECT_NE(test, stacks__intern(&m->table, ~0u, m->pcs, 1, false), 0);
	KUNIT_EXPECT_NE(test, stacks__intern(&m->table, 1ull << 40 | ~0u, m->pcs, 1, false), 0);
	KUNIT_EXPECT_EQ(test, m->lost, 0);
}

static void no_slot_is_lost(struct kunit *test)
{
	struct memory *m = memory__create(test, WORDS);
	u64 i, state;

	for (i = 0; stacks__intern(&m->table, i << 40 | 5, m->pcs, 1, false); i++)
		KUNIT_ASSERT_LT(test, i, 1000);
	KUNIT_EXPECT_GE(test, i, 16);
	state = m->state;
	KUNIT_EXPECT_EQ(test, m->lost, 1);
	KUNIT_EXPECT_EQ(test, stacks__intern(&m->table, i << 40 | 5, m->pcs, 1, false), 0);
	KUNIT_EXPECT_EQ(test, m->lost, 2);
	KUNIT_EXPECT_EQ(test, m->state, state);
	/* existing stacks keep their ids, and others get theirs */
	KUNIT_EXPECT_EQ(test, stacks__intern(&m->table, 5, m->pcs, 1, false), GT_STACK_ID(0, 0));
	KUNIT_EXPECT_NE(test, intern(m, 12345, 7), 0);
	KUNIT_EXPECT_EQ(test, m->lost, 2);
}

/* So short that the index has fewer slots than there are stacks: each id can be found. */
static void index_full(struct kunit *test)
{
	struct memory *m = memory__create(test, WORDS);
	u32 i, id, kept = 0;

	for (i = 0; i < 2 * WORDS; i++) {
		id = intern(m, i, 1);
		if (!id)
			continue;
		KUNIT_ASSERT_TRUE(test, is_stack(entry_of(m, id), i, 1));
		kept++;
	}
	KUNIT_EXPECT_GT(test, m->lost, 0);
	KUNIT_EXPECT_EQ(test, kept + m->lost, 2 * WORDS);
	KUNIT_EXPECT_GE(test, kept, stacks__slots(WORDS) * 3 / 4);
}

static void next_epoch(struct kunit *test)
{
	struct memory *m = memory__create(test, WORDS);
	u32 first = intern(m, 0, 10), again, there;
	u64 number = fill(test, m, 1, 10);

	KUNIT_EXPECT_EQ(test, epoch_of(m), 0);
	KUNIT_EXPECT_EQ(test, intern(m, 0, 10), first);
	/* one more begins the other half; the first half does not change */
	KUNIT_EXPECT_EQ(test, intern(m, number, 10), GT_STACK_ID(1, 0));
	KUNIT_EXPECT_EQ(test, m->state, 1ull << 32 | (HEADER + 10));
	KUNIT_EXPECT_TRUE(test, is_stack(entry_of(m, first), 0, 10));
	KUNIT_EXPECT_EQ(test, count_entries(test, m, 0), WORDS / (HEADER + 10));
	KUNIT_EXPECT_EQ(test, count_entries(test, m, 1), 1);
	/* a stack that recurs gets an id of this epoch */
	again = intern(m, 0, 10);
	KUNIT_EXPECT_EQ(test, again, GT_STACK_ID(1, HEADER + 10));
	there = intern(m, number - 1, 10);
	KUNIT_EXPECT_TRUE(test, is_stack(entry_of(m, there), number - 1, 10));
	/* the third epoch uses the first one's half: its ids are recognized as outdated */
	number = fill(test, m, number + 1, 10);
	KUNIT_EXPECT_EQ(test, intern(m, number, 10), GT_STACK_ID(2, 0));
	KUNIT_EXPECT_NULL(test, entry_of(m, first));
	KUNIT_EXPECT_TRUE(test, is_stack(entry_of(m, again), 0, 10));
	KUNIT_EXPECT_EQ(test, m->lost, 0);
}

/* The walk of a half ends with the entries of its epoch, whatever the epoch before left there. */
static void leftover_entries(struct kunit *test)
{
	struct memory *m = memory__create(test, WORDS);
	u32 epoch, n, depth;
	u64 number = 0;

	for (epoch = 0; epoch < 40; epoch++) {
		depth = 8 + epoch * 3;
		KUNIT_EXPECT_EQ(test, epoch_of(m), epoch);
		for (n = epoch ? 1 : 0; (u32)m->state + HEADER + depth <= WORDS; n++)
			KUNIT_ASSERT_NE(test, intern(m, number++, depth), 0);
		KUNIT_EXPECT_EQ(test, count_entries(test, m, epoch), n);
		/* a deep one does not fit any more, and is the first of the next epoch */
		KUNIT_ASSERT_NE(test, intern(m, number++, GT_STACK_MAX), 0);
		KUNIT_EXPECT_EQ(test, count_entries(test, m, epoch), n);
		KUNIT_EXPECT_EQ(test, count_entries(test, m, epoch + 1), 1);
	}
	KUNIT_EXPECT_EQ(test, m->lost, 0);
}

/* Epochs whose numbers have more than 8 bits, and more than 32. */
static void many_epochs(struct kunit *test)
{
	static const u32 firsts[] = { 0, 250, (1u << 31) - 3, ~0u - 5 };
	u32 i, k, id, half;
	u64 number = 0;

	for (i = 0; i < ARRAY_SIZE(firsts); i++) {
		struct memory *m = memory__create(test, WORDS);

		m->state = (u64)firsts[i] << 32;
		for (half = 0; half < 2; half++)
			atomic64_set(&m->table.written[half],
				     (((u64)firsts[i] + 1 - half) >> 1) * WORDS);
		for (k = 0; k < 12; k++) {
			KUNIT_EXPECT_EQ(test, epoch_of(m), firsts[i] + k);
			number = fill(test, m, number, 30);
			id = intern(m, number, 30);
			KUNIT_EXPECT_EQ(test, id, GT_STACK_ID(firsts[i] + k + 1, 0));
			KUNIT_EXPECT_TRUE(test, is_stack(entry_of(m, id), number, 30));
			KUNIT_EXPECT_EQ(test, intern(m, number++, 30), id);
		}
		KUNIT_EXPECT_EQ(test, m->lost, 0);
	}
}

/*
 * A writer interrupted after its reservation: its half is not begun again before it has finished.
 */
static void waits_for_writer(struct kunit *test)
{
	struct memory *m = memory__create(test, WORDS);
	u32 id, held = HEADER + 5;
	u64 number, lost;

	m->state += held;
	number = fill(test, m, 0, 10);
	id = intern(m, number++, 10);
	KUNIT_EXPECT_EQ(test, epoch_of(m), 1); /* the other half is free */
	number = fill(test, m, number, 10);
	for (lost = 1; lost < 10; lost++) {
		KUNIT_EXPECT_EQ(test, intern(m, number, 10), 0);
		KUNIT_EXPECT_EQ(test, m->lost, lost);
		KUNIT_EXPECT_EQ(test, epoch_of(m), 1);
		KUNIT_EXPECT_EQ(test, intern(m, number - 1, 10),
				GT_STACK_ID(1, (u32)m->state - 12));
	}
	KUNIT_EXPECT_TRUE(test, is_stack(entry_of(m, id), (WORDS - held) / 12, 10));
	atomic64_add(held, &m->table.written[0]);
	KUNIT_EXPECT_EQ(test, intern(m, number, 10), GT_STACK_ID(2, 0));
	KUNIT_EXPECT_EQ(test, m->lost, 9);
}

/*
 * Stacks recur, some often: an id stays that of its stack until it is overwritten, after two epochs
 * or slightly more.
 */
static void against_model(struct kunit *test)
{
	struct memory *m = memory__create(test, WORDS);
	const u32 stacks = 600;
	u32 *ids = zalloc(test, stacks * sizeof(*ids)), i, number, depth, id, living = 0;
	u64 seed = 3;

	for (i = 0; i < 100000; i++) {
		number = random__below(&seed, 1 + random__below(&seed, stacks));
		depth = 2 + number % 60;
		id = intern(m, number, depth);
		KUNIT_ASSERT_NE(test, id, 0);
		KUNIT_ASSERT_TRUE(test, is_stack(entry_of(m, id), number, depth));
		KUNIT_ASSERT_EQ(test, GT_STACK_ID_EPOCH(id), epoch_of(m) & 0xff);
		/* the same as last time, if that was in this epoch */
		if (ids[number] && GT_STACK_ID_EPOCH(ids[number]) == GT_STACK_ID_EPOCH(id))
			KUNIT_ASSERT_EQ(test, ids[number], id);
		ids[number] = id;
		if (epoch_of(m) == 200)
			break;
	}
	KUNIT_EXPECT_GT(test, epoch_of(m), 100);
	for (i = 0; i < stacks; i++) {
		const struct gt_stack_entry *entry = entry_of(m, ids[i]);
		bool young = (u8)(epoch_of(m) - GT_STACK_ID_EPOCH(ids[i])) < 2;

		if (!ids[i])
			continue;
		if (young || entry)
			KUNIT_EXPECT_TRUE(test, is_stack(entry, i, 2 + i % 60));
		living += !!entry;
	}
	KUNIT_EXPECT_GT(test, living, 0);
	KUNIT_EXPECT_LT(test, living, stacks);
}

static struct kunit_case stacks_cases[] = {
	KUNIT_CASE(same_stack_same_id),
	KUNIT_CASE(other_stack_other_id),
	KUNIT_CASE(collisions),
	KUNIT_CASE(no_slot_is_lost),
	KUNIT_CASE(index_full),
	KUNIT_CASE(next_epoch),
	KUNIT_CASE(leftover_entries),
	KUNIT_CASE(many_epochs),
	KUNIT_CASE(waits_for_writer),
	KUNIT_CASE(against_model),
	{},
};

static struct kunit_suite stacks_suite = {
	.name = "gotrace_stacks",
	.test_cases = stacks_cases,
};

kunit_test_suite(stacks_suite);
