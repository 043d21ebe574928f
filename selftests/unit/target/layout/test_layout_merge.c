// SPDX-License-Identifier: GPL-2.0
/* Tests of target/layout/layout_merge.c: sufficient sources, contradictions, messages. */
#include "unit/test.h"
#include "target/layout/layout_merge.h"
#include "target/layout/offsets_table.h"

static struct go_version version(const char *text)
{
	struct go_version v;

	assert_true(go_version__parse(text, &v));
	return v;
}

static const struct offsets_row *newest(void)
{
	const struct offsets_row *row, *last = NULL;

	for (size_t i = 0; (row = offsets_table__row(i)); i++)
		last = row;
	return last;
}

/* A source that has all members of this release. */
static struct offsets of_row(const struct offsets_row *row)
{
	struct offsets o = { 0 };

	memcpy(o.at, row->at, sizeof(o.at));
	return o;
}

/* What machine code reveals: not all. */
static struct offsets part_of_row(const struct offsets_row *row)
{
	static const enum offset_id unknown[] = {
		OFF_P_GC_MODE, OFF_M_ALLLINK, OFF_G_STARTPC, OFF_G_COROARG, OFF_CORO_GP,
	};
	struct offsets o = of_row(row);

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		o.at[unknown[i]] = OFFSET_UNKNOWN;
	return o;
}

static void name_of(const struct offsets_row *row, unsigned int patch, char *ret)
{
	sprintf(ret, "go1.%u.%u", row->minor, patch);
}

static void assert_row(const struct layout_merged *m, const struct offsets_row *row)
{
	for (size_t i = 0; i < OFF_COUNT; i++)
		assert_int_equal(m->at[i], row->at[i]);
}

/* The rows are in order, and have all that their release needs. */
TEST(the_table_makes_sense)
{
	const struct offsets_row *row, *before = NULL;

	for (size_t i = 0; (row = offsets_table__row(i)); before = row, i++) {
		assert_true(row->from <= row->to);
		if (before && before->minor == row->minor)
			assert_true(before->to < row->from);
		else if (before)
			assert_true(before->minor < row->minor);
		for (size_t k = 0; k < OFF_COUNT; k++)
			assert_true(row->at[k] != OFFSET_UNKNOWN);
		assert_int_equal(row->at[OFF_G_COROARG] == OFFSET_ABSENT, row->minor < 23);
		assert_int_equal(row->at[OFF_G_SYNC_SAFE_POINT] == OFFSET_ABSENT, row->minor < 25);
		assert_int_equal(row->at[OFF_G_PARENT_GOID] == OFFSET_ABSENT, row->minor < 21);
	}
	assert_non_null(before);
}

TEST(every_release_of_the_table)
{
	const struct offsets_row *row;
	struct layout_merged m;
	char text[32];

	for (size_t i = 0; (row = offsets_table__row(i)); i++) {
		struct offsets all = of_row(row), part = part_of_row(row);

		for (unsigned int patch = row->from; patch <= row->to; patch++) {
			struct go_version v;

			name_of(row, patch, text);
			v = version(text);
			assert_int_equal(layout_merge(&v, NULL, NULL, &m, NULL), 0);
			assert_row(&m, row);
			assert_string_equal(m.source, "the table of releases alone");
			assert_string_equal(m.warning, "");
			assert_int_equal(layout_merge(&v, &all, &part, &m, NULL), 0);
			assert_row(&m, row);
			assert_non_null(strstr(m.source, "DWARF, machine code ("));
			assert_non_null(strstr(m.source, ") and the table of releases agree"));
			assert_int_equal(layout_merge(&v, NULL, &part, &m, NULL), 0);
			assert_row(&m, row);
			assert_string_equal(m.warning, "");
		}
	}
}

TEST(contradictions)
{
	const struct offsets_row *row = newest();
	struct offsets right = of_row(row), wrong = right;
	struct layout_merged m = { .at[0] = 12345 };
	struct error err = { "" };
	struct go_version v;
	char text[32];

	name_of(row, row->to, text);
	v = version(text);
	wrong.at[OFF_M_PROCID] += 8;
	assert_int_equal(layout_merge(&v, &wrong, NULL, &m, &err), -EPROTO);
	assert_non_null(strstr(err.text, "runtime.m.procid: offset 72 in its DWARF, "
					 "offset 64 in the table of releases"));
	err.text[0] = 0;
	assert_int_equal(layout_merge(&v, NULL, &wrong, &m, &err), -EPROTO);
	assert_non_null(strstr(err.text, "offset 72 in its machine code, offset 64 in the table"));
	err.text[0] = 0;
	v = version("go1.99.0");
	assert_int_equal(layout_merge(&v, &right, &wrong, &m, &err), -EPROTO);
	assert_non_null(strstr(err.text, "offset 64 in its DWARF, offset 72 in its machine code"));
	assert_int_equal(m.at[0], 12345);

	err.text[0] = 0;
	wrong = right;
	wrong.at[OFF_M_PROCID] = OFFSET_ABSENT;
	assert_int_equal(layout_merge(&v, &wrong, &right, &m, &err), -EPROTO);
	assert_non_null(
		strstr(err.text, "no such member in its DWARF, offset 64 in its machine code"));
	err.text[0] = 0;
	assert_int_equal(layout_merge(&v, &wrong, NULL, &m, &err), -EPROTO);
	assert_non_null(strstr(err.text, "go1.99.0 has no member procid in its runtime.m"));
}

