// SPDX-License-Identifier: GPL-2.0
/* Durations, numbers and lists of a command line. */
#include "unit/test.h"
#include "lib/opts.h"

TEST(durations)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "0", 0 },
		{ "0s", 0 },
		{ "1ns", 1 },
		{ "5us", 5000 },
		{ "5\xc2\xb5s", 5000 },
		{ "500ms", 500000000 },
		{ "3s", 3000000000 },
		{ "1m30s", 90000000000 },
		{ "1.5h", 5400000000000 },
		{ ".5s", 500000000 },
		{ "1.s", 1000000000 },
		{ "1h1m1s1ms1us1ns", 3661001001001 },
		{ "0.000000001s", 1 },
		{ "0.0000000019s", 1 },
		{ "2562047h47m16s", 9223372036000000000 },
		{ "9223372036854775807ns", INT64_MAX },
		{ "9223372036854775.807us", INT64_MAX },
		{ "0.0157s", 15700000 }, /* as Go rounds, not 15699999 */
		{ "0.0000000001h", 360 },
		{ "1.0000000001h", 3600000000360 },
		{ "1.00000000034m", 60000000020 },
		{ "0.3333333333333333333h", 1200000000000 },
		{ "0.100000000000000000000h", 360000000000 },
		{ "0.9223372036854775807h", 3320413933267 },
		{ "1s1s", 2000000000 },
		{ "0h0m", 0 },
	};
	uint64_t ns;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_true(opts__duration(good[i].text, &ns));
		assert_int_equal(ns, good[i].ns);
	}
}

TEST(no_durations)
{
	static const char *const bad[] = {
		"",	    "1",	"s",	".",	".s",
		"5parsecs", "-1s",	"+1s",	" 1s",	"1s ",
		"1 s",	    "1.2.3s",	"1ss",	"1sm",	"99999999999999999999s",
		"2562048h", "3000000h", "1e3s", "0x1s", "1s1",
		"5",	    "1.5",	"00",	"0.0",	"1h 1m",
		"1S",	    "1d",	"1,5s", "1s\n", "9223372036854775808ns",
		"..5s",	    "1m-1s",	"inf",	"nans", "\xc2\xb5s",
	};
	uint64_t ns = 42;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (opts__duration(bad[i], &ns))
			fail_msg("\"%s\" was taken", bad[i]);
	assert_int_equal(ns, 42);
}

/* The expected values are those of `date +%s%N`. */
TEST(timestamps)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "1970-01-01T00:00:00.000000001Z", 1 },
		{ "1970-01-01T00:00:00+01:00", -3600000000000 },
		{ "1969-12-31T23:00:00-01:00", INT64_MIN }, /* the year is out of range */
		{ "2026-11-26T04:58:10.5Z", 1795669090500000000 },
		{ "2026-11-26t04:58:10.500z", 1795669090500000000 },
		{ "2026-11-26 04:58:10.5Z", 1795669090500000000 },
		{ "2026-11-26 04:58:10.5 UTC", 1795669090500000000 },
		{ "2026-11-26T05:58:10.5+01:00", 1795669090500000000 },
		{ "2026-11-25T23:28:10.5-05:30", 1795669090500000000 },
		{ "2026-11-26T04:58:10.5-00:00", 1795669090500000000 },
		{ "2026-11-26T04:58:10.123456789Z", 1795669090123456789 },
		{ "2026-11-26T04:58:10.1234567899999999999999999Z", 1795669090123456789 },
		{ "2000-02-29T12:00:00Z", 951825600000000000 },
		{ "2024-02-29T23:59:59.999999999Z", 1709251199999999999 },
		{ "2100-03-01T00:00:00Z", 4107542400000000000 },
		{ "2261-12-31T23:59:59.999999999-23:59", 9214732739999999999 },
	};
	int64_t ns;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ns = 42;
		assert_int_equal(opts__timestamp(good[i].text, &ns), good[i].ns != INT64_MIN);
		assert_int_equal(ns, good[i].ns == INT64_MIN ? 42 : good[i].ns);
	}
}

