// SPDX-License-Identifier: GPL-2.0
/*
 * The range coder and the predictor: what is encoded is decoded, of any kind of number; what repeats
 * takes little space; and truncated data is noticed.
 */
#include "unit/test.h"
#include "pack/predict.h"

#define LOG2 12

/* Numbers of all lengths, and in between many equal ones. */
static uint64_t number(unsigned int i)
{
	return i % 3 ? 12 : UINT64_MAX >> i % 64;
}

static uint64_t code_all(struct coder *c, unsigned int n)
{
	struct predictor p;
	uint64_t candidate[] = { 12, 0 }, sum = 0, v;

	assert_int_equal(predictor__init(&p, c), 0);
	for (unsigned int i = 0; i < n; i++) {
		v = c->decode ? 0 : number(i);
		sum = sum * 31 + coder__number(c, i % 5, 7, 0, v);
		sum = sum * 31 +
		      coder__plain(c, i % 65, i % 65 < 64 ? v & ((1ull << i % 65) - 1) : v);
		sum = sum * 31 + coder__symbol(c, 1, i % 2, 40, 1 + i % 8, v & ((2u << i % 8) - 1));
		sum = sum * 31 + coder__bit(c, 3, 4, 60, v & 1);
		sum = sum * 31 + predictor__candidate(&p, 5, 6, 80, candidate, 2, v);
		sum = sum * 31 + predictor__value(&p, 9, i, i % 7, v);
		sum = sum * 31 + predictor__byte(&p, 11, i, (uint8_t)v);
	}
	predictor__deinit(&p);
	return sum;
}

TEST(decodes_what_was_encoded)
{
	struct outbuf out = {};
	struct coder *c = coder__encode(&out, LOG2);
	uint64_t sum = code_all(c, 5000);

	assert_int_equal(coder__finish(c), 0);
	coder__destroy(c);
	c = coder__decode(out.data, out.len, LOG2);
	assert_true(code_all(c, 5000) == sum);
	assert_false(coder__is_bad(c));
	coder__destroy(c);
	outbuf__deinit(&out);
}

TEST(what_repeats_takes_little_space)
{
	struct outbuf out = {};
	struct coder *c = coder__encode(&out, LOG2);

	for (unsigned int i = 0; i < 100000; i++)
		coder__number(c, 1, 2, 0, 1000);
	assert_int_equal(coder__finish(c), 0);
	coder__destroy(c);
	assert_in_range(out.len, 5, 2000);
	outbuf__deinit(&out);
}

/* The carry of the range coder passes through bytes of 255. */
TEST(random_bits_take_their_space)
{
	struct outbuf out = {};
	struct coder *c = coder__encode(&out, LOG2);
	uint64_t v = 1, seen = 1;

	for (unsigned int i = 0; i < 20000; i++) {
		v = v * 6364136223846793005u + 1;
		coder__plain(c, 64, v);
	}
	assert_int_equal(coder__finish(c), 0);
	coder__destroy(c);
	assert_in_range(out.len, 160000, 160100);
	c = coder__decode(out.data, out.len, LOG2);
	for (unsigned int i = 0; i < 20000; i++) {
		seen = seen * 6364136223846793005u + 1;
		assert_true(coder__plain(c, 64, 0) == seen);
	}
	coder__destroy(c);
	outbuf__deinit(&out);
}

TEST(truncated_data_is_noticed)
{
	struct coder *c = coder__decode("\0\1\2", 3, LOG2);

	code_all(c, 100);
	assert_true(coder__is_bad(c));
	coder__destroy(c);
}
