// SPDX-License-Identifier: GPL-2.0
/* Durations, numbers and lists of a command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/opts.h"

static void durations(void **state)
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

static void no_durations(void **state)
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

static void numbers(void **state)
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

static void lists(void **state)
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

static void sizes(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations), cmocka_unit_test(no_durations),
		cmocka_unit_test(numbers),   cmocka_unit_test(lists),
		cmocka_unit_test(sizes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
