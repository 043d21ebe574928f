// SPDX-License-Identifier: GPL-2.0
/* What the front accepts of headers and arguments, which any web site or client can choose. */
#include "unit/test.h"
#include "service/http_check.h"

#define MAX_NS 600000000000ull

TEST(hosts)
{
	static const char *const good[] = { "127.0.0.1:8080", "localhost:8080", "LocalHost:8080",
					    "[::1]:8080",     "127.9.9.9:8080", "[0:0::1]:8080" };
	static const char *const bad[] = {
		"",
		":8080",
		"127.0.0.1",
		"localhost",
		"[::1]",
		"::1",
		"::1:8080",
		"127.0.0.1:8081",
		"127.0.0.1:08x",
		"127.0.0.1:8080 ",
		" 127.0.0.1:8080",
		"127.0.0.1:+8080",
		"127.0.0.1:73616", /* 8080 + 65536 */
		"127.0.0.1:8080:8080",
		"127.1:8080",
		"2130706433:8080",
		"0177.0.0.1:8080",
		"0.0.0.0:8080",
		"10.0.0.1:8080",
		"128.0.0.1:8080",
		"[::]:8080",
		"[::2]:8080",
		"[::1:8080",
		"[]:8080",
		"[::ffff:10.0.0.1]:8080",
		"[127.0.0.1]:8080",
		"localhost.:8080",
		"localhost.example.com:8080",
		"example.localhost:8080",
		"127.0.0.1.example.com:8080",
		"example.com:8080",
		"127.0.0.1@example.com:8080",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:8080",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!http_check__host(good[i], 8080))
			fail_msg("'%s' is refused", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (http_check__host(bad[i], 8080))
			fail_msg("'%s' is accepted", bad[i]);
	assert_true(http_check__host("127.0.0.1", 80));
	assert_true(http_check__host("[::1]", 80));
	assert_true(http_check__host("localhost:80", 80));
}

TEST(origins)
{
	assert_true(http_check__origin("http://127.0.0.1:8080", "127.0.0.1:8080"));
	assert_true(http_check__origin("http://localhost:8080", "LOCALHOST:8080"));
	assert_false(http_check__origin("http://localhost:8080", "127.0.0.1:8080"));
	assert_false(http_check__origin("http://127.0.0.1:8081", "127.0.0.1:8080"));
	assert_false(http_check__origin("https://127.0.0.1:8080", "127.0.0.1:8080"));
	assert_false(http_check__origin("http://127.0.0.1:8080.example.com", "127.0.0.1:8080"));
	assert_false(http_check__origin("null", "127.0.0.1:8080"));
	assert_false(http_check__origin("", "127.0.0.1:8080"));
	assert_true(http_check__site("same-origin"));
	assert_true(http_check__site("none"));
	assert_false(http_check__site("same-site"));
	assert_false(http_check__site("cross-site"));
	assert_false(http_check__site(""));
}

TEST(accept)
{
	static const char prometheus[] =
		"application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;"
		"version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";

	assert_true(http_check__openmetrics(prometheus));
	assert_true(http_check__openmetrics("application/openmetrics-text"));
	assert_true(http_check__openmetrics("text/plain, Application/OpenMetrics-Text ; q=1"));
	assert_true(http_check__openmetrics("application/openmetrics-text; q=0.001"));
	assert_false(http_check__openmetrics("application/openmetrics-text; q=0"));
	assert_false(http_check__openmetrics("application/openmetrics-text;version=1.0.0;Q=0.00"));
	assert_false(http_check__openmetrics("application/openmetrics-textual"));
	assert_false(http_check__openmetrics("text/plain;a=application/openmetrics-text"));
	assert_false(http_check__openmetrics("*/*"));
	assert_false(http_check__openmetrics(",,, ,"));
	assert_false(http_check__openmetrics(""));
	assert_false(http_check__openmetrics(NULL));
}

static uint64_t ns_of(const char *text)
{
	struct error error = {};
	uint64_t ns = 0;

	assert_int_equal(http_check__seconds(text, MAX_NS, &ns, &error), 0);
	return ns;
}

/* The expectations are what Go's pprof.Trace does with these values. */
TEST(seconds)
{
	static const char *const one[] = { "",	  "0",	 "-1",	   "x",	    "1s",   " 2",
					   "nan", "1e",	 "1e-400", "1e400", "-inf", "0x",
					   "1 2", "--5", ".",	   "-0.5",  "1,5",  "5\n" };

	assert_int_equal(ns_of(NULL), 1000000000);
	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++)
		if (ns_of(one[i]) != 1000000000)
			fail_msg("'%s' is not 1 s", one[i]);
	assert_int_equal(ns_of("5"), 5000000000);
	assert_int_equal(ns_of("+5"), 5000000000);
	assert_int_equal(ns_of("0.25"), 250000000);
	assert_int_equal(ns_of(".5"), 500000000);
	assert_int_equal(ns_of("5e-1"), 500000000);
	assert_int_equal(ns_of("1E2"), 100000000000);
	assert_int_equal(ns_of("1e-30"), 1);
	assert_int_equal(ns_of("600"), MAX_NS);
}

TEST(too_many_seconds)
{
	static const char *const texts[] = { "601", "600.001", "1e300", "inf", "+Infinity" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct error error = {};
		uint64_t ns = 7;

		assert_int_equal(http_check__seconds(texts[i], MAX_NS, &ns, &error), -ERANGE);
		assert_int_equal(ns, 7);
		assert_string_equal(error.text, "profile duration exceeds the limit of 600 s");
	}
}

TEST(pids)
{
	static const char *const bad[] = { "",	 "0",	       "-1",
					   "+1", "1x",	       " 1",
					   "x",	 "2147483648", "18446744073709551617" };
	struct error error = {};
	int32_t pid = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (http_check__pid(bad[i], &pid, &error) != -EINVAL || pid != 7)
			fail_msg("'%s' is accepted", bad[i]);
	assert_string_equal(error.text, "invalid pid: expected a process ID that /targets lists");
	assert_int_equal(http_check__pid("2147483647", &pid, NULL), 0);
	assert_int_equal(pid, INT32_MAX);
	assert_int_equal(http_check__pid(NULL, &pid, NULL), 0);
	assert_int_equal(pid, 0);
}
