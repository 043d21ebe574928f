/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The frame of a unit test: cmocka and the headers that most tests need, a registry of the tests of
 * the file, and main(), which runs them in the order of the file and prints TAP. With an argument,
 * it runs only the tests whose names match that pattern, such as 'keys_*'.
 *
 *	TEST(name)                            defines and registers a test: a function with the
 *	{                                     parameter `void **state`
 *	}
 *	FIXTURE(setup, teardown)              functions that run before and after each test, void
 *	                                      f(void) or int f(void **state); either may be NULL
 *	TEST_WITH(name, setup, teardown)      a test with its own functions instead, of the second type
 *	GROUP(setup, teardown)                functions that run before the first and after the last
 *	                                      test
 *	STUB(type, name, (parameters), value)
 *	STUB_VOID(name, (parameters))         a function that replaces one of another file
 *
 * FIXTURE and GROUP may stand once in a file, at any place after the definitions of the functions.
 */
#ifndef UNIT_TEST_H
#define UNIT_TEST_H

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* A function of a fixture: `void f(void)`, or of the type CMFixtureFunction. */
struct fixture_function {
	void (*call)(void);
	bool takes_state;
};

#define FIXTURE_FUNCTION(f)                                                                        \
	{ (void (*)(void))(f), _Generic((f), CMFixtureFunction: true, default: false) }

/* Tentative definitions: FIXTURE and GROUP initialize them. */
static struct fixture_function fixture_setup, fixture_teardown, group_setup, group_teardown;

#define FIXTURE(setup, teardown)                                                                   \
	static struct fixture_function fixture_setup = FIXTURE_FUNCTION(setup);                    \
	static struct fixture_function fixture_teardown = FIXTURE_FUNCTION(teardown);
#define GROUP(setup, teardown)                                                                     \
	static struct fixture_function group_setup = FIXTURE_FUNCTION(setup);                      \
	static struct fixture_function group_teardown = FIXTURE_FUNCTION(teardown);

static int run_function(struct fixture_function function, void **state)
{
	if (function.takes_state)
		return ((CMFixtureFunction)function.call)(state);
	if (function.call)
		function.call();
	return 0;
}

static struct CMUnitTest registered_tests[100];
static int registered_lines[100];
static size_t registered_n;

/* Keeps the order of lines, since a compiler may order constructors in any way. */
static void register_test(int line, struct CMUnitTest test)
{
	size_t i = registered_n++;

	if (registered_n > sizeof(registered_lines) / sizeof(registered_lines[0]))
		abort();
	for (; i > 0 && registered_lines[i - 1] > line; i--) {
		registered_tests[i] = registered_tests[i - 1];
		registered_lines[i] = registered_lines[i - 1];
	}
	registered_tests[i] = test;
	registered_lines[i] = line;
}

#define TEST_WITH(name, setup, teardown)                                                           \
	static void name(void **state);                                                            \
	__attribute__((constructor)) static void register_##name(void)                             \
	{                                                                                          \
		register_test(__LINE__, (struct CMUnitTest){ #name, name, setup, teardown });      \
	}                                                                                          \
	static void name(void **state)
#define TEST(name) TEST_WITH(name, run_fixture_setup, run_fixture_teardown)

static int run_fixture_setup(void **state)
{
	return run_function(fixture_setup, state);
}

static int run_fixture_teardown(void **state)
{
	return run_function(fixture_teardown, state);
}

static int run_group_setup(void **state)
{
	return run_function(group_setup, state);
}

static int run_group_teardown(void **state)
{
	return run_function(group_teardown, state);
}

/* Replaces a function that the tested code calls by one that only returns a value, or does nothing. */
#define STUB(type, name, parameters, value)                                                        \
	type name parameters                                                                       \
	{                                                                                          \
		return value;                                                                      \
	}
#define STUB_VOID(name, parameters)                                                                \
	void name parameters                                                                       \
	{                                                                                          \
	}

int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return _cmocka_run_group_tests("tests", registered_tests, registered_n, run_group_setup,
				       run_group_teardown);
}

#endif
