// SPDX-License-Identifier: GPL-2.0
/*
 * Tables whose keys come from input are seeded: keys that all collide in the unseeded functions that
 * they once had take no longer than others.
 */
#include <time.h>

#include "unit/test.h"
#include "lib/hash.h"
#include "writer/intern.h"
#include "writer/stream_map.h"

#define N	30000
#define GOLDEN	0x9e3779b97f4a7c15ull
#define INVERSE 0xf1de83e19937733dull /* GOLDEN * INVERSE is 1 */

/* CPU time: other processes do not count. */
static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Words whose product with GOLDEN has the same upper half. */
static uint64_t colliding_word(uint32_t i)
{
	return (0x1234567800000000ull | i) * INVERSE;
}

/* Eight bytes: two rounds of (h ^ word) * GOLDEN with h ^= h >> 32 between them; h begins as 8. */
static uint64_t colliding_string(uint32_t i)
{
	uint64_t h = colliding_word(i);

	return (h ^ h >> 32) * INVERSE ^ 8;
}

static uint64_t intern_all(bool colliding)
{
	struct intern *in = intern__create();
	uint64_t start = now(), word;

	assert_non_null(in);
	for (uint32_t i = 0; i < N; i++) {
		word = colliding ? colliding_string(i) : i * GOLDEN;
		assert_int_equal(intern__string(in, (const char *)&word, sizeof(word)), i + 1);
	}
	start = now() - start;
	intern__destroy(in);
	return start;
}

static uint64_t find_all(bool colliding)
{
	struct chunk_pool pool = {};
	struct stream_map t;
	uint64_t start = now();

	stream_map__init(&t, &pool);
	for (uint32_t i = 0; i < N; i++)
		assert_non_null(stream_map__find(&t, colliding ? colliding_word(i) : i));
	start = now() - start;
	stream_map__deinit(&t);
	return start;
}

static void takes_no_longer(uint64_t (*work)(bool))
{
	uint64_t ordinary = work(false), colliding = work(true);

	print_message("# %d keys: %.2f ms, colliding ones %.2f ms\n", N, (double)ordinary / 1e6,
		      (double)colliding / 1e6);
	assert_true(colliding < 10 * ordinary);
}

TEST(strings)
{
	takes_no_longer(intern_all);
}

TEST(threads)
{
	takes_no_longer(find_all);
}

TEST(seeds_differ)
{
	uint64_t word = hash__word(1), bytes = hash__bytes("category", 8);

	hash__randomize();
	assert_true(hash__word(1) != word && hash__bytes("category", 8) != bytes);
	assert_int_equal(hash__seed[0] & 1, 1);
	assert_true(hash__bytes("a", 1) != hash__bytes("a\0", 2));
	assert_true(hash__bytes("", 0) != hash__bytes("\0", 1));
}
