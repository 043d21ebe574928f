// SPDX-License-Identifier: GPL-2.0
/*
 * What a process claims that an earlier recording has left in it: an area of code, and an instruction. A
 * patch that is accepted has the length of an instruction of ours, its old bytes are the file's, and the
 * jump that it replaces leads into the area, behind its description.
 *
 * Input: 8 bytes, an address; GT_INLINE_JUMP bytes each of the file and of memory; the area.
 */
#include <stdlib.h>
#include <string.h>

#include "gotrace/inline.h"
#include "inline/leftover.h"
#include "inline/trampoline.h"

static void check(const struct page_patch *p, uint64_t addr, uint64_t code, const uint8_t *file)
{
	int32_t distance;
	uint64_t to;

	if (p->addr != addr || (p->len != GT_INLINE_JUMP && p->len != GT_INLINE_CALL) ||
	    memcmp(p->was, file, p->len))
		abort();
	memcpy(&distance, p->now + 1, sizeof(distance));
	to = addr + 5 + (uint64_t)(int64_t)distance;
	if (to < code + TRAMPOLINE_AT || to >= code + GT_INLINE_CODE)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t file[GT_INLINE_JUMP], now[GT_INLINE_JUMP];
	struct page_patch patch;
	struct gt_inline left;
	uint64_t addr;

	if (size < sizeof(addr) + sizeof(file) + sizeof(now))
		return 0;
	memcpy(&addr, data, sizeof(addr));
	memcpy(file, data + sizeof(addr), sizeof(file));
	memcpy(now, data + sizeof(addr) + sizeof(file), sizeof(now));
	memset(&left, 0, sizeof(left));
	left.code = 0x7f0000000000;
	if (leftover__patch(&patch, addr, left.code, file, now))
		check(&patch, addr, left.code, file);
	data += sizeof(addr) + sizeof(file) + sizeof(now);
	size -= sizeof(addr) + sizeof(file) + sizeof(now);
	memcpy(&left, data, size < sizeof(left) ? size : sizeof(left));
	if (leftover__is_sane(&left, left.code) &&
	    (left.nsites > GT_INLINE_SITES || left.code_bytes != GT_INLINE_CODE))
		abort();
	return 0;
}
