// SPDX-License-Identifier: GPL-2.0
/*
 * Encodings of Parquet, decoded again as the format describes them: sql/parquet_encode.h.
 * selftests/check/sql.sh has the SQL engine read whole files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sql/parquet_encode.h"
#include "sql/rows.h"

#define MANY 3000

static struct outbuf out;
static size_t at;

static void begin(void)
{
	outbuf__deinit(&out);
	at = 0;
}

static uint64_t varint(void)
{
	unsigned int shift = 0;
	uint64_t ret = 0;

	for (;; shift += 7) {
		assert_true(at < out.len);
		ret |= (uint64_t)(out.data[at] & 0x7f) << shift;
		if (!(out.data[at++] & 0x80))
			return ret;
	}
}

static int64_t zigzag(void)
{
	uint64_t v = varint();

	return (int64_t)(v >> 1 ^ -(v & 1));
}

/* The bits of a number that begins at bit `bit` after `at` */
static uint64_t bits(size_t bit, unsigned int width)
{
	uint64_t ret = 0;

	for (unsigned int i = 0; i < width; i++, bit++) {
		assert_true(at + bit / 8 < out.len);
		ret |= (uint64_t)((unsigned char)out.data[at + bit / 8] >> bit % 8 & 1) << i;
	}
	return ret;
}

/* ---- runs ---- */

static void runs_are(const uint32_t *want, size_t n, unsigned int width)
{
	size_t done = 0, count;
	uint64_t header;

	begin();
	assert_int_equal(encode__runs(&out, want, n, width, NULL), 0);
	while (done < n) {
		header = varint();
		count = header & 1 ? (header >> 1) * 8 : header >> 1;
		assert_true(count);
		for (size_t i = 0; i < count && done + i < n; i++)
			assert_int_equal(bits(header & 1 ? i * width : 0, width), want[done + i]);
		at += header & 1 ? (header >> 1) * width : (width + 7) / 8;
		done += count;
		assert_true(done < n + 8);
	}
	assert_int_equal(at, out.len);
}

static void runs(void **state)
{
	static const unsigned int widths[] = { 1, 2, 7, 8, 9, 16, 17, 31, 32 };
	uint32_t v[MANY];

	for (size_t w = 0; w < sizeof(widths) / sizeof(*widths); w++) {
		uint32_t mask = (uint32_t)((1ull << widths[w]) - 1);

		for (size_t n = 0; n < 40; n++) {
			for (size_t i = 0; i < n; i++)
				v[i] = (uint32_t)(i / (w + 3) * 0x9e3779b9u) & mask;
			runs_are(v, n, widths[w]);
		}
		srand(1);
		for (size_t i = 0, left = 0; i < MANY; i++) {
			if (!left--)
				left = (size_t)rand() % (i < MANY / 2 ? 3 : 30);
			v[i] = left && i ? v[i - 1] : (uint32_t)rand() * 2654435761u & mask;
		}
		runs_are(v, MANY, widths[w]);
	}
}

static void runs_are_short(void **state)
{
	uint32_t v[MANY] = {};

	begin();
	assert_int_equal(encode__runs(&out, v, MANY, 1, NULL), 0);
	assert_int_equal(out.len, 3);
}

/* ---- deltas ---- */

static void deltas_are(const int64_t *want, size_t n)
{
	size_t done = 1;
	uint64_t last;

	begin();
	assert_int_equal(encode__deltas(&out, want, n, NULL), 0);
	assert_int_equal(varint(), 128);
	assert_int_equal(varint(), 4);
	assert_int_equal(varint(), n);
	last = (uint64_t)zigzag();
	assert_true(!n || last == (uint64_t)want[0]);
	while (done < n) {
		int64_t min = zigzag();
		size_t widths = at;

		at += 4;
		for (unsigned int k = 0; k < 4; k++) {
			unsigned int width = (unsigned char)out.data[widths + k];

			assert_true(width <= 64 && (done < n || !width));
			for (unsigned int i = 0; i < 32 && done < n; i++, done++) {
				last += (uint64_t)min + bits((size_t)i * width, width);
				assert_true(last == (uint64_t)want[done]);
			}
			at += width * 4;
			assert_true(at <= out.len);
		}
	}
	assert_int_equal(at, out.len);
}

static void deltas(void **state)
{
	static const int64_t extremes[] = {
		INT64_MAX, INT64_MIN + 1, 0, -1, INT64_MAX, 1, INT64_MIN
	};
	int64_t v[MANY];

	for (size_t n = 0; n <= sizeof(extremes) / sizeof(*extremes); n++)
		deltas_are(extremes, n);
	for (unsigned int shift = 0; shift < 63; shift++) {
		for (size_t i = 0; i < 300; i++)
			v[i] = (int64_t)((uint64_t)(i * 7 % 5) << shift) - (int64_t)i;
		for (size_t n = 0; n < 300; n += n < 140 ? 1 : 50)
			deltas_are(v, n);
	}
	srand(2);
	for (size_t i = 0; i < MANY; i++)
		v[i] = (i ? v[i - 1] : 1000000000000000000) + rand() % 2000;
	deltas_are(v, MANY);
	assert_true(out.len < MANY * 2);
}

/* ---- distinct values ---- */

static void numbers(void **state)
{
	struct distinct d;
	uint32_t index[MANY];
	int64_t v[MANY];

	assert_int_equal(distinct__init(&d), 0);
	for (size_t i = 0; i < MANY; i++)
		v[i] = (int64_t)(i % 1000) * 0x123456789 - 50;
	for (int again = 0; again < 2; again++) {
		assert_true(distinct__numbers(&d, v, MANY, 1000, index));
		assert_int_equal(d.n, 1000);
		for (size_t i = 0; i < MANY; i++)
			assert_int_equal(d.value[index[i]].number, v[i]);
		assert_false(distinct__numbers(&d, v, MANY, 999, index));
	}
	distinct__deinit(&d);
}

static void texts(void **state)
{
	static char copies[2][32] = { "a text of more than 12 bytes",
				      "a text of more than 12 bytes" };
	static char other[] = "a text of more than 12 Bytes";
	const struct duckdb_text v[] = {
		text__static(copies[0]), text__null(),	      text__static(""),
		text__static(copies[1]), text__static(other), text__static("x"),
		text__static("x"),	 text__static(""),
	};
	uint32_t index[8];
	struct distinct d;

	assert_int_equal(distinct__init(&d), 0);
	assert_int_equal(distinct__texts(&d, v, 8, index), 7);
	assert_int_equal(d.n, 4);
	assert_memory_equal(index, ((uint32_t[]){ 0, 1, 0, 2, 3, 3, 1 }), 7 * sizeof(*index));
	assert_int_equal(d.value[1].text.length, 0);
	assert_ptr_equal(text__data(&d.value[2].text), other);
	/* a table of only nulls and one of only the empty text */
	assert_int_equal(distinct__texts(&d, v + 1, 1, index), 0);
	assert_int_equal(d.n, 0);
	assert_int_equal(distinct__texts(&d, v + 2, 1, index), 1);
	assert_int_equal(d.n, 1);
	distinct__deinit(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs),	  cmocka_unit_test(runs_are_short),
		cmocka_unit_test(deltas), cmocka_unit_test(numbers),
		cmocka_unit_test(texts),
	};
	int ret;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	outbuf__deinit(&out);
	return ret;
}
