// SPDX-License-Identifier: GPL-2.0
/* The hash map against a plain array, by random operations. */
#include "unit/test.h"
#include "lib/map.h"

#define KEYS 300

static uint64_t random_state;

static uint64_t below(uint64_t n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 33) % n;
}

/* Close together, as addresses and TIDs are, and at both ends. */
static uint64_t key_of(unsigned int i)
{
	if (i == 0)
		return UINT64_MAX;
	return i % 3 == 0 ? i : i % 3 == 1 ? 0xc000000000ull + i * 512 : UINT64_MAX / KEYS * i;
}

static void check_all(const struct map *map, void *const *model)
{
	size_t n = 0, walked = 0;
	void *value;

	for (unsigned int i = 0; i < KEYS; i++) {
		assert_ptr_equal(map__get(map, key_of(i)), model[i]);
		n += model[i] != NULL;
	}
	assert_int_equal(map->n, n);
	for (size_t i = 0; map__next(map, &i, &value); walked++)
		assert_ptr_equal(value, model[(char *)value - (char *)model]);
	assert_int_equal(walked, n);
}

/* A value points to the model's byte of its key's number, so that a walk can tell which it is. */
TEST(against_a_model)
{
	void *model[KEYS];

	for (uint64_t seed = 1; seed < 40; seed++) {
		struct map map = {};

		random_state = seed;
		memset(model, 0, sizeof(model));
		for (unsigned int step = 0; step < 3000; step++) {
			unsigned int i = below(step % 1000 < 500 ? KEYS : 20);

			if (below(5) < 3) {
				assert_int_equal(map__put(&map, key_of(i), (char *)model + i), 0);
				model[i] = (char *)model + i;
			} else {
				assert_ptr_equal(map__remove(&map, key_of(i)), model[i]);
				model[i] = NULL;
			}
			if (step % 50 == 0)
				check_all(&map, model);
		}
		check_all(&map, model);
		map__deinit(&map);
	}
}

TEST(empty)
{
	struct map map = {};
	size_t i = 0;
	void *value;

	assert_null(map__get(&map, 7));
	assert_null(map__remove(&map, 7));
	assert_false(map__next(&map, &i, &value));
	map__deinit(&map);
	map__deinit(&map);
}

TEST(replaces)
{
	struct map map = {};
	int a, b;

	assert_int_equal(map__put(&map, 7, &a), 0);
	assert_int_equal(map__put(&map, 7, &b), 0);
	assert_int_equal(map.n, 1);
	assert_ptr_equal(map__remove(&map, 7), &b);
	assert_null(map__get(&map, 7));
	map__deinit(&map);
}

TEST(makes_room)
{
	static const size_t counts[] = { 0, 1, 48, 49, 96, 97, 1000000 };
	struct map map = {};
	struct map_slot *slot;
	int a;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		assert_int_equal(map__reserve(&map, counts[i]), 0);
		assert_true(map.cap * 3 >= counts[i] * 4 && map.cap <= 64 + counts[i] * 8 / 3);
		assert_int_equal(map__put(&map, i, &a), 0);
		assert_int_equal(map.n, i + 1);
	}
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		assert_ptr_equal(map__get(&map, i), &a);
	slot = map.slot;
	while (map.n < 1000000)
		assert_int_equal(map__put(&map, map.n, &a), 0);
	assert_ptr_equal(map.slot, slot);
	map__deinit(&map);
}

TEST(grows)
{
	struct map map = {};
	static char values[100000];

	for (size_t i = 0; i < sizeof(values); i++)
		assert_int_equal(map__put(&map, (i + 1) << 13, &values[i]), 0);
	for (size_t i = 0; i < sizeof(values); i++)
		assert_ptr_equal(map__get(&map, (i + 1) << 13), &values[i]);
	assert_int_equal(map.n, sizeof(values));
	assert_true(map.cap <= 4 * sizeof(values));
	map__deinit(&map);
}

/* What comes in the order of a large map must not fill a small one as one run. */
TEST(in_anothers_order)
{
	const size_t n = 100000;
	struct map large = {}, small = {};
	size_t longest = 0;
	void *value;

	for (size_t i = 1; i <= n; i++)
		assert_int_equal(map__put(&large, i, (void *)i), 0);
	for (size_t i = 0, taken = 0; taken < n / 3 && map__next(&large, &i, &value); taken++)
		assert_int_equal(map__put(&small, (uintptr_t)value, value), 0);
	for (size_t i = 0; i < small.cap; i++) {
		size_t home = small.slot[i].value ? map__home(&small, small.slot[i].key) : i;
		size_t away = (i - home) & (small.cap - 1);

		longest = away > longest ? away : longest;
	}
	assert_true(longest < 1000);
	map__deinit(&large);
	map__deinit(&small);
}

/* Whatever the seed is. */
TEST(sorted_by_key)
{
	uint64_t seed = hash__seed[0];
	struct map map = {};
	struct map_slot *list;
	size_t n = 7;

	list = map__sorted(&map, &n);
	assert_non_null(list);
	assert_int_equal(n, 0);
	free(list);
	for (int round = 0; round < 3; round++) {
		hash__randomize();
		for (uint64_t i = 0; i < 1000; i++)
			assert_int_equal(map__put(&map, i * 0x9e3779b97f4a7c15ull, &map), 0);
		list = map__sorted(&map, &n);
		assert_int_equal(n, 1000);
		for (size_t i = 1; i < n; i++)
			assert_true(list[i - 1].key < list[i].key && list[i].value == &map);
		free(list);
		map__deinit(&map);
	}
	hash__seed[0] = seed;
}
