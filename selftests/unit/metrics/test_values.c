// SPDX-License-Identifier: GPL-2.0
/* Values of metrics: limits of names, bounds of histograms, snapshots and invalid ones. */
#include "unit/test.h"
#include "analysis/lengths.h"
#include "metrics/metrics.h"
#include "metrics/values.h"

static struct metric_values v;

static struct trace_string text(const char *s)
{
	return (struct trace_string){ s, (uint32_t)strlen(s) };
}

static void add(const char *name, uint64_t value)
{
	assert_int_equal(metric_values__add(&v, ROW_CPU, text(name), value), 0);
}

static const struct series *at(size_t i)
{
	assert_true(i < v.row[ROW_CPU].n);
	return &v.row[ROW_CPU].at[i];
}

static void assert_series(const struct series *s, const char *label, uint64_t value)
{
	assert_int_equal(s->len, strlen(label));
	assert_memory_equal(s->label, label, s->len);
	assert_int_equal(s->value, value);
}

static void teardown(void)
{
	metric_values__deinit(&v);
}

FIXTURE(NULL, teardown)

/* Names beyond the limit count as "other", which is also a name that a program may use. */
TEST(limits_names)
{
	char name[16];

	add("other", 5);
	for (unsigned int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		add(name, 1);
	}
	add("f3", 10);
	assert_int_equal(v.row[ROW_CPU].n, METRICS_NAMES);
	assert_series(at(0), "other", 5 + 100 - (METRICS_NAMES - 1));
	assert_series(at(4), "f3", 11);
	metric_values__deinit(&v);
	for (unsigned int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		add(name, 1);
	}
	assert_int_equal(v.row[ROW_CPU].n, METRICS_NAMES + 1);
	assert_series(at(METRICS_NAMES), "other", 100 - METRICS_NAMES);
}

/* What differs only in bytes that cannot be printed is one name. */
TEST(cleans_names)
{
	char name[300];

	add("a\xff", 1);
	add("a\xfe", 2);
	add("a\x01", 4);
	assert_series(at(0), "a\xef\xbf\xbd", 7);
	memset(name, 'x', sizeof(name));
	name[299] = '\0';
	add(name, 1);
	name[250] = 'y';
	add(name, 2);
	assert_int_equal(at(1)->len, METRICS_LABEL_MAX);
	assert_int_equal(at(1)->value, 3);
	memset(name, 'x', METRICS_LABEL_MAX - 1);
	strcpy(name + METRICS_LABEL_MAX - 1, "\xc3\xa4"); /* not within a character */
	add(name, 1);
	assert_int_equal(at(2)->len, METRICS_LABEL_MAX - 1);
}

TEST(has_bounds)
{
	static const struct {
		int64_t ns;
		size_t bucket;
	} cases[] = {
		{ -5, 0 },
		{ 0, 0 },
		{ 1023, 0 },
		{ 1024, 1 },
		{ 2047, 1 },
		{ 2048, 2 },
		{ (1ll << 34) - 1, 24 },
		{ 1ll << 34, 25 },
		{ INT64_MAX, 25 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct histogram h = {}, sum = {};
		struct lengths l = {};

		histogram__add(&h, cases[i].ns);
		assert_int_equal(h.bucket[cases[i].bucket], 1);
		assert_int_equal(histogram__count(&h), 1);
		assert_int_equal(h.sum, cases[i].ns < 0 ? 0 : cases[i].ns);
		lengths__add(&l, cases[i].ns);
		histogram__add_lengths(&sum, &l);
		assert_memory_equal(&sum, &h, sizeof(h));
	}
}

static struct outbuf pack(void)
{
	struct outbuf o = {};

	assert_int_equal(metric_values__pack(&v, &o), 0);
	return o;
}

static int unpack(const void *data, size_t size)
{
	metric_values__deinit(&v);
	return metric_values__unpack(&v, data, size);
}

TEST(survives_packing)
{
	struct series *s;
	struct outbuf o;

	add("main.main", UINT64_MAX);
	add("", 7);
	assert_int_equal(metric_values__set(&v, ROW_HEAP, 4096), 0);
	s = metric_values__series(&v, ROW_REQUEST, text("GET /"));
	histogram__add(&s->histogram, 5000);
	o = pack();
	assert_int_equal(unpack(o.data, o.len), 0);
	assert_series(at(0), "main.main", UINT64_MAX);
	assert_series(at(1), "", 7);
	assert_series(&v.row[ROW_HEAP].at[0], "", 4096);
	s = metric_values__series(&v, ROW_REQUEST, text("GET /"));
	assert_int_equal(s->histogram.sum, 5000);
	assert_int_equal(s->histogram.bucket[3], 1);
	for (size_t len = 0; len < o.len; len++)
		if (!unpack(o.data, len)) /* between two series */
			assert_true(len > 4 && v.row[ROW_REQUEST].n == 0);
	outbuf__deinit(&o);
}

/* The greatest snapshot that there can be is within the limit. */
TEST(fits_the_limit)
{
	char name[METRICS_LABEL_MAX + 1] = {};
	struct series *s;
	struct outbuf o;

	for (unsigned int row = 0; row < METRICS_ROWS; row++)
		for (unsigned int i = 0; i <= METRICS_NAMES; i++) {
			memset(name, 'a', METRICS_LABEL_MAX);
			name[0] = (char)(' ' + i);
			s = metric_values__series(&v, (enum metrics_row)row,
						  metrics_rows[row].label ? text(name) : text(""));
			memset(&s->histogram, 0xff, sizeof(s->histogram));
		}
	o = pack();
	assert_true(o.len > METRICS_SNAPSHOT_MAX / 4 && o.len <= METRICS_SNAPSHOT_MAX);
	assert_int_equal(unpack(o.data, o.len), 0);
	outbuf__deinit(&o);
}

#define MAGIC "\xc7\xa8\xb5\x8a\x03"

TEST(rejects)
{
	static const struct {
		const char *data;
		size_t size;
	} bad[] = {
#define BAD(text) { text, sizeof(text) - 1 }
		BAD(""),
		BAD("\x01"),
		BAD(MAGIC "\x7f\0\1"),		     /* no such row */
		BAD(MAGIC "\0\1a\1"),		     /* it has no label */
		BAD(MAGIC "\0\0\1\0\0\1"),	     /* twice */
		BAD(MAGIC "\x09\3ab"),		     /* a label that is cut */
		BAD(MAGIC "\x09\xff\xff\xff\x7f\1"), /* a label that is too long */
		BAD(MAGIC "\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"),
		BAD(MAGIC "\x10\0\1\1\1"), /* a histogram that is cut */
	};
	static const char good[] = MAGIC "\0\0\1";

	assert_int_equal(unpack(good, sizeof(good) - 1), 0);
	assert_int_equal(v.row[0].at[0].value, 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(unpack(bad[i].data, bad[i].size), -EBADMSG);
	assert_int_equal(unpack(NULL, 0), -EBADMSG);
}

/* Series keep their places, so that a name never becomes part of "other" later. */
TEST(learns)
{
	struct metric_values copy;

	add("a", 1);
	assert_int_equal(metric_values__copy(&copy, &v), 0);
	assert_int_equal(metric_values__add(&copy, ROW_CPU, text("b"), 9), 0);
	assert_int_equal(metric_values__reserve(&v, &copy), 0);
	metric_values__deinit(&copy);
	assert_series(at(0), "a", 1);
	assert_series(at(1), "b", 0);
	assert_int_equal(v.row[ROW_CPU].n, 2);
}
