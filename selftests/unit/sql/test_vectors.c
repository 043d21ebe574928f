// SPDX-License-Identifier: GPL-2.0
/*
 * Texts that are always among a few, and their numbers. sql/vectors.h.
 */
#include "unit/test.h"
#include "sql/rows.h"
#include "sql/vectors.h"

static const char *name_of(unsigned int i)
{
	static const char *const names[] = { "short", NULL, "a name of more than twelve bytes",
					     "short", "" };

	return names[i];
}

TEST(numbers)
{
	static const char elsewhere[] = "a name of more than twelve bytes";
	const struct column column = { "name", "VARCHAR", "", 5, name_of };
	struct enumeration *e = enumeration__create(&column);
	struct duckdb_text text;

	assert_non_null(e);
	text = text__static("short");
	assert_int_equal(enumeration__number(e, &text), 0);
	text = text__static(name_of(2));
	assert_int_equal(enumeration__number(e, &text), 1);
	text = text__static("");
	assert_int_equal(enumeration__number(e, &text), 2);
	text = text__static("other");
	assert_int_equal(enumeration__number(e, &text), -1);
	text = text__static(elsewhere); /* known by its address only */
	assert_int_equal(enumeration__number(e, &text), -1);
	enumeration__destroy(e);
}

/* The same text has the same number, others have other ones. */
static void check_column(const struct column *column)
{
	struct enumeration *e = enumeration__create(column);
	const char *first[ENUMERATION_MAX] = {}, *name;
	struct duckdb_text text;
	int number;

	assert_non_null(e);
	assert_true(column->nvalues <= ENUMERATION_MAX);
	for (unsigned int i = 0; i < column->nvalues; i++) {
		name = column->value(i);
		if (!name)
			continue;
		text = text__static(name);
		number = enumeration__number(e, &text);
		assert_in_range(number, 0, ENUMERATION_MAX - 1);
		if (first[number])
			assert_string_equal(first[number], name);
		first[number] = name;
		for (int k = 0; k < ENUMERATION_MAX; k++)
			assert_true(k == number || !first[k] || strcmp(first[k], name));
	}
	enumeration__destroy(e);
}

TEST(tables_of_traces)
{
	unsigned int n = 0;

	for (size_t i = 0; i < TABLES; i++)
		for (unsigned int k = 0; k < tables[i]->ncolumns; k++)
			if (tables[i]->columns[k].nvalues) {
				check_column(&tables[i]->columns[k]);
				n++;
			}
	assert_int_equal(n, 5);
}