TEST(wrong_timestamps)
{
	static const char *const bad[] = {
		"",
		"2026",
		"2026-11-26",
		"2026-11-26T04:58:10", /* without an offset from UTC */
		"2026-11-26T04:58Z",
		"2026-11-26T04:58:10.Z",
		"2026-11-26T04:58:10,5Z",
		"2026-11-26T04:58:10Z ",
		"2026-11-26T04:58:10ZZ",
		"2026-11-26T04:58:10UTC",
		"2026-11-26T04:58:10 UTC ",
		"2026-11-26T04:58:10 CET",
		"2026-11-26T04:58:10+1:00",
		"2026-11-26T04:58:10+0100",
		"2026-11-26T04:58:10+01",
		"2026-11-26T04:58:10+24:00",
		"2026-11-26T04:58:10+01:60",
		"2026-11-26T04:58:10+01:00x",
		"2026-11-26T24:00:00Z",
		"2026-11-26T04:60:00Z",
		"2026-11-26T23:59:60Z",
		"2026-11-26_04:58:10Z",
		"2026-1-26T04:58:10Z",
		"2026-00-26T04:58:10Z",
		"2026-13-26T04:58:10Z",
		"2026-11-00T04:58:10Z",
		"2026-11-31T04:58:10Z",
		"2026-02-29T04:58:10Z",
		"2026-02-30T04:58:10Z",
		"2100-02-29T04:58:10Z",
		"2262-01-01T00:00:00Z",
		"1969-12-31T23:59:59Z",
		"0000-01-01T00:00:00Z",
		"-2026-11-26T04:58:10Z",
		"+2026-11-26T04:58:10Z",
		"20261-11-26T04:58:10Z",
		"2026-11-26T-4:58:10Z",
		"2026-11-26T 4:58:10Z",
	};
	int64_t ns = 42;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (opts__timestamp(bad[i], &ns))
			fail_msg("\"%s\" was taken", bad[i]);
	assert_int_equal(ns, 42);
}

TEST(numbers)
{
	uint64_t n = 42;

	assert_true(opts__number("1", 1, 128, &n) && n == 1);
	assert_true(opts__number("128", 1, 128, &n) && n == 128);
	assert_true(opts__number("18446744073709551615", 0, UINT64_MAX, &n) && n == UINT64_MAX);
	n = 42;
	assert_false(opts__number("0", 1, 128, &n));
	assert_false(opts__number("129", 1, 128, &n));
	assert_false(opts__number("18446744073709551616", 0, UINT64_MAX, &n));
	assert_false(opts__number("", 0, 9, &n));
	assert_false(opts__number("-1", 0, UINT64_MAX, &n));
	assert_false(opts__number(" 1", 0, 9, &n));
	assert_false(opts__number("1x", 0, 9, &n));
	assert_int_equal(n, 42);
}

TEST(lists)
{
	static const char *const names[] = { "sched", "syscall", "gc" };
	char unknown[8] = "";
	uint64_t set = 42;

	assert_true(opts__list("sched", names, 3, &set, unknown, sizeof(unknown)));
	assert_int_equal(set, 1);
	assert_true(opts__list("gc,sched,gc", names, 3, &set, unknown, sizeof(unknown)));
	assert_int_equal(set, 5);
	assert_false(opts__list("gc,tea,sched", names, 3, &set, unknown, sizeof(unknown)));
	assert_string_equal(unknown, "tea");
	assert_false(opts__list("", names, 3, &set, unknown, sizeof(unknown)));
	assert_false(opts__list("gc,", names, 3, &set, unknown, sizeof(unknown)));
	assert_false(opts__list("sys", names, 3, &set, unknown, sizeof(unknown)));
	assert_false(opts__list("averylongword", names, 3, &set, unknown, sizeof(unknown)));
	assert_string_equal(unknown, "averylo");
	assert_int_equal(set, 5);
}

TEST(sizes)
{
	static const char *const bad[] = { "",
					   "K",
					   "-1",
					   "1 ",
					   "1k",
					   "1KB",
					   "1T",
					   "4095",
					   "3K",
					   "1025M",
					   "2G",
					   "99999999999G",
					   "18446744073709551616" };
	uint64_t size = 7;

	assert_true(opts__size("4096", 4096, 1 << 30, &size));
	assert_int_equal(size, 4096);
	assert_true(opts__size("64K", 4096, 1 << 30, &size));
	assert_int_equal(size, 65536);
	assert_true(opts__size("16M", 4096, 1 << 30, &size));
	assert_int_equal(size, 16 << 20);
	assert_true(opts__size("1G", 4096, 1 << 30, &size));
	assert_int_equal(size, 1 << 30);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(opts__size(bad[i], 4096, 1 << 30, &size));
	assert_int_equal(size, 1 << 30);
}
