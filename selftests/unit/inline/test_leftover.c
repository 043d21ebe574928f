// SPDX-License-Identifier: GPL-2.0
/*
 * What a process claims that an earlier recording has left: what is believed, and what is restored.
 * Whether a recording removes what another one has left is for check/inline.sh.
 */
#include <inttypes.h>
#include <string.h>

#include "unit/test.h"
#include "inline/areas.h"
#include "inline/leftover.h"
#include "inline/trampoline.h"

#define AT   0x400000ull /* of the instruction */
#define CODE 0x1000000ull

static const unsigned char call[] = { 0xe8, 1, 2, 3, 4, 0x90 }, jbe[] = { 0x0f, 0x86, 1, 2, 3, 4 };

/* Opcode, the distance to `to`, and the byte behind. */
static const unsigned char *jump(unsigned char opcode, uint64_t to, unsigned char last)
{
	static unsigned char now[GT_INLINE_JUMP];
	int32_t distance = (int32_t)(to - (AT + GT_INLINE_CALL));

	now[0] = opcode;
	memcpy(now + 1, &distance, sizeof(distance));
	now[5] = last;
	return now;
}

TEST(sane)
{
	const struct gt_inline sane = {
		.magic = { GT_INLINE_MAGIC0, GT_INLINE_MAGIC1 },
		.code = CODE,
		.flag = CODE + GT_INLINE_CODE,
		.code_bytes = GT_INLINE_CODE,
		.nsites = GT_INLINE_SITES,
	};
	struct gt_inline in = sane;

	assert_true(leftover__is_sane(&in, CODE));
	assert_false(leftover__is_sane(&in, CODE + AREA_PAGE));
	in.nsites++;
	assert_false(leftover__is_sane(&in, CODE));
	in = sane;
	in.magic[1]++;
	assert_false(leftover__is_sane(&in, CODE));
	in = sane;
	in.flag += AREA_PAGE;
	assert_false(leftover__is_sane(&in, CODE));
	in = sane;
	in.code_bytes *= 2;
	assert_false(leftover__is_sane(&in, CODE));
}

/* A call is replaced by a call, and a conditional jump by a jump: both into the area, behind its table. */
TEST(replaced_instructions)
{
	const uint64_t first = CODE + TRAMPOLINE_AT, last = CODE + GT_INLINE_CODE - 1;
	struct page_patch patch;

	assert_true(leftover__patch(&patch, AT, CODE, call, jump(0xe8, first, 7)));
	assert_int_equal(patch.addr, AT);
	assert_int_equal(patch.len, GT_INLINE_CALL);
	assert_memory_equal(patch.was, call, GT_INLINE_CALL);
	assert_memory_equal(patch.now, jump(0xe8, first, 7), GT_INLINE_CALL);
	assert_true(leftover__patch(&patch, AT, CODE, jbe, jump(0xe9, last, jbe[5])));
	assert_int_equal(patch.len, GT_INLINE_JUMP);
	assert_memory_equal(patch.was, jbe, GT_INLINE_JUMP);
	assert_memory_equal(patch.now, jump(0xe9, last, jbe[5]), GT_INLINE_JUMP);
}

TEST(other_instructions)
{
	static const unsigned char ret[GT_INLINE_JUMP] = { 0xc3 },
				   ja[GT_INLINE_JUMP] = { 0x0f, 0x87 };
	const uint64_t first = CODE + TRAMPOLINE_AT, end = CODE + GT_INLINE_CODE;
	struct page_patch patch;

	assert_false(leftover__patch(&patch, AT, CODE, call, call));
	assert_false(leftover__patch(&patch, AT, CODE, jbe, jbe));
	assert_false(leftover__patch(&patch, AT, CODE, ret, jump(0xe9, first, 0)));
	assert_false(leftover__patch(&patch, AT, CODE, ja, jump(0xe9, first, 0)));
	assert_false(leftover__patch(&patch, AT, CODE, call, jump(0xe9, first, 0x90)));
	assert_false(leftover__patch(&patch, AT, CODE, jbe, jump(0xe8, first, jbe[5])));
	assert_false(leftover__patch(&patch, AT, CODE, jbe, jump(0xe9, first, jbe[5] + 1)));
	assert_false(leftover__patch(&patch, AT, CODE, call, jump(0xe8, first - 1, 0)));
	assert_false(leftover__patch(&patch, AT, CODE, call, jump(0xe8, end, 0)));
}
