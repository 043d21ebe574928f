// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the ABI: sizes, offsets and numbers on which existing programs rely. A change requires a
 * new GT_ABI_VERSION. Under test: include/gotrace/uapi.h.
 */
#include <kunit/test.h>

#include "gotrace/module.h"
#include "gotrace/uapi.h"
#include "stacks.h"

#define EXPECT_AT(type, member, at)                                                                \
	KUNIT_EXPECT_EQ_MSG(test, offsetof(struct type, member), at, #type "." #member)

#define EXPECT_SIZE(type, size) KUNIT_EXPECT_EQ_MSG(test, sizeof(struct type), size, #type)

static void sizes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, GT_ABI_VERSION, 1);
	EXPECT_SIZE(gt_session_page, 208);
	EXPECT_SIZE(gt_ring_control, 64);
	EXPECT_SIZE(gt_subbuf, 16);
	EXPECT_SIZE(gt_stack_entry, 16);
	EXPECT_SIZE(gt_abi, 64);
	EXPECT_SIZE(gt_abi_create, 112);
	EXPECT_SIZE(gt_abi_info, 128);
	EXPECT_SIZE(gt_abi_claim, 80);
	EXPECT_SIZE(gt_abi_list, 32);
	EXPECT_SIZE(gt_abi_checkpoint, 56);
	EXPECT_SIZE(gt_abi_emit, 48);
	EXPECT_SIZE(gt_abi_positions, 32);
	EXPECT_SIZE(gt_unwind, 48);
	EXPECT_SIZE(gt_record, 32);
}

static void memory_layout(struct kunit *test)
{
	EXPECT_AT(gt_session_page, magic, 0);
	EXPECT_AT(gt_session_page, version, 8);
	EXPECT_AT(gt_session_page, size, 12);
	EXPECT_AT(gt_session_page, page_size, 16);
	EXPECT_AT(gt_session_page, rings, 20);
	EXPECT_AT(gt_session_page, subbuf_size, 24);
	EXPECT_AT(gt_session_page, subbufs, 28);
	EXPECT_AT(gt_session_page, stack_words, 32);
	EXPECT_AT(gt_session_page, stack_slots, 36);
	EXPECT_AT(gt_session_page, control_offset, 40);
	EXPECT_AT(gt_session_page, control_stride, 48);
	EXPECT_AT(gt_session_page, ring_offset, 56);
	EXPECT_AT(gt_session_page, ring_stride, 64);
	EXPECT_AT(gt_session_page, index_offset, 72);
	EXPECT_AT(gt_session_page, half_offset, 80);
	EXPECT_AT(gt_session_page, half_stride, 88);
	EXPECT_AT(gt_session_page, created, 96);
	EXPECT_AT(gt_session_page, wall, 104);
	EXPECT_AT(gt_session_page, frozen, 112);
	EXPECT_AT(gt_session_page, stack_state, 120);
	EXPECT_AT(gt_session_page, stacks_lost, 128);
	EXPECT_AT(gt_session_page, refused, 136);
	EXPECT_AT(gt_session_page, reserved, 144);
	EXPECT_AT(gt_ring_control, head, 0);
	EXPECT_AT(gt_ring_control, lost, 8);
	EXPECT_AT(gt_ring_control, seq, 16);
	EXPECT_AT(gt_ring_control, committed, 64);
	EXPECT_AT(gt_subbuf, number, 0);
	EXPECT_AT(gt_subbuf, used, 8);
	EXPECT_AT(gt_stack_entry, hash, 0);
	EXPECT_AT(gt_stack_entry, epoch, 8);
	EXPECT_AT(gt_stack_entry, depth, 12);
	EXPECT_AT(gt_stack_entry, cut, 14);
	EXPECT_AT(gt_stack_entry, pc, 16);
}

static void ioctl_layout(struct kunit *test)
{
	EXPECT_AT(gt_abi, version, 4);
	EXPECT_AT(gt_abi, features, 8);
	EXPECT_AT(gt_abi, sessions, 12);
	EXPECT_AT(gt_abi, memory, 16);
	EXPECT_AT(gt_abi, memory_max, 24);
	EXPECT_AT(gt_abi_create, name, 8);
	EXPECT_AT(gt_abi_create, rings, 40);
	EXPECT_AT(gt_abi_create, subbuf_size, 44);
	EXPECT_AT(gt_abi_create, subbufs, 48);
	EXPECT_AT(gt_abi_create, stack_words, 52);
	EXPECT_AT(gt_abi_create, timeout, 56);
	EXPECT_AT(gt_abi_create, id, 60);
	EXPECT_AT(gt_abi_create, checkpoint_max, 64);
	EXPECT_AT(gt_abi_create, bytes, 72);
	EXPECT_AT(gt_abi_info, name, 8);
	EXPECT_AT(gt_abi_info, id, 40);
	EXPECT_AT(gt_abi_info, owner, 44);
	EXPECT_AT(gt_abi_info, created, 48);
	EXPECT_AT(gt_abi_info, frozen, 56);
	EXPECT_AT(gt_abi_info, expires, 64);
	EXPECT_AT(gt_abi_info, bytes, 72);
	EXPECT_AT(gt_abi_info, checkpoint_bytes, 80);
	EXPECT_AT(gt_abi_info, checkpoints, 88);
	EXPECT_AT(gt_abi_claim, id, 4);
	EXPECT_AT(gt_abi_claim, name, 8);
	EXPECT_AT(gt_abi_claim, bytes, 40);
	EXPECT_AT(gt_abi_list, count, 4);
	EXPECT_AT(gt_abi_list, infos, 8);
	EXPECT_AT(gt_abi_list, info_size, 16);
	EXPECT_AT(gt_abi_checkpoint, which, 4);
	EXPECT_AT(gt_abi_checkpoint, data, 8);
	EXPECT_AT(gt_abi_checkpoint, bytes, 16);
	EXPECT_AT(gt_abi_checkpoint, number, 24);
	EXPECT_AT(gt_abi_checkpoint, time, 32);
	EXPECT_AT(gt_abi_emit, record_size, 4);
	EXPECT_AT(gt_abi_emit, record, 8);
	EXPECT_AT(gt_abi_emit, tail, 16);
	EXPECT_AT(gt_abi_emit, tail_size, 24);
	EXPECT_AT(gt_abi_positions, count, 4);
	EXPECT_AT(gt_abi_positions, heads, 8);
	EXPECT_AT(gt_unwind, pc, 0);
	EXPECT_AT(gt_unwind, second, 8);
	EXPECT_AT(gt_unwind, fp, 16);
	EXPECT_AT(gt_unwind, lo, 24);
	EXPECT_AT(gt_unwind, hi, 32);
	EXPECT_AT(gt_unwind, n, 40);
	EXPECT_AT(gt_unwind, cut, 44);
}

