// SPDX-License-Identifier: GPL-2.0
/* Arenas: objects do not overlap or move, and memory is used again after a reset. */
#include "unit/test.h"
#include "lib/arena.h"

#define BLOCK	1024
#define OBJECTS 500

static void fill(struct arena *a)
{
	unsigned char *object[OBJECTS];
	size_t len[OBJECTS];

	for (size_t i = 0; i < OBJECTS; i++) {
		len[i] = i % 7 == 6 ? 3 * BLOCK : i % 100; /* some are larger than a block */
		object[i] = arena__alloc(a, len[i]);
		assert_non_null(object[i]);
		assert_int_equal((uintptr_t)object[i] % 8, 0);
		memset(object[i], (int)i, len[i]);
	}
	for (size_t i = 0; i < OBJECTS; i++)
		for (size_t at = 0; at < len[i]; at++)
			assert_int_equal(object[i][at], (unsigned char)i);
}

TEST(objects)
{
	struct arena a;
	size_t memory;

	arena__init(&a, BLOCK);
	assert_int_equal(a.memory, 0);
	arena__reset(&a); /* of nothing */
	fill(&a);
	memory = a.memory;
	assert_true(memory > OBJECTS / 7 * 3 * BLOCK);
	arena__reset(&a);
	fill(&a);
	assert_int_equal(a.memory, memory);
	arena__deinit(&a);
	assert_int_equal(a.memory, 0);
	fill(&a);
	assert_int_equal(a.memory, memory);
	arena__deinit(&a);
}

/* What does not fit into the block that comes next gets one of its own before that. */
TEST(order_of_blocks)
{
	struct arena a;
	void *first, *second;

	arena__init(&a, BLOCK);
	first = arena__alloc(&a, BLOCK);
	second = arena__alloc(&a, BLOCK);
	arena__reset(&a);
	assert_ptr_equal(arena__alloc(&a, BLOCK - 8), first);
	assert_non_null(arena__alloc(&a, 2 * BLOCK));
	assert_ptr_equal(arena__alloc(&a, 16), second);
	arena__deinit(&a);
}
