// SPDX-License-Identifier: GPL-2.0
/* The strings of a report: equal ones share an index, and their number is bounded. */
#include "unit/scratch.h"
#include "report/strings.h"

static uint32_t get(struct report_strings *s, const char *text)
{
	uint32_t index = UINT32_MAX;

	assert_int_equal(report_strings__get(
				 s, (struct trace_string){ text, (uint32_t)strlen(text) }, &index),
			 0);
	return index;
}

TEST(test_indexes)
{
	struct report_strings s;
	struct json j;

	assert_int_equal(report_strings__init(&s), 0);
	assert_int_equal(get(&s, ""), 0);
	assert_int_equal(get(&s, "main.worker"), 2);
	assert_int_equal(get(&s, "<\""), 3);
	assert_int_equal(get(&s, "main.worker"), 2);
	json__init(&j, capture(), true);
	json__open(&j, NULL, '{');
	report_strings__print(&s, &j, "strings");
	json__close(&j, '}');
	expect_captured("{\"strings\":[\"\",\"(too many strings)\",\"main.worker\","
			"\"<\\\"\"]}\n");
	report_strings__deinit(&s);
}

TEST(test_bound)
{
	struct report_strings s;
	char name[1024];
	uint32_t last = 0;

	assert_int_equal(report_strings__init(&s), 0);
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = 0;
	for (unsigned int i = 0; i <= STRINGS_BYTES_MAX / 1000; i++) {
		snprintf(name, 9, "%08u", i);
		name[8] = 'x';
		last = get(&s, name);
	}
	assert_true(report_strings__full(&s));
	assert_int_equal(last, s.other);
	assert_int_equal(get(&s, ""), 0);
	assert_true(s.bytes < STRINGS_BYTES_MAX + sizeof(name));
	report_strings__deinit(&s);
}