static void ioctl_numbers(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, GT_IOC_ABI, 0xc0406780u);
	KUNIT_EXPECT_EQ(test, GT_IOC_CREATE, 0xc0706781u);
	KUNIT_EXPECT_EQ(test, GT_IOC_INFO, 0xc0806782u);
	KUNIT_EXPECT_EQ(test, GT_IOC_CLAIM, 0xc0506783u);
	KUNIT_EXPECT_EQ(test, GT_IOC_LIST, 0xc0206784u);
	KUNIT_EXPECT_EQ(test, GT_IOC_FREEZE, 0x6785u);
	KUNIT_EXPECT_EQ(test, GT_IOC_RELEASE, 0x6786u);
	KUNIT_EXPECT_EQ(test, GT_IOC_CHECKPOINT, 0xc0386787u);
	KUNIT_EXPECT_EQ(test, GT_IOC_READ_CHECKPOINT, 0xc0386788u);
	KUNIT_EXPECT_EQ(test, GT_IOC_EMIT, 0xc0306789u);
	KUNIT_EXPECT_EQ(test, GT_IOC_POSITIONS, 0xc020678au);
}

static void stack_ids(struct kunit *test)
{
	static const u32 epochs[] = { 0, 1, 255, 256, 0x12345678, ~0u };
	static const u32 words[] = { 0, 1, 4095, GT_STACK_WORDS_MAX - 1 };
	u32 i, k, id;

	for (i = 0; i < ARRAY_SIZE(epochs); i++) {
		for (k = 0; k < ARRAY_SIZE(words); k++) {
			id = GT_STACK_ID(epochs[i], words[k]);
			KUNIT_EXPECT_NE(test, id, 0);
			KUNIT_EXPECT_EQ(test, GT_STACK_ID_EPOCH(id), epochs[i] & 0xff);
			KUNIT_EXPECT_EQ(test, GT_STACK_ID_WORD(id), words[k]);
		}
	}
	KUNIT_EXPECT_EQ(test, GT_STACK_EPOCH_BITS, 8);
	KUNIT_EXPECT_LE(test, GT_STACK_WORDS_MAX, 1u << 24);
}

static void limits(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, is_power_of_2(GT_SUBBUF_MIN) && is_power_of_2(GT_SUBBUF_MAX));
	KUNIT_EXPECT_TRUE(test, is_power_of_2(GT_SUBBUFS_MIN) && is_power_of_2(GT_SUBBUFS_MAX));
	KUNIT_EXPECT_TRUE(test, is_power_of_2(GT_STACK_WORDS_MIN));
	KUNIT_EXPECT_TRUE(test, is_power_of_2(GT_STACK_WORDS_MAX));
	KUNIT_EXPECT_TRUE(test, is_power_of_2(stacks__slots(GT_STACK_WORDS_MIN)));
	/* any record fits into the smallest sub-buffer, any stack into the smallest half */
	KUNIT_EXPECT_LE(test, sizeof(struct gt_record) + sizeof(struct gt_stack) + GT_STACK_MAX * 8,
			GT_SUBBUF_MIN - sizeof(struct gt_subbuf));
	KUNIT_EXPECT_LE(test, sizeof(struct gt_record) + 64 + GT_TAIL_MAX,
			GT_SUBBUF_MIN - sizeof(struct gt_subbuf));
	KUNIT_EXPECT_LE(test, sizeof(struct gt_stack_entry) / 8 + GT_STACK_MAX, GT_STACK_WORDS_MIN);
	KUNIT_EXPECT_EQ(test, GT_TAIL_MAX, GT_TEXT_MAX);
	/* the counts of a ring's slots, after its control, have a size that can be allocated */
	KUNIT_EXPECT_LE(test, sizeof(struct gt_ring_control) + GT_SUBBUFS_MAX * sizeof(u64),
			1u << 20);
}

static void magic(struct kunit *test)
{
	const u64 magic = GT_ABI_MAGIC;

	KUNIT_EXPECT_STREQ(test, (const char *)&magic, "gotrace");
}

static struct kunit_case abi_cases[] = {
	KUNIT_CASE(sizes),	  KUNIT_CASE(memory_layout),
	KUNIT_CASE(ioctl_layout), KUNIT_CASE(ioctl_numbers),
	KUNIT_CASE(stack_ids),	  KUNIT_CASE(limits),
	KUNIT_CASE(magic),	  {},
};

static struct kunit_suite abi_suite = {
	.name = "gotrace_abi",
	.test_cases = abi_cases,
};

kunit_test_suite(abi_suite);

MODULE_DESCRIPTION("KUnit tests of gotrace");
MODULE_LICENSE("GPL");