TEST(newer_releases)
{
	static const char *const texts[] = { "go1.99.3", "devel go1.99-0123456789 Mon", "go2.0" };
	const struct offsets_row *row = newest();
	struct offsets all = of_row(row), part = part_of_row(row), other = part, few;
	struct error err = { "" };
	struct layout_merged m;

	for (size_t i = 0; i < OFF_COUNT; i++)
		few.at[i] = OFFSET_UNKNOWN;
	few.at[OFF_G_M] = row->at[OFF_G_M];
	other.at[OFF_M_PROCID] += 8;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct go_version v = version(texts[i]);

		assert_int_equal(layout_merge(&v, &all, &part, &m, NULL), 0);
		assert_row(&m, row);
		assert_non_null(strstr(m.warning, "is newer than the known releases (up to "));
		assert_non_null(strstr(m.warning, "DWARF, with which its machine code agrees"));
		assert_int_equal(layout_merge(&v, NULL, &part, &m, NULL), 0);
		assert_row(&m, row);
		assert_non_null(strstr(m.source, ", the rest as go1."));
		assert_non_null(
			strstr(m.warning, "its machine code, and the missing ones from go1."));

		/* Code that differs from the newest release cannot be completed by it, */
		err.text[0] = 0;
		assert_int_equal(layout_merge(&v, NULL, &other, &m, &err), -EPROTO);
		assert_non_null(strstr(err.text, "runtime.m.procid at offset 72, but go1."));
		/* and code that reveals few or no offsets does not suffice. */
		assert_int_equal(layout_merge(&v, NULL, &few, &m, NULL), -ENODATA);
		assert_int_equal(layout_merge(&v, NULL, NULL, &m, NULL), -ENODATA);
		/* Code that reveals all members suffices. */
		other = all;
		other.at[OFF_M_PROCID] += 8;
		assert_int_equal(layout_merge(&v, NULL, &other, &m, NULL), 0);
		assert_int_equal(m.at[OFF_M_PROCID], row->at[OFF_M_PROCID] + 8);
		other = part;
		other.at[OFF_M_PROCID] += 8;
	}
}

/* A release candidate, a development version, an experiment: near a release, but not one. */
TEST(variants)
{
	static const char *const forms[] = { "devel go1.%u-0123", "go1.%urc1",
					     "go1.%u.1 X:someexperiment" };
	const struct offsets_row *row = newest();
	struct offsets all = of_row(row), part = part_of_row(row);
	struct layout_merged m;
	char text[64];

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct go_version v;

		snprintf(text, sizeof(text), forms[i], row->minor);
		v = version(text);
		assert_int_equal(layout_merge(&v, NULL, NULL, &m, NULL), -ENODATA);
		assert_int_equal(layout_merge(&v, &all, NULL, &m, NULL), 0);
		assert_non_null(strstr(m.warning, "is not a known release"));
		assert_int_equal(layout_merge(&v, NULL, &part, &m, NULL), 0);
		assert_row(&m, row);
	}
}

/* A patch release between two that differ: like one of them, if the code shows which. */
TEST(gaps)
{
	const struct offsets_row *row, *before = NULL;
	struct error err = { "" };
	struct layout_merged m;
	bool found = false;
	char text[32];

	for (size_t i = 0; (row = offsets_table__row(i)); before = row, i++) {
		struct offsets a, b, all;
		struct go_version v;

		if (!before || before->minor != row->minor || before->to + 1 == row->from)
			continue;
		found = true;
		a = part_of_row(before);
		b = part_of_row(row);
		all = of_row(row);
		name_of(row, before->to + 1, text);
		v = version(text);
		assert_int_equal(layout_merge(&v, NULL, NULL, &m, NULL), -ENODATA);
		assert_int_equal(layout_merge(&v, NULL, &a, &m, NULL), 0);
		assert_row(&m, before);
		assert_int_equal(layout_merge(&v, NULL, &b, &m, NULL), 0);
		assert_row(&m, row);
		assert_non_null(strstr(m.warning, "is not a known release"));
		assert_int_equal(layout_merge(&v, &all, NULL, &m, NULL), 0);
		assert_row(&m, row);

		/* The members that distinguish the two are unknown. */
		for (size_t k = 0; k < OFF_COUNT; k++) {
			if (before->at[k] != row->at[k])
				b.at[k] = OFFSET_UNKNOWN;
		}
		assert_int_equal(layout_merge(&v, NULL, &b, &m, &err), -ENODATA);
		assert_non_null(strstr(err.text, "the releases before and after it differ"));
	}
	assert_true(found);
}
