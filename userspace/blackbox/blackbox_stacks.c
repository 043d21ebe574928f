// SPDX-License-Identifier: GPL-2.0
/*
 * The stack table of a flight recorder buffer: see gotrace/uapi.h. Upstream: the module, which
 * overwrites one half of it when the other is full. Downstream: blackbox_read.c, blackbox_write.c.
 */
#include <string.h>

#include "blackbox/blackbox_impl.h"

/* The same as in bpf/stack.bpf.h: the top byte is the number of PCs. */
static uint64_t hash_of(const struct gt_stack *stack)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < stack->depth; i++) {
		hash = (hash ^ stack->pc[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return (hash & ((1ull << 56) - 1)) | (uint64_t)stack->depth << 56;
}

bool stack_table__find(const struct buf *memory, const struct gt_session_page *page, uint32_t id,
		       struct blackbox_record *ret)
{
	struct gt_stack *stack = (void *)(&ret->rec + 1);
	uint64_t word = GT_STACK_ID_WORD(id), half = GT_STACK_ID_EPOCH(id) & 1;
	struct gt_stack_entry entry;
	const void *data;
	struct buf b;

	if (page->stack_words > GT_STACK_WORDS_MAX || word >= page->stack_words)
		return false;
	b = buf__slice(memory, page->half_offset + half * page->half_stride,
		       (uint64_t)page->stack_words * 8);
	buf__seek(&b, word * 8);
	data = buf__take(&b, sizeof(entry));
	if (!data)
		return false;
	memcpy(&entry, data, sizeof(entry));
	if ((entry.epoch & 0xff) != GT_STACK_ID_EPOCH(id) || !entry.depth ||
	    entry.depth > GT_STACK_MAX)
		return false;
	data = buf__take(&b, entry.depth * sizeof(entry.pc[0]));
	if (!data)
		return false;
	*stack = (struct gt_stack){ .depth = entry.depth, .cut = entry.cut };
	memcpy(stack->pc, data, entry.depth * sizeof(entry.pc[0]));
	ret->size = sizeof(ret->rec) + sizeof(*stack) + entry.depth * sizeof(entry.pc[0]);
	return hash_of(stack) == entry.hash;
}
