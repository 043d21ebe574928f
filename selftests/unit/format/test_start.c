// SPDX-License-Identifier: GPL-2.0
/* Whose goroutines those with a start function are. Under test: format/start.c. */
#include "unit/test.h"
#include "format/start.h"

static bool is_runtimes(const char *function)
{
	return start__is_runtimes((struct trace_string){ function, (uint32_t)strlen(function) });
}

TEST(of_the_runtime)
{
	assert_true(is_runtimes("runtime.bgsweep"));
	assert_true(is_runtimes("runtime.gcBgMarkWorker"));
	assert_true(is_runtimes("runtime.main.func1"));
	assert_true(is_runtimes("runtime.mainly"));
}

TEST(of_the_program)
{
	assert_false(is_runtimes(""));
	assert_false(is_runtimes("runtime"));
	assert_false(is_runtimes("runtimes.x"));
	assert_false(is_runtimes("main.main"));
	assert_false(is_runtimes("runtime/pprof.profileWriter"));
	assert_false(is_runtimes("runtime.main"));
	assert_false(is_runtimes("runtime.corostart"));
	assert_false(is_runtimes("runtime.cgocallback"));
}
